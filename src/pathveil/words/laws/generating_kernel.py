"""One compiled pass backwards through a word for some values of a variable side by side, which may be complex.

With S_i(y) the sum of the messages of the states that may follow y, and r the message of the state that y enters with
the word's own symbol (if it can),

    message_i(y) = f(y) · (v (S_i(y) - r) + r)    where the word's own symbol may follow,
    message_i(y) = g(y) · u · S_i(y)               elsewhere.

For the exponential mechanism u = v is the variable of F(u) = Σ u^errors over the feasible words, and f = g = 1; for the
online mechanism u counts errors, v = zu, and f and g are what its probabilities are divided by.

The values are tuples, whose length numba knows: it compiles one loop for a single value, which is all that a mean
takes, and one for eight, which takes six times as long.
"""

from __future__ import annotations

from math import frexp, ldexp
from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel, part_of_kernel

LANES = 8  # values at a time, where there are several
_RANGE = 1e-200


@part_of_kernel
def _rescale(message: Any, reached: Any, lanes: int, exponents: Any, far_apart: Any) -> None:
    """Divide the messages of each lane by a power of two, and note it; note also where they are too far apart."""
    for lane in range(lanes):
        top, low = 0.0, np.inf
        for y in range(len(reached)):
            if reached[y]:
                size = max(abs(message[y, lane]), abs(message[y, lanes + lane]))
                top = max(top, size)
                if size > 0.0:
                    low = min(low, size)
        far_apart[lane] |= low < top * _RANGE
        if top > 0.0:
            power = frexp(top)[1]
            factor = ldexp(1.0, -power)
            exponents[lane] += power
            for y in range(len(reached)):
                if reached[y]:
                    message[y, lane] *= factor
                    message[y, lanes + lane] *= factor


@kernel
def generating_passes(
    codes: Any,
    start: int,
    accepting: Any,
    reached: Any,
    offsets: Any,
    targets: Any,
    label_offsets: Any,
    label_sources: Any,
    label_targets: Any,
    right_factors: Any,
    other_factors: Any,
    u: Any,
    v: Any,
    every: int,
    values: Any,
    exponents: Any,
    far_apart: Any,
) -> None:
    """values · 2^exponents are the messages of `start` at the first position. `u` and `v` hold real parts, then
    imaginary ones, like `values`. `far_apart` says where some message was too small, relative to others at its
    position, for floating point to hold all its digits.
    """
    length, state_count, lanes = len(codes), len(accepting), len(u) // 2
    both = np.zeros((2, state_count, 2 * lanes))
    total = np.empty(2 * lanes)
    exponents[:] = 0
    far_apart[:] = False
    for y in range(state_count):
        if accepting[y] and reached[length, y]:
            for lane in range(lanes):
                both[length & 1, y, lane] = 1.0
    for i in range(length - 1, -1, -1):
        after, message = both[(i + 1) & 1], both[i & 1]
        for y in range(state_count):
            if not reached[i, y]:
                message[y] = 0.0
                continue
            total[:] = 0.0
            for edge in range(offsets[y], offsets[y + 1]):
                row = after[targets[edge]]
                for lane in range(2 * lanes):
                    total[lane] += row[lane]
            factor = other_factors[y]
            row = message[y]
            for lane in range(lanes):
                a, b = total[lane], total[lanes + lane]
                row[lane] = factor * (a * u[lane] - b * u[lanes + lane])
                row[lanes + lane] = factor * (a * u[lanes + lane] + b * u[lane])
        symbol = codes[i]
        for k in range(label_offsets[symbol], label_offsets[symbol + 1]):
            y = label_sources[k]
            if not reached[i, y]:
                continue
            right = after[label_targets[k]]
            total[:] = 0.0
            for edge in range(offsets[y], offsets[y + 1]):
                if targets[edge] != label_targets[k]:
                    row = after[targets[edge]]
                    for lane in range(2 * lanes):
                        total[lane] += row[lane]
            # Other edges may lead to the same state as the word's own symbol does; they are wrong all the same.
            same = 0
            for edge in range(offsets[y], offsets[y + 1]):
                same += targets[edge] == label_targets[k]
            for lane in range(2 * lanes):
                total[lane] += (same - 1) * right[lane]
            factor = right_factors[y]
            row = message[y]
            for lane in range(lanes):
                a, b = total[lane], total[lanes + lane]
                row[lane] = factor * (a * v[lane] - b * v[lanes + lane] + right[lane])
                row[lanes + lane] = factor * (a * v[lanes + lane] + b * v[lane] + right[lanes + lane])
        if i % every == 0:
            _rescale(message, reached[i], lanes, exponents, far_apart)
    for lane in range(2 * lanes):  # a slice would be compiled together with the message of its error
        values[lane] = both[0, start, lane]
