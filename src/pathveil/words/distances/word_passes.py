"""One word on a system, by logarithms: messages from its end to its beginning, and what follows from them.

β_i(y) = Σ z^k(w_i+1, label) β_i+1(target) over the edges of y, k being the cost in steps. It needs no compiler and
holds any tilt: this serves laws, single words, and words for which the compiled loop has no room.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import log

import numpy as np

from pathveil.numerics.arrays import FloatArray, IntArray, UintArray
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import rounding_margin
from pathveil.words.distances.prices import Prices


class WordPasses:
    """The exponential mechanism around one word, each step of cost weighing z^multiple."""

    def __init__(self, compiled: CompiledSystem, prices: Prices, codes: IntArray, z: float, multiple: int = 1) -> None:
        self._compiled, self._prices, self._codes = compiled, prices, codes
        self._log_z = multiple * log(z)

    def _edge_weights(self, i: int, after: FloatArray) -> FloatArray:
        costs = self._prices.costs[self._codes[i]][self._compiled.labels]
        weights: FloatArray = after[self._compiled.targets] + self._log_z * costs
        return weights

    @cached_property
    def messages(self) -> list[FloatArray]:
        """log β_i for i = 0..n."""
        compiled = self._compiled
        with np.errstate(divide="ignore"):
            messages: list[FloatArray] = [np.log(compiled.accepting.astype(float))]
        alive = np.flatnonzero(np.diff(compiled.offsets))
        first, degrees = compiled.offsets[alive], np.diff(compiled.offsets)[alive]
        for i in range(len(self._codes) - 1, -1, -1):
            weights = self._edge_weights(i, messages[-1])
            top = np.maximum.reduceat(weights, first)
            shift = np.where(top > -np.inf, top, 0.0)
            message = np.full(compiled.state_count, -np.inf)
            with np.errstate(divide="ignore"):
                message[alive] = np.log(np.add.reduceat(np.exp(weights - np.repeat(shift, degrees)), first)) + shift
            messages.append(message)
        messages.reverse()
        return messages

    @property
    def log_normaliser(self) -> float:
        """log Σ z^cost over the feasible words."""
        return float(self.messages[0][self._compiled.start])

    def transitions(self) -> Iterator[FloatArray]:
        """For each position the probability of every edge, given the state that it leaves."""
        for i in range(len(self._codes)):
            here = self.messages[i][self._compiled.sources]
            weights = self._edge_weights(i, self.messages[i + 1])
            yield np.exp(weights - np.where(here > -np.inf, here, 0.0))

    def draw(self, keystream: UintArray) -> tuple[list[int], bool]:
        """A private word from one keystream value a symbol, and whether rounding may have decided."""
        compiled, state, private, in_doubt = self._compiled, self._compiled.start, [], False
        for i, bits in enumerate(keystream.tolist()):
            edges = slice(compiled.offsets[state], compiled.offsets[state + 1])
            costs = self._prices.costs[self._codes[i]][compiled.labels[edges]]
            weights = self.messages[i + 1][compiled.targets[edges]] + self._log_z * costs
            chosen, near = cut(weights, bits, self.margin)
            in_doubt |= near
            private.append(int(compiled.labels[edges][chosen]))
            state = int(compiled.targets[edges][chosen])
        return private, in_doubt

    @property
    def margin(self) -> float:
        """Logarithms of a size of up to n(θ + log d) are added and rounded at each position."""
        length, degree = len(self._codes), self._compiled.largest_degree
        size = length * (self._prices.steps * -self._log_z + log(max(degree, 2)))
        return rounding_margin((length + 2) * (int(4 * size) + degree + 48))


def cut(log_weights: FloatArray, bits: int, margin: float) -> tuple[int, bool]:
    """Which weight a keystream value falls on, and whether it is too close to a border to be sure."""
    sums = np.cumsum(np.exp(log_weights - log_weights.max()))
    mark = ((bits >> 11) + 0.5) * 2.0**-53 * sums[-1]
    chosen = int(np.argmax(sums > min(mark, np.nextafter(sums[-1], 0))))
    return chosen, bool(np.any(np.abs(sums[:-1] - mark) < margin * sums[-1]))
