"""Prices, laws in metres and losses of whole groups: numbers from hand, from formulas, and from listing everything."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, exp, log, nextafter

import numpy as np
import pytest

import pathveil as pv
from pathveil.privacy.units import MovedSymbols, Symbols
from pathveil.words.distances.free import free_theta, symbol_laws, symbol_loss
from pathveil.words.distances.laws import DistanceLaw, independent_errors
from pathveil.words.distances.prices import SMALLEST_LOG, Prices
from pathveil.words.distances.searching import largest_passing
from tests.reference.distances import Enumerated
from tests.worlds import CHAIN

LINE = {"a": (0.0, 0.0), "b": (1.0, 0.0), "c": (3.0, 0.0), "d": (7.0, 0.0)}
WORLD = pv.Alphabet("abcd")


def distance(radius: float | None = 4.0, steps: int = 4) -> pv.SymbolDistance:
    return pv.SymbolDistance.from_coordinates(LINE, radius=radius, steps=steps)


# Laws in metres.


def test_quantiles_are_the_smallest_distances_that_are_not_exceeded_so_often():
    law = DistanceLaw(np.array([5.0, 0.0, 9.0, 1.0]), np.array([0.25, 0.5, 0.0, 0.25]))
    assert [law.quantile(q) for q in (0.0, 0.25, 0.5, 0.51, 0.75, 0.76, 1.0)] == [0, 0, 0, 1, 1, 5, 5]
    assert law.mean == 0.5 * 0 + 0.25 * 1 + 0.25 * 5
    for wrong in (-0.01, 1.01, float("nan")):
        with pytest.raises(pv.InvalidParameterError, match="from 0 to 1"):
            law.quantile(wrong)


def test_an_average_law_is_that_of_a_word_chosen_at_random():
    near, far = DistanceLaw(np.array([0.0, 2.0]), np.array([0.5, 0.5])), DistanceLaw(np.array([8.0]), np.array([1.0]))
    both = DistanceLaw.average([near, far, far, far])
    assert both.mean == (1.0 + 3 * 8) / 4
    assert [both.quantile(q) for q in (0.125, 0.13, 0.25, 0.26)] == [0, 2, 2, 8]


def test_a_law_is_that_of_a_position_chosen_at_random():
    m = pv.Exponential(WORLD, epsilon=3.0, distance=distance())
    one, other = (np.exp([m.log_probability(x, y) for y in "abcd"]) for x in "ad")
    away = ((0, 1, 3, 7), (7, 6, 4, 0))
    assert m.distance_law("ad").mean == pytest.approx((one @ away[0] + other @ away[1]) / 2)
    assert m.wrong_at(WORLD.encode("ad")) == pytest.approx([1 - one[0], 1 - other[3]])


def test_errors_that_are_independent_are_counted_as_by_listing_them():
    wrong = (0.1, 0.5, 0.8)
    expected = [0.0] * 4
    for which in product((False, True), repeat=3):
        expected[sum(which)] += float(np.prod([p if yes else 1 - p for p, yes in zip(wrong, which, strict=True)]))
    assert independent_errors(np.array(wrong)).pmf == pytest.approx(expected)


# Prices.


@pytest.mark.parametrize("within", [None, 1.0, 2.5])
@pytest.mark.parametrize(("epsilon", "parts"), [(1.0, 3), (0.1, 7), (2.7, 1)])
def test_the_tilt_is_the_largest_at_which_so_many_moves_weigh_at_most_epsilon(within, epsilon, parts):
    prices = Prices(WORLD, distance(), within)
    # On the line c(a, b) = 1, c(b, c) = 2, and from 4 on all is as far: the largest cost within 1, 2.5, or anywhere.
    assert prices.rho == {None: 1.0, 1.0: 0.25, 2.5: 0.5}[within]
    theta = prices.theta(epsilon, parts)
    weighs = Fraction(prices.rho) * parts
    assert Fraction(theta) * weighs <= Fraction(epsilon) < Fraction(nextafter(theta, 9e9)) * weighs
    assert prices.used_theta(theta) <= theta
    assert prices.used_theta(theta) == pytest.approx(theta, rel=1e-13)
    assert prices.z(theta) == pytest.approx(exp(-theta / 4), rel=1e-13)


def test_no_tilt_is_larger_than_computers_can_hold():
    prices = Prices(WORLD, distance(), None)
    assert 0 < prices.z(prices.theta(1e9, 1)) < 1e-290


def test_weights_are_powers_and_nothing_where_they_would_be_lost():
    prices = Prices(WORLD, distance(steps=1000), None)
    powers = prices.powers(exp(-0.5))
    assert powers == pytest.approx(np.exp(-0.5 * np.arange(1001)), rel=1e-12)
    tripled = prices.powers(exp(-0.5), 3)
    assert tripled[:400] == pytest.approx(np.exp(-1.5 * np.arange(400)), rel=1e-12)
    lost = int(-SMALLEST_LOG / 1.5) + 1
    assert tripled[lost - 1] > 0
    assert not tripled[lost:].any()
    for k in range(1, 200):  # however many have been asked for, the answer is the right one
        assert prices.powers(exp(-1 / k))[1] == pytest.approx(exp(-1 / k))


def test_rounding_stays_within_its_margin_and_the_margin_is_small():
    rng = np.random.default_rng(1)
    for length in (1, 5, 50):
        products = [rng.random((7, length)) for _ in range(20)]
        margin = Prices.margin(8, length)
        for factors in products:
            exact = sum(np.prod([Fraction(float(x)) for x in row]) for row in factors)
            assert abs(Fraction(float(np.prod(factors, axis=1).sum())) - exact) <= exact * Fraction(margin)
        assert margin < 1e-8
    assert Prices.margin(8, 100) > 10 * Prices.margin(8, 1)
    assert Prices.margin(10**6) > 100 * Prices.margin(8)


def test_the_unit_says_how_far_symbols_are_moved_and_who_has_no_neighbour_that_near():
    near, anywhere = Prices(WORLD, distance(), 1.0), Prices(WORLD, distance(), None)
    assert near.alone == 2  # c and d
    assert near.sentence("any word", 1) == (
        "any word that differs in at most 1 symbol, which is at most 1 away from the true one"
        " (2 of 4 symbols have no other that near: they are not protected)"
    )
    assert near.sentence("any word", 2).startswith("any word that differs in at most 2 symbols, each of them at most 1")
    assert "(" not in Prices(WORLD, distance(), 4.0).sentence("any word", 1)
    assert anywhere.sentence("any word", 3) == "any word that differs in at most 3 symbols"
    assert anywhere.unit(2) == Symbols(2)
    assert anywhere.unit(2, feasible=True) == Symbols(2, feasible=True)
    assert near.unit(2) == MovedSymbols(2, 1.0, near.distance.fingerprint)


def test_options_that_do_not_go_together_are_refused():
    with pytest.raises(pv.InvalidParameterError, match="two nearest are 1 apart"):
        pv.Exponential(WORLD, epsilon=1.0, distance=distance(), within=0.5)
    with pytest.raises(pv.InvalidParameterError, match="`within` needs a distance"):
        pv.Exponential(WORLD, epsilon=1.0, within=0.5)
    with pytest.raises(pv.InvalidParameterError, match=r"a pv\.SymbolDistance, not dict"):
        pv.Exponential(WORLD, epsilon=1.0, distance=LINE)
    plain = pv.Exponential(WORLD, epsilon=1.0)
    assert (plain.distance, plain.within, plain.is_uniform_within_class) == (None, None, True)
    with pytest.raises(pv.InvalidParameterError, match="no distances are known"):
        plain.distance_law("ab")
    assert not pv.Exponential(WORLD, epsilon=1.0, distance=distance()).is_uniform_within_class


# Losses.


@pytest.mark.parametrize("kind", [pv.Exponential, pv.Online, pv.CertifiedExponential])
@pytest.mark.parametrize("within", [None, 1.0])
def test_words_that_differ_in_more_symbols_lose_no_more_than_is_said(kind, within):
    """Against all pairs of words; and what is said is no more than follows from the promise, or from the costs."""
    world, adjacency, epsilon = pv.Alphabet("abc"), 2, 1.5
    line = pv.SymbolDistance.from_coordinates({x: LINE[x] for x in "abc"}, radius=None, steps=6)
    m = kind(world, epsilon=epsilon, adjacency=adjacency, distance=line, within=within)
    listed = Enumerated(world, line, None)
    theta, z = m.theta(3), Prices(world, line, within).z(m.theta(3))
    laws = {word: listed.exponential_law(word, z) for word in product("abc", repeat=3)}
    for apart in (1, 2, 3):
        said = m.loss_at(apart, [3])
        assert listed.worst_loss(laws, apart) <= said * (1 + 1e-9)
        by_costs, by_promise = 2 * apart * theta, ceil(apart / adjacency) * epsilon
        # Moves by more than `within`, or over words that are not feasible, are no sum of moves that are promised.
        in_steps = within is None and kind is not pv.CertifiedExponential
        assert said == pytest.approx(min(by_costs, by_promise) if in_steps else by_costs)
    with pytest.raises(pv.PathVeilError):
        m.loss_at(0, [3])


@pytest.mark.parametrize("within", [None, 1.0, 2.5])
def test_the_loss_of_a_free_symbol_is_the_true_one_and_its_tilt_uses_up_epsilon(within):
    prices = Prices(WORLD, distance(steps=20), within)
    pairs = [(x, y) for x, y in product(range(4), repeat=2) if x != y and (prices.near is None or prices.near[x, y])]
    for theta in (0.3, 2.0, 30.0):
        laws = np.log(symbol_laws(prices, np.arange(4), theta))
        true = max(float(np.abs(laws[x] - laws[y]).max()) for x, y in pairs)
        assert true <= symbol_loss(prices, theta) <= true * (1 + 1e-9) + 1e-9
    theta = free_theta(prices, 2.0, 3)
    assert 3 * symbol_loss(prices, theta) <= 2.0
    assert 3 * symbol_loss(prices, theta * 1.001) > 2.0


def test_a_large_free_alphabet_has_the_loss_of_all_its_pairs():
    """So many symbols that they are looked at in several pieces."""
    count = 1100
    points = {i: (i * (1 + i / 5000), 0) for i in range(count)}
    prices = Prices(pv.Alphabet(range(count)), pv.SymbolDistance.from_coordinates(points, radius=9.0, steps=9), None)
    weights = np.exp(-0.7 / 9 * prices.costs.astype(float))
    laws = np.log(weights / weights.sum(axis=1, keepdims=True))
    true = float((laws.max(axis=0) - laws.min(axis=0)).max())
    assert symbol_loss(prices, 0.7) == pytest.approx(true, rel=1e-9)


def test_a_search_finds_the_largest_number_that_passes_and_never_one_that_does_not():
    def found(border: float, lowest: float = 1.0, highest: float = 2.0) -> float:
        return largest_passing(lambda x: x <= border, lowest=lowest, highest=highest)

    assert found(5.0) == 2.0
    assert found(1.0) == 1.0
    for border in (1.0001, 1.3, 1.77777, 1.999):
        assert border - 1e-5 < found(border) <= border
    asked: list[float] = []
    assert largest_passing(lambda x: asked.append(x) is not None, lowest=1.0, highest=2.0, tries=4, halvings=3) == 1.0
    # From the highest down in quarters; then three times halfway from the lowest, which is known to pass.
    assert asked == [2.0, 1.75, 1.5, 1.25, 1.125, 1.0625, 1.03125]
    # Where a gap does not pass, a number above it is found.
    assert 1.9 <= largest_passing(lambda x: x < 1.2 or 1.9 <= x <= 1.95, lowest=1.0, highest=2.0) <= 1.95
    assert found(1.0, highest=1.0) == 1.0


def test_words_that_the_promise_compares():
    m = pv.Exponential(CHAIN, epsilon=1.0, adjacency=2, distance=pv.SymbolDistance.from_coordinates(
        {0: (0, 0), 1: (1, 0), 2: (3, 0)}), within=2.0)  # fmt: skip
    words = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 2], [2, 1, 0]])
    assert m.adjacent(np.array([0, 0, 0]), words).tolist() == [False, True, True, False, False, False]
    wide = pv.Exponential(CHAIN, epsilon=1.0, adjacency=2, distance=m.distance)
    assert wide.adjacent(np.array([0, 0, 0]), words).tolist() == [False, True, True, False, True, True]


def test_log_probabilities_of_a_free_alphabet_add_up():
    m = pv.CertifiedExponential(WORLD, epsilon=2.0, distance=distance())
    outputs = np.array(list(product(range(4), repeat=2)))
    assert np.exp(m.log_probabilities(WORLD.encode("ac"), outputs)).sum() == pytest.approx(1.0)
    assert m.log_probability("ac", "ac") - m.log_probability("ac", "bc") == pytest.approx(-log(
        Prices(WORLD, distance(), None).z(m.theta(2))))  # fmt: skip
