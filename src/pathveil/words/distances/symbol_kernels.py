"""Compiled loops for symbols that are drawn one by one: on free alphabets, and by the online mechanism."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel, part_of_kernel


@part_of_kernel
def _log_sum(row: Any, labels: Any, first: int, last: int, step: float) -> Any:
    """log Σ e^(-step · cost) over the edges of a state."""
    least = row[labels[first]]
    for edge in range(first + 1, last):
        least = min(least, row[labels[edge]])
    total = 0.0
    for edge in range(first, last):
        total += exp(-step * (np.int64(row[labels[edge]]) - np.int64(least)))
    return log(total) - step * least


@kernel
def largest_loss(offsets: Any, labels: Any, costs: Any, pairs: Any, any_pair: bool, step: float) -> Any:
    """The largest difference of log P(y|x, u) between true symbols x, over states u and successors y.

    Between any two symbols, or between those of each pair.
    """
    count = costs.shape[0]
    sums = np.empty(count)
    worst = 0.0
    for u in range(len(offsets) - 1):
        first, last = offsets[u], offsets[u + 1]
        if last - first < 2:
            continue  # nothing to choose
        for x in range(count):
            sums[x] = _log_sum(costs[x], labels, first, last, step)
        if any_pair:
            for edge in range(first, last):
                y = labels[edge]
                low, high = np.inf, -np.inf
                for x in range(count):
                    value = step * costs[x, y] + sums[x]
                    low, high = min(low, value), max(high, value)
                worst = max(worst, high - low)
        else:
            for k in range(len(pairs)):
                one, other = costs[pairs[k, 0]], costs[pairs[k, 1]]
                change = sums[pairs[k, 0]] - sums[pairs[k, 1]]
                for edge in range(first, last):
                    y = labels[edge]
                    worst = max(worst, abs(change + step * (np.int64(one[y]) - np.int64(other[y]))))
    return worst


@kernel
def draw_online(
    values: Any,
    begins: Any,
    length: int,
    offsets: Any,
    labels: Any,
    targets: Any,
    start: int,
    costs: Any,
    powers: Any,
    margin: float,
    keystream: Any,
    private: Any,
    in_doubt: Any,
) -> None:
    """A private word for each word; one keystream value for each symbol."""
    for word in range(len(begins)):
        y = start
        in_doubt[word] = False
        for i in range(length):
            row = costs[np.int64(values[begins[word] + i])]
            first, last = offsets[y], offsets[y + 1]
            least = row[labels[first]]
            for edge in range(first + 1, last):
                least = min(least, row[labels[edge]])
            total = 0.0
            for edge in range(first, last):
                total += powers[row[labels[edge]] - least]
            mark = (np.int64(keystream[word, i] >> np.uint64(11)) + 0.5) * 2.0**-53 * total
            reached = 0.0
            taken = first
            for edge in range(first, last):
                weight = powers[row[labels[edge]] - least]
                if weight > 0.0:
                    taken = edge
                    reached += weight
                    if edge < last - 1:
                        in_doubt[word] |= abs(reached - mark) < margin * total
                    if reached > mark:
                        break
            private[begins[word] + i] = labels[taken]
            y = targets[taken]


@kernel
def draw_symbols(rows: Any, sums: Any, keystream: Any, margin: float, private: Any, in_doubt: Any) -> None:
    """For each cell the first symbol whose sum is above a uniform share of the total of its row."""
    last = sums.shape[1] - 1
    for cell in range(len(rows)):
        row = sums[rows[cell]]
        total = row[last]
        mark = (np.int64(keystream[cell] >> np.uint64(11)) + 0.5) * 2.0**-53 * total
        low, high = 0, last
        while low < high:
            middle = (low + high) >> 1
            if row[middle] > mark:
                high = middle
            else:
                low = middle + 1
        near = margin * total
        in_doubt[cell] = (low < last and row[low] - mark < near) or (low > 0 and mark - row[low - 1] < near)
        private[cell] = low
