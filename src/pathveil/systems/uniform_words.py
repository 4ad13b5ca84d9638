"""Counting the feasible words of a length, and drawing one of them, each with the same probability.

The number of ways to go on for k symbols from a state is a sum over its successors. On small systems it is an exact
integer, kept for all k. On large ones it is a floating-point number, and the bits of a random number that come too
close to the border between two successors are compared with exact integers instead, which take a while, about once in
10^12 symbols. Either way all words are equally likely, exactly.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise
from math import frexp, isqrt, ldexp

import numpy as np
import numpy.typing as npt

from pathveil.numerics.arrays import FloatArray
from pathveil.numerics.long_work import LongWork
from pathveil.randomness.exact import draw_below
from pathveil.randomness.lazy import LazyUniform
from pathveil.randomness.source import RandomSource, as_uniform
from pathveil.systems.compiled import CompiledSystem

EXACT_TABLE = 1 << 18  # positions times states: about a tenth of a second to make, and 20 MB
_LARGEST_TABLE = 1 << 28  # bytes of floating-point numbers; beyond that, some rows are made twice
_RANGE = 1e-200  # the smallest count at a position relative to the largest
_SAFETY = 16.0  # times the largest possible rounding error
_LONG = float(np.finfo(np.longdouble).eps)  # a start may have a million successors, whose counts are added up


def count_words(compiled: CompiledSystem, length: int) -> int:
    """The exact number of feasible words."""
    if (length + 1) * compiled.state_count <= EXACT_TABLE:
        return _exact_rows(compiled, length)[length][compiled.start]
    return exact_row(compiled, length)[compiled.start]


def draw_uniformly(
    compiled: CompiledSystem, length: int, count: int, source: RandomSource, *, exact_table: int = EXACT_TABLE
) -> list[list[int]]:
    """So many words, as symbol codes; there must be one. `exact_table`: positions times states to keep integers for."""
    if (length + 1) * compiled.state_count <= exact_table:
        return _draw_from_integers(compiled, length, count, source)
    rows = _FloatRows.of(compiled, length)
    keystream = source.keystream(count * length).reshape(length, count)
    states, words = [compiled.start] * count, np.empty((count, length), dtype=np.int64)
    degree = int(np.diff(compiled.offsets)[compiled.targets].max())  # of the states that words can be in
    margin = _SAFETY * 2.0**-53 * (length + 2) * (degree + 4)
    for i, values in enumerate(keystream):
        left = length - i - 1
        after, is_precise = rows.row(left)
        # Made once for each position: a hub has a million successors, and many words are there.
        sums_of: dict[int, npt.NDArray[np.longdouble]] = {}
        exact: list[int] = []
        for word, (state, uniform) in enumerate(zip(states, as_uniform(values).tolist(), strict=True)):
            first, last = compiled.offsets[state], compiled.offsets[state + 1]
            if state not in sums_of:
                sums_of[state] = np.cumsum(after[compiled.targets[first:last]], dtype=np.longdouble)
            sums = sums_of[state]
            mark = uniform * sums[-1]
            chosen = int(np.searchsorted(sums, mark, side="right"))
            nearest = sums[max(chosen - 1, 0) : chosen + 1]
            if not is_precise or np.abs(nearest - mark).min() < (margin + _SAFETY * len(sums) * _LONG) * sums[-1]:
                exact = exact or exact_row(compiled, left)
                weights = [exact[target] for target in compiled.targets[first:last].tolist()]
                chosen = LazyUniform(int(values[word]), source).pick(weights)
            words[word, i] = compiled.labels[first + chosen]
            states[word] = int(compiled.targets[first + chosen])
    return words.tolist()


def _draw_from_integers(compiled: CompiledSystem, length: int, count: int, source: RandomSource) -> list[list[int]]:
    rows = _exact_rows(compiled, length)
    # Summed once for each state and position, since a hub has a million successors, and many words are there.
    sums_at: dict[tuple[int, int], list[int]] = {}
    room, words = EXACT_TABLE, []
    for _ in range(count):
        state, codes = compiled.start, []
        for left in range(length - 1, -1, -1):
            sums = sums_at.get((state, left))
            if sums is None:
                sums = list(accumulate(map(rows[left].__getitem__, compiled.successors[state])))
                if len(sums) <= room:
                    sums_at[state, left] = sums
                    room -= len(sums)
            chosen = bisect_right(sums, draw_below(source, sums[-1]))
            codes.append(int(compiled.labels[compiled.offsets[state] + chosen]))
            state = compiled.successors[state][chosen]
        words.append(codes)
    return words


def _exact_rows(compiled: CompiledSystem, length: int) -> list[list[int]]:
    """Row k: for each state the number of ways to go on for k symbols and be accepted; kept with the system."""
    rows: list[list[int]] = compiled.kept.setdefault("ways to go on", [[int(one) for one in compiled.accepting]])
    if len(rows) <= length:
        rows = list(rows)  # another thread may be adding to the same list
        while len(rows) <= length:
            rows.append([sum(map(rows[-1].__getitem__, targets)) for targets in compiled.successors])
        compiled.kept["ways to go on"] = rows
    return rows


def exact_row(compiled: CompiledSystem, length: int) -> list[int]:
    """Row `length` alone, with two rows in memory at a time."""
    row = [int(one) for one in compiled.accepting]
    targets, bounds = compiled.targets.tolist(), compiled.offsets.tolist()
    work = LongWork(f"counting words of {length} symbols exactly", length)
    for _ in range(length):
        row = [sum(map(row.__getitem__, targets[first:last])) for first, last in pairwise(bounds)]
        work.part_done()
    return row


class _FloatRows:
    """The same rows as floating-point numbers, each divided by a power of two."""

    def __init__(self, compiled: CompiledSystem) -> None:
        self._compiled = compiled
        self._rows: dict[int, tuple[FloatArray, bool]] = {0: (compiled.accepting.astype(float), True)}
        self._segment: dict[int, tuple[FloatArray, bool]] = {}

    @classmethod
    def of(cls, compiled: CompiledSystem, length: int) -> _FloatRows:
        """Those of words of up to this length. They are kept with the system where memory allows."""
        fits = 8 * length * compiled.state_count <= _LARGEST_TABLE
        rows = compiled.kept.get(cls) if fits else None
        made = rows if isinstance(rows, cls) else cls(compiled)
        made._fill(length, 1 if fits else isqrt(length))
        if fits:
            compiled.kept[cls] = made
        return made

    def _fill(self, length: int, step: int) -> None:
        top = max(self._rows)
        row = self._rows[top]
        for k in range(top + 1, length + 1):
            row = self._next(row)
            if k % step == 0:
                self._rows[k] = row

    def _next(self, row: tuple[FloatArray, bool]) -> tuple[FloatArray, bool]:
        after, is_precise = row
        counts: FloatArray = self._compiled.adjacency @ after
        top = float(counts.max())
        if top:
            counts *= ldexp(1.0, -frexp(top)[1])
            is_precise = is_precise and bool(counts[counts > 0].min() > _RANGE)
        return counts, is_precise

    def row(self, k: int) -> tuple[FloatArray, bool]:
        """Row k, and whether no count in it lies too far below the others to be precise."""
        if k in self._rows:
            return self._rows[k]
        if k not in self._segment:
            base = max(kept for kept in self._rows if kept < k)
            row, self._segment = self._rows[base], {}
            for j in range(base + 1, k + 1):
                row = self._segment[j] = self._next(row)
        return self._segment[k]
