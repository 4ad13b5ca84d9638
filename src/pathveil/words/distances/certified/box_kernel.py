"""Compiled loops of certificates with distances: boxes around ratios of weights, and the largest loss they allow.

Numbers are bounds: sums that must not be too small use the upper ends of boxes and weights, and every step is widened
by more than its roundings.
"""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

from pathveil.numerics.jit import checked_kernel, part_of_kernel

_UP, _DOWN = 1 + 1e-11, 1 - 1e-11


@checked_kernel
def incoming(offsets: Any, symbols: Any, costs: Any, powers: Any, box: Any, sums: Any) -> None:
    """sums[c, y] = Σ box[c, x] · powers[cost(c, x)] over the x in the list of y."""
    count = costs.shape[0]
    weighted = np.empty(count)
    for c in range(count):
        row, own = box[c], costs[c]
        for x in range(count):
            weighted[x] = row[x] * powers[own[x]]
        for y in range(count):
            total = 0.0
            for k in range(offsets[y], offsets[y + 1]):
                total += weighted[symbols[k]]
            sums[c, y] = total


@checked_kernel
def widen(
    offsets: Any,
    symbols: Any,
    after_offsets: Any,
    after_symbols: Any,
    all_offsets: Any,
    all_symbols: Any,
    costs: Any,
    low_powers: Any,
    high_powers: Any,
    low: Any,
    high: Any,
    low_sums: Any,
    high_sums: Any,
    new_low: Any,
    new_high: Any,
) -> None:
    """The boxes one position later, united with those before.

    `offsets`, `symbols` list what may stand before each symbol, `all_…` what may follow, and `after_…` that for the
    symbols that have a box. Of a quotient of two sums over a box the terms that both have are taken once, at the end
    that makes it larger (or smaller).
    """
    count = costs.shape[0]
    is_before, shares = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    for c in range(count):
        own = costs[c]
        for k in range(after_offsets[c], after_offsets[c + 1]):
            to = after_symbols[k]
            below, above = low_sums[c, to], high_sums[c, to]
            for j in range(offsets[to], offsets[to + 1]):
                is_before[symbols[j]] = True
                for i in range(all_offsets[symbols[j]], all_offsets[symbols[j] + 1]):
                    shares[all_symbols[i]] = True
            for y in range(count):
                shared_low, shared_high = 0.0, 0.0
                for j in range(offsets[y], offsets[y + 1] if shares[y] else offsets[y]):
                    x = symbols[j]
                    if is_before[x]:
                        shared_low += low[c, x] * low_powers[own[x]]
                        shared_high += high[c, x] * high_powers[own[x]]
                if shared_high > 0.0:
                    only_y_high = max(high_sums[c, y] - shared_high, 0.0) + 1e-13 * high_sums[c, y]
                    only_y_low = max(low_sums[c, y] - shared_low, 0.0) * _DOWN
                    only_to_low = max(below - shared_low, 0.0) * _DOWN
                    only_to_high = max(above - shared_high, 0.0) + 1e-13 * above
                    # c itself stands before `to`, with weight 1: no sum below is 0.
                    largest = max(
                        (only_y_high + shared_low) / max(only_to_low + shared_low, _DOWN),
                        (only_y_high + shared_high) / max(only_to_low + shared_high, _DOWN),
                    )
                    smallest = (
                        min(
                            (only_y_low + shared_low) / (only_to_high + shared_low),
                            (only_y_low + shared_high) / (only_to_high + shared_high),
                        )
                        if shared_low > 0.0
                        else only_y_low / (only_to_high + shared_high)
                    )
                else:
                    largest, smallest = high_sums[c, y] / max(below, _DOWN), low_sums[c, y] / above
                if y == to:
                    largest = smallest = 1.0
                new_high[to, y] = max(new_high[to, y], largest * _UP)
                new_low[to, y] = min(new_low[to, y], smallest * _DOWN)
            for j in range(offsets[to], offsets[to + 1]):
                is_before[symbols[j]] = False
                for i in range(all_offsets[symbols[j]], all_offsets[symbols[j] + 1]):
                    shares[all_symbols[i]] = False


@part_of_kernel
def _bound(low: Any, high: Any, one: Any, other: Any, low_powers: Any, high_powers: Any, t: float) -> Any:
    """(numerator, denominator) at the corner of the box that makes numerator - t · denominator largest."""
    above, below = 0.0, 0.0
    for y in range(len(low)):
        a, b = high_powers[one[y]], low_powers[other[y]]
        weight = high[y] if a > t * b else low[y]
        above += weight * a
        below += weight * b
    return above, below


@checked_kernel
def largest_loss(
    costs: Any,
    near: Any,
    any_pair: bool,
    step: float,
    low_powers: Any,
    high_powers: Any,
    low_in: Any,
    high_in: Any,
    low_out: Any,
    high_out: Any,
    may_come: Any,
    may_go: Any,
    both_ways: bool,
    worst: float,
) -> Any:
    """The largest cost(w, v) · step + log Z(v)/Z(w), if that is above `worst`, which is returned otherwise.

    A row of the `in` sums for each symbol p before (or the beginning), one of the `out` sums for each q after (or the
    end); `may_come[p]`, `may_go[q]` mark what may stand between. With `both_ways` v and w must both stand between p and
    q; otherwise v may follow p, and w may stand before q.
    """
    count = costs.shape[0]
    low, high = np.empty(count), np.empty(count)
    for p in range(len(low_in)):
        for q in range(len(low_out)):
            ready = False
            for v in range(count):
                if not may_come[p, v] or (both_ways and not may_go[q, v]):
                    continue
                for w in range(count):
                    if v == w or not may_go[q, w] or (both_ways and not may_come[p, w]):
                        continue
                    if not (any_pair or near[v, w]):
                        continue
                    cost = step * costs[v, w]
                    if 2 * cost <= worst:
                        continue  # log Z changes by no more than the cost
                    if not ready:
                        for y in range(count):
                            low[y] = low_in[p, y] * low_out[q, y] * _DOWN
                            high[y] = high_in[p, y] * high_out[q, y] * _UP
                        ready = True
                    for way in range(1 if both_ways else 2):
                        one, other = (costs[v], costs[w]) if way == 0 else (costs[w], costs[v])
                        t = exp(max(worst - cost, 0.0))
                        largest = exp(min(cost, 700.0))
                        while t < largest:
                            above, below = _bound(low, high, one, other, low_powers, high_powers, t)
                            if above * _UP <= t * below:
                                break
                            t = largest if below <= 0.0 else max(above / below, t) * (1 + 1e-9)
                        worst = max(worst, cost + min(log(t), cost))
    return worst
