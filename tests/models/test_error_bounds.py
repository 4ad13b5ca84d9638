"""Expected errors of draws and of chains, written out a second time: entry by entry, row by row."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf

import pathveil as pv
from pathveil.models import accuracy

P = np.array([[0.5, 0.3, 0.2], [0.1, 0.9, 0.0], [0.25, 0.25, 0.5]])
K = np.array([20.0, 300.0, 5.0])
CHAIN = pv.MarkovChain("abc", P)
OTHER = pv.MarkovChain("abc", [[0.4, 0.3, 0.3], [0.05, 0.95, 0.0], [0.35, 0.15, 0.5]])


def absolute(p: float, k: float) -> float:
    """E|p - x| for x ~ Beta(kp, k(1-p))."""
    if p in (0, 1):
        return 0.0
    with mp.workdps(40):
        q, c = mpf(p), mpf(k)
        return float(2 * q ** (c * q) * (1 - q) ** (c * (1 - q)) / (c * mp.beta(c * q, c * (1 - q))))


def test_certain_entries_have_no_error():
    assert accuracy.expected_absolute_error([0.0, 1.0, 0.4], 7.0) == pytest.approx(
        [0, 0, absolute(0.4, 7.0)], rel=1e-12
    )
    assert accuracy.expected_squared_error([0.0, 1.0, 0.4], 7.0) == pytest.approx([0, 0, 0.24 / 8])
    assert accuracy.expected_kl([0.0, 1.0], 7.0) == 0


def test_the_logarithm_less_digamma_is_the_same_on_both_sides_of_where_the_series_begins():
    x = np.array([0.01, 0.7, 30.0, 999.0, 1000.0, 1000.1, 1200.0, 1e6, 1e12])
    found = accuracy._log_less_digamma(x)
    with mp.workdps(60):
        exact = [float(mp.log(mpf(v)) - mp.digamma(mpf(v))) for v in x.tolist()]
    assert found[x <= 1000] == pytest.approx(exact[: int((x <= 1000).sum())], rel=1e-11, abs=0)
    # The series leaves out less than 1/(252x⁶).
    assert found[x > 1000] == pytest.approx(exact[int((x <= 1000).sum()) :], rel=2e-15, abs=0)


@pytest.mark.parametrize("k", [0.5, 9.87, 1e4])
def test_the_worst_errors_are_those_of_a_half_and_of_a_corner(k):
    assert accuracy.worst_absolute_error(k) == pytest.approx(absolute(0.5, k), rel=1e-11)
    assert accuracy.worst_squared_error(k) == pytest.approx(0.25 / (k + 1), rel=1e-12)
    with mp.workdps(40):
        corner = [mpf("0.1"), mpf("0.1"), mpf("0.1"), mpf("0.7")]
        kl = mp.fsum(p * (mp.log(p) + mp.digamma(k) - mp.digamma(k * p)) for p in corner)
    assert accuracy.worst_kl(k, 4, 0.1) == pytest.approx(float(kl), rel=1e-9)


def test_the_largest_of_several_numbers_exceeds_the_largest_mean_by_a_root_of_all_variances():
    found = accuracy.expected_largest_sum(np.array([1.0, 5.0, 2.0, 4.0]), np.array([3.0, 1.0, 7.0, 1.0]))
    assert found == pytest.approx(5 + math.sqrt(3 / 4 * 12))
    assert accuracy.expected_largest_sum(np.array([2.0]), np.array([9.0])) == 2


def _moments() -> tuple[list[list[float]], list[list[float]]]:
    means = [[absolute(p, k) for p in row] for row, k in zip(P.tolist(), K.tolist(), strict=True)]
    squares = [[p * (1 - p) / (k + 1) for p in row] for row, k in zip(P.tolist(), K.tolist(), strict=True)]
    deviations = [
        [math.sqrt(s - m * m) for s, m in zip(a, b, strict=True)] for a, b in zip(squares, means, strict=True)
    ]
    return means, deviations


def test_the_entries_of_a_row_may_all_err_together_and_those_of_a_column_err_independently():
    means, deviations = _moments()
    rows = max(map(sum, means)) + math.sqrt(2 / 3 * sum(sum(row) ** 2 for row in deviations))
    assert accuracy.expected_row_norm(P, K) == pytest.approx(rows, rel=1e-10)
    columns = max(map(sum, zip(*means, strict=True))) + math.sqrt(2 / 3 * sum(d * d for row in deviations for d in row))
    assert accuracy.expected_column_norm(P, K) == pytest.approx(columns, rel=1e-10)
    assert accuracy.expected_ergodicity_error(P, K) == pytest.approx(columns, rel=1e-10)


def _stretch(Z: np.ndarray) -> float:
    return max(
        sum(abs(a - b) for a, b in zip(x, y, strict=True)) / 2 for x, y in itertools.product(Z.tolist(), repeat=2)
    )


def _fundamental(chain: pv.MarkovChain) -> np.ndarray:
    pi = chain.stationary_distribution
    return np.linalg.inv(np.eye(3) - chain.matrix.toarray() + np.array([pi, pi, pi]))


def test_a_matrix_stretches_by_half_the_largest_distance_of_two_rows():
    assert accuracy.tau_1(np.array([[1.0, 0.0], [0.0, 1.0]])) == 1
    assert accuracy.tau_1(np.array([[3.0, 0.0, 1.0], [0.0, 1.0, 1.0], [-1.0, 1.0, 2.0]])) == 3
    assert accuracy.tau_1(np.array([[3.0, 1.0]])) == 0


def test_the_stationary_distribution_moves_by_no_more_than_the_rows_times_the_stretch():
    stretch = _stretch(_fundamental(CHAIN))
    assert accuracy.stationary_error_bound(CHAIN, 0.25) == pytest.approx(stretch * 0.25)
    assert accuracy.expected_stationary_error(CHAIN, K) == pytest.approx(stretch * accuracy.expected_row_norm(P, K))
    same = accuracy.expected_row_norm(P, np.full(3, 40.0))
    assert accuracy.expected_stationary_error(CHAIN, 40.0) == pytest.approx(stretch * same)
    rate = sum(
        CHAIN.stationary_distribution[i] * p * math.log(p / q)
        for i in range(3)
        for p, q in zip(P[i].tolist(), OTHER.matrix.toarray()[i].tolist(), strict=True)
        if p
    )
    found = accuracy.stationary_error_from_kl(CHAIN, OTHER)
    assert found == pytest.approx(_stretch(_fundamental(OTHER)) * math.sqrt(2 * rate))
