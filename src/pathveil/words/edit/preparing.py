"""Compiled loops that `kernels` rests on: symbols numbered for each word, and what can still lead near it.

Terms as in `kernels`. A narrow row (c < 8) is packed, 4 bits for each entry. Its floor is packed alike: how close an
entry must be to lead to a word closer than the cap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel

_NO_KIND = -1
_EIGHTS = 0x0888888888888888  # 8 in each of 15 entries of 4 bits


@kernel
def with_kinds(codes: Any, offsets: Any, symbol_count: int) -> Any:
    """The words with the symbols of each numbered from 0, their offsets; the symbols of each, in order; and theirs."""
    kinds, symbols = np.empty_like(codes), np.empty_like(codes)
    symbol_offsets = np.zeros_like(offsets)
    kind_of = np.full(symbol_count, _NO_KIND, dtype=np.int64)
    used = 0
    for k in range(len(offsets) - 1):
        begin = used
        for at in range(offsets[k], offsets[k + 1]):
            if kind_of[codes[at]] == _NO_KIND:
                kind_of[codes[at]] = 0
                place = used
                while place > begin and symbols[place - 1] > codes[at]:
                    symbols[place] = symbols[place - 1]
                    place -= 1
                symbols[place] = codes[at]
                used += 1
        for place in range(begin, used):
            kind_of[symbols[place]] = place - begin
        for at in range(offsets[k], offsets[k + 1]):
            kinds[at] = kind_of[codes[at]]
        for place in range(begin, used):
            kind_of[symbols[place]] = _NO_KIND
        symbol_offsets[k + 1] = used
    return kinds, offsets, symbols[:used], symbol_offsets


@kernel
def _edits_to_go(kinds: Any, symbols: Any, cap: int, system: Any, accepting: Any) -> Any:
    """[j, y]: how many edits it takes at least from state y to a feasible end, if j symbols of the word are done."""
    n, (offsets, labels, targets) = len(kinds), system[:3]
    edits = np.full((n + 1, len(accepting)), cap, dtype=np.int64)
    for j in range(n, -1, -1):
        again = j == n
        for y in range(len(accepting)):
            if j == n:
                edits[j, y] = 0 if accepting[y] else cap
                continue
            symbol = symbols[kinds[j]]
            least, matched = edits[j + 1, y] + 1, cap  # a deletion
            for edge in range(offsets[y], offsets[y + 1]):
                after = edits[j + 1, targets[edge]]
                least = min(least, after + 1)
                if labels[edge] == symbol:
                    matched = after
            again |= matched < least  # without a match no state gains by insertions: as in `kernels._with_matches`
            edits[j, y] = min(min(least, matched), cap)
        while again:  # insertions
            again = False
            for y in range(len(accepting)):
                least = edits[j, y]
                if least < 2:  # an insertion costs 1, and what follows it 0 at best
                    continue
                for edge in range(offsets[y], offsets[y + 1]):
                    least = min(least, edits[j, targets[edge]] + 1)
                again |= least < edits[j, y]
                edits[j, y] = least
    return edits


@kernel
def _write_floors(n: int, lo: int, hi: int, cap: int, to_go: Any, floors: Any) -> None:
    """[i, y]: for each entry of a narrow row of layer i, 1 more than the edits that are still needed from state y.

    At least lo - i and at most hi - i symbols will still be written, and n - j of the word have to be accounted for;
    `to_go` says what the system itself demands, or is empty. Entries outside the band have 8: none is above.
    """
    for i in range(hi + 1):
        begin, end = max(0, i - cap + 1), min(n, i + cap - 1) + 1
        floors[i] = _EIGHTS - (_EIGHTS & ((1 << (4 * max(end - begin, 0))) - 1))
        for j in range(begin, end):
            demanded = min(max(0, max(n - (hi - i) - j, j - n + (lo - i))), 7)
            for y in range(floors.shape[1]):
                least = demanded if len(to_go) == 0 else max(demanded, to_go[j, y])
                floors[i, y] += (least + 1) << (4 * (j - begin))


@kernel
def find_floors(words: Any, lo: int, hi: int, cap: int, system: Any, accepting: Any, looks_ahead: bool) -> Any:
    """[word, i, y]: the floors of each of the words; with a single y for all states if the system is not looked at.

    `words` are kinds, their offsets, symbols and their offsets, as in `kernels.find_graphs`.
    """
    kinds, offsets, symbols, symbol_offsets = words
    count = len(offsets) - 1
    floors = np.empty((count, hi + 1, len(accepting) if looks_ahead else 1), dtype=np.int64)
    to_go = np.empty((0, 0), dtype=np.int64)
    for word in range(count):
        own = kinds[offsets[word] : offsets[word + 1]]
        if looks_ahead:
            to_go = _edits_to_go(own, symbols[symbol_offsets[word] : symbol_offsets[word + 1]], cap, system, accepting)
        _write_floors(len(own), lo, hi, cap, to_go, floors[word])
    return floors
