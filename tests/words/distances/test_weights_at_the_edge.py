"""Words that are so far from all others that floating point loses some of their weights: logarithms take over."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.distances.engine import DistanceEngine
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
