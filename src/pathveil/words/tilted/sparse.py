"""The exponential mechanism for a few words on a large system: one product with the sparse adjacency for each position.

A road network has thousands of states and a handful of edges at each. For a single word on it, the sixteen words at a
time of lane_kernels.py would be mostly wasted, and logarithms of all messages cost more than the messages. Where
messages for every position would take too much memory, only some of them are kept, and those in between are made once
more.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import frexp, isqrt, ldexp, log

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
LARGEST_TABLE = 1 << 27  # bytes of messages; for more positions some of them are made twice


class SparseEngine(Engine):
    """Any system, words of one length at one tilt, one after the other."""

    def __init__(self, compiled: CompiledSystem, length: int, theta: float, largest_table: int = LARGEST_TABLE) -> None:
        super().__init__(compiled, length, theta)
        fits = 8 * (length + 1) * compiled.state_count <= largest_table
        self._step = length if fits else max(1, isqrt(length))  # positions from one kept message to the next
        self._margin = rounding_margin((length + 2) * (compiled.largest_degree + 4))

    def _loop(self, values: AnyIntArray, begins: IntArray, keystream: UintArray, private: AnyIntArray) -> Drawn:
        log_z = np.empty(len(begins))
        in_doubt, undrawn = np.zeros(len(begins), dtype=bool), np.zeros(len(begins), dtype=bool)
        for number, begin in enumerate(begins.tolist()):
            codes = values[begin : begin + self._length].astype(np.int64)
            kept = self._backward(codes)
            if kept is None:
                undrawn[number] = True
                continue
            messages, log_z[number] = kept
            drawn, in_doubt[number] = self._forward(codes, messages, keystream[number])
            private[begin : begin + self._length] = drawn
        return log_z, in_doubt, undrawn

    def _backward(self, codes: IntArray) -> tuple[dict[int, FloatArray], float] | None:
        """Message i for every `step`-th i and the last: a multiple of β_i(y) for every state; and log Z.

        None where weights lie too far apart.
        """
        if self._theta > _LARGEST_TILT:
            return None
        message, exponent = self._compiled.accepting.astype(float), 0
        kept = {self._length: message}
        for i in range(self._length - 1, -1, -1):
            message, power = self._before(codes[i], message)
            if not message.size:
                return None
            exponent += power
            if i % self._step == 0:
                kept[i] = message
        return kept, log(message[self._compiled.start]) + exponent * log(2.0)

    def _before(self, code: int, after: FloatArray) -> tuple[FloatArray, int]:
        """The message one position earlier, divided by a power of two; empty where its entries lie too far apart.

        All successors count as wrong first; then what the word's own symbol leads to is made right.
        """
        message: FloatArray = self._z * (self._compiled.adjacency @ after)
        sources, targets = self._compiled.edges_with_label(int(code))
        message[sources] += (1.0 - self._z) * after[targets]
        top = float(message.max())
        if message[message > 0].min(initial=top) < top * _RANGE:
            return np.empty(0), 0
        power = frexp(top)[1]
        return message * ldexp(1.0, -power), power

    def _in_order(self, codes: IntArray, kept: dict[int, FloatArray]) -> Iterator[FloatArray]:
        """Messages 1, 2, …, n: those between two kept ones are made once more."""
        for first in range(0, self._length, self._step):
            last = min(first + self._step, self._length)
            segment = [kept[last]]
            for i in range(last - 1, first, -1):
                segment.append(self._before(codes[i], segment[-1])[0])
            yield from reversed(segment)

    def _forward(self, codes: IntArray, kept: dict[int, FloatArray], keystream: UintArray) -> tuple[IntArray, bool]:
        """The private word, and whether a random number came too close to a border for rounding to be trusted."""
        compiled, private = self._compiled, np.empty_like(codes)
        state, in_doubt = compiled.start, False
        for i, (uniform, after) in enumerate(
            zip(as_uniform(keystream).tolist(), self._in_order(codes, kept), strict=True)
        ):
            edges = slice(compiled.offsets[state], compiled.offsets[state + 1])
            targets, labels = compiled.targets[edges], compiled.labels[edges]
            # The word's own symbol comes first, then the others in their order.
            order = np.argsort(labels != codes[i], kind="stable")
            weights = after[targets[order]] * np.where(labels[order] == codes[i], 1.0, self._z)
            sums = np.cumsum(weights)
            # Never the total itself, or no edge would be reached.
            mark = min(uniform * sums[-1], np.nextafter(sums[-1], 0))
            in_doubt |= bool(np.any(np.abs(sums - mark) < self._margin * sums[-1]))
            chosen = order[int(np.searchsorted(sums, mark, side="right"))]
            private[i], state = labels[chosen], int(targets[chosen])
        return private, in_doubt
