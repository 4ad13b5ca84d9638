"""The pieces of the fast profile, each against its definition: density, slope, peak, panels and the whole integral."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx
from mpmath import mp, mpf
from scipy import optimize

from pathveil.numerics.balls import Balls
from pathveil.privacy import hockey_stick, worst_pair
from pathveil.privacy.enclosed_delta import log_delta_bounds
from pathveil.privacy.hockey_stick import log_hockey_sticks, panel_edges
from pathveil.privacy.worst_pair import (
    log_density,
    log_peak_density,
    log_relative_density,
    stirling_remainder,
    stirling_remainders,
)

# t = ε/h, a, h: small and large parameters, bulk and tail, and a shift far above the floor.
ROWS = [
    (0.0, 0.5, 0.01),
    (0.3, 2.0, 0.1),
    (2.0, 0.987, 0.123),
    (7.0, 1.5, 0.2),
    (0.05, 4e3, 30.0),
    (0.5, 40.0, 200.0),
    (100.0, 0.05, 0.05),
    (1e-6, 1e8, 1e4),
    (30.0, 1e-4, 1e-5),
]


def _columns(rows):
    return [np.array([row[i] for row in rows])[:, None] for i in range(3)]


def _log_integrand(y: mpf, t: float, a: float, h: float) -> mpf:
    """But for the density's constant."""
    u = mpf(t) + y
    return -mpf(a) * u - (2 * mpf(a) + mpf(h)) * mp.log1p(mp.exp(-u)) + mp.log(-mp.expm1(-mpf(h) * y))


def test_stirlings_remainder_has_all_its_digits_on_both_sides_of_ten():
    points = [1e-9, 1e-3, 0.5, 1.0, 2.0, 3.7, 9.0, 9.999, 10.0, 10.001, 11.0, 30.0, 1e3, 1e9]
    with mp.workdps(60):
        for x in points:
            main = (mpf(x) - 0.5) * mp.log(x) - mpf(x) + mp.log(2 * mp.pi) / 2
            exact = float(mp.loggamma(x) - main)
            # Nothing is subtracted from 10 on; below, logarithms of gamma functions of at most 13 are.
            assert stirling_remainder(x) == pytest.approx(exact, rel=3e-15 if x >= 20 else 1e-11, abs=1e-14)
    assert stirling_remainders(points).tolist() == [stirling_remainder(x) for x in points]


def test_the_density_agrees_with_gamma_functions_on_either_side_of_its_series():
    # u at the peak, so near to it that the series is used, at its edge, beyond, and far out on both sides.
    for _, a, h in ROWS:
        mode, m = math.log1p(h / a), 2 * a + h
        reach = [0.0, 1e-9, 1e-4, 0.01, 0.029, 0.0299, 0.0301, 0.031, 0.1, 1.0, 5.0]
        for u in [mode + sign * x for x in reach for sign in (-1, 1)]:
            with mp.workdps(50):
                constant = mp.loggamma(mpf(2 * a) + h) - mp.loggamma(a) - mp.loggamma(mpf(a) + h)
                exact = float(constant - mpf(a) * u - (2 * mpf(a) + h) * mp.log1p(mp.exp(-mpf(u))))
            if exact > -1000:
                found = float(log_density(np.array([u]), a, h)[0])
                assert found == pytest.approx(exact, rel=1e-14, abs=2e-11 * (1 + math.sqrt(m) / 1e4)), (a, h, u)
        assert log_relative_density(np.array([mode]), a, h)[0] == pytest.approx(0.0, abs=1e-12)


def test_rows_may_be_columns_and_give_the_same_densities():
    _, a, h = _columns(ROWS)
    u = np.linspace(-1, 3, 7)[None, :] + 0 * a
    together = log_density(u, a, h)
    for row, (x, y) in enumerate(zip(a[:, 0], h[:, 0], strict=True)):
        assert together[row] == pytest.approx(log_density(u[row], x, y), rel=1e-15)
        assert log_peak_density(a, h)[row, 0] == log_peak_density(x, y)


def test_the_series_of_a_deviance_is_exact_up_to_its_edge():
    gap = np.array([-0.03, -0.02, -1e-5, 0.0, 1e-5, 0.02, 0.03])
    for mean in (1.0, 250.0):
        found = worst_pair._near(gap * mean, np.full(7, mean))
        with mp.workdps(40):
            exact = [float(mean * ((1 + mpf(e)) * mp.log1p(mpf(e)) - mpf(e))) for e in gap]
        assert found == pytest.approx(exact, rel=4e-16 * 8, abs=0)
    assert np.isfinite(worst_pair._near(np.array([0.5, -3.0]), np.array([1.0, 0.0]))).all()


def test_the_slope_of_the_integrand_and_its_own_slope_are_derivatives():
    t, a, h = _columns(ROWS)
    for log_y in (-12.0, -6.0, -2.0, 0.0, 1.5):
        slope, turning = hockey_stick._slope(np.full((len(ROWS), 1), log_y), t, a, h)
        with mp.workdps(60):
            for row, setting in enumerate(ROWS):
                y = mp.exp(mpf(log_y))
                first, second = (mp.diff(lambda x: _log_integrand(mp.exp(x), *setting), mp.log(y), n) for n in (1, 2))  # noqa: B023
                assert slope[row, 0] == pytest.approx(float(first), rel=1e-9, abs=1e-12), setting
                assert turning[row, 0] == pytest.approx(float(second), rel=1e-8, abs=1e-9), setting


def _true_log_peak(setting: tuple[float, float, float]) -> float:
    columns = _columns([setting])
    return float(optimize.brentq(lambda x: hockey_stick._slope(np.array([[x]]), *columns)[0][0, 0], -60, 12))


def test_the_peak_is_found_for_every_row_to_a_thousandth():
    found = hockey_stick._log_peak(*_columns(ROWS))
    for row, setting in enumerate(ROWS):
        assert found[row, 0] == pytest.approx(_true_log_peak(setting), abs=1e-3)
        alone = hockey_stick._log_peak(*_columns([setting]))
        assert alone[0, 0] == pytest.approx(found[row, 0], abs=1e-3)


def test_newtons_method_finds_the_peak_in_few_steps(monkeypatch):
    # Halving the bracket alone, or stepping past the peak again and again, would take far more.
    calls = []
    slope = hockey_stick._slope
    monkeypatch.setattr(hockey_stick, "_slope", lambda *row: calls.append(row) or slope(*row))
    for setting, most in zip(ROWS, [6, 6, 7, 7, 8, 12, 6, 14, 7], strict=True):
        calls.clear()
        hockey_stick._log_peak(*_columns([setting]))
        assert len(calls) <= most, setting


def test_panels_halve_towards_zero_and_double_away_from_the_peak():
    for setting in ROWS:
        t, a, h = setting
        [edges] = panel_edges(*_columns([setting]))
        peak = float(np.exp(hockey_stick._log_peak(*_columns([setting]))[0, 0]))
        with mp.workdps(60):
            curvature = -mp.diff(lambda y: _log_integrand(y, *setting), mpf(peak), 2)  # noqa: B023
            width = min(peak, float(1 / mp.sqrt(curvature)))
            top = float(_log_integrand(mpf(peak), *setting))
            height = [float(_log_integrand(mpf(float(y)), *setting)) - top for y in edges[1:]]
        at = int(np.flatnonzero(edges == peak)[0])
        assert edges[:7] == pytest.approx([0.0, *(peak / 2**j for j in range(6, 0, -1))], rel=1e-12)
        steps = [width * 2**j for j in range(40)]
        right = sorted(set(edges[at + 1 :]))
        assert right == pytest.approx([peak + x for x in steps[: len(right)]], rel=1e-6)
        left = [peak - x for x in steps if x < peak / 2]
        assert list(edges[7:at]) == pytest.approx(left[::-1], rel=1e-6), setting
        # The last panel begins where the integrand still counts, and ends where it does not.
        assert height[-1] < -45
        assert float(_log_integrand(mpf(right[-2]), t, a, h)) - top > -45 or len(right) <= 4


def test_a_row_among_others_has_its_own_panels_and_some_of_no_width():
    together = panel_edges(*_columns(ROWS))
    assert (np.diff(together[:, 7:], axis=1) >= -1e-9 * together[:, -1:]).all()
    for row, setting in enumerate(ROWS):
        [alone] = panel_edges(*_columns([setting]))
        assert together[row, -1] == pytest.approx(alone[-1], rel=0.01)  # peaks are found to a thousandth only


def test_the_fast_profile_is_within_a_billionth_of_the_proven_bound_for_hundreds_of_rows():
    rng = np.random.default_rng(11)
    a = 10 ** rng.uniform(-3, 7, 600)
    h = a * 10 ** rng.uniform(-5, 1, 600)
    deviation = np.where(a > 1, h * np.sqrt(1 / a + 1 / (a + h)), h / a)
    epsilon = deviation * 10 ** rng.uniform(-2, 1, 600)
    bound = log_delta_bounds(epsilon, Balls.exact(a), Balls.exact(h))
    assert np.abs(log_hockey_sticks(epsilon, a, h) - bound).max() < 1e-8
    shown = slice(0, 600, 60)  # and rows do not depend on the company they keep
    alone = [float(log_hockey_sticks(epsilon[[i]], a[[i]], h[[i]])[0]) for i in range(600)[shown]]
    assert log_hockey_sticks(epsilon, a, h)[shown] == pytest.approx(alone, abs=1e-10)


def test_the_proven_bound_of_many_rows_is_that_of_each_alone():
    rng = np.random.default_rng(12)
    a, h = 10 ** rng.uniform(-1, 3, 600), 10 ** rng.uniform(-3, 0, 600)
    together = log_delta_bounds(2 * h, Balls.exact(a), Balls.exact(h))
    assert together.shape == (600,)
    for i in (0, 255, 256, 257, 511, 512, 599):
        row = (Balls.exact([float(x)]) for x in (a[i], h[i]))
        assert together[i] == pytest.approx(float(log_delta_bounds(np.array([2 * h[i]]), *row)[0]), abs=1e-9)


def test_the_closed_form_takes_over_where_parameters_are_tiny():
    # δ = C e^(-at) h/(a(a+h)) but for a part of m³; the bound must not be looser than that.
    for a, h, t in ((1e-6, 1e-6, 3.0), (1e-5, 3e-5, 1e4), (1e-7, 1e-8, 1e6)):
        found = float(log_delta_bounds(np.array([h * t]), Balls.exact([a]), Balls.exact([h]))[0])
        with ctx.workdps(40):
            x, y = arb(a), arb(h)
            log_c = (2 * x + y).lgamma() - x.lgamma() - (x + y).lgamma()
            plain = log_c - x * (arb(h * t) / y) + (y / (x * (x + y))).log()
        assert float(plain) <= found <= float(plain) + 1e-9 or found == 0.0
        assert found < 0
