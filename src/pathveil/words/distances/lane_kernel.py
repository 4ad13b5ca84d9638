"""Compiled draws with distances: thirty-two words at a time, one pass backwards and a walk for each word.

What a symbol weighs at a position is looked up once for all edges that carry it: `powers[costs[true, symbol]]`. Where
the symbol decides the state, it is multiplied by the message there, so that edges only add. Messages are brought back
to about 1 now and then. Weights too small for floating point are 0; `lost` bounds what that takes from any message, and
a word for which that, or rounding, could decide a comparison is marked as in doubt.

Loops over these words go up to a number that the compiler does not know, and name each cell in full: only then
does it make vector instructions of them (a view of a row would be counted as a reference, too). Three times faster.
"""

from __future__ import annotations

from math import frexp, ldexp, log
from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel, part_of_kernel

LANES = 48
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
def _load(values: Any, begins: Any, first: int, codes: Any) -> None:
    """Words, one column each; the last group repeats its last word."""
    for lane in range(codes.shape[1]):
        begin = begins[min(first + lane, len(begins) - 1)]
        for i in range(codes.shape[0]):
            codes[i, lane] = values[begin + i]


@part_of_kernel
def _weigh(
    beta: Any, after: int, codes: Any, i: int, entered: Any, costs: Any, powers: Any, table: Any, weights: Any
) -> None:
    """What each symbol weighs at position i, times the message in the state that it leads to where it decides that."""
    lanes = codes.shape[1]
    for label in range(len(weights)):
        if len(entered) == 0:
            for lane in range(lanes):
                weights[label, lane] = powers[costs[codes[i, lane], label]]
        elif entered[label] >= 0:
            x = entered[label]
            if table.size:
                for lane in range(lanes):
                    weights[label, lane] = table[codes[i, lane], label] * beta[after, x, lane]
            else:
                for lane in range(lanes):
                    weights[label, lane] = powers[costs[codes[i, lane], label]] * beta[after, x, lane]


@part_of_kernel
def _add(beta: Any, here: int, states: Any, offsets: Any, labels: Any, weights: Any) -> None:
    """The message of each state: the sum over its edges, up to four in one go."""
    lanes = weights.shape[1]
    for y in states:
        first, last = offsets[y], offsets[y + 1]
        a = labels[first]
        if last - first == 1:
            for lane in range(lanes):
                beta[here, y, lane] = weights[a, lane]
        elif last - first == 2:
            b = labels[first + 1]
            for lane in range(lanes):
                beta[here, y, lane] = weights[a, lane] + weights[b, lane]
        elif last - first == 3:
            b, c = labels[first + 1], labels[first + 2]
            for lane in range(lanes):
                beta[here, y, lane] = weights[a, lane] + weights[b, lane] + weights[c, lane]
        else:
            b, c, d = labels[first + 1], labels[first + 2], labels[first + 3]
            for lane in range(lanes):
                beta[here, y, lane] = (weights[a, lane] + weights[b, lane]) + (weights[c, lane] + weights[d, lane])
            first += 4
            while last - first >= 4:
                a, b, c, d = labels[first], labels[first + 1], labels[first + 2], labels[first + 3]
                for lane in range(lanes):
                    beta[here, y, lane] += (weights[a, lane] + weights[b, lane]) + (weights[c, lane] + weights[d, lane])
                first += 4
            for edge in range(first, last):
                a = labels[edge]
                for lane in range(lanes):
                    beta[here, y, lane] += weights[a, lane]


@part_of_kernel
def _add_products(
    beta: Any, here: int, after: int, states: Any, offsets: Any, labels: Any, targets: Any, weights: Any
) -> None:
    """The same where a symbol does not decide the state."""
    lanes = weights.shape[1]
    for y in states:
        for lane in range(lanes):
            beta[here, y, lane] = 0.0
        for edge in range(offsets[y], offsets[y + 1]):
            a, x = labels[edge], targets[edge]
            for lane in range(lanes):
                beta[here, y, lane] += weights[a, lane] * beta[after, x, lane]


@part_of_kernel
def _rescale(beta: Any, here: int, states: Any, exponents: Any, lost: Any, unscale: Any, i: int, sound: Any) -> None:
    """Multiply each word's message by a power of two that makes its largest entry about 1."""
    for lane in range(len(exponents)):
        top = 0.0
        for y in states:
            top = max(top, beta[here, y, lane])
        if not 0.0 < top < np.inf:
            sound[lane] = False
            continue
        power = frexp(top)[1]
        factor = ldexp(1.0, -power)
        exponents[lane] += power
        unscale[i, lane] = ldexp(1.0, power)
        lost[i, lane] *= factor
        for y in states:
            beta[here, y, lane] *= factor


@part_of_kernel
def _walk(
    beta: Any,
    lane: int,
    start: int,
    codes: Any,
    offsets: Any,
    labels: Any,
    targets: Any,
    costs: Any,
    powers: Any,
    table: Any,
    margin: float,
    most: float,
    lost: Any,
    unscale: Any,
    keystream: Any,
    at: int,
    private: Any,
    begin: int,
) -> tuple[bool, bool]:
    """A private word, one keystream value for each symbol. Is it in doubt? Are its weights too small to be drawn?"""
    doubt = False
    y = start
    for i in range(codes.shape[0]):
        symbol = codes[i, lane]
        first, last = offsets[y], offsets[y + 1]
        total = beta[i, y, lane] * unscale[i, lane]
        mark = (np.int64(keystream[at + i] >> np.uint64(11)) + 0.5) * 2.0**-53 * total
        near = margin * total + most * lost[i + 1, lane] + (offsets[-1] * _SMALLEST) * _LARGEST
        if not near <= 1e-3 * total:
            return False, True
        before, reached, weight, taken = 0.0, 0.0, 0.0, first - 1
        while reached <= mark and taken < last - 1:
            taken += 1
            before = reached
            weight = table[symbol, labels[taken]] if table.size else powers[costs[symbol, labels[taken]]]
            weight *= beta[i + 1, targets[taken], lane]
            reached += weight
        doubt |= (taken < last - 1 and reached - mark < near) or (taken > first and mark - before < near)
        while (
            weight == 0.0 and taken > first
        ):  # rounding carried the mark beyond the last edge, from which nothing leads on
            taken -= 1
            weight = powers[costs[symbol, labels[taken]]] * beta[i + 1, targets[taken], lane]
        private[begin + i] = labels[taken]
        y = targets[taken]
    return doubt, False


@kernel
def draw_with_distances(
    values: Any,
    begins: Any,
    reachable: Any,
    reachable_offsets: Any,
    offsets: Any,
    labels: Any,
    targets: Any,
    entered: Any,
    costs: Any,
    powers: Any,
    table: Any,
    most: float,
    every: int,
    margin: float,
    keystream: Any,
    private: Any,
    log_z: Any,
    in_doubt: Any,
    undrawn: Any,
    only_log_z: bool,
    lanes: int,
) -> None:
    """A private word for each word, one keystream value for each symbol, and log Z (-inf where it was lost).

    `entered` is the state that each symbol leads to, or empty where that depends on the state before; `table` holds the
    weights of all pairs of symbols, or nothing where that would be large; `most` bounds the
    growth of what was lost. Words whose weights floating point cannot hold are marked as undrawn.
    """
    state_count, length = len(offsets) - 1, len(reachable_offsets) - 2
    codes = np.empty((length, lanes), np.int64)
    kept = 2 if only_log_z else length + 1
    beta = np.zeros((kept, state_count, lanes))
    weights = np.zeros((costs.shape[0], lanes))
    lost, exponents = np.zeros((length + 1, lanes)), np.zeros(lanes)
    sound, unscale = np.ones(lanes, np.bool_), np.ones((length + 1, lanes))
    for first in range(0, len(begins), lanes):
        _load(values, begins, first, codes)
        exponents[:] = 0.0
        sound[:] = True
        beta[length % kept] = 0.0
        for y in reachable[reachable_offsets[length] : reachable_offsets[length + 1]]:
            beta[length % kept, y, :] = 1.0
        for i in range(length - 1, -1, -1):
            states = reachable[reachable_offsets[i] : reachable_offsets[i + 1]]
            here, after = i % kept, (i + 1) % kept
            if only_log_z:
                beta[here] = 0.0
            _weigh(beta, after, codes, i, entered, costs, powers, table, weights)
            if len(entered) > 0:
                _add(beta, here, states, offsets, labels, weights)
            else:
                _add_products(beta, here, after, states, offsets, labels, targets, weights)
            for lane in range(lanes):
                lost[i, lane] = (most * lost[i + 1, lane] + (offsets[-1] * _SMALLEST) * _LARGEST) * 1.0000001
            if i % every == 0:
                _rescale(beta, here, states, exponents, lost, unscale, i, sound)
        start = reachable[0]
        for lane in range(min(lanes, len(begins) - first)):
            word, here_z = first + lane, beta[0, start, lane]
            undrawn[word] = not sound[lane] or here_z * margin < lost[0, lane]
            log_z[word] = -np.inf if undrawn[word] else log(here_z) + exponents[lane] * log(2.0)
            in_doubt[word] = False
            if not (only_log_z or undrawn[word]):
                in_doubt[word], undrawn[word] = _walk(
                    beta, lane, start, codes, offsets, labels, targets, costs, powers, table, margin, most, lost,
                    unscale, keystream, word * length, private, begins[word],
                )  # fmt: skip
