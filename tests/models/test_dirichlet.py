"""Dirichlet draws on a public grid: their exact law, their range, and the loss that the profile is about."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

import pathveil as pv
from pathveil.models import dirichlet
from pathveil.models.calibration import calibrate
from pathveil.models.dirichlet import DirichletRows, draw_cells, draw_dirichlet, draw_on_grid
from pathveil.numerics import balls
from tests.statistics import FALSE_ALARM, chi_square_p_value


def _rows(parameters: np.ndarray) -> DirichletRows:
    """Rows with these parameters, and no entry where the parameter is 0."""
    parameters = np.asarray(parameters, dtype=float)
    count = len(parameters)
    return DirichletRows(np.zeros(count), np.ones(count), parameters, parameters > 0)


def test_rows_are_on_the_simplex_strictly_positive_on_the_support_and_zero_off_it():
    parameters = np.array([[1e-5, 1e-5, 0.0, 1e-5], [1e9, 2e9, 3e9, 0.0], [0.5, 0.5, 0.5, 0.5]])
    for seed in range(50):
        draw = draw_on_grid(pv.insecure_seed(seed), _rows(parameters))
        assert draw.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
        assert ((draw > 0) == (parameters > 0)).all()


def test_the_released_numbers_are_a_function_of_the_cells_alone():
    rows = _rows(np.full((20, 4), 0.7))
    cells = draw_cells(pv.insecure_seed(1), rows)
    assert ((cells >= 0) & (cells < 2**dirichlet.GRID_BITS)).all()
    # Every entry is rounded down by less than a cell.
    assert (2**dirichlet.GRID_BITS - cells.sum(axis=1) <= 4).all()
    centres = 2.0 * cells + 1
    assert (draw_on_grid(pv.insecure_seed(1), rows) == centres / centres.sum(axis=1, keepdims=True)).all()


def _cell_law(parameter: float, rest: float, grid_bits: int) -> dict[int, float]:
    """The exact probability of every cell of an entry, x ~ Beta(parameter, rest), by ball arithmetic in 60 digits."""
    cells = 2**grid_bits
    with flint.ctx.workdps(60):
        below = [
            flint.arb(j) / cells if j in (0, cells) else (flint.arb(j) / cells).beta_lower(parameter, rest, 1)
            for j in range(cells + 1)
        ]
        return {j: float(below[j + 1] - below[j]) for j in range(cells)}


PARAMETERS = np.array([0.3, 2.0, 5.0, 0.7])


def _cell_p_values(seed: int, parameters: np.ndarray, grid_bits: int) -> list[float]:
    cells = draw_cells(pv.insecure_seed(seed), _rows(np.tile(parameters, (20_000, 1))), grid_bits)
    laws = [_cell_law(a, PARAMETERS.sum() - a, grid_bits) for a in PARAMETERS.tolist()]
    return [chi_square_p_value(cells[:, i].tolist(), law) for i, law in enumerate(laws)]


def test_every_entry_falls_into_the_cells_of_a_coarse_grid_as_often_as_its_beta_law_says():
    # Four chi-square tests at 1e-6 each.
    assert min(_cell_p_values(5, PARAMETERS, grid_bits=5)) > FALSE_ALARM


def test_the_same_test_notices_a_parameter_that_is_six_percent_off():
    assert min(_cell_p_values(5, PARAMETERS * [1, 1, 1.06, 1], grid_bits=5)) < FALSE_ALARM


def test_parameters_given_as_floats_are_those_very_numbers():
    found = draw_dirichlet(pv.insecure_seed(3), MIXED)
    assert (found == draw_on_grid(pv.insecure_seed(3), _rows(MIXED))).all()


def test_two_entries_always_lie_in_opposite_cells():
    cells = draw_cells(pv.insecure_seed(2), _rows(np.full((500, 2), 1.5)), grid_bits=4)
    assert (cells.sum(axis=1) == 15).all()


MIXED = np.concatenate([np.full((15, 6), 0.05), np.full((15, 6), 3.0), np.full((15, 6), 1e9), np.eye(6)[:5] + 1e-3])


def _cells_twice(monkeypatch: pytest.MonkeyPatch, widening: float) -> tuple[np.ndarray, np.ndarray, int]:
    """Cells from the same bits, without and with widened enclosures, and how many rows took the slow path then."""
    rows = _rows(MIXED)
    fast = draw_cells(pv.insecure_seed(9), rows)
    slow_rows = []
    closely = dirichlet._cells_closely
    with monkeypatch.context() as patch:
        patch.setattr(dirichlet, "_cells_closely", lambda *a: slow_rows.append(1) or closely(*a))
        return fast, draw_cells(pv.insecure_seed(9), rows, widening=widening), len(slow_rows)


@pytest.mark.parametrize("widening", [1e4, 1e30])
def test_cells_forced_onto_the_slow_path_are_the_same(widening, monkeypatch):
    fast, slow, slow_rows = _cells_twice(monkeypatch, widening)
    assert slow_rows == len(MIXED) if widening == 1e30 else slow_rows > 15
    assert (fast == slow).all()


def test_a_planted_error_of_a_billionth_in_the_exponential_moves_cells_and_is_noticed(monkeypatch):
    # The negative control: the fast path with a wrong exponential, the slow path without.
    right = balls._exp
    monkeypatch.setattr(balls, "_exp", lambda x: right(x) * (1 + 1e-9 * np.sin(x)))
    fast, slow, _ = _cells_twice(monkeypatch, 1e30)
    assert (fast != slow).any()


def test_rows_in_which_one_entry_is_all_but_everything_are_settled():
    # Parameters so small that x differs from 0 and 1 by less than any number of bits would show.
    for parameter in (1e-6, 1e-12, 1e-300):
        cells = draw_cells(pv.insecure_seed(4), _rows(np.full((3, 4), parameter)))
        assert sorted(cells[0].tolist()) == [0, 0, 0, 2**dirichlet.GRID_BITS - 1]


def test_one_record_moves_exactly_the_same_between_any_two_parameters():
    counts = np.array([[3, 2**61 + 1, 7, 0]])
    moved = np.array([[2, 2**61 + 2, 7, 0]])
    base, step = np.array([0.1]), np.array([1 / 3])
    before, after = (DirichletRows(base, step, c, c >= 0) for c in (counts, moved))
    with flint.ctx.workprec(400):  # enough for every sum to be exact
        changes = [after.exact(0, j) - before.exact(0, j) for j in range(4)]
        assert changes == [-flint.arb(1 / 3), flint.arb(1 / 3), flint.arb(0), flint.arb(0)]
        enclosed = before.enclosed()
        for j in range(4):
            assert abs(before.exact(0, j) - flint.arb(enclosed.mid[j])) <= flint.arb(enclosed.rad[j])


@settings(max_examples=30, deadline=None)
@given(
    records=st.integers(1, 10**9), size=st.integers(2, 50), epsilon=st.floats(0.01, 10), log_delta=st.floats(-60, -2)
)
def test_the_parameters_drawn_with_are_rounded_towards_more_privacy(records, size, epsilon, log_delta):
    change, delta = 1 / records, math.exp(log_delta)
    try:
        row = calibrate(size, change, epsilon, delta)
    except pv.UnreachablePrivacyError:
        return
    k, floor, shift = (Fraction(x) for x in (row.concentration, row.floor, row.shift))
    assert k * floor <= Fraction(row.base) <= k * floor * Fraction(1 + 1e-14)
    for units in (1, change, 0.0125):
        assert k * shift * Fraction(1 - 1e-14) <= Fraction(row.step(units)) * Fraction(units) <= k * shift


def test_the_papers_floor_is_lowered_by_more_than_the_check_lets_through():
    row = calibrate(5, 1 / 98, 2.3, 1e-3, floor=0.073, mix=False)
    assert row.base == 0
    least_count = Fraction(0.073) * 98 * (1 - Fraction(1e-12)) * (1 - Fraction(2) ** -51)
    assert Fraction(row.step(1)) * least_count >= Fraction(row.concentration) * Fraction(row.floor)


DRAWS = 200_000
PROFILE = pv.DirichletProfile(floor=0.073, concentration=20.6, shift=1 / 98)


def _loss_crossings(seed: int, concentration: float, epsilon: float) -> tuple[int, int]:
    """How often the loss passes ε under either input of the worst pair, in many draws of three entries each."""
    floor, shift, rest = PROFILE.floor, PROFILE.shift, 1 - 2 * PROFILE.floor - PROFILE.shift
    counts = []
    for p in ((floor + shift, floor, rest), (floor, floor + shift, rest)):
        draws = draw_on_grid(pv.insecure_seed(seed), _rows(np.tile(concentration * np.array(p), (DRAWS, 1))))
        loss = PROFILE.h * np.log(draws[:, 0] / draws[:, 1])
        counts.append(int((loss > epsilon).sum()))
    return counts[0], counts[1]


def _z_scores(crossings: tuple[int, int], epsilon: float) -> list[float]:
    a, h = PROFILE.a, PROFILE.h
    v = special.expit(-epsilon / h)
    expected = special.betainc(a, a + h, v), special.betainc(a + h, a, v)
    assert expected[0] - math.exp(epsilon) * expected[1] == pytest.approx(PROFILE.delta(epsilon), rel=1e-7)
    return [(c - DRAWS * e) / math.sqrt(DRAWS * e * (1 - e)) for c, e in zip(crossings, expected, strict=True)]


def test_the_loss_of_many_draws_crosses_epsilon_as_often_as_the_profile_says():
    # Two binomial counts, each within 5 standard deviations: false-alarm probability 1.2e-6.
    epsilon = 0.5
    assert max(abs(z) for z in _z_scores(_loss_crossings(1, PROFILE.concentration, epsilon), epsilon)) < 5


def test_the_loss_crosses_too_often_when_the_noise_is_twenty_percent_short():
    # The negative control: draws with more spread than the profile was computed for.
    epsilon = 0.5
    assert max(abs(z) for z in _z_scores(_loss_crossings(1, 0.8 * PROFILE.concentration, epsilon), epsilon)) > 5


def test_every_entry_of_a_row_has_its_beta_law():
    # Four Kolmogorov–Smirnov tests at 1e-6 each; cells are far finer than what 20,000 draws can see.
    draws = draw_on_grid(pv.insecure_seed(5), _rows(np.tile(PARAMETERS, (20_000, 1))))
    for i, parameter in enumerate(PARAMETERS):
        law = stats.beta(parameter, PARAMETERS.sum() - parameter)
        assert stats.kstest(draws[:, i], law.cdf).pvalue > FALSE_ALARM
