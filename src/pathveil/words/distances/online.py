"""The online mechanism with distances: of the successors of the last output, y weighs z^k(x, y), x the true symbol.

What the weights add up to depends on the true symbol, so the loss at a position is up to 2ρθ, not ρθ. `online_theta`
looks for the largest tilt at which the true largest loss, over all states, true symbols and outputs, stays within ε.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import log

import numpy as np

from pathveil.numerics.arrays import AnyIntArray, BoolArray, FloatArray, IntArray, UintArray
from pathveil.randomness.blocks import cuts, run_blocks
from pathveil.randomness.lazy import LazyUniform
from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import Batch, SameLength, draw_block
from pathveil.words.distances.exact import cut_exactly
from pathveil.words.distances.free import free_theta
from pathveil.words.distances.prices import Prices
from pathveil.words.distances.searching import largest_passing
from pathveil.words.distances.word_passes import cut

_MOST_WORK = 2_000_000_000  # comparisons for one tilt; beyond that the tilt with the factor 2 is used
_BLOCK_CELLS = 1 << 16


def online_theta(compiled: CompiledSystem, prices: Prices, epsilon: float, adjacency: int) -> float:
    """The largest θ we find at which a position loses at most ε/b; ε/(2bρ) where looking would take too long."""
    lowest = prices.theta(epsilon, 2 * adjacency)
    if compiled.is_free:
        return free_theta(prices, epsilon, adjacency)
    if _work(compiled, prices) > _MOST_WORK:
        return lowest
    return largest_passing(
        lambda theta: adjacency * position_loss(compiled, prices, theta) * (1 + 1e-15) <= epsilon,
        lowest=lowest,
        highest=prices.theta(epsilon, adjacency),
        tries=16,
    )


def _work(compiled: CompiledSystem, prices: Prices) -> float:
    count = len(prices.costs)
    pairs = count if prices.near is None else int(np.count_nonzero(prices.near))
    return float(compiled.edge_count) * pairs


def position_loss(compiled: CompiledSystem, prices: Prices, theta: float) -> float:
    """The largest log P(y|x, u)/P(y|x', u) over last states u, successors y and moves from x to x'; rounded up."""
    from pathveil.words.distances.symbol_kernels import largest_loss

    near = np.empty((0, 2), dtype=np.int64) if prices.near is None else np.argwhere(np.triu(prices.near))
    pairs = np.ascontiguousarray(near)  # so that the loop is compiled once
    step = -log(prices.z(theta))
    worst = float(largest_loss(compiled.offsets, compiled.labels, prices.costs, pairs, prices.near is None, step))
    # Costs times a logarithm, an exponential and a logarithm of sums of it: all of it far more precise than this.
    return worst * (1 + 1e-12) + 4 * prices.margin(compiled.largest_degree)


def online_transitions(compiled: CompiledSystem, prices: Prices, codes: IntArray, theta: float) -> Iterator[FloatArray]:
    """For each position the probability of every edge, given the state that it leaves."""
    log_z = log(prices.z(theta))
    alive = np.flatnonzero(np.diff(compiled.offsets))
    first, degrees = compiled.offsets[alive], np.diff(compiled.offsets)[alive]
    for code in codes:
        weights = log_z * prices.costs[code][compiled.labels]
        weights = np.exp(weights - np.repeat(np.maximum.reduceat(weights, first), degrees))
        yield weights / np.repeat(np.add.reduceat(weights, first), degrees)


class OnlineDraw:
    """Draws words or single steps at one tilt."""

    def __init__(self, compiled: CompiledSystem, prices: Prices, theta: float) -> None:
        self._compiled, self._prices, self._z = compiled, prices, prices.z(theta)
        self._margin = prices.margin(compiled.largest_degree + 8)

    def step(self, state: int, code: int, bits: int, source: RandomSource) -> tuple[int, int]:
        """The next output and state of one stream, from a keystream value."""
        costs = self._costs(state, code)
        chosen, in_doubt = cut(log(self._z) * (costs - costs.min()), bits, self._margin)
        if in_doubt:
            chosen = cut_exactly(costs.tolist(), self._z, LazyUniform(bits, source))
        edge = int(self._compiled.offsets[state]) + chosen
        return int(self._compiled.labels[edge]), int(self._compiled.targets[edge])

    def draw(self, words: Batch, source: RandomSource) -> AnyIntArray:
        """A private word for each word of a batch."""
        private = np.empty_like(words.values)

        def block(part: SameLength, begin: int, end: int, branch: RandomSource) -> None:
            begins = part.begins[begin:end]

            def loop(keystream: UintArray) -> BoolArray:
                from pathveil.words.distances.symbol_kernels import draw_online

                compiled, in_doubt = self._compiled, np.empty(len(begins), dtype=bool)
                draw_online(
                    words.values, begins, part.length, compiled.offsets, compiled.labels, compiled.targets,
                    compiled.start, self._prices.costs, self._prices.powers(self._z), self._margin, keystream, private,
                    in_doubt,
                )  # fmt: skip
                return in_doubt

            draw_block(
                words.values, begins, part.length, private, branch,
                keystream_values=part.length, loop=loop, exactly=self._exactly,
            )  # fmt: skip

        size = max(1, _BLOCK_CELLS // max(words.lengths))
        run_blocks(
            [partial(block, part, *piece) for part in words.by_length for piece in cuts(len(part.begins), size)], source
        )
        return private

    def _costs(self, state: int, code: int) -> IntArray:
        edges = slice(self._compiled.offsets[state], self._compiled.offsets[state + 1])
        costs: IntArray = self._prices.costs[code][self._compiled.labels[edges]].astype(np.int64)
        return costs

    def _exactly(self, codes: IntArray, uniforms: Sequence[LazyUniform]) -> list[int]:
        state, private = self._compiled.start, []
        for code, uniform in zip(codes.tolist(), uniforms, strict=True):
            edge = int(self._compiled.offsets[state]) + cut_exactly(self._costs(state, code).tolist(), self._z, uniform)
            private.append(int(self._compiled.labels[edge]))
            state = int(self._compiled.targets[edge])
        return private


def online_log_probabilities(
    compiled: CompiledSystem, prices: Prices, codes: IntArray, outputs: IntArray, theta: float
) -> FloatArray:
    """log P(output | word) for each row of outputs, all of them feasible."""
    keys = compiled.sources * compiled.symbol_count + compiled.labels
    states, total = np.full(len(outputs), compiled.start), np.zeros(len(outputs))
    for i, probabilities in enumerate(online_transitions(compiled, prices, codes, theta)):
        edges = np.searchsorted(keys, states * compiled.symbol_count + outputs[:, i])
        with np.errstate(divide="ignore"):
            total += np.log(probabilities[edges])
        states = compiled.targets[edges]
    return total
