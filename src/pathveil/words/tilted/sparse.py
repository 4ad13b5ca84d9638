"""The exponential mechanism for a few words on a large system: one product with the sparse adjacency for each position.

A road network has thousands of states and a handful of edges at each. For a single word on it, the sixteen words at a
time of lane_kernels.py would be mostly wasted, and logarithms of all messages cost more than the messages. Where
messages for every position would take too much memory, only some of them are kept, and those in between are made once
more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import frexp, isqrt, ldexp, log

import numpy as np

from pathveil.numerics.arrays import AnyIntArray, FloatArray, IntArray, UintArray
from pathveil.randomness.source import as_uniform
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import rounding_margin
from pathveil.words.tilted.engines import Drawn, Engine

# Weights that lie below this times the largest at their position may be lost below the smallest floating-point number.
# From then on a second message says how much that can be at most for each state: it goes through the same sums, and at
# each position grows by more than what is lost there.
_RANGE = 1e-200
_LOST = 1e-290
_LARGEST_TILT = 200.0  # beyond it, a single step may lead out of the range; logarithms do the work
LARGEST_TABLE = 1 << 27  # bytes of messages; for more positions some of them are made twice


@dataclass(frozen=True)
class Message:
    """β_i(y) for every state, divided by 2^power more than the message after it; and how much of it may be lost."""

    weights: FloatArray
    lost: FloatArray | None
    power: int


class SparseEngine(Engine):
    """Any system, words of one length at one tilt, one after the other.

    Without compiled code the fastest for one word (1.7 times `LogEngine`) and on large systems for some (5 times); with
    it for one or two words on a large system (Oldenburg: 3 times `LaneEngine`). Holds what no other loop has room for.
    """

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
            kept, log_z[number] = ({}, -np.inf) if self._theta > _LARGEST_TILT else self._backward(codes)
            if log_z[number] == -np.inf:
                undrawn[number] = True
                continue
            drawn, in_doubt[number] = self._forward(codes, kept, keystream[number])
            private[begin : begin + self._length] = drawn
        return log_z, in_doubt, undrawn

    def _backward(self, codes: IntArray) -> tuple[dict[int, Message], float]:
        """Message i for every `step`-th i and the last, and log Z; -inf where that itself may be lost."""
        message, exponent = Message(self._compiled.accepting.astype(float), None, 0), 0
        kept = {self._length: message}
        for i in range(self._length - 1, -1, -1):
            message = self._before(codes[i], message)
            exponent += message.power
            if i % self._step == 0:
                kept[i] = message
        start = self._compiled.start
        lost = 0.0 if message.lost is None else message.lost[start]
        if message.weights[start] <= lost / self._margin:
            return kept, -np.inf
        return kept, log(message.weights[start]) + exponent * log(2.0)

    def _before(self, code: int, after: Message) -> Message:
        """The message one position earlier."""
        weights = self._summed(code, after.weights)
        top = float(weights.max())
        power = frexp(top)[1]
        weights *= ldexp(1.0, -power)
        if after.lost is not None:
            with np.errstate(over="ignore"):  # what was lost may outweigh all that is left; then it stays infinite
                lost = self._summed(code, after.lost) * ldexp(1.0, -power) * (1 + 1e-9) + _LOST
            return Message(weights, lost, power)
        is_precise = weights[weights > 0].min(initial=1.0) > _RANGE
        return Message(weights, None if is_precise else np.full_like(weights, _LOST), power)

    def _summed(self, code: int, after: FloatArray) -> FloatArray:
        """All successors count as wrong first; then what the word's own symbol leads to is made right."""
        weights: FloatArray = self._z * (self._compiled.adjacency @ after)
        sources, targets = self._compiled.edges_with_label(int(code))
        weights[sources] += (1.0 - self._z) * after[targets]
        return weights

    def _in_order(self, codes: IntArray, kept: dict[int, Message]) -> Iterator[Message]:
        """Messages 1, 2, …, n: those between two kept ones are made once more."""
        for first in range(0, self._length, self._step):
            last = min(first + self._step, self._length)
            segment = [kept[last]]
            for i in range(last - 1, first, -1):
                segment.append(self._before(codes[i], segment[-1]))
            yield from reversed(segment)

    def _forward(self, codes: IntArray, kept: dict[int, Message], keystream: UintArray) -> tuple[IntArray, bool]:
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
            factors = np.where(labels[order] == codes[i], 1.0, self._z)
            sums = np.cumsum(after.weights[targets[order]] * factors)
            near = self._margin * sums[-1]
            if after.lost is not None:
                near += 2 * float(after.lost[targets[order]] @ factors)
            # Never the total itself, or no edge would be reached.
            mark = min(uniform * sums[-1], np.nextafter(sums[-1], 0))
            in_doubt |= bool(np.any(np.abs(sums - mark) < near))
            chosen = order[int(np.searchsorted(sums, mark, side="right"))]
            private[i], state = labels[chosen], int(targets[chosen])
        return private, in_doubt
