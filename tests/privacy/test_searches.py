"""How calibrations and inversions search: where they start, how far they go, and on which side they end."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx
from scipy import special

import pathveil as pv
from pathveil.privacy import profile as searches
from pathveil.privacy.profile import (
    SAFETY,
    concentrations_for,
    largest_passing,
    log_below,
    log_floor_limit,
    require_probability,
    require_promise,
)

GRADES = pv.DirichletProfile(floor=0.073, concentration=20.6, shift=1 / 98)
# ε, δ, η, s
PROMISES = [
    (1.0, 1e-6, 0.18, 1e-3),
    (0.1, 1e-9, 0.3, 1e-5),
    (5.0, 0.01, 0.01, 1e-3),
    (30.0, 1e-20, 0.01, 1e-3),
    (0.5, 0.4, 0.1, 0.05),
    (1e-3, 1e-3, 0.2, 1e-6),
    (1e3, 1e-5, 0.001, 0.02),
]


@pytest.mark.parametrize(("failing", "passing"), [(0.0, 10.0), (10.0, 0.0), (-5.0, 2.0), (3.0, -1e6)])
def test_a_search_ends_at_the_last_point_that_passes(failing, passing):
    edge = failing + 0.3 * (passing - failing)
    for room in (lambda x: (x - edge) * (passing - failing), lambda x: math.sinh((x - edge) / (passing - failing))):
        found = largest_passing(room, failing=failing, passing=passing)
        assert room(found) >= 0
        assert abs(found - edge) <= 1e-10 * abs(passing - failing)


def test_a_search_that_lands_on_the_wrong_side_steps_back_by_little():
    # Where the sign changes at one point and the function says nothing else, the root finder may stop on either side.
    for edge in (0.1, 1 / 3, 0.5, 0.7, 0.999, 1e-7):

        def room(x, edge=edge):
            return 1.0 if x > edge else -1.0

        found = largest_passing(room, failing=0.0, passing=1.0)
        assert edge < found <= edge + 1e-10
        found = largest_passing(lambda x: room(-x), failing=0.0, passing=-1.0)
        assert -edge - 1e-10 <= found < -edge
        rough = largest_passing(room, failing=0.0, passing=1.0, tolerance=1e-3)
        assert edge < rough <= edge + 0.01


def test_the_start_of_a_calibration_solves_the_gaussian_profile_in_few_steps(monkeypatch):
    asked: list[float] = []
    right = special.log_ndtr
    monkeypatch.setattr(special, "log_ndtr", lambda x: asked.append(x) or right(x))
    steps = {1e-3: (10, 7, 6, 4), 0.1: (6, 5, 5, 4), 1.0: (5, 4, 4, 4), 10.0: (4, 4, 4, 3), 1e3: (4, 2, 2, 2)}
    for epsilon, most in steps.items():
        for log_delta, few in zip((-1.0, -7.0, -14.0, -60.0), most, strict=True):
            asked.clear()
            mu = searches._gaussian_deviation(epsilon, log_delta)
            assert len(asked) <= 2 * few  # two tails for each step of Newton's
            above, below = (special.log_ndtr(sign * mu / 2 - epsilon / mu) for sign in (1, -1))
            found = above + math.log(-math.expm1(epsilon + below - above))
            assert found == pytest.approx(log_delta, abs=1e-6 * max(1.0, -log_delta)), (epsilon, log_delta)


def test_an_epsilon_far_below_rounding_is_as_good_as_zero():
    # δ(0) is what matters there; a start that cancels would have no logarithm.
    near = pv.concentration_for(1e-12, 1e-3, 0.1, 1e-6)
    for epsilon in (1e-17, 1e-40, 1e-300):
        assert pv.concentration_for(epsilon, 1e-3, 0.1, 1e-6) == pytest.approx(near, rel=1e-6)


def _evaluations(monkeypatch) -> list[int]:
    """How many rows each evaluation of the profile is asked for, from now on."""
    sizes: list[int] = []
    right = searches.log_hockey_sticks
    monkeypatch.setattr(searches, "log_hockey_sticks", lambda e, a, h: sizes.append(len(e)) or right(e, a, h))
    return sizes


def test_a_calibration_takes_few_evaluations_of_the_profile(monkeypatch):
    sizes = _evaluations(monkeypatch)
    for promise, most in zip(PROMISES, [5, 4, 6, 6, 6, 3, 8], strict=True):
        sizes.clear()
        epsilon, delta, floor, shift = promise
        k = concentrations_for(epsilon, delta, np.array([floor]), np.array([shift]))
        assert len(sizes) <= most, promise
        room = math.log(delta) - pv.DirichletProfile(floor, float(k[0]), shift).log_delta(epsilon)
        assert 0 <= room < 2 * SAFETY, promise


def test_rows_that_are_settled_are_not_evaluated_again(monkeypatch):
    sizes = _evaluations(monkeypatch)
    floors, shifts = (np.array([promise[i] for promise in PROMISES[:3]]) for i in (2, 3))
    floors[2] = 0.4
    together = concentrations_for(3.0, 1e-6, floors, shifts)
    assert sizes[0] == 3
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 3
    for k, floor, shift in zip(together, floors, shifts, strict=True):
        assert k == pytest.approx(pv.concentration_for(3.0, 1e-6, floor, shift), rel=1e-8)


def test_many_rows_start_within_a_millionth_of_their_answers(monkeypatch):
    sizes = _evaluations(monkeypatch)
    rng = np.random.default_rng(9)
    shifts = 10 ** -rng.uniform(3, 6, 200)
    floors = np.minimum(shifts * 100 * 10 ** rng.uniform(0, 2, 200), 0.45)
    start = searches._guided_start(1.0, 1e-9, floors, shifts)
    assert max(sizes) == 32  # answers for so few rows guide the others
    found = searches._search(1.0, 1e-9, floors, shifts)
    assert np.abs(start - found).max() < 1e-6
    assert np.exp(found) == pytest.approx(concentrations_for(1.0, 1e-9, floors, shifts), rel=1e-7)
    sizes.clear()
    assert searches._search(1.0, 1e-9, floors[:64], shifts[:64]) == pytest.approx(found[:64], abs=1e-7)
    assert sizes[0] == 64  # two for each guide: not worth a guide
    sizes.clear()
    searches._search(1.0, 1e-9, floors[:65], shifts[:65])
    assert sizes[0] == 32


def test_rows_that_all_have_the_same_ratio_are_guided_too():
    shifts = np.full(80, 1e-4) * np.arange(1, 81)
    k = concentrations_for(1.0, 1e-6, 50 * shifts, shifts)
    assert k * shifts == pytest.approx(np.full(80, pv.concentration_for(1.0, 1e-6, 0.005, 1e-4) * 1e-4), rel=1e-7)


def test_bisection_finds_what_the_secant_method_finds_from_anywhere():
    for epsilon, delta, floor, shift in PROMISES:
        target = math.log(delta) - SAFETY
        expected = math.log(pv.concentration_for(epsilon, delta, floor, shift))
        for near in (expected, expected - 20, expected + 20):
            found = searches._log_concentration(epsilon, target, floor, shift, near)
            assert found == pytest.approx(expected, abs=1e-7)
            assert pv.DirichletProfile(floor, math.exp(found), shift)._near_log_delta(epsilon) <= target


def test_bisection_gives_up_where_the_noise_would_drown_everything():
    epsilon, floor, shift = 1.0, 0.1, 0.05
    target = log_floor_limit(epsilon, floor, shift)  # reached in the limit only
    with pytest.raises(pv.UnreachablePrivacyError, match="at the very edge"):
        searches._log_concentration(epsilon, target - 1e-3, floor, shift, 0.0)


def test_a_concentration_that_the_proof_refuses_is_lowered_until_it_accepts():
    epsilon, delta, floor, shift = PROMISES[0]
    exact = pv.concentration_for(epsilon, delta, floor, shift)
    rows = np.array([floor, floor]), np.array([shift, shift])
    for excess in (1e-8, 1e-6, 1e-3, 0.3):
        start = np.array([exact * (1 + excess), exact * 0.9])
        found = searches._proven(epsilon, delta, *rows, start)
        assert found[1] == start[1]
        assert exact * (1 - 2 * excess) - 1e-6 <= found[0] <= exact * (1 + 1e-7)
        assert pv.DirichletProfile(floor, float(found[0]), shift).log_delta(epsilon) <= log_below(delta)
        assert start[0] == exact * (1 + excess)  # what came in is left alone


def test_a_start_that_no_lowering_makes_safe_is_an_error():
    # δ₀ of this floor is far above δ: with any noise the promise is broken.
    with pytest.raises(pv.UnreachablePrivacyError, match="close to the edge"):
        searches._proven(1.0, 1e-6, np.array([0.01]), np.array([0.02]), np.array([50.0]))


def test_epsilon_is_found_where_delta_is_met_at_once_and_where_it_never_was():
    quiet = pv.DirichletProfile(0.3, 1e-6, 1e-6)
    at_zero = quiet.delta(0.0)
    assert quiet.epsilon(at_zero * 1.0001) == 0.0
    below = quiet.epsilon(at_zero * 0.9999)
    assert below > 0
    assert quiet.delta(below) <= at_zero * 0.9999
    for row in (GRADES, pv.DirichletProfile(0.001, 1e5, 0.05), pv.DirichletProfile(0.2, 1e9, 1e-9), quiet):
        for delta in (0.9, 0.3, 1e-3, 1e-15):
            found = row.epsilon(delta)
            assert row.log_delta(found) <= log_below(delta)
            assert found == 0.0 or row.log_delta(found * (1 - 1e-6)) > math.log(delta)


def test_an_epsilon_that_the_proof_refuses_is_raised_by_little(monkeypatch):
    # Searches that are too optimistic by a millionth in log δ: the answer is still proven, and hardly larger.
    right = searches.log_hockey_sticks
    exact = GRADES.epsilon(1e-6)
    monkeypatch.setattr(searches, "log_hockey_sticks", lambda *row: right(*row) - 1e-6)
    found = GRADES.epsilon(1e-6)
    assert GRADES.log_delta(found) <= log_below(1e-6)
    assert exact * (1 - 1e-9) <= found <= exact * (1 + 1e-6)


def test_a_renyi_divergence_is_infinite_exactly_from_its_last_order_on():
    row = pv.DirichletProfile(floor=0.25, concentration=8.0, shift=0.125)  # finite below α = 3
    assert row.renyi(2.999) < math.inf
    assert row.renyi(math.nextafter(3.0, 0.0)) < math.inf
    assert row.renyi(3.0) == math.inf
    assert row.renyi(3.001) == math.inf
    for alpha in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(pv.InvalidParameterError, match="alpha is"):
            row.renyi(alpha)


def test_a_renyi_divergence_gets_as_many_digits_as_it_needs():
    # Gamma functions of 2e24 cancel to 5e-23: a hundred and sixty bits are lost.
    for k, s in ((1e25, 1e-24), (1e60, 1e-50), (1e300, 1e-290)):
        row = pv.DirichletProfile(0.2, k, s)
        with ctx.workprec(8192):
            a, h = arb(k) * arb(0.2), arb(k) * arb(s)
            change = (a + 3 * h).lgamma() + (a - 2 * h).lgamma() - (a + h).lgamma() - a.lgamma()
            assert change / 2 <= arb(row.renyi(3.0)) <= change / 2 * (1 + 1e-11)
            change = h * ((a + h).digamma() - a.digamma())
            assert change <= arb(row.renyi(1.0)) <= change * (1 + 1e-11)


def test_the_edges_of_what_can_be_asked_for():
    with pytest.raises(pv.InvalidParameterError, match="epsilon is"):
        require_promise(0.0, 0.1)
    with pytest.raises(pv.InvalidParameterError, match="epsilon is"):
        require_promise(math.inf, 0.1)
    require_promise(1e-300, 0.49999)
    require_probability(1 - 1e-16)
    require_probability(1e-300)
    for delta in (0.0, 1.0, -0.1):
        with pytest.raises(pv.InvalidParameterError, match="delta is"):
            require_probability(delta)
    pv.DirichletProfile(0.45, 1.0, 0.1)  # just fits
    with pytest.raises(pv.InvalidParameterError, match="more than the total mass"):
        pv.DirichletProfile(0.45, 1.0, 0.1 + 1e-11)


def test_nothing_to_calibrate_is_no_error():
    assert len(concentrations_for(1.0, 1e-6, np.array([]), np.array([]))) == 0


def test_where_no_floor_would_do_the_error_says_so_and_otherwise_names_one():
    with pytest.raises(pv.UnreachablePrivacyError, match=r"No floor is large enough for a shift of 0\.3"):
        pv.concentration_for(0.1, 1e-6, 0.3, 0.3)
    with pytest.raises(pv.UnreachablePrivacyError, match="δ stays above") as caught:
        pv.concentration_for(1.0, 1e-3, 0.05, 0.02)
    stays = float(str(caught.value).split("δ stays above ")[1].split()[0].rstrip("."))
    assert stays == pytest.approx(0.02 / 0.12 * math.exp(-2.5), rel=0.01)
    named = float(str(caught.value).split("would do is ")[1].split()[0])
    assert 0.02 / (2 * named + 0.02) * math.exp(-named / 0.02) == pytest.approx(1e-3, rel=1e-4)
