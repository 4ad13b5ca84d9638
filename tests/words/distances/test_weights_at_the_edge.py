"""Words that are so far from all others that floating point loses some of their weights: logarithms take over."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.distances import DistanceLaw
from pathveil.words.distances.engine import DistanceEngine
from pathveil.words.distances.online import position_loss
from pathveil.words.distances.prices import Prices

# No word begins with x; a and b lie 699 and 701 of a thousand steps from it, and weigh about as much.
STEPS = np.array([[0, 699, 701], [699, 0, 400], [701, 400, 0]])
DISTANCE = pv.SymbolDistance.from_matrix(list("xab"), [*(STEPS / 1000).tolist()], radius=1.0, steps=1000)
WORLD = pv.MarkovChain.from_edges([(p, q) for p in "xab" for q in "ab"] + [("a", "x")], initial={"a", "b"})


@pytest.mark.parametrize("word", ["xaxa", "xbax", "xxxx", "axaa"])
def test_weights_of_e_to_the_minus_700_are_not_forgotten_beside_each_other(word: str) -> None:
    prices, length = Prices(WORLD, DISTANCE, None), len(word)
    z = prices.z(1000.0)  # e^-1 for a step
    assert -log(z) == pytest.approx(1.0, rel=1e-9)
    codes = WORLD.encode(word)
    passes = DistanceEngine(WORLD.compiled, prices, length, z, feasible=False)
    many = np.tile(codes, 600)
    found = passes.log_partition(many, np.arange(600) * length)
    # Before a common factor: over all words, each with the logarithm of its weight.
    costs = [
        sum(STEPS["xab".index(one)]["xab".index(other)] for one, other in zip(word, private, strict=True))
        for private in feasible(length)
    ]
    expected = -min(costs) + log(sum(exp(min(costs) - cost) for cost in costs))
    assert found == pytest.approx(np.full(600, expected), abs=1e-6)


def feasible(length: int) -> list[str]:
    words = ["a", "b"]
    for _ in range(length - 1):
        words = [word + symbol for word in words for symbol in "xab" if symbol != "x" or word[-1] == "a"]
    return words


def test_the_loss_of_a_position_stays_a_number_where_all_weights_but_one_are_nothing() -> None:
    """The nearest symbol may be any of those that may follow, not the first of them only."""
    world = pv.MarkovChain.from_edges([(p, q) for p in "abcd" for q in "abcd"])
    places = dict(zip("abcd", [0.0, 3.0, 5.0, 9.0], strict=True))
    distance = pv.SymbolDistance.from_coordinates({s: (x, 0.0) for s, x in places.items()}, steps=900)
    prices = Prices(world, distance, None)
    for theta in (0.5, 40.0, 5_000.0):
        step, costs = -log(prices.z(theta)), prices.costs.astype(float)
        sums = [-step * row.min() + log(sum(exp(-step * (cost - row.min())) for cost in row)) for row in costs]
        losses = [
            -step * costs[x, y] - sums[x] + step * costs[other, y] + sums[other]
            for x in range(4)
            for other in range(4)
            for y in range(4)
        ]
        assert position_loss(world.compiled, prices, theta) == pytest.approx(max(losses), rel=1e-9)


def test_words_count_alike_in_an_average_whatever_their_length() -> None:
    mechanism = pv.Exponential(WORLD, 9.0, distance=DISTANCE)
    laws = [mechanism.distance_law(word) for word in ("a", "ba", "aaxab")]
    together = DistanceLaw.average(laws)
    assert together.mean == pytest.approx(sum(law.mean for law in laws) / 3)
    least = min(law.quantile(0.0) for law in laws)
    assert together.quantile(0.0) == least
    assert DistanceLaw.average(laws[:1]).mean == laws[0].mean
