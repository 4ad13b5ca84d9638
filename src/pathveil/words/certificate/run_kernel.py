"""The inner loop of the certificate for runs of several symbols; `runs` explains the quantities.

Paths y through the run are counted by (a, b), the numbers of positions where y agrees with v and with w. They have r-a
errors against v and r-b against w. For each symbol that a path can have at a position of the run there is a table of
lower ends and one of upper ends, by a and b.

Arguments that belong together come as tuples: a box is (lo, hi, dropped, offsets, kept), the intervals of its kept
pairs and where they lie; links are (offsets, symbols). *Tables* are (lows, highs, listed, lists), each with two halves:
one for the position at hand and one for the next. `listed` marks the symbols that `lists` has, so that only those are
looked at, and emptied again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import checked_kernel, part_of_kernel


@part_of_kernel
def _list(y: int, half: int, size: int, listed: Any, lists: Any) -> int:
    """Put y on the list of this half, if it is not there; the new size of the list.

    Inner loops spell this out: with a call, even one that is put in place, they were a fifth slower.
    """
    if not listed[half, y]:
        listed[half, y] = True
        lists[half, size] = y
        size += 1
    return size


@part_of_kernel
def _list_what_leads_to(v: Any, predecessors: Any, tables: Any) -> Any:
    """List the symbols from which v is met in time: v_r, then v_(r-1) and the predecessors of what we have, and so on.

    A path that starts outside the kept pairs has the lower end 0, and needs an upper end only if it meets v somewhere.
    """
    (offsets, symbols), (_, _, listed, lists) = predecessors, tables
    half = 0
    size = _list(v[len(v) - 1], half, 0, listed, lists)
    for position in range(len(v) - 2, -1, -1):
        other, count = 1 - half, 0
        for k in range(size):
            x = lists[half, k]
            listed[half, x] = False
            for j in range(offsets[x], offsets[x + 1]):
                y = symbols[j]
                if not listed[other, y]:
                    listed[other, y] = True
                    lists[other, count] = y
                    count += 1
        count = _list(v[position], other, count, listed, lists)
        half, size = other, count
    return half, size


@part_of_kernel
def _enter(first: int, shift: int, prefix: Any, half: int, size: int, tables: Any) -> int:
    """The ends with which paths come to the first position, after a prefix of w; the new size of the list.

    The intervals of the kept pairs begin `shift` places later than the pairs themselves.
    """
    lo, hi, dropped, offsets, kept = prefix
    lows, highs, listed, lists = tables
    for j in range(offsets[first], offsets[first + 1]):
        size = _list(kept[j], half, size, listed, lists)
    for k in range(size):
        highs[half, lists[half, k], 0, 0] = dropped[lists[half, k]]
    for j in range(offsets[first], offsets[first + 1]):
        lows[half, kept[j], 0, 0], highs[half, kept[j], 0, 0] = lo[j + shift], hi[j + shift]
    return size


@part_of_kernel
def _count_agreement(w: int, v: int, position: int, half: int, tables: Any) -> None:
    """Paths that have v at this position agree with it once more, those that have w with w."""
    lows, highs, listed, _ = tables
    if listed[half, v]:
        for a in range(position, -1, -1):
            for b in range(position - a + 1):
                lows[half, v, a + 1, b] = lows[half, v, a, b]
                highs[half, v, a + 1, b] = highs[half, v, a, b]
        lows[half, v, 0, :] = 0.0
        highs[half, v, 0, :] = 0.0
    if listed[half, w]:
        for a in range(position + 1):
            for b in range(position - a, -1, -1):
                lows[half, w, a, b + 1] = lows[half, w, a, b]
                highs[half, w, a, b + 1] = highs[half, w, a, b]
            lows[half, w, a, 0] = 0.0
            highs[half, w, a, 0] = 0.0


@part_of_kernel
def _step(position: int, successors: Any, half: int, size: int, tables: Any) -> Any:
    """Every path goes on to all successors of its symbol; the half and the size of the list of the next position."""
    (offsets, symbols), (lows, highs, listed, lists) = successors, tables
    other, count = 1 - half, 0
    for k in range(size):
        x = lists[half, k]
        listed[half, x] = False
        for j in range(offsets[x], offsets[x + 1]):
            y = symbols[j]
            if not listed[other, y]:
                listed[other, y] = True
                lists[other, count] = y
                count += 1
            for a in range(position + 2):
                for b in range(position + 2 - a):
                    lows[other, y, a, b] += lows[half, x, a, b]
                    highs[other, y, a, b] += highs[half, x, a, b]
        lows[half, x] = 0.0
        highs[half, x] = 0.0
    return other, count


@part_of_kernel
def _add_up(last: int, shift: int, suffix: Any, half: int, size: int, tables: Any, sum_low: Any, sum_high: Any) -> None:
    """The sums over the last symbol, with what follows the run; empties the tables."""
    lo, hi, dropped, offsets, kept = suffix
    lows, highs, listed, lists = tables
    width = len(sum_low)
    sum_low[:] = 0.0
    sum_high[:] = 0.0
    for j in range(offsets[last], offsets[last + 1]):
        y = kept[j]
        if listed[half, y]:
            for a in range(width):
                for b in range(width - a):
                    sum_low[a, b] += lows[half, y, a, b] * lo[j + shift]
                    if highs[half, y, a, b] > 0.0:  # 0 times infinity is no number
                        sum_high[a, b] += highs[half, y, a, b] * hi[j + shift]
            listed[half, y] = False
    for k in range(size):
        y = lists[half, k]
        if listed[half, y]:
            for a in range(width):
                for b in range(width - a):
                    if highs[half, y, a, b] > 0.0:
                        sum_high[a, b] += highs[half, y, a, b] * dropped[y]
            listed[half, y] = False
        lows[half, y] = 0.0
        highs[half, y] = 0.0


@part_of_kernel
def _largest_over_box(sum_low: Any, sum_high: Any, powers: Any) -> float:
    """The largest Σ γ z^(r-a) / Σ γ z^(r-b): γ is at its upper end where a - b reaches a threshold, else at its lower.

    Infinite where nothing is known.
    """
    width, largest = len(powers), 0.0
    for threshold in range(1, width):
        top, bottom = 0.0, 0.0
        for a in range(width):
            for b in range(width - a):
                gamma = sum_high[a, b] if a - b >= threshold else sum_low[a, b]
                top += gamma * powers[width - 1 - a]
                bottom += gamma * powers[width - 1 - b]
        # Also where it is no number; dividing would then hide it.
        largest = max(largest, top / bottom) if top < np.inf else np.inf
    return largest


@checked_kernel
def largest_quotients(
    w: Any,
    v: Any,
    prefix: Any,
    suffix: Any,
    successors: Any,
    predecessors: Any,
    z: float,
    prefix_rows: Any,
    suffix_rows: Any,
) -> Any:
    """The largest Z(v)/Z(w) when the run w is replaced by the run v, for each pair (one in each row).

    The intervals that belong to a pair begin at prefix_rows and suffix_rows. Infinite where nothing is known.
    """
    pairs, run = w.shape
    m, width = len(prefix[2]), run + 1
    powers = z ** np.arange(width)
    ends = (2, m, width, width)
    tables = np.zeros(ends), np.zeros(ends), np.zeros((2, m), dtype=np.bool_), np.empty((2, m), dtype=np.int64)
    sum_low, sum_high = np.empty((width, width)), np.empty((width, width))
    largest = np.empty(pairs)
    for pair in range(pairs):
        half, size = _list_what_leads_to(v[pair], predecessors, tables)
        shift = prefix_rows[pair] - prefix[3][w[pair, 0]]
        size = _enter(w[pair, 0], shift, prefix, half, size, tables)
        for position in range(run):
            _count_agreement(w[pair, position], v[pair, position], position, half, tables)
            if position < run - 1:
                half, size = _step(position, successors, half, size, tables)
        shift = suffix_rows[pair] - suffix[3][w[pair, run - 1]]
        _add_up(w[pair, run - 1], shift, suffix, half, size, tables, sum_low, sum_high)
        largest[pair] = _largest_over_box(sum_low, sum_high, powers)
    return largest
