"""Enclosures of gamma variates and of cells: wide enough to be true, and so narrow that they nearly always decide."""

from __future__ import annotations

import flint
import numpy as np
import pytest

import pathveil as pv
from pathveil.models import dirichlet, gamma
from pathveil.models.dirichlet import DirichletRows, draw_cells
from pathveil.models.gamma import GammaVariates, floors_below
from pathveil.numerics.balls import Balls
from pathveil.randomness.decisions import InDoubtError


def _exactly_beyond_cube(y: flint.arb) -> flint.arb:
    return 3 * (y.log1p() - y + y**2 / 2 - y**3 / 3)


def test_the_series_near_zero_is_as_wide_as_its_error_and_hardly_wider():
    # Left out: 2⁻⁴⁷y⁴, rounding: 60·2⁻⁵³y⁴, and a slope of at most 4.1|y|³.
    y = np.concatenate([np.linspace(-0.2499, 0.2499, 101), [1e-3, -1e-6]])
    for rad in (0.0, 1e-15, 1e-6, 9e-4):
        found = gamma._beyond_cube(Balls(y, np.full(len(y), rad)))
        reach = np.abs(y) + rad
        needed = reach**4 * (2.0**-47 + 60 * 2.0**-53) + 4.1 * reach**3 * rad
        assert (found.rad >= needed).all()
        assert (found.rad <= 8 * reach**4 * 2.0**-47 + 6 * reach**3 * rad + 1e-299).all()
        with flint.ctx.workprec(300):
            for i in range(len(y)):
                assert abs(_exactly_beyond_cube(flint.arb(y[i])) - flint.arb(found.mid[i])) <= needed[i]


def test_far_and_wide_balls_are_enclosed_too():
    y = np.array([0.1, 0.1, -0.2, 0.24, 0.26, -0.26, -0.5, 0.0, 3.0, 80.0, -0.9])
    rad = np.array([2e-3, 0.05, 0.1, 1e-3, 1e-3, 1e-6, 1e-2, 0.2, 0.5, 1e-9, 1e-12])
    found = gamma._beyond_cube(Balls(y, rad))
    assert np.isfinite(found.rad).all()
    with flint.ctx.workprec(300):
        for i in range(len(y)):
            for side in (-1, -0.5, 0, 0.5, 1):
                exact = _exactly_beyond_cube(flint.arb(y[i]) + side * flint.arb(rad[i]))
                assert abs(exact - flint.arb(found.mid[i])) <= flint.arb(found.rad[i])
    # Far out, a ball is hardly wider than the slope 3y³/(1+y) makes it.
    far = np.abs(y) > 0.8
    assert (found.rad < 3 * rad * 3 * (np.abs(y) + rad) ** 3 / (1 + y - rad))[far].all()


def test_whole_parts_are_certain_where_a_ball_lies_inside_one_cell():
    mid = np.array([2.9, 2.9, 2.9, 3.0, 0.05, 0.05, 9.95, 9.95, 8.95, -0.1, 10.1, np.nan, 5.0])
    rad = np.array([0.06, 0.2, 0.0, 0.1, 0.1, 0.96, 0.1, 0.96, 0.1, 0.2, 0.2, 0.1, np.inf])
    low, certain = floors_below(Balls(mid, rad), 10.0)
    expected = [True, False, True, False, True, False, True, False, False, True, True, False, False]
    assert certain.tolist() == expected
    assert low[certain].tolist() == [2, 2, 0, 9, 0, 9]


def test_a_whole_part_is_told_when_both_ends_of_the_ball_have_it():
    ball = flint.arb
    for middle, radius, cell in [(2.5, 0.25, 2), (0.0, 0.25, 0), (-0.25, 0.5, 0), (10.0, 0.25, 9), (9.75, 1.0 / 8, 9)]:
        assert dirichlet._floor_below(ball(middle, radius), 10) == cell
    for unclear in (ball(3.0, 0.25), ball(0.9, 0.25), ball(9.0, 0.125), ball("nan"), ball("+/- inf"), ball(5, 50)):
        with pytest.raises(InDoubtError):
            dirichlet._floor_below(unclear, 10)


def _count_calls(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> list[int]:
    calls: list[int] = []
    unchanged = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *a: calls.append(1) or unchanged(*a))
    return calls


@pytest.mark.parametrize("shape", [1e-3, 0.4, 1.0, 50.0, 1e9])
def test_the_first_bits_nearly_always_decide_and_three_points_in_four_are_kept(shape, monkeypatch):
    # A point is in doubt once in some 2⁴⁰; 20,000 of them twice with probability below 1e-15.
    calls = _count_calls(monkeypatch, GammaVariates, "_decide")
    asked = []
    first_bits = gamma.first_bits
    monkeypatch.setattr(gamma, "first_bits", lambda source, count: asked.append(count) or first_bits(source, count))
    source, count = pv.insecure_seed(1), 20_000
    variates = GammaVariates(source, source.branches(1)[0], Balls.exact(np.full(count, shape)), None)
    assert len(calls) < 2
    # Two numbers for each point, and one more for shapes below 1.
    tried = (sum(asked) - (count if shape < 1 else 0)) / 2
    assert 0.6 < count / tried < 0.76
    assert (variates.value.rad < 1e-9 * variates.value.mid).all()


def test_only_shapes_below_one_are_raised_and_only_they_have_a_scale():
    shapes = np.array([0.5, np.nextafter(1.0, 0.0), 1.0, 1.5])
    source = pv.insecure_seed(3)
    variates = GammaVariates(source, source.branches(1)[0], Balls.exact(shapes), None)
    assert variates.boosted.tolist() == [True, True, False, False]
    assert (variates.scale.mid[:2] < 0).all()
    assert variates.scale.mid[2:].tolist() == variates.scale.rad[2:].tolist() == [0, 0]


@pytest.mark.parametrize("data", [np.full((2000, 4), 3), np.full((2000, 4), 0.25), np.arange(8000).reshape(2000, 4)])
@pytest.mark.parametrize(("base", "step", "most"), [(0.5, 0.1, 500), (2.0, 0.5, 60)])
def test_the_cells_of_most_rows_are_certain_at_once(data, base, step, most, monkeypatch):
    # Of 2,000 rows, and the fewer the larger the shapes are.
    calls = _count_calls(monkeypatch, dirichlet, "_cells_closely")
    rows = DirichletRows(np.full(2000, base), np.full(2000, step), data, np.ones(data.shape, dtype=bool))
    draw_cells(pv.insecure_seed(5), rows)
    assert len(calls) < most


def test_parameters_are_enclosed_hardly_wider_than_they_must_be():
    inside = np.array([[True, True], [False, True]])
    whole = DirichletRows(np.array([0.5, 2.0]), np.array([0.25, 4.0]), np.array([[3, 2**60], [7, 1]]), inside)
    enclosed = whole.enclosed()
    assert enclosed.mid.tolist() == [1.25, 2.0**58 + 0.5, 6.0]
    # Counts may have been rounded by one part in 2⁵³; two more roundings follow.
    assert (enclosed.rad >= 2.0**-53 * enclosed.mid).all()
    assert (enclosed.rad < 2.0**-50 * enclosed.mid).all()
    floats = DirichletRows(whole.base, whole.step, np.array([[3.0, 2.0**60], [7.0, 1.0]]), inside).enclosed()
    assert floats.mid.tolist() == enclosed.mid.tolist()
    assert (floats.rad < enclosed.rad).all()


@pytest.mark.parametrize("count", [11, 20_011])
def test_rows_drawn_in_parts_are_all_drawn_each_with_its_own_parameters(count):
    """The large number is drawn in several parts, the last of which is not full."""
    # Concentrations of 10¹⁰ leave deviations of 10⁻⁵: a hundred of them are allowed.
    data = np.random.default_rng(1).permuted(np.tile([1, 2, 3, 4], (count, 1)), axis=1)
    inside = np.ones(data.shape, dtype=bool)
    inside[3, 1] = inside[7, 2] = False
    base, step = 1e9 * (np.arange(count) % 11), np.full(count, 1e10)
    cells = draw_cells(pv.insecure_seed(1), DirichletRows(base, step, data, inside))
    parameters = np.where(inside, base[:, None] + 1e10 * data, 0.0)
    assert cells / 2**40 == pytest.approx(parameters / parameters.sum(axis=1, keepdims=True), abs=1e-3)
    assert (cells[~inside] == 0).all()


def test_a_row_without_any_possible_entry_has_no_cells_and_disturbs_no_other():
    inside = np.array([[True, True, True], [False, False, False], [True, False, True]])
    data = np.array([[1, 1, 1], [0, 0, 0], [1, 0, 1]])
    cells = draw_cells(pv.insecure_seed(2), DirichletRows(np.full(3, 0.2), np.full(3, 0.1), data, inside))
    assert cells[1].tolist() == [0, 0, 0]
    assert (2**40 - cells[[0, 2]].sum(axis=1) <= 3).all()
