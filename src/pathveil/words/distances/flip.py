"""Permute-and-flip with distances: drawn by rejection from the exponential draw, its law in `flip_law`.

As in pathveil.words.tilted, with the cost in steps in place of the number of errors. A feasible word is its own nearest
word, at cost 0, and the only one: different symbols cost a step at least.
"""

from __future__ import annotations

from functools import partial
from math import log
from typing import TYPE_CHECKING

import numpy as np

from pathveil.numerics.arrays import AnyIntArray, FloatArray, IntArray
from pathveil.randomness.blocks import cuts, run_blocks
from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import Batch, rounding_margin
from pathveil.words.distances.engine import DistanceEngine
from pathveil.words.distances.exact import Powers, backward
from pathveil.words.distances.flip_law import FlipCosts
from pathveil.words.distances.prices import Prices
from pathveil.words.tilted import (
    LARGEST_EXACT_FLIP,
    ExactComparisons,
    FlipByRejection,
    ReachableStates,
    Surroundings,
    block_size,
)

if TYPE_CHECKING:
    from flint import arb


class DistanceFlip(FlipByRejection):
    """Ready for feasible words of one length."""

    def __init__(self, compiled: CompiledSystem, prices: Prices, length: int, theta: float) -> None:
        self._compiled, self._prices, self._length, self._feasible = compiled, prices, length, True
        self._reach = None  # all words are passed over
        self.z = prices.z(theta)
        self.theta = -log(self.z)  # of a step
        self._reachable = ReachableStates.of(compiled, length)
        self._proposals = DistanceEngine(compiled, prices, length, self.z, feasible=True, reachable=self._reachable)
        self._multiples: dict[int, DistanceEngine] = {}

    def draw(self, values: AnyIntArray, begins: IntArray, private: AnyIntArray, source: RandomSource) -> None:
        cells = begins[:, None] + np.arange(self._length)
        log_z = self._proposals.draw(values, begins, private, source)
        around = Surroundings(self, values, begins, log_z)
        waiting = np.arange(len(begins))
        while True:
            tries = around.draw_t(waiting, source)
            chosen = cells[waiting]
            costs = self._prices.costs[values[chosen], private[chosen]].sum(axis=1, dtype=np.int64)
            waiting = waiting[~around.keep_words(waiting, tries, costs, source)]
            if not len(waiting):
                return
            self._proposals.draw(values, begins[waiting], private, source)

    def log_partition(self, r: int, values: AnyIntArray, begins: IntArray) -> FloatArray:
        """log Σ z^(r·cost) over the feasible words, for each word."""
        if r not in self._multiples:
            self._multiples[r] = DistanceEngine(
                self._compiled, self._prices, self._length, self.z,
                feasible=True, multiple=r, reachable=self._reachable,
            )  # fmt: skip
        return self._multiples[r].log_partition(values, begins)

    def margin(self, r: int) -> float:
        size = self._length * (r * self._prices.steps * self.theta + log(max(self._compiled.largest_degree, 2)))
        by_logarithms = rounding_margin((self._length + 2) * (int(4 * size) + self._compiled.largest_degree + 48))
        return by_logarithms + self._proposals.margin

    def exactly(self, codes: list[int]) -> ExactComparisons | None:
        if (self._length + 1) * self._compiled.state_count > LARGEST_EXACT_FLIP:
            return None
        return _Comparisons(self._compiled, self._prices, self._reachable, codes, self.z)


class _Comparisons(ExactComparisons):
    """With costs in steps for errors."""

    def __init__(
        self, compiled: CompiledSystem, prices: Prices, reachable: ReachableStates, codes: list[int], z: float
    ) -> None:
        self._prices = prices
        super().__init__(compiled, reachable, codes, z)

    def _nearest_class(self) -> tuple[int, int]:
        return 0, 1

    def _sum(self, r: int) -> arb:
        powers = Powers(self._z, r)
        return backward(self._compiled, self._prices, self._reachable, self._codes, powers)[0][self._compiled.start]


def flip_priced(
    compiled: CompiledSystem, prices: Prices, words: Batch, theta: float, source: RandomSource
) -> AnyIntArray:
    """A private word for each word of a batch of feasible words."""
    private, blocks = np.empty_like(words.values), []

    def draw(flip: DistanceFlip, begins: IntArray, branch: RandomSource) -> None:
        flip.draw(words.values, begins, private, branch)

    for part in words.by_length:
        flip = DistanceFlip(compiled, prices, part.length, theta)
        for begin, end in cuts(len(part.begins), block_size(part.length)):
            blocks.append(partial(draw, flip, part.begins[begin:end]))
    run_blocks(blocks, source)
    return private


def flip_log_probabilities(
    compiled: CompiledSystem, prices: Prices, codes: IntArray, outputs: IntArray, theta: float
) -> FloatArray:
    """log P(output | word) for each row of outputs."""
    by_cost = FlipCosts(compiled, prices, codes, theta).log_probability_by_cost
    return np.array([by_cost[cost] for cost in prices.word_costs(codes, outputs).tolist()])
