"""Reported and calibrated numbers against 60 digits: never on the wrong side, and hardly on the right one."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from flint import arb, ctx
from mpmath import mp

import pathveil as pv
from pathveil.numerics.balls import Balls
from pathveil.privacy import enclosed_delta
from pathveil.privacy.enclosed_delta import (
    NODES,
    WEIGHTS,
    log_delta_bounds,
    log_densities,
    rule_errors,
    stirling_remainder,
)
from pathveil.privacy.profile import concentrations_for, exp_above, log_below
from pathveil.privacy.worst_pair import log_relative_density
from tests.reference.exact_profile import exact_delta, profile_parameters

# How much larger than δ(ε) the reported δ is, at most (relatively); the docstring of `delta` says so.
LOOSE = 1e-7


def _excess(epsilon: float, profile: pv.DirichletProfile) -> float:
    """(reported - true)/true, from 60 digits."""
    exact = exact_delta(epsilon, *profile_parameters(profile.floor, profile.concentration, profile.shift))
    with ctx.workdps(80):
        return float((arb(profile.delta(epsilon)) - exact) / exact)


def _hostile(draw: random.Random) -> tuple[float, pv.DirichletProfile]:
    """Parameters from 1e-9 to 1e8, shifts from far below to far above the floor, ε anywhere around the loss."""
    a = 10 ** draw.uniform(-9, 8)
    h = a * 10 ** draw.uniform(-5, 2)
    deviation = h * math.sqrt(1 / a + 1 / (a + h)) if a > 1 else h / a
    k = (2 * a + h) * 10 ** draw.uniform(0.1, 4)
    return deviation * 10 ** draw.uniform(-2, 1), pv.DirichletProfile(a / k, k, h / k)


@pytest.mark.parametrize("seed", range(3))
def test_reported_deltas_of_hostile_settings_are_never_below_the_truth_and_hardly_above(seed):
    draw = random.Random(seed)
    for _ in range(25):
        epsilon, profile = _hostile(draw)
        excess = _excess(epsilon, profile)
        # A δ that is 1 but for 1e-17 is reported as 1.
        assert 0 <= excess < LOOSE or profile.delta(epsilon) == 1.0, (epsilon, profile, excess)


@pytest.mark.parametrize(
    ("epsilon", "floor", "concentration", "shift"),
    [
        (1e-9, 0.1, 100.0, 1e-12),
        (1e-9, 1e-9, 1.0, 1e-9),
        (1e3, 3e-4, 1e4, 4e-3),
        (1e3, 0.1, 1e5, 0.03),
        (1e3, 1e-5, 1e4, 0.9),
        (0.0, 0.2, 50.0, 0.05),
        (0.0, 1e-6, 1000.0, 1e-6),
        (11.0, 0.1, 98.7, 0.0125),
        (1.0, 0.1, 8e8, 6e-6),
    ],
)
def test_settings_at_the_ends_of_every_range_are_reported_from_above(epsilon, floor, concentration, shift):
    assert 0 <= _excess(epsilon, pv.DirichletProfile(floor, concentration, shift)) < LOOSE


def test_a_bound_that_forgets_the_rounding_of_the_density_is_noticed(monkeypatch):
    # The negative control: the same test with a peak density that is too small by 1e-11, and with plain centres.
    right = enclosed_delta._log_peak_density
    monkeypatch.setattr(enclosed_delta, "_log_peak_density", lambda a, h: Balls((right(a, h) - 1e-10).mid, 0 * a.mid))
    assert any(_excess(*_hostile(random.Random(seed))) < 0 for seed in range(10))


def _promises(draw: random.Random) -> tuple[float, float, float, float]:
    epsilon = draw.choice([1e-9, 1e-3, 0.1, 1.0, 5.0, 30.0, 1e3])
    delta = draw.choice([1e-30, 1e-12, 1e-6, 1e-2, 0.4])
    # η/s from just above what the promise needs up to a million times that.
    ratio = (30 - math.log(delta)) / epsilon * 10 ** draw.uniform(-1, 4)
    shift = min(10 ** draw.uniform(-9, -0.1), 0.99 / (2 * ratio + 1))
    return epsilon, delta, ratio * shift, shift


def test_every_calibrated_concentration_keeps_its_promise_in_sixty_digits():
    draw = random.Random(4)
    reached = 0
    while reached < 40:
        epsilon, delta, floor, shift = _promises(draw)
        try:
            k = pv.concentration_for(epsilon, delta, floor, shift)
        except pv.UnreachablePrivacyError:
            continue
        reached += 1
        true = exact_delta(epsilon, *profile_parameters(floor, k, shift))
        assert true <= arb(delta), (epsilon, delta, floor, shift)
        assert true >= arb(delta) * (1 - 1e-6), (epsilon, delta, floor, shift)


def test_concentrations_of_many_rows_keep_the_promise_in_sixty_digits():
    rng = np.random.default_rng(3)
    shifts = 10 ** -rng.uniform(2.5, 6, 100)
    floors = np.minimum(shifts * 25 * 10 ** rng.uniform(0, 3, 100), 0.45)
    for i, k in enumerate(concentrations_for(1.0, 1e-9, floors, shifts).tolist()):
        if i % 10 == 0:
            assert exact_delta(1.0, *profile_parameters(floors[i], k, shifts[i])) <= arb(1e-9)


def test_every_reported_epsilon_keeps_its_delta_in_sixty_digits():
    draw = random.Random(6)
    for _ in range(12):
        _, profile = _hostile(draw)
        delta = 10 ** draw.uniform(-30, -0.31)
        epsilon = profile.epsilon(delta)
        a, h = profile_parameters(profile.floor, profile.concentration, profile.shift)
        assert exact_delta(epsilon, a, h) <= arb(delta)
        if epsilon > 0:
            assert exact_delta(epsilon * (1 - 1e-5), a, h) > arb(delta)


def test_renyi_divergences_are_rounded_up():
    draw = random.Random(8)
    for _ in range(30):
        _, profile = _hostile(draw)
        alpha = 1 + 10 ** draw.uniform(-6, 0.5) * min(1.0, profile.floor / profile.shift) * 0.3
        with ctx.workprec(2000):
            a, h = profile_parameters(profile.floor, profile.concentration, profile.shift)
            top = (a + alpha * h).lgamma() + (a + (1 - arb(alpha)) * h).lgamma()
            exact = (top - (a + h).lgamma() - a.lgamma()) / (arb(alpha) - 1)
            assert exact <= arb(profile.renyi(alpha)) <= exact * (1 + 1e-10)


def test_the_nodes_and_weights_of_gauss_are_those_of_the_sixteenth_legendre_polynomial():
    with ctx.workprec(200):
        for i in range(16):
            root, weight = arb.legendre_p_root(16, 15 - i, weight=True)
            assert abs(1 + root - arb(NODES.mid[i])) < arb(NODES.rad[i])
            assert abs(weight - arb(WEIGHTS.mid[i])) < arb(WEIGHTS.rad[i])


def test_densities_and_stirlings_remainder_are_enclosed():
    rng = np.random.default_rng(5)
    a, h = 10 ** rng.uniform(-9, 9, 200), 10 ** rng.uniform(-9, 9, 200)
    u = np.log1p(h / a) + rng.normal(0, 3, 200) * np.sqrt(1 / a + 1 / (a + h))
    density = log_densities(*(Balls.exact(x) for x in (u, a, h)))
    remainder = stirling_remainder(Balls.exact(a))
    with ctx.workprec(400):
        for i in range(200):
            x, y, z = arb(a[i]), arb(h[i]), arb(u[i])
            constant = (2 * x + y).lgamma() - x.lgamma() - (x + y).lgamma()
            exact = constant - x * z - (2 * x + y) * ((-z).exp()).log1p()
            assert abs(exact - arb(density.mid[i])) <= arb(density.rad[i])
            main = (x - arb(1) / 2) * x.log() - x + (2 * arb.pi()).log() / 2
            assert abs(x.lgamma() - main - arb(remainder.mid[i])) <= arb(remainder.rad[i])


def test_logarithms_of_probabilities_are_rounded_to_the_safe_side():
    rng = np.random.default_rng(6)
    with ctx.workprec(200):
        for x in (10 ** rng.uniform(-300, -0.001, 200)).tolist():
            assert arb(log_below(x)) <= arb(x).log()
            assert arb(exp_above(math.log(x))) >= arb(math.log(x)).exp()
    assert exp_above(-1e6) > 0
    assert exp_above(0.0) == 1.0


def test_a_bound_that_cannot_be_had_is_infinite_or_one_and_never_small():
    wide = Balls(np.array([1.0]), np.array([2.0]))
    assert log_delta_bounds(np.array([1.0]), wide, wide)[0] == 0.0


def test_the_coefficients_of_stirlings_series_come_from_bernoullis_numbers():
    # A last coefficient that is a little off could hide in the enclosure; the proof of its radius would be gone.
    expected = [mp.bernoulli(2 * n) / (2 * n * (2 * n - 1)) for n in range(1, 7)]
    assert tuple(float(x) for x in expected[:5]) == enclosed_delta._STIRLING
    assert float(abs(expected[5])) == enclosed_delta._NEXT_STIRLING


def test_the_error_of_gausss_rule_is_bounded_where_it_is_large():
    # In the profile itself panels are so narrow that a bound which is far too small would not show.
    a, h, errors = 3.0, 2.0, []
    for reach in (1.0, 2.0, 4.0, 8.0, 16.0):
        rule = reach * (WEIGHTS.mid @ np.exp(log_relative_density(reach * (NODES.mid - 1), a, h)))
        fine = np.exp(log_relative_density(np.linspace(-reach, reach, 200_001), a, h))
        exact = (fine[1:] + fine[:-1]).sum() * reach / 200_000
        row = [np.array([[x]]) for x in (a, h, 0.0)]
        with np.errstate(divide="ignore"):  # ellipses that reach a pole
            [[bound]] = rule_errors(np.array([[-reach, reach]]), *row, lambda middle, _, __: 0 * middle)
        errors.append(abs(rule - exact))
        assert errors[-1] <= bound + 1e-8
    assert max(errors) > 1e-3
