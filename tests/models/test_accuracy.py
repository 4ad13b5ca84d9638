"""Exact moments of a row, and the bounds on them, against arbitrary precision and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import pathveil as pv
from pathveil.models import accuracy
from pathveil.models.dirichlet import draw_dirichlet

GRADES = np.array([31, 28, 20, 9, 10]) / 98


def test_absolute_error_agrees_with_the_printed_formula_in_arbitrary_precision():
    for p in (0.001, 0.073, 0.5, 0.97):
        for k in (0.5, 20.6, 1e4, 4e9):
            with mp.workdps(40):
                q, c = mpf(p), mpf(k)
                exact = 2 * q ** (c * q) * (1 - q) ** (c * (1 - q)) / (c * mp.beta(c * q, c * (1 - q)))
            assert float(accuracy.expected_absolute_error(p, k)) == pytest.approx(float(exact), rel=1e-10)


def test_kl_agrees_with_the_printed_formula_in_arbitrary_precision():
    for k in (20.6, 1e4, 4e9):
        with mp.workdps(40):
            exact = sum(
                mpf(float(p)) * (mp.log(mpf(float(p))) + mp.digamma(k) - mp.digamma(k * mpf(float(p)))) for p in GRADES
            )
        # The frequencies sum to 1 only to 1e-16, which the formula as printed multiplies by ψ(k).
        assert accuracy.expected_kl(GRADES, k) == pytest.approx(float(exact), rel=1e-6)


def test_simulated_errors_match_the_exact_moments():
    # Means of 100,000 draws within 5 standard errors, 11 statements: false-alarm probability below 1e-5.
    k, count = 20.6, 100_000
    draws = draw_dirichlet(pv.insecure_seed(2), np.tile(k * GRADES, (count, 1)))
    samples = [np.abs(draws - GRADES), (draws - GRADES) ** 2, (GRADES * np.log(GRADES / draws)).sum(axis=1)]
    exact = [
        accuracy.expected_absolute_error(GRADES, k),
        accuracy.expected_squared_error(GRADES, k),
        accuracy.expected_kl(GRADES, k),
    ]
    for sample, expected in zip(samples, exact, strict=True):
        error = sample.std(axis=0) / math.sqrt(count)
        assert (np.abs(sample.mean(axis=0) - expected) < 5 * error).all()
        assert (np.abs(sample.mean(axis=0) - 1.05 * expected) > 5 * error).all()  # the control: 5% off is seen


@given(st.lists(st.integers(1, 50), min_size=2, max_size=8), st.floats(0.1, 1e4))
def test_no_input_beats_the_worst_case_bounds(counts, k):
    p = np.array(counts) / sum(counts)
    assert (accuracy.expected_absolute_error(p, k) <= accuracy.worst_absolute_error(k) * (1 + 1e-9)).all()
    assert (accuracy.expected_squared_error(p, k) <= accuracy.worst_squared_error(k) * (1 + 1e-9)).all()
    assert accuracy.expected_kl(p, k) <= accuracy.worst_kl(k, len(p), p.min()) * (1 + 1e-9)
    assert accuracy.expected_kl(p, k) <= accuracy.worst_kl(k, len(p), 1 / sum(counts)) * (1 + 1e-9)


def test_theorem_2_of_mdm_is_the_error_of_an_entry_at_one_half():
    k = 9.87
    printed = math.gamma(k) * 2 ** (1 - k) / (math.gamma(k / 2) ** 2 * k)
    assert accuracy.worst_absolute_error(k) == pytest.approx(printed, rel=1e-12)
    assert accuracy.worst_squared_error(k) == pytest.approx(k / (4 * (k * k + k)), rel=1e-12)


def test_the_largest_of_several_sums_is_bounded_from_its_moments():
    rng = np.random.default_rng(0)
    P, k = rng.dirichlet(np.ones(6), size=6), np.full(6, 25.0)
    draws = np.stack([draw_dirichlet(pv.insecure_seed(i), 25.0 * P) for i in range(400)])
    rows = np.abs(draws - P).sum(axis=2).max(axis=1).mean()
    columns = np.abs(draws - P).sum(axis=1).max(axis=1).mean()
    assert rows < accuracy.expected_row_norm(P, k) < 2 * rows
    assert columns < accuracy.expected_column_norm(P, k) < 2 * columns
