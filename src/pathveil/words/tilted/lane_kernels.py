"""Compiled passes over sixteen words at a time, for any system: O(n · edges) a word.

Messages lie as β[position, state, word], so that the sixteen words of a state are added in a few instructions. With
z = e^-θ, the evidence at a position changes the sum over all successors in one term only:

    β_i(y) = z Σ_{y→x} β_{i+1}(x) + (1-z) β_{i+1}(the state that y enters with the word's own symbol)

so the sums are the same for all words, and only the predecessors of the word's symbol get a second look. States that
no word of this length visits at a position are left out of it. Messages are brought back to the middle of the
floating-point range before they can leave it; a word whose states differ by more than a factor of 10^200 is reported,
and left to logarithms. docs/development/kernels.md tells what else was tried.

A word for which a random number comes closer to the border between two symbols than rounding can be trusted is marked
as in doubt: `exact` decides it.
"""

from __future__ import annotations

from math import frexp, ldexp, log
from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel, part_of_kernel

LANES = 16
_RANGE = 1e-200  # the smallest weight of a state relative to the largest at its position


@part_of_kernel
def _load(values: Any, begins: Any, first: int, codes: Any) -> None:
    """Sixteen words, one column each; the last group repeats its last word."""
    for lane in range(LANES):
        begin = begins[min(first + lane, len(begins) - 1)]
        for i in range(len(codes)):
            codes[i, lane] = values[begin + i]


@part_of_kernel
def _step(
    after: Any,
    message: Any,
    symbols: Any,
    states: Any,
    active: Any,
    offsets: Any,
    targets: Any,
    label_offsets: Any,
    label_sources: Any,
    label_targets: Any,
    z: float,
    rest: float,
) -> None:
    """One position backwards: `message` from `after`, with the words' symbols here; rest = 1 - z."""
    for y in states:
        row = message[y]
        first, last = offsets[y], offsets[y + 1]
        # Up to four successors in one go, so that the sum stays in registers.
        a = after[targets[first]]
        if last - first == 1:
            for lane in range(LANES):
                row[lane] = z * a[lane]
        elif last - first == 2:
            b = after[targets[first + 1]]
            for lane in range(LANES):
                row[lane] = z * (a[lane] + b[lane])
        elif last - first == 3:
            b, c = after[targets[first + 1]], after[targets[first + 2]]
            for lane in range(LANES):
                row[lane] = z * (a[lane] + b[lane] + c[lane])
        else:
            b, c, d = after[targets[first + 1]], after[targets[first + 2]], after[targets[first + 3]]
            for lane in range(LANES):
                row[lane] = z * (a[lane] + b[lane] + c[lane] + d[lane])
            for edge in range(first + 4, last):
                e = after[targets[edge]]
                for lane in range(LANES):
                    row[lane] += z * e[lane]
    for lane in range(LANES):
        symbol = symbols[lane]
        for k in range(label_offsets[symbol], label_offsets[symbol + 1]):
            y = label_sources[k]
            if active[y]:
                message[y, lane] += rest * after[label_targets[k], lane]


@kernel
def _copy(message: Any, into: Any) -> None:
    """`into[:] = message`, which numba would compile for seconds, together with the message of its error."""
    for y in range(message.shape[0]):
        for lane in range(LANES):
            into[y, lane] = message[y, lane]


@kernel
def _rescale(message: Any, states: Any, exponents: Any, unscale: Any, sound: Any) -> None:
    """Multiply each word's message by a power of two that makes its largest entry about 1."""
    for lane in range(LANES):
        top = 0.0
        low = np.inf
        for y in states:
            top = max(top, message[y, lane])
            low = min(low, message[y, lane])
        if not (top < np.inf and low > top * _RANGE):
            sound[lane] = False
            unscale[lane] = 1.0
            continue
        power = frexp(top)[1]
        factor = ldexp(1.0, -power)
        unscale[lane] = ldexp(1.0, power)
        exponents[lane] += power
        for y in states:
            message[y, lane] *= factor


@kernel
def partition_functions(
    values: Any,
    begins: Any,
    length: int,
    system: Any,
    z: float,
    rest: float,
    every: int,
    log_z: Any,
    sound: Any,
) -> None:
    """log Z of each word, keeping two messages at a time; `system` as in `_messages`."""
    reachable, reachable_offsets, active, rows, offsets, targets, label_offsets, label_sources, label_targets = system
    state_count = active.shape[1]
    codes = np.empty((length, LANES), np.int64)
    both = np.zeros((2, state_count, LANES))
    unscale, exponents, fine = np.ones(LANES), np.zeros(LANES), np.ones(LANES, np.bool_)
    for first in range(0, len(begins), LANES):
        _load(values, begins, first, codes)
        exponents[:] = 0.0
        fine[:] = True
        both[:] = 0.0
        for y in reachable[reachable_offsets[rows[length]] : reachable_offsets[rows[length] + 1]]:
            both[length & 1, y, :] = 1.0
        for i in range(length - 1, -1, -1):
            message = both[i & 1]
            message[:] = 0.0
            states = reachable[reachable_offsets[rows[i]] : reachable_offsets[rows[i] + 1]]
            _step(
                both[(i + 1) & 1], message, codes[i], states, active[rows[i]], offsets, targets,
                label_offsets, label_sources, label_targets, z, rest,
            )  # fmt: skip
            if i % every == 0:
                _rescale(message, states, exponents, unscale, fine)
        start = reachable[0]
        for lane in range(min(LANES, len(begins) - first)):
            log_z[first + lane] = log(both[0, start, lane]) + exponents[lane] * log(2.0)
            sound[first + lane] = fine[lane]


@part_of_kernel
def _entered(y: int, symbol: int, offsets: Any, labels: Any, targets: Any) -> int:
    """The state that y enters with this symbol, -1 if it cannot: looked for among its edges, sorted by symbol."""
    low, high = offsets[y], offsets[y + 1]
    while low < high:
        middle = (low + high) >> 1
        if labels[middle] < symbol:
            low = middle + 1
        else:
            high = middle
    found: int = targets[low] if low < offsets[y + 1] and labels[low] == symbol else -1
    return found


@kernel
def _messages(
    low: int,
    high: int,
    clear: bool,
    beta: Any,
    codes: Any,
    system: Any,
    z: float,
    rest: float,
    every: int,
    exponents: Any,
    unscale: Any,
    fine: Any,
) -> None:
    """Messages high - 1, …, low, into beta[high - 1 - low], …, beta[0], from the one behind them.

    `reachable[reachable_offsets[r]:reachable_offsets[r + 1]]` with r = rows[i] are the states in use at position i;
    `active[r]` marks them. Edges come twice: from each state, and to it by the symbol that leads there.
    States that are not in use at a position have 0. Nothing is ever written to them; but where a row served another
    position before, it must be cleared.
    """
    reachable, reachable_offsets, active, rows, offsets, targets, label_offsets, label_sources, label_targets = system
    for i in range(high - 1, low - 1, -1):
        message, r = beta[i - low], rows[i]
        if clear:
            message[:] = 0.0
        states = reachable[reachable_offsets[r] : reachable_offsets[r + 1]]
        _step(
            beta[i - low + 1], message, codes[i], states, active[r], offsets, targets,
            label_offsets, label_sources, label_targets, z, rest,
        )  # fmt: skip
        if i % every == 0:
            _rescale(message, states, exponents, unscale[i], fine)


@kernel
def draw_in_lanes(
    values: Any,
    begins: Any,
    length: int,
    system: Any,
    z: float,
    rest: float,
    every: int,
    log_z: Any,
    sound: Any,
    step: int,
    labels: Any,
    step_table: Any,
    keystream: Any,
    private: Any,
    margin: float,
    in_doubt: Any,
) -> None:
    """A private word for each word, and log Z; one keystream value for each symbol.

    First the messages, from the last position to the first, then a walk for each word: from state y an edge to x is
    taken with probability ∝ β(x), times z if its symbol is wrong. Messages are held for `step` positions at a time; of
    the others every `step`-th is kept, from which those before it are made once more. The walk is spelled out, for as a
    function of its own, even one that is put in place, it made the whole 5 to 9% slower. `system` as in `_messages`.
    """
    reachable, reachable_offsets, active, rows, offsets, targets = system[:6]
    state_count, segments = active.shape[1], (length + step - 1) // step
    codes = np.empty((length, LANES), np.int64)
    beta = np.zeros((min(step, length) + 1, state_count, LANES))
    kept = np.zeros((segments + 1, state_count, LANES))
    for y in reachable[reachable_offsets[rows[length]] : reachable_offsets[rows[length] + 1]]:
        kept[segments, y, :] = 1.0
    unscale, exponents, fine = np.ones((length + 1, LANES)), np.zeros(LANES), np.ones(LANES, np.bool_)
    scaled_again, here = np.zeros(LANES), np.empty(LANES, np.int64)
    for first in range(0, len(begins), LANES):
        _load(values, begins, first, codes)
        exponents[:] = 0.0
        fine[:] = True
        for segment in range(segments - 1, -1, -1):
            low, high = segment * step, min(segment * step + step, length)
            _copy(kept[segment + 1], beta[high - low])
            _messages(low, high, segments > 1, beta, codes, system, z, rest, every, exponents, unscale, fine)
            if segment > 0:
                _copy(beta[0], kept[segment])
        here[:] = reachable[0]
        for lane in range(min(LANES, len(begins) - first)):
            log_z[first + lane] = log(beta[0, reachable[0], lane]) + exponents[lane] * log(2.0)
            sound[first + lane] = fine[lane]
            in_doubt[first + lane] = False
        for segment in range(segments):
            low, high = segment * step, min(segment * step + step, length)
            if segment > 0:
                _copy(kept[segment + 1], beta[high - low])
                _messages(low, high, segments > 1, beta, codes, system, z, rest, every, scaled_again, unscale, fine)
            for lane in range(min(LANES, len(begins) - first)):
                if not fine[lane]:
                    continue
                word, y = first + lane, here[lane]
                for i in range(low, high):
                    symbol = codes[i, lane]
                    uniform = (np.int64(keystream[word * length + i] >> np.uint64(11)) + 0.5) * 2.0**-53
                    total = beta[i - low, y, lane] * unscale[i, lane]
                    mark = uniform * total
                    near = margin * total
                    right = step_table[y, symbol] if step_table.size else _entered(y, symbol, offsets, labels, targets)
                    weight = beta[i - low + 1, right, lane] if right >= 0 else 0.0
                    taken = -1  # an edge with another symbol; -1 for the right symbol
                    in_doubt[word] |= right >= 0 and abs(mark - weight) < near
                    if mark >= weight:
                        mark, near = (mark - weight) / z, near / z
                        for edge in range(offsets[y], offsets[y + 1]):
                            other = beta[i - low + 1, targets[edge], lane]
                            if labels[edge] != symbol and other > 0.0:
                                taken = edge  # stays, should rounding carry the mark beyond the last edge
                                mark -= other
                                in_doubt[word] |= abs(mark) < near
                                if mark < 0.0:
                                    break
                    if taken >= 0:
                        private[begins[word] + i] = labels[taken]
                        y = targets[taken]
                    else:
                        private[begins[word] + i] = symbol
                        y = right
                here[lane] = y
