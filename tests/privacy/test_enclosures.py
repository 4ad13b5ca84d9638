"""The pieces of the proven bound on δ, where each is large enough to be seen: series, remainders, rule and tail."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx
from scipy import integrate

from pathveil.numerics.balls import Balls
from pathveil.privacy import enclosed_delta
from pathveil.privacy.enclosed_delta import log_delta_bounds, log_densities, rule_errors, stirling_remainder
from pathveil.privacy.hockey_stick import panel_edges
from pathveil.privacy.worst_pair import log_density, log_relative_density


def _row(*numbers):
    return [Balls.exact([[x]]) for x in numbers]


def test_stirlings_remainder_is_enclosed_tightly_below_ten_and_above():
    points = [1e-9, 0.3, 1.0, 2.5, 5.0, 9.0, 9.999, 10.0, 10.5, 19.0, 20.0, 1e4, 1e12]
    found = stirling_remainder(Balls.exact(points))
    above = stirling_remainder(Balls.exact([x + 10 for x in points]))  # none of them small
    with ctx.workprec(400):
        for i, x in enumerate(points):
            for ball, y in ((found, arb(x)), (above, arb(x + 10))):
                exact = y.lgamma() - (y - arb(1) / 2) * y.log() + y - (2 * arb.pi()).log() / 2
                assert abs(exact - arb(ball.mid[i])) <= arb(ball.rad[i])
                assert ball.rad[i] < 1e-12 * (1 + abs(math.log(x)))


def test_the_next_term_of_stirlings_series_is_in_the_radius():
    # At 10 the series errs by nearly its next term; a radius without it would be far smaller.
    [radius] = stirling_remainder(Balls.exact([10.0])).rad
    assert radius >= 691 / 360360 * 10.0**-11
    assert radius < 1.2 * 691 / 360360 * 10.0**-11


def test_the_series_of_a_deviance_encloses_it_up_to_its_edge():
    gap = np.array([-0.03, -0.0299, -1e-3, 1e-9, 0.01, 0.0299, 0.03])
    for mean in (1.0, 77.0, 1e9):
        balls = Balls.exact(gap * mean), Balls.exact(np.full(7, mean))
        found = enclosed_delta._near(*balls)
        with ctx.workprec(300):
            for i in range(7):
                e = arb(gap[i] * mean) / arb(mean)
                exact = arb(mean) * ((1 + e) * e.log1p() - e)
                assert abs(exact - arb(found.mid[i])) <= arb(found.rad[i])
                assert found.rad[i] <= 2e-13 * abs(found.mid[i])
    outside = enclosed_delta._near(Balls.exact([0.5]), Balls.exact([1.0]))
    assert outside.mid[0] == 0.0  # meaningless there, and finite


def test_densities_are_enclosed_on_either_side_of_the_series_and_of_zero():
    for a, h in ((2.0, 0.3), (1e4, 50.0), (0.01, 0.5), (3.0, 400.0)):
        mode = math.log1p(h / a)
        u = np.array([mode + sign * x for x in (0.0, 1e-6, 0.01, 0.029, 0.031, 0.2, 3.0) for sign in (-1, 1)] + [-mode])
        found = log_densities(Balls.exact(u), Balls.exact([a]), Balls.exact([h]))
        with ctx.workprec(300):
            x, y = arb(a), arb(h)
            constant = (2 * x + y).lgamma() - x.lgamma() - (x + y).lgamma()
            for i, point in enumerate(u.tolist()):
                exact = constant - x * point - (2 * x + y) * (-arb(point)).exp().log1p()
                assert abs(exact - arb(found.mid[i])) <= arb(found.rad[i])
                # The sizes of what is added up limit how small a radius can be.
                assert found.rad[i] < 1e-13 * (30 + abs(found.mid[i]) + (a + h) * (1 + abs(point))), (a, h, point)


@pytest.mark.parametrize(("a", "h", "t", "y"), [(1.0, 0.1, 2.0, 1.0), (2.0, 3.0, 1.0, 4.0), (40.0, 5.0, 0.2, 0.5)])
def test_the_tail_bounds_the_integral_beyond_and_closely_far_out(a, h, t, y):
    for further in (0.0, 2.0, 8.0):
        top = np.array([[-1.5]])
        [[found]] = enclosed_delta._tail(np.array([[y + further]]), *_row(t, a, h), top)

        def relative(u):
            return math.exp(float(log_relative_density(np.array([u]), a, h)[0]) + 1.5)

        exact = integrate.quad(relative, t + y + further, t + y + further + 200 / a, limit=500, epsabs=0)[0]
        assert exact * (1 - 1e-9) <= found
    assert found <= exact * 1.05


def test_there_is_no_tail_bound_before_the_peak():
    [[found]] = enclosed_delta._tail(np.array([[0.1]]), *_row(0.0, 1.0, 5.0), np.zeros((1, 1)))
    assert found == math.inf
    [[far]] = enclosed_delta._tail(np.array([[900.0]]), *_row(0.0, 1.0, 5.0), np.zeros((1, 1)))
    assert 0 <= far < 1e-300


def _flat_gain(middle, _along, _across):
    return 0 * middle


def _rule_bound(left, right, a, h, gain=_flat_gain, top=0.0):
    with np.errstate(all="ignore"):
        [bounds] = rule_errors(np.array([[left, right]]), *(np.array([[x]]) for x in (a, h, top)), gain)
    return float(bounds[0])


def test_the_bound_on_gausss_rule_is_the_best_ellipse_of_the_docstring():
    # Written out for one panel at a time: |f(x+iv)| = f(x)(1 - 4r(1-r) sin²(v/2))^(-m/2) on the ellipse's box.
    for left, right, a, h in (
        (-1.0, 1.0, 3.0, 2.0),
        (0.5, 0.9, 20.0, 3.0),
        (2.0, 6.0, 0.4, 0.1),
        (-0.2, 0.3, 1e3, 10.0),
    ):
        middle, half, m, mode = (left + right) / 2, (right - left) / 2, 2 * a + h, math.log1p(h / a)

        def largest(x, reach, a=a, h=h, mode=mode):
            nearest = min(max(mode, x - reach), x + reach)
            return math.exp(float(log_relative_density(np.array([nearest]), a, h)[0]))

        bounds = [2 * half * largest(middle, half)]
        for rho in (1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0, 20.0):
            along, across = half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2
            nearest = min(max(0.0, middle - along), middle + along)
            r = 1 / (1 + math.exp(nearest))
            bend = 4 * r * (1 - r) * min(across / 2, 1.0) ** 2  # sin x ≤ min(x, 1)
            if bend < 1:
                growth = (1 - bend) ** (-m / 2)
                bounds.append(half * largest(middle, along) * growth * 8 * rho**-32 / (1 - 1 / rho))
        assert _rule_bound(left, right, a, h) == pytest.approx(min(bounds), rel=1e-9, abs=0), (left, right, a, h)


def test_a_panel_of_no_width_costs_nothing_and_gains_and_heights_scale_the_bound():
    assert _rule_bound(1.0, 1.0, 3.0, 2.0) == 0.0
    plain = _rule_bound(0.5, 0.9, 20.0, 3.0)
    assert plain > 0
    assert _rule_bound(0.5, 0.9, 20.0, 3.0, top=2.0) == pytest.approx(plain * math.exp(-2.0), rel=1e-9, abs=0)
    assert _rule_bound(0.5, 0.9, 20.0, 3.0, gain=lambda x, *_: 0 * x + 1.0) == pytest.approx(
        plain * math.e, rel=1e-9, abs=0
    )
    seen = []
    _rule_bound(0.5, 0.9, 20.0, 3.0, gain=lambda *box: seen.append([float(x[0, 0]) for x in box]) or 0 * box[0])
    assert seen[0] == pytest.approx([0.7, 0.2, 0.0])  # the panel itself, then the boxes around its ellipses
    assert seen[1] == pytest.approx([0.7, 0.2 * (1.5 + 1 / 1.5) / 2, 0.2 * (1.5 - 1 / 1.5) / 2])


def _log_bound(epsilon=1.0, a=30.0, h=2.0):
    return float(log_delta_bounds(np.array([epsilon]), Balls.exact([a]), Balls.exact([h]))[0])


def test_what_the_rule_and_the_tail_leave_out_counts_twice(monkeypatch):
    plain = _log_bound()
    nothing = {"rule_errors": lambda edges, *_: 0 * edges[:, 1:], "_tail": lambda y, *_: 0 * y}
    for name, stand_in in nothing.items():
        monkeypatch.setattr(enclosed_delta, name, stand_in)
    none = _log_bound()
    assert none <= plain < none + 1e-9
    monkeypatch.setattr(enclosed_delta, "rule_errors", lambda edges, *_: 0 * edges[:, 1:] + 0.01)
    rule = _log_bound()
    monkeypatch.setattr(enclosed_delta, "rule_errors", lambda edges, *_: 0 * edges[:, 1:] + 0.02)
    monkeypatch.setattr(enclosed_delta, "_tail", lambda y, *_: 0 * y + 0.05)
    panels = []
    monkeypatch.setattr(enclosed_delta, "panel_edges", lambda *row: panels.append(panel_edges(*row)) or panels[-1])
    both = _log_bound()
    count = panels[0].shape[1] - 1
    # Relative to the integrand's peak all of these are known numbers: differences tell the unit.
    unit = (math.exp(rule) - math.exp(none)) / (2 * 0.01 * count)
    assert math.exp(both) - math.exp(none) == pytest.approx(2 * (0.02 * count + 0.05) * unit, rel=1e-3, abs=0)
    assert math.exp(rule) - math.exp(none) >= 2 * 0.01 * count * unit
    assert unit == pytest.approx(_integrands_peak(1.0, 30.0, 2.0), rel=1e-2)


def _integrands_peak(epsilon, a, h):
    y = np.linspace(1e-4, 3, 300_001)
    return float((np.exp(log_density(epsilon / h + y, a, h)) * -np.expm1(-h * y)).max())


def test_the_gain_is_bounded_on_the_box_around_an_ellipse(monkeypatch):
    gains = []
    right = rule_errors
    monkeypatch.setattr(enclosed_delta, "rule_errors", lambda *given: gains.append(given[-1]) or right(*given))
    epsilon, a, h = 1.0, 30.0, 2.0
    _log_bound(epsilon, a, h)
    t = epsilon / h
    for y, along, across in ((0.01, 0.02, 0.015), (0.3, 0.1, 0.05), (0.3, 0.4, 0.4), (5.0, 0.5, 0.2), (2.0, 0.0, 0.0)):
        z = y + np.linspace(-along, along, 81)[:, None] + 1j * np.linspace(-across, across, 81)[None, :]
        largest = np.abs(-np.expm1(-h * z)).max()
        [[found]] = gains[0](*(np.array([[x]]) for x in (t + y, along, across)))
        back = max(along - y, 0.0)
        reach = max(abs(y + along), abs(y - along)) + across
        assert found == pytest.approx(h * back + math.log(min(2.0, h * reach)), rel=1e-12)
        assert largest <= math.exp(found) * (1 + 1e-12)


@pytest.mark.parametrize("nonsense", [math.nan, math.inf])
def test_an_error_that_is_not_known_leaves_only_the_closed_form(monkeypatch, nonsense):
    right = _log_bound(1e-3, 0.5, 0.01)
    monkeypatch.setattr(enclosed_delta, "rule_errors", lambda edges, *_: 0 * edges[:, 1:] + nonsense)
    found = _log_bound(1e-3, 0.5, 0.01)
    log_c = math.lgamma(1.01) - math.lgamma(0.5) - math.lgamma(0.51)
    closed = log_c - 0.5 * 0.1 + math.log(0.01 / (0.5 * 0.51))
    assert found == pytest.approx(closed, abs=1e-9)
    assert found > right


def test_a_bound_is_infinite_where_a_radius_is_and_the_upper_end_elsewhere():
    balls = Balls(np.array([1.0, 2.0, 3.0]), np.array([0.5, np.inf, np.nan]))
    found = enclosed_delta._upper(balls)
    assert found[0] == pytest.approx(1.5)
    assert found[1:].tolist() == [math.inf, math.inf]
