"""Floor, mixing and noise of one row: numbers by hand, limits, and many rows as one after another."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import pathveil as pv
from pathveil.models import calibration
from pathveil.models.calibration import Calibration, calibrate, calibrate_each, plan_floor

PROMISE = (1.0, 1e-6)


def test_a_mixed_row_has_nine_tenths_of_floor_and_a_tenth_of_the_change():
    floor, mixing, shift = plan_floor(5, 1 / 98, *PROMISE, None, mix=True)
    assert (floor, mixing, shift) == pytest.approx((0.18, 0.9, 0.1 / 98), rel=1e-12)


def test_a_given_floor_is_mixed_in_as_it_is():
    assert plan_floor(4, 0.25, *PROMISE, 0.125, mix=True) == (0.125, 0.5, 0.125)


def test_the_papers_floor_is_not_mixed_in_and_hardly_lowered():
    floor, mixing, shift = plan_floor(4, 0.25, *PROMISE, 0.125, mix=False)
    assert (mixing, shift) == (0, 0.25)
    assert Fraction(0.125) * (1 - Fraction(1, 10**11)) < floor < Fraction(0.125) * (1 - Fraction(2, 10**12))


def test_all_the_mass_above_the_papers_floor_may_move_and_no_more():
    assert plan_floor(4, 0.5, *PROMISE, 0.125, mix=False)[2] == 0.5
    assert plan_floor(4, 0.5 + 5e-13, *PROMISE, 0.125, mix=False)[1] == 0  # rounding is forgiven
    with pytest.raises(pv.InvalidParameterError, match=r"leave 0\.5"):
        plan_floor(4, 0.5 + 2e-12, *PROMISE, 0.125, mix=False)


def test_all_the_mass_of_a_mixed_row_may_move_and_no_more():
    assert plan_floor(4, 1.0, *PROMISE, 0.2, mix=True)[2] == pytest.approx(0.2)
    with pytest.raises(pv.InvalidParameterError, match="whole mass"):
        plan_floor(4, 1.0 + 1e-9, *PROMISE, 0.2, mix=True)


@pytest.mark.parametrize("mix", [True, False])
@pytest.mark.parametrize("floor", [0.0, -0.1, 0.25, 0.3])
def test_a_floor_is_positive_and_leaves_some_mass(floor, mix):
    with pytest.raises(pv.InvalidParameterError, match="below 1/4"):
        plan_floor(4, 0.01, *PROMISE, floor, mix)
    assert plan_floor(4, 1e-5, *PROMISE, 0.2499, mix)[0] == pytest.approx(0.2499)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 1e-6), (1.0, 0.5), (1.0, 0.0)])
def test_a_promise_that_is_none_has_no_floor(epsilon, delta):
    with pytest.raises(pv.InvalidParameterError, match=r"epsilon|delta"):
        plan_floor(4, 0.01, epsilon, delta, 0.1, mix=True)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-9), (1.0, 1e-6), (8.0, 0.1)])
def test_the_least_ratio_of_floor_to_shift_leaves_delta_zero_far_below_delta(epsilon, delta):
    r = calibration._least_ratio(epsilon, delta)
    # s/(2η+s)·e^(-εη/s) with η = rs
    least = math.log(1 / (2 * r + 1)) - epsilon * r
    assert least == pytest.approx(math.log(delta) - 20, abs=1e-8)
    assert least <= math.log(delta) - 20 + 1e-12


def test_more_floor_is_mixed_in_only_where_the_ratio_demands():
    # κ = 1 - nη is kept: η/s = (1-κ)/(nκ·change), which is r at κ = 1/(1 + n·change·r).
    r = calibration._least_ratio(*PROMISE)
    for size, change in ((40, 1 / 3), (2, 1.0), (1000, 1.0)):
        mixing = calibration._usual_mixing(size, change, *PROMISE)
        assert mixing > 0.9
        assert mixing / size / ((1 - mixing) * change) == pytest.approx(r, rel=1e-9)
    assert calibration._usual_mixing(2, 9 / (2 * r) * (1 - 1e-9), *PROMISE) == 0.9
    assert calibration._usual_mixing(2, 9 / (2 * r) * (1 + 1e-9), *PROMISE) > 0.9


def test_mixing_ends_where_undoing_it_would_meet_rounding_errors():
    # n·change·r = 10⁹: all but one part in 10⁹ would be floor.
    size = 2
    change = 1e9 / (size * calibration._least_ratio(1e-9, 1e-9))
    assert change < 1
    assert calibration._usual_mixing(size, change * (1 - 1e-6), 1e-9, 1e-9) > 1 - 1.1e-9
    with pytest.raises(pv.UnreachablePrivacyError, match="nothing but noise"):
        calibration._usual_mixing(size, change * (1 + 1e-6), 1e-9, 1e-9)


def test_parameters_of_a_mixed_row_and_of_the_papers():
    row = Calibration(size=4, floor=0.125, mixing=0.5, shift=0.0625, concentration=64.0)
    # kη = 8, rounded up; ks = 4 for `change` units, rounded down.
    assert 8 < row.base < 8 * (1 + 1e-15)
    assert 4 * (1 - 2e-15) < row.step(1.0) < 4
    assert 16 * (1 - 2e-15) < row.step(0.25) < 16
    assert Calibration(4, 0.125, 0.0, 0.0625, 64.0).base == 0
    assert (row.profile.floor, row.profile.concentration, row.profile.shift) == (0.125, 64.0, 0.0625)


@pytest.mark.parametrize(("floor", "mix"), [(None, True), (0.05, True), (0.05, False)])
def test_many_rows_are_calibrated_as_one_after_another(floor, mix):
    sizes, changes = [2, 5, 5, 9], [0.02, 0.01, 0.005, 0.02]
    promise = (3.0, 1e-3) if floor else PROMISE
    together = calibrate_each(sizes, changes, *promise, floor, mix)
    for size, change, row in zip(sizes, changes, together, strict=True):
        alone = calibrate(size, change, *promise, floor, mix)
        assert (row.size, row.floor, row.mixing, row.shift) == (size, alone.floor, alone.mixing, alone.shift)
        assert row.concentration == pytest.approx(alone.concentration, rel=1e-6)
        assert row.profile.delta(promise[0]) <= promise[1]
    assert calibrate_each([], [], *PROMISE) == []


def test_without_a_word_about_it_rows_are_mixed():
    assert calibrate(5, 0.01, *PROMISE).mixing == calibrate_each([5], [0.01], *PROMISE)[0].mixing == 0.9
