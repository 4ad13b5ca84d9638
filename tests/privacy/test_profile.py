"""The exact profile: known answers, arbitrary precision, inversion, and the loss of actual draws."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy import special, stats

import pathveil as pv
from pathveil.privacy.profile import concentrations_for, log_floor_limit, require_promise
from tests.reference.dirichlet_profile import log_delta as reference_log_delta
from tests.sizes import small_and_large

GRADES = pv.DirichletProfile(floor=0.073, concentration=20.6, shift=1 / 98)
TRAFFIC = pv.DirichletProfile(floor=0.1, concentration=9.87, shift=0.0125)
TRAFFIC_LOUD = pv.DirichletProfile(floor=0.1, concentration=98.7, shift=0.0125)


def test_the_published_settings_have_the_exact_epsilons_of_the_table():
    assert GRADES.epsilon(0.0026) == pytest.approx(0.629, abs=0.0005)
    assert TRAFFIC.epsilon(0.011) == pytest.approx(0.296, abs=0.0005)
    assert TRAFFIC_LOUD.epsilon(0.019) == pytest.approx(0.897, abs=0.0005)


def test_the_published_settings_have_the_exact_deltas_of_the_table():
    assert GRADES.delta(2.255) == pytest.approx(2.46e-8, rel=0.002)
    assert GRADES.delta(2.2119) == pytest.approx(3.34e-8, rel=0.002)
    assert TRAFFIC.delta(1.1678) == pytest.approx(1.1e-5, rel=0.02)
    assert TRAFFIC_LOUD.delta(11.1292) == pytest.approx(4e-35, rel=0.1)


def test_delta_agrees_with_the_two_incomplete_beta_functions_where_those_can_be_subtracted():
    for profile in (GRADES, TRAFFIC, TRAFFIC_LOUD):
        for epsilon in (0.0, 0.1, 0.5, 1.0):
            a, h = profile.a, profile.h
            v = special.expit(-epsilon / h)
            direct = special.betainc(a, a + h, v) - math.exp(epsilon) * special.betainc(a + h, a, v)
            assert profile.delta(epsilon) == pytest.approx(direct, rel=1e-9, abs=1e-14)


def _random_setting(draw: random.Random) -> tuple[pv.DirichletProfile, float]:
    """A profile with k in 1e-3..1e9 and an ε at which its δ lies between 1e-30 and 1/2."""
    while True:
        floor, shift = 10 ** draw.uniform(-4, -0.35), 10 ** draw.uniform(-7, -0.5)
        if 2 * floor + shift <= 1:
            profile = pv.DirichletProfile(floor, 10 ** draw.uniform(-3, 9), shift)
            epsilon = profile.epsilon(10 ** draw.uniform(-30, -0.31))
            if epsilon > 0:
                return profile, epsilon


@small_and_large("settings", 12, 50)
@pytest.mark.parametrize("seed", range(4))
def test_delta_agrees_with_arbitrary_precision_at_random_settings(seed, settings):
    draw = random.Random(seed)
    for _ in range(settings):
        profile, epsilon = _random_setting(draw)
        exact = reference_log_delta(epsilon, profile.floor, profile.concentration, profile.shift)
        assert -1e-11 < profile.log_delta(epsilon) - exact < 1e-7, (profile, epsilon)


def test_the_reference_itself_agrees_with_incomplete_beta_functions_in_sixty_digits():
    for profile, epsilon in ((GRADES, 0.6), (GRADES, 4.0), (TRAFFIC, 1.0), (TRAFFIC_LOUD, 11.0)):
        with mp.workdps(60):
            a, h = (mpf(profile.concentration) * mpf(x) for x in (profile.floor, profile.shift))
            v = 1 / (1 + mp.exp(mpf(epsilon) / h))
            first = mp.betainc(a, a + h, 0, v, regularized=True)
            exact = first - mp.exp(epsilon) * mp.betainc(a + h, a, 0, v, regularized=True)
            log_exact = float(mp.log(exact))
        found = reference_log_delta(epsilon, profile.floor, profile.concentration, profile.shift)
        assert found == pytest.approx(log_exact, abs=1e-10)


def test_delta_does_not_vanish_where_the_upper_tail_rounds_to_zero():
    # ε/h = 100: 1 - σ(ε/h) is 0 in floating point, and so would be a δ taken from upper tails.
    profile = pv.DirichletProfile(floor=0.05, concentration=1.0, shift=0.05)
    assert 1.0 - special.expit(5.0 / profile.h) == 0.0
    assert profile.delta(5.0) > 1e-4


def test_the_worst_pair_is_at_the_floor():
    def delta_of_pair(i: float, j: float, k: float, s: float, epsilon: float) -> float:
        """Hockey-stick divergence of x_i/(x_i+x_j) where entry i falls from i+s to i and j rises from j to j+s."""
        p, q = stats.beta(k * (i + s), k * j), stats.beta(k * i, k * (j + s))
        x = (np.arange(200_000) + 0.5) / 200_000
        return float(np.maximum(0, p.pdf(x) - math.exp(epsilon) * q.pdf(x)).mean())

    worst = pv.DirichletProfile(floor=0.1, concentration=30.0, shift=0.05)
    at_floor = delta_of_pair(0.1, 0.1, 30.0, 0.05, 0.7)
    assert at_floor == pytest.approx(worst.delta(0.7), rel=1e-4)
    for i, j in ((0.1, 0.3), (0.3, 0.1), (0.2, 0.2), (0.1, 0.75)):
        assert delta_of_pair(i, j, 30.0, 0.05, 0.7) < at_floor
    assert delta_of_pair(0.1, 0.1, 30.0, 0.03, 0.7) < at_floor  # and a smaller shift is covered


@settings(max_examples=40, deadline=None)
@given(
    epsilon=st.floats(0.01, 10),
    log_delta=st.floats(-60, -1),
    log_shift=st.floats(-12, -2),
    part=st.floats(0.01, 1.0),
)
def test_the_concentration_found_is_safe_and_the_largest(epsilon, log_delta, log_shift, part):
    delta, shift = math.exp(log_delta), math.exp(log_shift)
    floor = part * (1 - shift) / 2
    try:
        k = pv.concentration_for(epsilon, delta, floor, shift)
    except pv.UnreachablePrivacyError:
        assert log_floor_limit(epsilon, floor, shift) > log_delta - 1e-6
        return
    assert pv.DirichletProfile(floor, k, shift).delta(epsilon) <= delta
    assert pv.DirichletProfile(floor, k * (1 + 1e-5), shift).delta(epsilon) > delta


def test_epsilon_inverts_delta_on_the_safe_side():
    for delta in (0.1, 1e-3, 1e-12, 1e-30):
        epsilon = GRADES.epsilon(delta)
        assert GRADES.delta(epsilon) <= delta
        assert GRADES.delta(epsilon * (1 - 1e-6)) > delta
    assert GRADES.epsilon(0.499) == 0.0


def test_more_noise_brings_delta_no_lower_than_its_limit():
    floor, shift, epsilon = 0.02, 0.05, 1.5
    limit = shift / (2 * floor + shift) * math.exp(-epsilon * floor / shift)
    assert pv.DirichletProfile(floor, 1e-9, shift).delta(epsilon) == pytest.approx(limit, rel=1e-6)
    assert math.exp(log_floor_limit(epsilon, floor, shift)) == pytest.approx(limit, rel=1e-12)


def test_an_unreachable_promise_names_a_floor_that_keeps_it():
    with pytest.raises(pv.UnreachablePrivacyError, match=r"smallest floor that would do is 0\.\d+") as caught:
        pv.concentration_for(epsilon=1.0, delta=1e-6, floor=0.01, shift=0.02)
    named = float(str(caught.value).split("would do is ")[1].split()[0])
    assert pv.concentration_for(1.0, 1e-6, named * 1.001, 0.02) > 0
    with pytest.raises(pv.UnreachablePrivacyError):
        pv.concentration_for(1.0, 1e-6, named * 0.999, 0.02)


def test_renyi_divergence_matches_beta_functions_and_numerical_integration():
    a, h = GRADES.a, GRADES.h
    for alpha in (0.5, 2.0, 4.0):
        direct = special.betaln(a + alpha * h, a + (1 - alpha) * h) - special.betaln(a + h, a)
        assert GRADES.renyi(alpha) == pytest.approx(direct / (alpha - 1), rel=1e-9)
    x = (np.arange(400_000) + 0.5) / 400_000
    p, q = stats.beta(a + h, a).pdf(x), stats.beta(a, a + h).pdf(x)
    assert GRADES.renyi(1.0) == pytest.approx(float((p * np.log(p / q)).mean()), rel=1e-4)
    assert GRADES.renyi(1 + 1e-6) == pytest.approx(GRADES.renyi(1.0), rel=1e-4)
    assert GRADES.renyi(1.000001 + 0.073 * 98) == math.inf


def test_renyi_divergence_keeps_its_digits_at_large_concentrations():
    profile = pv.DirichletProfile(0.02, 1e9, 1e-6)
    with mp.workdps(40):
        a, h = mpf(0.02) * 1e9, mpf(1e-6) * 1e9
        exact = mp.log(mp.beta(a + 3 * h, a - 2 * h)) - mp.log(mp.beta(a + h, a))
        assert profile.renyi(3.0) == pytest.approx(float(exact / 2), rel=1e-8)
        assert profile.renyi(1.0) == pytest.approx(float(h * (mp.digamma(a + h) - mp.digamma(a))), rel=1e-8)


def test_renyi_bounds_the_profile():
    for epsilon in (0.5, 1.0, 2.0):
        bound = min(math.exp((alpha - 1) * (GRADES.renyi(alpha) - epsilon)) for alpha in np.arange(1.1, 8, 0.1))
        assert GRADES.delta(epsilon) < bound


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"floor": 0.0}, "floor is 0"),
        ({"floor": -0.1}, "floor is -0.1"),
        ({"concentration": math.nan}, "concentration is nan"),
        ({"concentration": math.inf}, "concentration is inf"),
        ({"shift": 0.0}, "shift is 0"),
        ({"shift": 0.9}, "more than the total mass"),
        ({"floor": 0.5}, "more than the total mass"),
    ],
)
def test_impossible_settings_are_refused(changes, says):
    with pytest.raises(pv.InvalidParameterError, match=says):
        pv.DirichletProfile(**({"floor": 0.1, "concentration": 10.0, "shift": 0.01} | changes))


@pytest.mark.parametrize("delta", [0.0, -1e-6, 0.5, 1.0, math.nan])
def test_a_promise_with_a_delta_outside_zero_to_one_half_is_refused(delta):
    with pytest.raises(pv.InvalidParameterError, match="delta is"):
        pv.concentration_for(1.0, delta, 0.1, 0.01)


@pytest.mark.parametrize("delta", [0.0, -1e-6, 1.0, math.nan])
def test_a_profile_has_an_epsilon_for_every_delta_that_is_a_probability(delta):
    with pytest.raises(pv.InvalidParameterError, match="delta is"):
        GRADES.epsilon(delta)
    loud = pv.DirichletProfile(0.001, 1e5, 0.05)
    assert loud.delta(loud.epsilon(0.9)) == pytest.approx(0.9, rel=1e-6)


@pytest.mark.parametrize("epsilon", [-1.0, math.nan, math.inf])
def test_an_impossible_epsilon_is_refused(epsilon):
    with pytest.raises(pv.InvalidParameterError, match="epsilon is"):
        GRADES.delta(epsilon)


def test_many_concentrations_at_once_are_those_of_one_at_a_time():
    floors = np.array([0.01, 0.1, 0.3, 0.18, 0.0225])
    shifts = np.array([1e-5, 1e-3, 1e-2, 1e-9, 1e-6])
    together = concentrations_for(0.8, 1e-9, floors, shifts)
    for k, floor, shift in zip(together, floors, shifts, strict=True):
        assert pv.DirichletProfile(floor, k, shift).delta(0.8) <= 1e-9
        assert k == pytest.approx(pv.concentration_for(0.8, 1e-9, float(floor), float(shift)), rel=1e-8)


@pytest.mark.parametrize(
    ("epsilon", "most"),
    [pytest.param(0.3, 6.0, marks=pytest.mark.slow), (3.73, 6.0), pytest.param(12.0, 3.0, marks=pytest.mark.slow)],
)
def test_with_hundreds_of_rows_each_still_gets_its_own_exact_answer(epsilon, most):
    # So many rows that most of them start from an interpolation: floors and shifts of all sizes, some near the edge of
    # what can be reached, where that start is poor.
    rng = np.random.default_rng(5)
    shifts = 10 ** -rng.uniform(2.5, most, 120)
    least = -math.log(1e-9) / epsilon  # of η/s, roughly: below it no concentration would do
    floors = np.minimum(shifts * least * 10 ** rng.uniform(0.0, 3.0, 120), 0.45)
    together = concentrations_for(epsilon, 1e-9, floors, shifts)
    for i in range(0, 120, 6):
        assert together[i] == pytest.approx(pv.concentration_for(epsilon, 1e-9, floors[i], shifts[i]), rel=1e-7)
    for floor, k, shift in zip(floors, together, shifts, strict=True):
        delta = pv.DirichletProfile(floor, k, shift).delta(epsilon)
        assert 0.99999e-9 < delta <= 1e-9


def test_epsilon_and_concentration_invert_each_other_at_any_scale():
    for epsilon, delta, floor, shift in ((1.0, 1e-6, 0.18, 1e-7), (0.01, 1e-9, 0.3, 1e-9), (30.0, 1e-20, 0.01, 1e-3)):
        profile = pv.DirichletProfile(floor, pv.concentration_for(epsilon, delta, floor, shift), shift)
        assert profile.epsilon(delta) == pytest.approx(epsilon, rel=1e-8)


def test_noise_is_calibrated_up_to_the_largest_epsilon_and_no_further():
    require_promise(1e5, 0.1)
    with pytest.raises(pv.InvalidParameterError, match="hides nothing"):
        require_promise(math.nextafter(1e5, math.inf), 0.1)
