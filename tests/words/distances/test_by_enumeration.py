"""Laws, losses and errors of all four mechanisms with distances, against everything enumerated; negative controls."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.distances.online import position_loss
from pathveil.words.distances.prices import Prices
from tests.reference.distances import Enumerated
from tests.words.distances.checking import check


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_laws_losses_and_errors_are_those_of_everything_enumerated(first):
    shares = [check(seed) for seed in range(first, first + 8)]
    # And no calibration is wasteful: where words that differ exist, it comes close to what it promises.
    assert sum(one["Online"] > 0.999 for one in shares) >= 2
    assert sum(one["CertifiedExponential"] > 0.98 for one in shares) >= 3


@pytest.mark.slow
def test_the_same_on_many_systems_and_no_calibration_is_wasteful():
    shares = [check(seed) for seed in range(1000, 1100)]
    largest = {name: max(one[name] for one in shares) for name in shares[0]}
    # Exact calibrations come close to what they promise.
    assert largest["Online"] > 0.999
    assert largest["CertifiedExponential"] > 0.99


def test_the_audit_compares_what_the_unit_says():
    world = pv.Alphabet("abc")
    line = pv.SymbolDistance.from_coordinates({"a": (0, 0), "b": (1, 0), "c": (5, 0)}, radius=None)
    far = pv.audit_exhaustively(pv.Exponential(world, epsilon=1.0, distance=line), length=2)
    near = pv.audit_exhaustively(pv.Exponential(world, epsilon=1.0, distance=line, within=1.0), length=2)
    assert (far.pairs, near.pairs) == (9 * 4, 2 * 3 * 2)
    listed = Enumerated(world, line, 1.0)
    m = pv.Exponential(world, epsilon=1.0, distance=line, within=1.0)
    z = Prices(world, line, 1.0).z(m.theta(2))
    laws = {w: listed.exponential_law(w, z) for w in [(x, y) for x in "abc" for y in "abc"]}
    assert near.loss == pytest.approx(listed.worst_loss(laws, 1), rel=1e-9)
    assert m.unprotected_symbols == 1  # nothing is within 1 of "c"
    assert pv.Exponential(world, epsilon=1.0, distance=line).unprotected_symbols == 0
    assert pv.Exponential(world, epsilon=1.0).unprotected_symbols == 0


# Negative controls: what the mathematics warns of really breaks the promise.


def test_costs_that_are_rounded_down_break_the_promise():
    # Three places on a line: half a step each way is rounded to nothing, the whole to a step.
    costs = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    step = 2.0
    weights = np.exp(-step * costs)
    laws = weights / weights.sum(axis=1, keepdims=True)
    moved = np.abs(np.log(laws[0] / laws[1])).max()
    largest_cost = costs[0, 1]  # within one place, which would be ρ
    assert moved > 2 * step * largest_cost


def test_a_rho_that_is_too_small_breaks_the_promise():
    world = pv.Alphabet("abcd")
    line = pv.SymbolDistance.from_coordinates({x: (i, 0) for i, x in enumerate("abcd")}, radius=3.0)
    narrow = pv.CertifiedExponential(world, epsilon=1.0, distance=line, within=1.0)
    wide = pv.CertifiedExponential(world, epsilon=1.0, distance=line, within=2.0)
    wide._certificates = {2: narrow.certificate(2)}  # the tilt of moves by 1 for moves by 2
    assert not pv.audit_exhaustively(wide, 2).holds


def test_the_online_mechanism_without_the_factor_two_breaks_the_promise():
    # In the middle of the line the weights add up to more than at its end.
    world = pv.Alphabet("abcde")
    line = pv.SymbolDistance.from_coordinates({x: (i, 0) for i, x in enumerate("abcde")}, radius=1.5)
    prices = Prices(world, line, None)
    assert position_loss(world.compiled, prices, prices.theta(2.0, 1)) > 2.05
    assert position_loss(world.compiled, prices, prices.theta(2.0, 2)) <= 2.0


def test_the_formula_that_sums_up_other_symbols_does_not_carry_over():
    # γ is known exactly here; the change of log Z is beyond what the formula for Hamming distance allows.
    gamma, z = np.array([1.0, 1.0, 8.0]), np.exp(-3.0)
    costs = np.array([[0, 1, 1], [1, 0, 0.1], [1, 0.1, 0]])  # the heavy third symbol is near the second
    w, v = 0, 1
    true = log((gamma @ z ** costs[v]) / (gamma @ z ** costs[w]))
    a, o = gamma[v] / gamma[w], gamma[2] / gamma[w]
    assert true > log((a + z * (1 + o)) / (1 + z * (a + o))) + 1
