"""How a private word can be laid beside the true one."""

from __future__ import annotations

from collections.abc import Sequence

MISSING = "∅"
"""What stands in the place of a symbol that is missing."""

Place = tuple[int | None, bool]


def aligned(true: Sequence[int], private: Sequence[int]) -> list[Place]:
    """The private word, place by place: a code (None: a symbol of the true word is missing), and whether it is wrong.

    As few places as possible are wrong: their number is the edit distance.
    """
    n, m = len(true), len(private)
    # edits[i][j]: from the rest of the true word after i symbols to the rest of the private one after j.
    edits = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n, -1, -1):
        for j in range(m, -1, -1):
            if i == n or j == m:
                edits[i][j] = n - i + m - j
            else:
                replaced = edits[i + 1][j + 1] + (true[i] != private[j])
                edits[i][j] = min(replaced, edits[i + 1][j] + 1, edits[i][j + 1] + 1)
    places: list[Place] = []
    i = j = 0
    while i < n or j < m:
        if i < n and j < m and edits[i][j] == edits[i + 1][j + 1] + (true[i] != private[j]):
            places.append((private[j], true[i] != private[j]))
            i, j = i + 1, j + 1
        elif j < m and edits[i][j] == edits[i][j + 1] + 1:
            places.append((private[j], True))
            j += 1
        else:
            places.append((None, True))
            i += 1
    return places


def beside(true: Sequence[int], private: Sequence[int]) -> list[Place]:
    """The same for a mechanism that keeps the length: symbol by symbol."""
    return [(code, code != expected) for expected, code in zip(true, private, strict=True)]
