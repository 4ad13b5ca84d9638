"""The exponential mechanism for a few words on a large system: one product with the sparse adjacency for each position.

A road network has thousands of states and a handful of edges at each. For a single word on it, the sixteen words at a
time of lane_kernels.py would be mostly wasted, and logarithms of all messages cost more than the messages.
"""

from __future__ import annotations

from math import frexp, ldexp, log

import numpy as np

from pathveil.numerics.arrays import AnyIntArray, FloatArray, IntArray, UintArray
from pathveil.randomness.source import as_uniform
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import rounding_margin
from pathveil.words.tilted.engines import Drawn, Engine

# Weights of one position lie between these times the largest, and a step makes none smaller by more than e^-θ: so none
# is lost below the smallest floating-point number. Beyond either limit, logarithms do the work.
_RANGE = 1e-200
_LARGEST_TILT = 200.0


class SparseEngine(Engine):
    """Any system, words of one length at one tilt, one after the other."""

    def __init__(self, compiled: CompiledSystem, length: int, theta: float) -> None:
        super().__init__(compiled, length, theta)
        self._margin = rounding_margin((length + 2) * (compiled.largest_degree + 4))

    def _loop(self, values: AnyIntArray, begins: IntArray, keystream: UintArray, private: AnyIntArray) -> Drawn:
        log_z = np.empty(len(begins))
        in_doubt, undrawn = np.zeros(len(begins), dtype=bool), np.zeros(len(begins), dtype=bool)
        for number, begin in enumerate(begins.tolist()):
            codes = values[begin : begin + self._length].astype(np.int64)
            found = self._backward(codes)
            if found is None:
                undrawn[number] = True
                continue
            messages, log_z[number] = found
            drawn, in_doubt[number] = self._forward(codes, messages, keystream[number])
            private[begin : begin + self._length] = drawn
        return log_z, in_doubt, undrawn

    def _backward(self, codes: IntArray) -> tuple[FloatArray, float] | None:
        """Message i, for i = 0..n: a multiple of β_i(y) for every state; and log Z. None where weights lie far apart.

        All successors count as wrong first; then what the word's own symbol leads to is made right.
        """
        if self._theta > _LARGEST_TILT:
            return None
        compiled, z, rest = self._compiled, self._z, 1.0 - self._z
        messages = np.empty((self._length + 1, compiled.state_count))
        messages[-1] = compiled.accepting
        exponent = 0
        for i in range(self._length - 1, -1, -1):
            after = messages[i + 1]
            message = z * (compiled.adjacency @ after)
            sources, targets = compiled.edges_with_label(int(codes[i]))
            message[sources] += rest * after[targets]
            top = float(message.max())
            if message[message > 0].min(initial=top) < top * _RANGE:
                return None
            power = frexp(top)[1]
            messages[i] = message * ldexp(1.0, -power)
            exponent += power
        return messages, log(messages[0, compiled.start]) + exponent * log(2.0)

    def _forward(self, codes: IntArray, messages: FloatArray, keystream: UintArray) -> tuple[IntArray, bool]:
        """The private word, and whether a random number came too close to a border for rounding to be trusted."""
        compiled, private = self._compiled, np.empty_like(codes)
        state, in_doubt = compiled.start, False
        for i, uniform in enumerate(as_uniform(keystream).tolist()):
            edges = slice(compiled.offsets[state], compiled.offsets[state + 1])
            targets, labels = compiled.targets[edges], compiled.labels[edges]
            # The word's own symbol comes first, then the others in their order.
            order = np.argsort(labels != codes[i], kind="stable")
            weights = messages[i + 1, targets[order]] * np.where(labels[order] == codes[i], 1.0, self._z)
            sums = np.cumsum(weights)
            # Never the total itself, or no edge would be reached.
            mark = min(uniform * sums[-1], np.nextafter(sums[-1], 0))
            in_doubt |= bool(np.any(np.abs(sums - mark) < self._margin * sums[-1]))
            chosen = order[int(np.searchsorted(sums, mark, side="right"))]
            private[i], state = labels[chosen], int(targets[chosen])
        return private, in_doubt
