"""How fast walks multiply: the bounds hold, also where walks come to an end."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.local.growth import Growth, LocalWorld


def _layers(count: int, width: int, ways: int) -> pv.MarkovChain:
    """A map without a way back: each junction leads to some of the next layer."""
    rng = np.random.default_rng(1)
    return pv.MarkovChain.from_edges(
        (f"{layer}_{i}", f"{layer + 1}_{j}")
        for layer in range(count - 1)
        for i in range(width)
        for j in rng.choice(width, ways, replace=False)
    )


@pytest.mark.parametrize("world", [_layers(6, 5, 2), pv.example_town()], ids=["layers", "town"])
def test_no_state_has_more_walks_than_the_bound(world: pv.MarkovChain) -> None:
    local = LocalWorld.of(world.compiled)
    assert local is not None
    adjacency = np.asarray(world.matrix.toarray() > 0, dtype=float)
    for growth, matrix in ((local.forward, adjacency), (local.backward, adjacency.T)):
        walks = np.ones(len(matrix))
        for steps in range(80):
            assert walks.max() <= growth.bound(steps) * (1 + 1e-12)
            assert walks.max() <= growth.factor * growth.rate**steps * (1 + 1e-9)
            walks = matrix @ walks


@pytest.mark.parametrize("kind", [pv.PermuteAndFlip, pv.Exponential, pv.CertifiedExponential])
def test_words_are_drawn_on_large_maps_without_a_way_back(kind: type[pv.WordMechanism]) -> None:
    world = _layers(6, 300, 3)
    words = world.random_words(4, 200, pv.insecure_seed(1))
    # How tight a proof is does not matter here: a certificate from few contexts is as valid.
    few = {"contexts": 100} if kind is pv.CertifiedExponential else {}
    drawn = kind(world, 12.0, **few).privatize_many(words, rng=pv.insecure_seed(2))
    assert all(map(world.is_feasible, drawn))
    wrong = sum(a != b for word, private in zip(words, drawn, strict=True) for a, b in zip(word, private, strict=True))
    assert wrong < 200  # of 800 symbols; nearly none at this ε


def test_more_walks_than_floating_point_holds_are_bounded_by_infinity():
    growth = Growth(3.0, 2.0, np.array([1.0, 2.0]))
    assert growth.bound(1) == 2.0
    assert growth.bound(10) == pytest.approx(3 * 2.0**10)
    assert growth.bound(100_000) == math.inf
