"""Compiled draws with distances: sixteen words at a time, one pass backwards and a walk for each word.

What a symbol weighs at a position is looked up once for all edges that carry it: `powers[costs[true, symbol]]`. Where
the symbol decides the state, it is multiplied by the message there, so that edges only add. Messages are brought back
to about 1 now and then. Weights too small for floating point are 0; `lost` bounds what that takes from any message, and
a word for which that, or rounding, could decide a comparison is marked as in doubt.
"""

from __future__ import annotations

from math import frexp, ldexp, log
from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel, part_of_kernel

LANES = 16
_SMALLEST = 1e-304
_LARGEST = 1e90  # messages between two rescalings


@kernel
def growth(offsets: Any, labels: Any, costs: Any, powers: Any) -> Any:
    """The most that the messages after a position can add up to: over all states and true symbols."""
    most = 0.0
    for symbol in range(costs.shape[0]):
        row = costs[symbol]
        for y in range(len(offsets) - 1):
            total = 0.0
            for edge in range(offsets[y], offsets[y + 1]):
                total += powers[row[labels[edge]]]
            most = max(most, total)
    return most


@part_of_kernel
def _step(
    after: Any,
    message: Any,
    symbols: Any,
    states: Any,
    offsets: Any,
    labels: Any,
    targets: Any,
    entered: Any,
    costs: Any,
    powers: Any,
    table: Any,
    weights: Any,
) -> None:
    """One position backwards: `message` from `after`, with the words' symbols here."""
    decided = len(entered) > 0
    for label in range(len(weights)):
        row = weights[label]
        if decided:
            if entered[label] >= 0:
                there = after[entered[label]]
                if table.size:
                    for lane in range(LANES):
                        row[lane] = table[symbols[lane], label] * there[lane]
                else:
                    for lane in range(LANES):
                        row[lane] = powers[costs[symbols[lane], label]] * there[lane]
        else:
            for lane in range(LANES):
                row[lane] = powers[costs[symbols[lane], label]]
    for y in states:
        row = message[y]
        first, last = offsets[y], offsets[y + 1]
        if decided:
            a = weights[labels[first]]
            if last - first >= 4:
                b, c, d = weights[labels[first + 1]], weights[labels[first + 2]], weights[labels[first + 3]]
                for lane in range(LANES):
                    row[lane] = (a[lane] + b[lane]) + (c[lane] + d[lane])
                first += 4
            else:
                for lane in range(LANES):
                    row[lane] = a[lane]
                first += 1
            while last - first >= 4:
                a, b = weights[labels[first]], weights[labels[first + 1]]
                c, d = weights[labels[first + 2]], weights[labels[first + 3]]
                for lane in range(LANES):
                    row[lane] += (a[lane] + b[lane]) + (c[lane] + d[lane])
                first += 4
            for edge in range(first, last):
                a = weights[labels[edge]]
                for lane in range(LANES):
                    row[lane] += a[lane]
        else:
            row[:] = 0.0
            for edge in range(first, last):
                a, there = weights[labels[edge]], after[targets[edge]]
                for lane in range(LANES):
                    row[lane] += a[lane] * there[lane]


@part_of_kernel
def _rescale(message: Any, states: Any, exponents: Any, lost: Any, sound: Any) -> None:
    """Multiply each word's message by a power of two that makes its largest entry about 1."""
    for lane in range(LANES):
        top = 0.0
        for y in states:
            top = max(top, message[y, lane])
        if not 0.0 < top < np.inf:
            sound[lane] = False
            continue
        power = frexp(top)[1]
        factor = ldexp(1.0, -power)
        exponents[lane] += power
        lost[lane] *= factor
        for y in states:
            message[y, lane] *= factor


@kernel
def draw_with_distances(
    values: Any,
    begins: Any,
    length: int,
    reachable: Any,
    reachable_offsets: Any,
    offsets: Any,
    labels: Any,
    targets: Any,
    entered: Any,
    costs: Any,
    powers: Any,
    table: Any,
    degree: int,
    most: float,
    every: int,
    margin: float,
    keystream: Any,
    private: Any,
    log_z: Any,
    in_doubt: Any,
    only_log_z: bool,
) -> None:
    """A private word for each word, one keystream value for each symbol, and log Z (-inf where it was lost).

    `entered` is the state that each symbol leads to, or empty where that depends on the state before; `table` holds the
    weights of all pairs of symbols, or nothing where that would be large; `degree` is the largest; `most` bounds the
    growth of what was lost.
    """
    state_count = len(offsets) - 1
    codes = np.empty((length, LANES), np.int64)
    kept = 2 if only_log_z else length + 1
    beta = np.zeros((kept, state_count, LANES))
    weights = np.zeros((costs.shape[0], LANES))
    lost, exponents = np.zeros((length + 1, LANES)), np.zeros(LANES)
    sound, ahead = np.ones(LANES, np.bool_), np.empty(degree)
    for first in range(0, len(begins), LANES):
        for lane in range(LANES):
            begin = begins[min(first + lane, len(begins) - 1)]
            for i in range(length):
                codes[i, lane] = values[begin + i]
        exponents[:] = 0.0
        sound[:] = True
        beta[length % kept] = 0.0
        for y in reachable[reachable_offsets[length] : reachable_offsets[length + 1]]:
            beta[length % kept, y, :] = 1.0
        lost[length] = 0.0
        for i in range(length - 1, -1, -1):
            states = reachable[reachable_offsets[i] : reachable_offsets[i + 1]]
            message = beta[i % kept]
            if only_log_z:
                message[:] = 0.0
            _step(
                beta[(i + 1) % kept], message, codes[i], states, offsets, labels, targets, entered, costs, powers,
                table, weights,
            )  # fmt: skip
            for lane in range(LANES):
                lost[i, lane] = (most * lost[i + 1, lane] + (offsets[-1] * _SMALLEST) * _LARGEST) * 1.0000001
            if i % every == 0:
                _rescale(message, states, exponents, lost[i], sound)
        start = reachable[0]
        for lane in range(min(LANES, len(begins) - first)):
            word = first + lane
            here = beta[0, start, lane]
            if not sound[lane] or here * margin < lost[0, lane]:
                log_z[word] = -np.inf
                in_doubt[word] = True
                continue
            log_z[word] = log(here) + exponents[lane] * log(2.0)
            in_doubt[word] = False
            if only_log_z:
                continue
            y = start
            for i in range(length):
                symbol = codes[i, lane]
                uniform = (np.int64(keystream[word * length + i] >> np.uint64(11)) + 0.5) * 2.0**-53
                total = 0.0
                for edge in range(offsets[y], offsets[y + 1]):
                    weight = table[symbol, labels[edge]] if table.size else powers[costs[symbol, labels[edge]]]
                    ahead[edge - offsets[y]] = weight * beta[i + 1, targets[edge], lane]
                    total += ahead[edge - offsets[y]]
                mark = uniform * total
                near = margin * total + most * lost[i + 1, lane] + (offsets[-1] * _SMALLEST) * _LARGEST
                reached = 0.0
                taken = -1
                for edge in range(offsets[y], offsets[y + 1]):
                    weight = ahead[edge - offsets[y]]
                    if weight > 0.0:
                        taken = edge  # stays, should rounding carry the mark beyond the last edge
                        reached += weight
                        if reached < total:
                            in_doubt[word] |= abs(reached - mark) < near
                        if reached > mark:
                            break
                if taken < 0 or near > 1e-3 * total:
                    in_doubt[word] = True
                    break
                private[begins[word] + i] = labels[taken]
                y = targets[taken]
