"""Several draws together: against one draw, plain convolution, direct integration, and Rényi bounds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from flint import arb, ctx
from scipy import special

import pathveil as pv
from pathveil.privacy import composition
from pathveil.privacy.hockey_stick import log_hockey_sticks
from pathveil.privacy.worst_pair import log_density
from tests.reference.exact_profile import exact_delta, profile_parameters
from tests.reference.loss_convolution import delta_bracket

TRAFFIC = pv.DirichletProfile(floor=0.1, concentration=9.87, shift=0.0125)
GRADES = pv.DirichletProfile(floor=0.073, concentration=20.6, shift=1 / 98)


@pytest.mark.parametrize(
    "row", [TRAFFIC, GRADES, pv.DirichletProfile(0.01, 1e-3, 0.01), pv.DirichletProfile(0.2, 1e9, 1e-6)]
)
def test_one_row_alone_costs_what_its_exact_profile_says(row):
    one = pv.ComposedProfile([row])
    for delta in (1e-3, 1e-6, 1e-12, 1e-30):
        exact = row.epsilon(delta)
        assert exact <= one.epsilon(delta) <= exact * 1.0001


@pytest.mark.slow
def test_thirty_two_changing_rows_of_the_traffic_example_cost_far_more_than_claimed():
    # MDM claims ε = 1.16 at δ = 0.011 for this adjacency. The exact value is 3.027.
    epsilon = pv.ComposedProfile([TRAFFIC] * 32).epsilon(0.011)
    assert 3.02 <= epsilon < 3.03
    lower, _ = delta_bracket([TRAFFIC] * 32, 2.9, spacing=0.002, reach=4.0)
    assert lower > 0.011  # so 2.9 would be too little, by a method that can only err the other way


@pytest.mark.parametrize(("count", "epsilon"), [(2, 0.8), (5, 1.5), pytest.param(16, 2.5, marks=pytest.mark.slow)])
def test_many_equal_rows_lie_inside_the_bracket_of_plain_convolution(count, epsilon):
    lower, upper = delta_bracket([GRADES] * count, epsilon, spacing=0.001, reach=4.0)
    found = pv.ComposedProfile([GRADES] * count).delta(epsilon)
    assert lower <= found <= upper
    assert upper < 1.1 * lower  # the bracket is narrow enough to mean something


def test_dropping_one_of_several_equal_rows_falls_out_of_the_bracket():
    # The negative control of the test above: a forgotten count would show.
    lower, _ = delta_bracket([GRADES] * 5, 1.5, spacing=0.001, reach=4.0)
    assert pv.ComposedProfile([GRADES] * 4).delta(1.5) < 0.8 * lower
    assert pv.ComposedProfile([GRADES]).delta(1.5) < 0.1 * lower


def _delta_anywhere(profile: pv.DirichletProfile, epsilon: np.ndarray) -> np.ndarray:
    """δ(ε) for negative ε too, where the symmetry of the worst pair gives δ(-ε) = 1 - e^-ε + e^-ε δ(ε)."""
    rows = (np.full(len(epsilon), x) for x in (profile.a, profile.h))
    delta = np.exp(log_hockey_sticks(np.abs(epsilon), *rows))
    return np.where(epsilon >= 0, delta, -np.expm1(epsilon) + np.exp(np.minimum(epsilon, 0)) * delta)


def test_two_different_rows_agree_with_integrating_one_profile_over_the_loss_of_the_other():
    u = np.linspace(-30, 50, 801)
    density = np.exp(log_density(u, TRAFFIC.a, TRAFFIC.h))
    for epsilon in (0.5, 2.0, 6.0):
        inner = _delta_anywhere(GRADES, epsilon - TRAFFIC.h * u)
        exact = float((density * inner).sum() * (u[1] - u[0]))
        found = pv.ComposedProfile([TRAFFIC, GRADES]).delta(epsilon)
        assert exact * (1 - 1e-6) <= found <= exact * 1.001


def test_composition_never_exceeds_renyi_bounds_by_more_than_the_grid():
    rows = [TRAFFIC] * 7 + [GRADES] * 3
    composed = pv.ComposedProfile(rows)
    assert composed.renyi(2.0) == pytest.approx(7 * TRAFFIC.renyi(2.0) + 3 * GRADES.renyi(2.0))
    for epsilon in (1.0, 3.0, 8.0):
        orders = np.arange(1.05, 8.0, 0.05)
        bound = min(math.exp((x - 1) * (composed.renyi(x) - epsilon)) for x in orders)
        assert composed.delta(epsilon) < bound


def test_tiny_deltas_survive_the_convolution():
    composed = pv.ComposedProfile([GRADES] * 10)
    epsilon = composed.epsilon(1e-25)
    assert composed.delta(epsilon) <= 1e-25
    assert composed.delta(epsilon * 0.999) > 1e-25
    orders = np.arange(1.1, 8.0, 0.05)
    moments = min(composed.renyi(x) + 25 * math.log(10) / (x - 1) for x in orders)
    assert 0.9 * moments < epsilon < moments


def test_an_epsilon_far_from_the_bulk_of_the_loss_is_still_an_upper_bound():
    # A search over ε uses one tilt for all; where that tilt is useless the answer must be 1, not a small number.
    row = pv.DirichletProfile(0.001, 1e5, 0.05)
    composed = pv.ComposedProfile([row] * 3)
    epsilon = composed.epsilon(1e-20)
    lower, _ = delta_bracket([row] * 3, 50_000.0, spacing=50.0, reach=60_000.0)
    assert lower > 0.999
    assert epsilon > 3 * row.epsilon(0.4)
    assert composed.delta(epsilon) <= 1e-20 < composed.delta(0.99 * epsilon)
    assert composed._delta(0.0, 5.0) == 1.0


def test_the_order_of_rows_does_not_matter():
    assert pv.ComposedProfile([TRAFFIC, GRADES, TRAFFIC]).delta(1.0) == pv.ComposedProfile(
        [GRADES, TRAFFIC, TRAFFIC]
    ).delta(1.0)


def test_the_loss_density_integrates_to_the_beta_law():
    a, h = TRAFFIC.a, TRAFFIC.h
    u = np.linspace(-60, 3.0, 40_001)
    mass = np.exp(log_density(u, a, h)).sum() * (u[1] - u[0])
    assert mass == pytest.approx(special.betainc(a + h, a, special.expit(3.0)), rel=1e-3)


def test_nothing_to_compose_is_refused():
    with pytest.raises(pv.InvalidParameterError, match="no rows"):
        pv.ComposedProfile([])
    with pytest.raises(pv.InvalidParameterError, match="delta is"):
        pv.ComposedProfile([TRAFFIC]).epsilon(0.0)
    with pytest.raises(pv.InvalidParameterError, match="epsilon is"):
        pv.ComposedProfile([TRAFFIC]).delta(-1.0)


def _two_rows_in_sixty_digits(first: pv.DirichletProfile, second: pv.DirichletProfile, epsilon: float) -> list[arb]:
    """[lower, upper] bounds on δ(ε) of two draws: one loss in cells, the exact profile of the other at their ends."""
    with ctx.workdps(60):
        a, h = profile_parameters(first.floor, first.concentration, first.shift)
        points = [arb(i) / 4 for i in range(-60, 61)]
        below = [(1 / (1 + (-u).exp())).beta_lower(a + h, a, 1) for u in points]
        inner = [_exact_delta_anywhere(second, arb(epsilon) - h * u) for u in points]
        masses = [y - x for x, y in itertools.pairwise(below)]
        return [
            sum((m * d for m, d in zip(masses, inner[:-1], strict=True)), arb(0)) + (1 - below[-1]) * inner[-1],
            sum((m * d for m, d in zip(masses, inner[1:], strict=True)), below[0] * inner[0]) + (1 - below[-1]),
        ]


def _exact_delta_anywhere(profile: pv.DirichletProfile, epsilon: arb) -> arb:
    a, h = profile_parameters(profile.floor, profile.concentration, profile.shift)
    if epsilon >= 0:
        return exact_delta(epsilon, a, h)
    return 1 - epsilon.exp() + epsilon.exp() * exact_delta(-epsilon, a, h)


def test_two_rows_together_are_never_below_a_bound_from_sixty_digits():
    for epsilon in (0.3, 1.0, 2.0):
        lower, upper = _two_rows_in_sixty_digits(GRADES, TRAFFIC, epsilon)
        found = arb(pv.ComposedProfile([GRADES, TRAFFIC]).delta(epsilon))
        assert lower <= found <= upper
        assert upper < 1.5 * lower  # the bracket means something


def test_one_row_alone_is_never_below_sixty_digits_and_hardly_above():
    for row in (GRADES, TRAFFIC, pv.DirichletProfile(0.2, 1e7, 1e-5), pv.DirichletProfile(0.01, 1e-2, 0.01)):
        composed = pv.ComposedProfile([row])
        for delta in (0.1, 1e-20):
            epsilon = row.epsilon(delta)
            true = exact_delta(epsilon, *profile_parameters(row.floor, row.concentration, row.shift))
            assert true <= arb(composed.delta(epsilon)) <= true * 1.001


def test_masses_on_the_grid_are_bounds_on_exact_ones():
    # Upward and staying mass of a cell together: its probability, from 60 digits.
    edges = np.arange(-20, 41) / 4
    spacing = 0.25 * TRAFFIC.h
    found = np.add(*composition._split_masses(TRAFFIC, spacing, edges, np.arange(-20, 40)))
    nearly = np.add(*composition._nearly_split_masses(TRAFFIC, spacing, edges, np.arange(-20, 40)))
    with ctx.workdps(60):
        a, h = profile_parameters(TRAFFIC.floor, TRAFFIC.concentration, TRAFFIC.shift)
        below = [(1 / (1 + (-arb(u)).exp())).beta_lower(a + h, a, 1) for u in edges.tolist()]
        for mass, near, (left, right) in zip(found, nearly, itertools.pairwise(below), strict=True):
            assert right - left <= arb(mass) <= (right - left) * (1 + 1e-10)
            assert abs(arb(near) / (right - left) - 1) < 1e-10


def test_the_cells_at_both_ends_of_the_grid_are_counted():
    # They hold less than any δ that is asked for, so that only the masses themselves can tell whether they are there.
    for row in (TRAFFIC, GRADES):
        [(part, _)] = pv.ComposedProfile([row])._parts
        assert part.mass[0] > 0
        assert part.mass[-1] > 0
