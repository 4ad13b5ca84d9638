"""Free alphabets with distances: symbols are independent, so the loss is known exactly, and so is the best tilt.

P(y|x) = z^k(x, y) / S(x), S(x) = Σ_y z^k(x, y). Between x and x' the loss is largest at y = x, by the triangle
inequality: k(x, x')·(-log z) + |log S(x') - log S(x)|. Only pairs that the unit allows are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import log

import numpy as np

from pathveil.numerics.arrays import AnyIntArray, BoolArray, FloatArray, IntArray, UintArray
from pathveil.randomness.blocks import cuts, run_blocks
from pathveil.randomness.lazy import LazyUniform
from pathveil.randomness.source import RandomSource
from pathveil.words.base import draw_block
from pathveil.words.distances.exact import cut_exactly
from pathveil.words.distances.prices import Prices
from pathveil.words.distances.searching import largest_passing

_BLOCK_CELLS = 1 << 16
_ROWS = 512  # of costs at a time


def symbol_loss(prices: Prices, theta: float) -> float:
    """The largest loss that the release of one symbol can have, rounded up."""
    z, count = prices.z(theta), len(prices.costs)
    sums = np.log(_sums(prices, z))
    worst = 0.0
    for begin in range(0, count, _ROWS):
        rows = slice(begin, begin + _ROWS)
        losses = prices.costs[rows] * -log(z) + np.abs(sums[rows, None] - sums)
        if prices.near is not None:
            losses = losses[prices.near[rows]]
        worst = max(worst, float(losses.max(initial=0.0)))
    return worst * (1 + 1e-12) + 4 * prices.margin(count)


def free_theta(prices: Prices, epsilon: float, adjacency: int) -> float:
    """The largest θ we find for which `adjacency` symbols lose at most ε together."""
    return largest_passing(
        lambda theta: adjacency * symbol_loss(prices, theta) * (1 + 1e-15) <= epsilon,
        lowest=prices.theta(epsilon, 2 * adjacency),
        highest=prices.theta(epsilon, adjacency),
    )


def _sums(prices: Prices, z: float) -> FloatArray:
    powers = prices.powers(z)
    parts = [powers[prices.costs[begin : begin + _ROWS]].sum(axis=1) for begin in range(0, len(prices.costs), _ROWS)]
    return np.concatenate(parts)


def symbol_laws(prices: Prices, codes: IntArray, theta: float, multiple: int = 1) -> FloatArray:
    """P(y|x) for each of these symbols x, one in each row."""
    powers = prices.powers(prices.z(theta), multiple)
    weights: FloatArray = powers[prices.costs[codes]]
    laws: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return laws


def free_log_normaliser(prices: Prices, codes: IntArray, z: float, multiple: int = 1) -> float:
    """log Σ z^(cost · multiple) over all words."""
    return float(np.log(prices.powers(z, multiple)[prices.costs[codes]].sum(axis=1)).sum())


def draw_free(prices: Prices, values: AnyIntArray, theta: float, source: RandomSource, private: AnyIntArray) -> None:
    """A private symbol for each symbol, written to the same cell of `private`."""
    z = prices.z(theta)
    present, places = np.unique(values, return_inverse=True)
    sums = np.cumsum(prices.powers(z)[prices.costs[present]], axis=1)  # a row for each symbol that occurs
    margin = prices.margin(len(prices.costs) + 8)

    def draw(begin: int, end: int, branch: RandomSource) -> None:
        def loop(keystream: UintArray) -> BoolArray:
            from pathveil.words.distances.symbol_kernels import draw_symbols

            in_doubt = np.empty(end - begin, dtype=bool)
            draw_symbols(places[begin:end], sums, keystream.reshape(-1), margin, private[begin:end], in_doubt)
            return in_doubt

        def exactly(codes: IntArray, uniforms: Sequence[LazyUniform]) -> list[int]:
            return [cut_exactly(prices.costs[codes[0]].tolist(), z, uniforms[0])]

        draw_block(
            values, np.arange(begin, end), 1, private, branch, keystream_values=1, loop=loop, exactly=exactly
        )  # fmt: skip

    run_blocks([partial(draw, *piece) for piece in cuts(len(values), _BLOCK_CELLS)], source)
