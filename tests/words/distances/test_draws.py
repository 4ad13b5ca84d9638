"""Draws with distances: one law in all loops, and exact where floating point could decide."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.base import Batch
from pathveil.words.distances import engine as engines
from pathveil.words.distances import free
from pathveil.words.distances.engine import DistanceEngine
from pathveil.words.distances.prices import Prices
from pathveil.words.distances.word_passes import WordPasses
from tests.worlds import CHAIN, DEAD_END_PLANS, PLANS

POINTS = {0: (0.0, 0.0), 1: (1.0, 0.3), 2: (2.2, 1.9)}
LETTERS = {"a": (0.0, 0.0), "b": (1.0, 0.3), "c": (2.2, 1.9)}
DRAWS = 20_000


@pytest.mark.parametrize("kind", [pv.Exponential, pv.PermuteAndFlip, pv.Online, pv.CertifiedExponential])
@pytest.mark.parametrize(
    ("world", "points", "word"),
    [(CHAIN, POINTS, (0, 1, 2, 0)), (pv.Alphabet(range(3)), POINTS, (0, 1, 2)), (PLANS, LETTERS, "abac")],
    ids=["chain", "alphabet", "plans"],
)
def test_private_words_have_the_law(kind, world, points, word):
    """χ² with up to 80 degrees of freedom stays below 170 but for a probability of 1e-8, for each of 11 cases."""
    if kind is pv.Online and world is PLANS:
        pytest.skip("plans end where a stream cannot know")
    m = kind(world, epsilon=3.0, distance=pv.SymbolDistance.from_coordinates(points, radius=2.0))
    codes = world.encode(word)
    drawn = m.privatize_array(np.tile(codes, (DRAWS, 1)), rng=pv.insecure_seed(5))
    seen = Counter(map(tuple, drawn.tolist()))
    outputs = np.array(list(seen))
    expected = DRAWS * np.exp(m.log_probabilities(codes, outputs))
    common = expected > 5
    chi = ((np.array(list(seen.values())) - expected)[common] ** 2 / expected[common]).sum()
    assert common.sum() <= 81
    assert chi < 170


def test_a_wrong_law_would_be_seen():
    """The negative control of the test above: the same draws against the law at another tilt."""
    m = pv.Exponential(CHAIN, epsilon=3.0, distance=pv.SymbolDistance.from_coordinates(POINTS, radius=2.0))
    other = pv.Exponential(CHAIN, epsilon=2.7, distance=pv.SymbolDistance.from_coordinates(POINTS, radius=2.0))
    codes = CHAIN.encode((0, 1, 2, 0))
    seen = Counter(map(tuple, m.privatize_array(np.tile(codes, (DRAWS, 1)), rng=pv.insecure_seed(5)).tolist()))
    expected = DRAWS * np.exp(other.log_probabilities(codes, np.array(list(seen))))
    common = expected > 5
    assert ((np.array(list(seen.values())) - expected)[common] ** 2 / expected[common]).sum() > 170


# From 1 to 14 successors: loops that take several at a time have all remainders.
DEGREES = pv.MarkovChain.from_edges([(a, b) for a in range(14) for b in range(a + 1)] + [(a, 13) for a in range(13)])


@pytest.mark.parametrize(
    ("world", "points"),
    [
        (CHAIN, POINTS),
        (PLANS, LETTERS),
        (DEAD_END_PLANS, LETTERS | {"d": (0.7, 2.0), "e": (3.0, 0.1)}),
        (DEGREES, {a: (a % 4, 0.7 * a) for a in range(14)}),
    ],
    ids=["chain", "plans", "dead ends", "degrees"],
)
def test_all_loops_and_exact_arithmetic_draw_the_same_words_from_the_same_bits(world, points, monkeypatch):
    """So many words that what is known before a draw (`log_partition`) comes from the compiled loop, too."""
    prices, count = Prices(world, pv.SymbolDistance.from_coordinates(points, steps=50), None), 420
    codes = np.array([world.encode(word) for word in world.random_words(5, count, rng=pv.insecure_seed(1))])
    values, begins = codes.reshape(-1), np.arange(count) * 5
    engine = DistanceEngine(world.compiled, prices, 5, prices.z(1.7), feasible=True)
    drawn = []
    for small in (False, True):
        private = np.empty_like(values)
        log_z = engine.draw(values, begins, private, pv.insecure_seed(9), small=small)
        assert log_z == pytest.approx(engine.log_partition(values, begins), rel=1e-12)
        drawn.append(private)
    exact, exactly = [], engines.draw_exactly
    monkeypatch.setattr(engines, "draw_exactly", lambda *given: exact.append(exactly(*given)) or exact[-1])
    for loop in (DistanceEngine, WordPasses):
        monkeypatch.setattr(loop, "margin", property(lambda _: 10.0))  # everything is in doubt
    private = np.empty_like(values)
    engine.draw(values, begins, private, pv.insecure_seed(9))
    assert len(exact) == count
    assert np.array_equal(drawn[0], drawn[1])
    assert np.array_equal(drawn[0], private)


def test_symbols_in_doubt_are_drawn_again_exactly(monkeypatch):
    prices = Prices(pv.Alphabet(range(3)), pv.SymbolDistance.from_coordinates(POINTS, steps=50), None)
    values = np.arange(300) % 3
    plain, exact = np.empty_like(values), np.empty_like(values)
    free.draw_free(prices, values, 2.0, pv.insecure_seed(3), plain)
    monkeypatch.setattr(Prices, "margin", staticmethod(lambda *_: 10.0))
    asked = []
    monkeypatch.setattr(free, "cut_exactly", lambda *given: asked.append(0) or cut(*given))
    free.draw_free(prices, values, 2.0, pv.insecure_seed(3), exact)
    assert len(asked) == 300
    assert np.array_equal(plain, exact)


cut = free.cut_exactly


def test_tilts_beyond_floating_point_leave_the_word_as_it_is():
    m = pv.Exponential(CHAIN, epsilon=1e6, distance=pv.SymbolDistance.from_coordinates(POINTS))
    words = [(0, 1, 2, 0), (1, 1, 0, 0)] * 3
    assert m.privatize_many(words, rng=pv.insecure_seed(1)) == words
    batch = Batch.from_rows(np.array(words * 2000))
    prices = Prices(CHAIN, pv.SymbolDistance.from_coordinates(POINTS), None)
    private = engines.draw_priced(CHAIN.compiled, prices, batch, lambda _: 1e6, pv.insecure_seed(2), feasible=True)
    assert np.array_equal(private, batch.values)


def test_infeasible_words_are_drawn_too_where_that_is_asked_for():
    d = pv.SymbolDistance.from_coordinates(POINTS)
    for kind in (pv.Exponential, pv.Online, pv.CertifiedExponential):
        m = kind(CHAIN, epsilon=5.0, distance=d, on_infeasible="nearest")
        assert all(CHAIN.is_feasible(m.privatize((0, 2, 1), rng=pv.insecure_seed(seed))) for seed in range(5))
    with pytest.raises(pv.InvalidParameterError, match="feasible words only"):
        pv.PermuteAndFlip(CHAIN, epsilon=5.0, distance=d, on_infeasible="nearest")


def test_a_stream_has_the_law_of_the_word():
    m = pv.Online(CHAIN, epsilon=2.0, distance=pv.SymbolDistance.from_coordinates(POINTS))
    source, count = pv.insecure_seed(4), 3000
    seen = Counter()
    for _ in range(count):
        stream = m.stream(rng=source)
        seen[tuple(stream.push(symbol) for symbol in (0, 1))] += 1
    # Each of four frequencies is off by more than 5.5 standard deviations with a probability below 4e-8.
    for word, times in seen.items():
        p = np.exp(m.log_probability((0, 1), word))
        assert abs(times - count * p) < 5.5 * (count * p * (1 - p)) ** 0.5 + 1
