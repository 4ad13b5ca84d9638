"""Compiled draws with distances inside a corridor around each word: see corridor.py for the bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel, part_of_kernel

_UP = 1 + 1e-7  # more than the roundings of a bound at one position
_LARGEST = 1e200


@kernel
def symbols_nearby(costs: Any, powers: Any, widest: int) -> Any:
    """The symbols that cost at most `widest`, for each true symbol in their order, and what all others weigh."""
    count = costs.shape[0]
    offsets, others = np.zeros(count + 1, np.int64), np.zeros(count)
    for x in range(count):
        found = 0
        for s in range(count):
            found += costs[x, s] <= widest
        offsets[x + 1] = offsets[x] + found
    symbols = np.empty(offsets[count], np.int32)
    for x in range(count):
        k, left_out = offsets[x], 0.0
        for s in range(count):
            if costs[x, s] <= widest:
                symbols[k] = s
                k += 1
            else:
                left_out += powers[costs[x, s]]
        others[x] = left_out
    return offsets, symbols, others


@kernel
def growth_nearby(
    near_offsets: Any, near: Any, costs: Any, powers: Any, label_offsets: Any, sources: Any, states: int, start: int
) -> Any:
    """The most that the edges of a state into a corridor weigh together; the start left out.

    `sources[label_offsets[a]:label_offsets[a + 1]]` are the states that have an edge with symbol a.
    """
    sums, most = np.zeros(states), 0.0
    for x in range(len(near_offsets) - 1):
        for k in range(near_offsets[x], near_offsets[x + 1]):
            weight = powers[costs[x, near[k]]]
            for e in range(label_offsets[near[k]], label_offsets[near[k] + 1]):
                sums[sources[e]] += weight
        for k in range(near_offsets[x], near_offsets[x + 1]):
            for e in range(label_offsets[near[k]], label_offsets[near[k] + 1]):
                if sources[e] != start:
                    most = max(most, sums[sources[e]])
                sums[sources[e]] = 0.0
    return most


@part_of_kernel
def _backward(
    word: Any,
    near_offsets: Any,
    near: Any,
    offsets: Any,
    labels: Any,
    entered: Any,
    accepting: Any,
    costs: Any,
    powers: Any,
    bounds: Any,
    weights: Any,
    beta: Any,
    lost: Any,
) -> Any:
    """β_i for i = n-1..1 in the corridor, and what is missing in each at most; returns what no β_1 outside exceeds.

    `bounds` are G, O and F of corridor.py.
    """
    n = len(word)
    x, before = word[n - 1], word[n - 2]
    highest, outside, top = 1.0, bounds[2], 0.0
    for k in range(near_offsets[before], near_offsets[before + 1]):  # the last symbol: nothing is left out
        y = entered[near[k]]
        total = 0.0
        for edge in range(offsets[y], offsets[y + 1]):
            if accepting[entered[labels[edge]]]:
                total += powers[costs[x, labels[edge]]]
        beta[n - 1, y] = total
        top = max(top, total)
    lost[n - 1] = 0.0
    highest = max(top * _UP, outside)
    for i in range(n - 2, 0, -1):
        x, before = word[i], word[i - 1]
        for k in range(near_offsets[x], near_offsets[x + 1]):
            weights[near[k]] = powers[costs[x, near[k]]] * beta[i + 1, entered[near[k]]]
        top = 0.0
        for k in range(near_offsets[before], near_offsets[before + 1]):
            y = entered[near[k]]
            edge, last = offsets[y], offsets[y + 1]
            total = 0.0
            while last - edge >= 4:
                a, b = weights[labels[edge]] + weights[labels[edge + 1]], weights[labels[edge + 2]]
                total += a + (b + weights[labels[edge + 3]])
                edge += 4
            while edge < last:
                total += weights[labels[edge]]
                edge += 1
            beta[i, y] = total
            top = max(top, total)
        for k in range(near_offsets[x], near_offsets[x + 1]):
            weights[near[k]] = 0.0
        lost[i] = (bounds[0] * lost[i + 1] + bounds[1] * outside) * _UP
        outside = bounds[2] * highest * _UP
        highest = max(top * _UP + lost[i], outside)
        if highest > _LARGEST:
            return np.inf
    return outside


@part_of_kernel
def _first_symbol(
    x: int,
    near_offsets: Any,
    near: Any,
    entered: Any,
    initial: Any,
    others: Any,
    costs: Any,
    powers: Any,
    beta: Any,
    lost: Any,
    outside: float,
    margin: float,
    bits: Any,
) -> tuple[int, bool]:
    """Which symbol comes first, and whether that is in doubt: -1 where it cannot be told."""
    total, weighed = 0.0, 0.0
    for k in range(near_offsets[x], near_offsets[x + 1]):
        if initial[near[k]]:
            weight = powers[costs[x, near[k]]]
            weighed += weight
            total += weight * beta[1, entered[near[k]]]
    close = margin * total + 2 * (weighed * lost[1] + others[x] * outside) * _UP
    if not close <= 1e-2 * total:
        return -1, True
    mark = (np.int64(bits >> np.uint64(11)) + 0.5) * 2.0**-53 * total
    reached, before, taken = 0.0, 0.0, -1
    for k in range(near_offsets[x], near_offsets[x + 1]):
        if initial[near[k]]:
            taken = near[k]
            before = reached
            reached += powers[costs[x, near[k]]] * beta[1, entered[near[k]]]
            if reached > mark:
                break
    return taken, reached - mark < close or mark - before < close


@part_of_kernel
def _walk(
    word: Any,
    first: int,
    offsets: Any,
    labels: Any,
    entered: Any,
    accepting: Any,
    costs: Any,
    powers: Any,
    beta: Any,
    lost: Any,
    margin: float,
    keystream: Any,
    at: int,
    private: Any,
    begin: int,
) -> bool:
    """The other symbols; True where one is in doubt."""
    private[begin] = first
    y, n = entered[first], len(word)
    for i in range(1, n):
        total = beta[i, y]
        close = margin * total + 2 * lost[i]
        if not close <= 1e-2 * total:
            return True
        mark = (np.int64(keystream[at + i] >> np.uint64(11)) + 0.5) * 2.0**-53 * total
        reached, before, taken = 0.0, 0.0, offsets[y] - 1
        while reached <= mark and taken < offsets[y + 1] - 1:
            taken += 1
            before = reached
            x = entered[labels[taken]]
            reached += powers[costs[word[i], labels[taken]]] * (beta[i + 1, x] if i + 1 < n else accepting[x])
        if reached - mark < close or mark - before < close:
            return True
        private[begin + i] = labels[taken]
        y = entered[labels[taken]]
    return False


@kernel
def draw_in_corridors(
    values: Any,
    begins: Any,
    length: int,
    near_offsets: Any,
    near: Any,
    others: Any,
    offsets: Any,
    labels: Any,
    entered: Any,
    initial: Any,
    accepting: Any,
    costs: Any,
    powers: Any,
    bounds: Any,
    margin: float,
    keystream: Any,
    private: Any,
    in_doubt: Any,
) -> None:
    """A private word for each feasible word, one keystream value for each symbol; those in doubt may be unfinished."""
    beta, weights = np.zeros((length, len(offsets) - 1)), np.zeros(costs.shape[0])
    lost, word = np.zeros(length), np.empty(length, np.int64)
    for number in range(len(begins)):
        for i in range(length):
            word[i] = values[begins[number] + i]
        outside = _backward(
            word, near_offsets, near, offsets, labels, entered, accepting, costs, powers, bounds, weights, beta, lost
        )
        first, doubt = _first_symbol(
            word[0], near_offsets, near, entered, initial, others, costs, powers, beta, lost, outside, margin,
            keystream[number * length],
        )  # fmt: skip
        if not doubt:
            doubt = _walk(
                word, first, offsets, labels, entered, accepting, costs, powers, beta, lost, margin, keystream,
                number * length, private, begins[number],
            )  # fmt: skip
        in_doubt[number] = doubt
        for i in range(length - 1):
            for k in range(near_offsets[word[i]], near_offsets[word[i] + 1]):
                beta[i + 1, entered[near[k]]] = 0.0
