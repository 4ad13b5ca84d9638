"""The inner loop of `free_walks`, which explains the quantities."""

from __future__ import annotations

from typing import Any

from pathveil.numerics.jit import checked_kernel


@checked_kernel
def improve(
    lo: Any,
    hi: Any,
    spread: Any,
    at_first: Any,
    shares: Any,
    first: Any,
    predecessors: Any,
    shrink: float,
    slack: float,
) -> float:
    """Narrow the bounds lo and hi of X_j(y), by symbol of the word, j and y; by which factor hi shrank most, for j = 0.

    `shares` has t and 1-t for both ends of what the word's own symbol weighs. Every bound holds at every position, so
    those that were narrowed already may serve the next ones.
    """
    offsets, symbols = predecessors
    m, steps = lo.shape[0], lo.shape[1] - 1
    most = 1.0
    for c in range(m):
        if offsets[c] == offsets[c + 1] and not first[c]:
            continue  # no word has c
        for j in range(steps):
            for y in range(m):
                highest, lowest = -1.0, -1.0
                if first[c]:
                    highest, lowest = at_first[j, y] * (1.0 + slack), at_first[j, y] * (1.0 - slack)
                for k in range(offsets[c], offsets[c + 1]):
                    w = symbols[k]
                    anew = spread[j + 1, w, y]
                    for end in range(2):
                        t, rest = shares[end, 0, w], shares[end, 1, w]
                        upper = (t * hi[w, j + 1, y] + rest * anew) * (1.0 + slack)
                        lower = (t * lo[w, j + 1, y] + rest * anew) * shrink
                        highest = max(highest, upper)
                        lowest = lower if lowest < 0.0 else min(lowest, lower)
                if highest < hi[c, j, y]:
                    if j == 0 and highest > 0.0:
                        most = max(most, hi[c, j, y] / highest)
                    hi[c, j, y] = highest
                lo[c, j, y] = max(lo[c, j, y], lowest)
    return most
