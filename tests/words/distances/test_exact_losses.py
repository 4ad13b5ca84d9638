"""Losses that are attained, against sixty digits: rounding must not carry a bound below what really is lost."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx

import pathveil as pv
from pathveil.words.distances.certified.box_kernel import incoming, widen
from pathveil.words.distances.certified.boxes import ChainBoxes
from pathveil.words.distances.free import symbol_loss
from pathveil.words.distances.online import position_loss
from pathveil.words.distances.prices import Prices
from tests.reference.enumeration import feasible_words
from tests.worlds import CHAIN, UNEVEN

TILTS = (0.02, 0.4, 1.3, 2.9, 7.7, 23.0, 71.0)
LETTERS = pv.Alphabet("abcde")


def prices_of(world: pv.System, steps: int, within: float | None) -> Prices:
    points = {x: ((7 * k) % 5 + k / 3, (3 * k) % 4) for k, x in enumerate(world.symbols)}
    return Prices(world, pv.SymbolDistance.from_coordinates(points, steps=steps), within)


def largest(losses: Iterable[arb]) -> arb:
    return max(losses, key=float)


def law(prices: Prices, z: arb, true: int, outputs: Iterable[int]) -> dict[int, arb]:
    """log P(y | x) for these y, with every power of z as it is."""
    weights = {y: z ** int(prices.costs[true, y]) for y in outputs}
    total = sum(weights.values())
    return {y: (weight / total).log() for y, weight in weights.items()}


def moves(prices: Prices) -> list[tuple[int, int]]:
    """The symbols that the promise compares with one another."""
    symbols = range(len(prices.costs))
    return [(x, v) for x, v in product(symbols, repeat=2) if x != v and (prices.near is None or prices.near[x, v])]


@pytest.mark.parametrize("within", [None, 3.0])
@pytest.mark.parametrize("steps", [1, 13])
def test_the_loss_of_a_free_symbol_is_never_below_the_exact_one(steps, within):
    prices = prices_of(LETTERS, steps, within)
    with ctx.workprec(200):
        for theta in TILTS:
            laws = [law(prices, arb(prices.z(theta)), x, range(5)) for x in range(5)]
            exact = largest(laws[x][y] - laws[v][y] for x, v in moves(prices) for y in range(5))
            assert symbol_loss(prices, theta) >= exact
            assert symbol_loss(prices, theta) == pytest.approx(float(exact), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("within", [None, 3.0])
@pytest.mark.parametrize("world", [CHAIN, UNEVEN], ids=["chain", "uneven"])
def test_the_loss_of_a_position_is_never_below_the_exact_one(world, within):
    prices = prices_of(world, 13, within)
    with ctx.workprec(200):
        for theta in TILTS:
            z, exact = arb(prices.z(theta)), arb(0)
            for after in filter(None, world.compiled.moves):
                laws = {x: law(prices, z, x, after) for x in range(len(prices.costs))}
                exact = largest([exact, *(laws[x][y] - laws[v][y] for x, v in moves(prices) for y in after)])
            found = position_loss(world.compiled, prices, theta)
            assert found >= exact
            assert found == pytest.approx(float(exact), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("within", [None, 3.0])
@pytest.mark.parametrize("length", [1, 2])
def test_the_bound_on_a_chain_is_never_below_the_exact_loss_of_a_symbol(length, within):
    """Of words of one symbol nothing is unknown: there the bound is the loss."""
    prices = prices_of(CHAIN, 13, within)
    words = [tuple(CHAIN.encode(word).tolist()) for word in feasible_words(CHAIN, length)]
    boxes = ChainBoxes.of(CHAIN.compiled, prices, length, 1, up_to=False)
    with ctx.workprec(200):
        for theta in TILTS:
            z, found = arb(prices.z(theta)), boxes.symbol_loss(theta)
            sums = {
                w: sum(z ** sum(int(prices.costs[x, y]) for x, y in zip(w, u, strict=True)) for u in words)
                for w in words
            }
            losses = []
            for w, v in product(words, repeat=2):
                changed = [(x, y) for x, y in zip(w, v, strict=True) if x != y]
                if len(changed) == 1 and changed[0] in moves(prices):
                    losses.append((sums[v] / sums[w]).log() - int(prices.costs[changed[0]]) * z.log())
            assert found >= largest(losses)
            if length == 1:
                assert found == pytest.approx(float(largest(losses)), rel=1e-6)


def listed(follows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row of a table the columns that it marks, one after the other."""
    return np.append(0, np.cumsum(follows.sum(axis=1))), np.ascontiguousarray(np.nonzero(follows)[1])


@pytest.mark.parametrize("seed", range(12))
def test_a_step_of_boxes_with_distances_has_the_extremes_over_all_corners(seed):
    """Σ_{x→y} s(x) z^c(x,p) / Σ_{x→v} s(x) z^c(x,p), where the true symbol p is followed by v: s(p) is 1."""
    rng, count = np.random.default_rng(seed), 4
    follows = rng.random((count, count)) < 0.6
    follows[np.arange(count), (np.arange(count) + 1) % count] = True
    # Of the type of the costs of a system, for which these loops are compiled anyway.
    costs = np.abs(np.subtract.outer(np.arange(count), np.arange(count))).astype(np.uint16)
    costs.flags.writeable = False
    powers = np.exp(-rng.uniform(0.1, 3) * np.arange(count))
    low = rng.uniform(0, 2, (count, count)) * (rng.random((count, count)) < (0.8 if seed % 2 else 1))
    high = low + rng.uniform(0, 1, (count, count))
    low[np.diag_indices(count)] = high[np.diag_indices(count)] = 1.0
    low_sums, high_sums = np.empty((2, count, count))
    before, after = listed(follows.T), listed(follows)
    for box, sums in ((low, low_sums), (high, high_sums)):
        incoming(*before, costs, powers, box, sums)
    least, most = np.full((count, count), np.inf), np.zeros((count, count))
    for p in range(count):
        corners = np.array(list(product(*zip(low[p], high[p], strict=True)))) * powers[costs[p]]
        assert (corners @ follows).min(axis=0) == pytest.approx(low_sums[p])
        assert (corners @ follows).max(axis=0) == pytest.approx(high_sums[p])
        for v in np.flatnonzero(follows[p]):
            ratios = (corners @ follows) / (corners @ follows[:, v])[:, None]
            least[v] = np.minimum(least[v], ratios.min(axis=0))
            most[v] = np.maximum(most[v], ratios.max(axis=0))
    new_low, new_high = np.full((count, count), np.inf), np.zeros((count, count))
    widen(*before, *after, *after, costs, powers, powers, low, high, low_sums, high_sums, new_low, new_high)
    assert (new_low <= least).all()
    assert (new_high >= most).all()
    assert new_low == pytest.approx(least, rel=0.3 if seed % 2 else 1e-9)  # where a weight may be 0, less is known
    assert new_high == pytest.approx(most, rel=1e-9)
