"""The inner loops of branch and bound: boxes of longer contexts, and the bounds that two boxes give.

`context_tree` and `branch_and_bound` explain the quantities. Arguments that belong together come as tuples: links are
(offsets, symbols), a box by current symbol is (lo, hi, dropped, offsets, kept) as in `ratio_kernels`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import checked_kernel

_TINY = 1e-200  # more than all that underflows can add up to; lower ends below it are 0
_HUGE = 1e60  # numbers of walks beyond it are not computed: the context is not made longer
_STEPS = 12  # at most, towards the largest quotient; any of them gives a bound


@checked_kernel
def step_back(
    states: Any, count: int, rows: Any, width: int, predecessors: Any, place: Any, others: Any, new: Any
) -> int:
    """new[s] = Σ rows[s'] over the successors s' of s; lists the s that have any in `others`: their number, or -1."""
    offsets, symbols = predecessors
    found = 0
    for k in range(count):
        for j in range(offsets[states[k]], offsets[states[k] + 1]):
            s = symbols[j]
            if place[s] < 0:
                if found == len(others):
                    found = -1
                    break
                place[s] = found
                others[found] = s
                for i in range(width):
                    new[found, i] = 0.0
                found += 1
            row = place[s]
            for i in range(width):
                new[row, i] += rows[k, i]
        if found < 0:
            break
    for k in range(max(found, 0) if found >= 0 else len(others)):
        place[others[k]] = -1
    return found


@checked_kernel
def _largest(low: Any, high: Any, top: Any, bottom: Any, count: int, slack: float, bottom_low: float) -> float:
    """More than Σ a·top / Σ a·bottom for all a with low ≤ a ≤ high, whatever the rounding; may be infinite.

    For every λ the quotient is at most λ + F/B, where F ≥ 0 bounds Σ a·(top - λ·bottom) and B ≤ Σ a·bottom. The steps
    look for a good λ only.
    """
    quotient = 0.0
    for s in range(count):
        if high[s] == np.inf and top[s] > 0.0:
            if bottom[s] <= 0.0:
                return np.inf
            quotient = max(quotient, top[s] / bottom[s] * (1.0 + 8.0 * slack))
    for _ in range(_STEPS):
        above, below = 0.0, 0.0
        for s in range(count):
            a = high[s] if top[s] > quotient * bottom[s] and high[s] < np.inf else low[s]
            above += a * top[s]
            below += a * bottom[s]
        if not above > quotient * below * (1.0 + 1e-9):
            break
        quotient = above / below
    excess, size = 0.0, 0.0
    for s in range(count):
        gain = top[s] * (1.0 + slack) - quotient * bottom[s] * (1.0 - slack)
        if gain > 0.0:
            if high[s] == np.inf:
                return np.inf
            excess += high[s] * gain
            size += high[s] * gain
        else:
            excess += low[s] * gain
            size -= low[s] * gain
    excess += slack * size
    return (quotient + max(excess, 0.0) / bottom_low) * (1.0 + slack) + _TINY


@checked_kernel
def _smallest(low: Any, high: Any, top: Any, bottom: Any, count: int, slack: float, bottom_low: float) -> float:
    """Less than Σ a·top / Σ a·bottom for all a with low ≤ a ≤ high, whatever the rounding; at least 0."""
    quotient = np.inf
    for s in range(count):
        if high[s] == np.inf and bottom[s] > 0.0:
            quotient = min(quotient, top[s] / bottom[s] * (1.0 - 8.0 * slack))
    if quotient == np.inf:
        above, below = 0.0, 0.0
        for s in range(count):
            above += low[s] * top[s]
            below += low[s] * bottom[s]
        quotient = above / below
    for _ in range(_STEPS):
        above, below = 0.0, 0.0
        for s in range(count):
            a = high[s] if top[s] < quotient * bottom[s] and high[s] < np.inf else low[s]
            above += a * top[s]
            below += a * bottom[s]
        if not above < quotient * below * (1.0 - 1e-9):
            break
        quotient = above / below
    lack, size = 0.0, 0.0
    for s in range(count):
        loss = quotient * bottom[s] * (1.0 + slack) - top[s] * (1.0 - slack)
        if loss > 0.0:
            if high[s] == np.inf:
                return 0.0
            lack += high[s] * loss
            size += high[s] * loss
        else:
            lack += low[s] * loss
            size -= low[s] * loss
    lack += slack * size
    smallest = (quotient - max(lack, 0.0) / bottom_low) * (1.0 - slack)
    return smallest if smallest > _TINY else 0.0


@checked_kernel
def _fill(
    low: Any,
    high: Any,
    weights: Any,
    count: int,
    of: int,
    width: int,
    slack: float,
    parent: int,
    row: int,
    lo: Any,
    hi: Any,
) -> None:
    """The box of the sums Σ a·weights in units of the one of column `of`, inside the box of the parent."""
    for s in range(count):
        weights[width, s] = weights[of, s]
    bottom_low = 0.0
    for s in range(count):
        bottom_low += low[s] * weights[width, s]
    bottom_low *= 1.0 - slack
    if not bottom_low > _TINY:
        for j in range(width):
            lo[row + j], hi[row + j] = lo[parent + j], hi[parent + j]
        return
    for j in range(width):
        if j == of:
            lo[row + j], hi[row + j] = 1.0, 1.0
        else:
            upper = _largest(low, high, weights[j], weights[width], count, slack, bottom_low)
            lower = _smallest(low, high, weights[j], weights[width], count, slack, bottom_low)
            lo[row + j], hi[row + j] = max(lower, lo[parent + j]), min(upper, hi[parent + j])


@checked_kernel
def begin_at_run(c: int, near: Any, states: Any, table: Any) -> int:
    """At the run itself each symbol that is near leads to itself; the place of the word's own symbol among them."""
    of = 0
    for j in range(len(near)):
        states[j] = near[j]
        for k in range(len(near)):
            table[j, k] = 0.0
        table[j, j] = 1.0
        if near[j] == c:
            of = j
    return of


@checked_kernel
def largest_number(table: Any, count: int, columns: int) -> float:
    largest = 0.0
    for k in range(count):
        for j in range(columns):
            largest = max(largest, table[k, j])
    return largest


@checked_kernel
def expand_contexts(
    current: Any,
    paths: Any,
    depths: Any,
    parents: Any,
    rows: Any,
    near: Any,
    start: Any,
    free: Any,
    first: Any,
    predecessors: Any,
    z: float,
    most: int,
    work: Any,
    lo: Any,
    hi: Any,
) -> Any:
    """Write the boxes of all children of some contexts to lo and hi; False for those that became too large.

    Where a context begins, the weights lie in the box `start` in units of the weight of the word's own symbol, and in
    the box `free` (lo, hi; one row for each symbol of the word, or no rows) in other units. Both are used. `most` is
    the largest number of predecessors. `work` has one number for each symbol, and is left as it was: places, all -1;
    lower ends, all 0; upper ends, all as dropped. Two lists for the symbols that are reached come last.

    Context e has the symbols paths[e, :depths[e]], the one next to the run first, belongs to the current symbol
    current[e], and has its own box at parents[e]; the boxes of its children begin at rows[e]. First comes the closed
    child, if the last symbol can be the first of a word, then the open ones in the order of the predecessors.
    """
    (near_offsets, near_symbols), (before_offsets, before_symbols) = near, predecessors
    start_lo, start_hi, dropped, start_offsets, start_kept = start
    free_lo, free_hi = free
    width = 1
    for c in current:
        width = max(width, near_offsets[c + 1] - near_offsets[c])
    place, from_start_low, from_start_high, states, others = work
    ball = len(states)
    table, other_table = np.empty((ball, width)), np.empty((ball, width))
    weights, low, high = np.empty((width + 1, ball)), np.empty(ball), np.empty(ball)
    done = np.ones(len(current), np.bool_)
    for e in range(len(current)):
        c, depth, row = current[e], depths[e], rows[e]
        begin, columns = near_offsets[c], near_offsets[c + 1] - near_offsets[c]
        if columns > ball:
            done[e] = False
            continue
        # Terms are added up for each symbol and step; products, quotients and the summation over a box are few more.
        slack = (64 + ball + (depth + 1) * (most + 4)) * 2.0**-51
        of, count = begin_at_run(c, near_symbols[begin : begin + columns], states, table), columns
        for step in range(depth + 1):
            # table[s] belongs to the position of paths[e, step-1], its evidence included (the run itself for step 0).
            if step == depth and first[paths[e, depth - 1] if depth else c]:
                for k in range(count):
                    low[k] = high[k] = 1.0 if first[states[k]] else 0.0
                    for j in range(columns):
                        weights[j, k] = table[k, j]
                _fill(low, high, weights, count, of, columns, slack, parents[e], row, lo, hi)
                row += columns
            count = step_back(states, count, table, columns, predecessors, place, others, other_table)
            if count < 0:
                break
            states, others, table, other_table = others, states, other_table, table
            if step < depth:
                for k in range(count):
                    if states[k] != paths[e, step]:
                        for j in range(columns):
                            table[k, j] *= z
        if count < 0 or largest_number(table, count, columns) > _HUGE:
            done[e] = False
            continue
        last = paths[e, depth - 1] if depth else c
        for i in range(before_offsets[last], before_offsets[last + 1]):
            x = before_symbols[i]
            for j in range(start_offsets[x], start_offsets[x + 1]):
                from_start_low[start_kept[j]], from_start_high[start_kept[j]] = start_lo[j], start_hi[j]
            is_used = from_start_low[x] == 1.0  # otherwise no word has x, and the box of the parent will do
            for k in range(count):
                s = states[k]
                low[k], high[k] = (from_start_low[s], from_start_high[s]) if is_used else (0.0, 0.0)
                for j in range(columns):
                    weights[j, k] = table[k, j] if s == x else z * table[k, j]
            _fill(low, high, weights, count, of, columns, slack, parents[e], row, lo, hi)
            if is_used and len(free_lo):
                for k in range(count):
                    low[k], high[k] = free_lo[x, states[k]], free_hi[x, states[k]]
                _fill(low, high, weights, count, of, columns, slack, row, row, lo, hi)
            row += columns
            for j in range(start_offsets[x], start_offsets[x + 1]):
                y = start_kept[j]
                from_start_low[y], from_start_high[y] = 0.0, dropped[y]
    return done


@checked_kernel
def _single_quotient(a: float, o: float, z: float) -> float:
    return (a + z * (1.0 + o)) / (1.0 + z * (a + o))


@checked_kernel
def single_bounds(
    w: Any, v: Any, prefix_rows: Any, suffix_rows: Any, near: Any, prefix: Any, suffix: Any, z: float, slack: float
) -> Any:
    """For each node: a bound for Z(v)/Z(w), and the same if the prefix or the suffix were known exactly, roughly."""
    offsets, symbols = near
    (before_lo, before_hi), (after_lo, after_hi) = prefix, suffix
    bounds, without_prefix, without_suffix = np.empty(len(w)), np.empty(len(w)), np.empty(len(w))
    for node in range(len(w)):
        c, p, q = w[node], prefix_rows[node], suffix_rows[node]
        o, o_prefix, o_suffix = 0.0, 0.0, 0.0
        a, a_prefix, a_suffix = np.inf, np.inf, np.inf
        for j in range(offsets[c + 1] - offsets[c]):
            y = symbols[offsets[c] + j]
            pl, ph, ql, qh = before_lo[p + j], before_hi[p + j], after_lo[q + j], after_hi[q + j]
            if y == v[node]:
                if ph == 0.0 or qh == 0.0:
                    a = a_prefix = a_suffix = 0.0
                else:
                    a, a_prefix, a_suffix = (
                        ph * qh,
                        np.sqrt(max(pl, 1e-9 * ph) * ph) * qh,
                        ph * np.sqrt(max(ql, 1e-9 * qh) * qh),
                    )
            elif y != c:
                o += pl * ql
                if ph < np.inf:
                    o_prefix += np.sqrt(pl * ph) * ql
                if qh < np.inf:
                    o_suffix += pl * np.sqrt(ql * qh)
        o *= 1.0 - slack
        bounds[node] = (
            (a * (1.0 + slack) + z * (1.0 + o)) / (1.0 + z * (a * (1.0 + slack) + o)) if a < np.inf else np.inf
        )
        without_prefix[node] = _single_quotient(a_prefix, o_prefix, z) if a_prefix < np.inf else np.inf
        without_suffix[node] = _single_quotient(a_suffix, o_suffix, z) if a_suffix < np.inf else np.inf
    return bounds, without_prefix, without_suffix
