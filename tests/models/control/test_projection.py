"""The nearest doubly stochastic matrix: against Dykstra's algorithm, and never farther from the truth than before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from pathveil.errors import InvalidParameterError
from pathveil.models.control.birkhoff import possible_entries
from pathveil.models.control.projection import nearest_doubly_stochastic, scaled_doubly_stochastic
from tests.reference.doubly_stochastic import dykstra


def _truth_and_noise(seed: int, largest: int = 9) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """A doubly stochastic mixture of permutations on a random support, the support, and the matrix with noise."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, largest))
    try:
        support = possible_entries((rng.random((n, n)) < rng.choice([0.3, 0.6, 1.0])) | np.eye(n, dtype=bool))
    except InvalidParameterError:
        return None
    truth = sum(share * _permutation(rng, support) for share in rng.dirichlet(np.ones(4)))
    return truth, support, truth + rng.choice([1e-3, 0.1, 1.0]) * rng.standard_normal((n, n)) * support


def _permutation(rng: np.random.Generator, support: np.ndarray) -> np.ndarray:
    rows, columns = optimize.linear_sum_assignment(np.where(support, rng.random(support.shape), 1e6))
    matrix = np.zeros(support.shape)
    matrix[rows, columns] = 1
    return matrix


@given(st.integers(0, 2**32))
@settings(max_examples=80, deadline=None)
def test_the_nearest_matrix_is_doubly_stochastic_and_never_farther_from_the_truth(seed):
    truth, support, noisy = _truth_and_noise(seed)
    nearest = nearest_doubly_stochastic(noisy, support)
    assert np.abs(nearest.sum(axis=0) - 1).max() < 1e-12
    assert np.abs(nearest.sum(axis=1) - 1).max() < 1e-12
    assert (nearest >= 0).all()
    assert not nearest[~support].any()
    before = np.linalg.norm(noisy - truth)
    assert np.linalg.norm(nearest - truth) <= before * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_matrix_agrees_with_dykstra(seed):
    _, support, noisy = _truth_and_noise(seed, largest=6)
    assert np.abs(nearest_doubly_stochastic(noisy, support) - dykstra(noisy, support)).max() < 1e-6


def test_no_small_step_within_the_set_comes_closer():
    _, support, noisy = _truth_and_noise(3)
    nearest = nearest_doubly_stochastic(noisy, support)
    # First-order condition, on a concrete direction: towards any other point of the set the distance grows.
    other = _permutation(np.random.default_rng(1), support)
    assert ((nearest - noisy) * (other - nearest)).sum() >= -1e-6


@pytest.mark.slow
def test_a_thousand_rows_are_projected():
    rng = np.random.default_rng(0)
    noisy = 1 / 1000 + 0.01 * rng.standard_normal((1000, 1000))
    nearest = nearest_doubly_stochastic(noisy, np.ones((1000, 1000), dtype=bool))
    assert np.abs(nearest.sum(axis=0) - 1).max() < 1e-12
    assert np.abs(nearest.sum(axis=1) - 1).max() < 1e-12


def test_scaling_keeps_positive_entries_and_sums():
    matrix = np.random.default_rng(0).random((6, 6)) + 0.1
    scaled = scaled_doubly_stochastic(matrix, np.ones((6, 6), dtype=bool))
    assert (scaled > 0).all()
    assert np.abs(scaled.sum(axis=0) - 1).max() < 1e-12
    # Scaling multiplies rows and columns: the cross ratios of entries stay.
    assert scaled[0, 0] * scaled[1, 1] / scaled[0, 1] / scaled[1, 0] == pytest.approx(
        matrix[0, 0] * matrix[1, 1] / matrix[0, 1] / matrix[1, 0]
    )


def test_scaling_says_when_it_cannot_settle():
    # All mass of two rows in one column: no scaling evens that out while the other entries are next to nothing.
    matrix = np.array([[1.0, 0, 0], [1.0, 0, 0], [0, 0.5, 0.5]])
    assert scaled_doubly_stochastic(matrix, np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]], dtype=bool)) is None
