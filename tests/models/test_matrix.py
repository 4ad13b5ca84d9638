"""Private matrices: both units of privacy, supports, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pathveil as pv

RNG = np.random.default_rng(0)
MATRIX = RNG.dirichlet(np.full(5, 2.0), size=6)
PROMISE = {"epsilon": 1.0, "delta": 1e-6, "change": 0.025}


def _profiles(release: pv.PrivateMatrix, sizes: list[int]) -> list[pv.DirichletProfile]:
    """What one row's change costs, from the released (public) floors and concentrations alone."""
    return [
        pv.DirichletProfile(floor, k, (1 - size * floor) * 0.0125)
        for floor, k, size in zip(release.floor, release.concentration, sizes, strict=True)
        if size > 1
    ]


def test_a_changed_row_is_protected_as_promised():
    release = pv.private_matrix(MATRIX, **PROMISE)
    for profile in _profiles(release, [5] * 6):
        assert 0.999e-6 < profile.delta(1.0) <= 1e-6


def test_when_every_row_may_change_the_rows_keep_the_promise_together():
    release = pv.private_matrix(MATRIX, **PROMISE, protects="matrix")
    composed = pv.ComposedProfile(_profiles(release, [5] * 6))
    assert 0.99e-6 < composed.delta(1.0) <= 1e-6
    assert "every row" in str(release.guarantee)


def test_the_traffic_example_needs_the_papers_noise_only_at_the_exact_epsilon():
    # MDM: k = 9.87 at floor 0.1 is claimed to give ε = 1.16; it gives 3.03 when all 32 rows may change.
    matrix = np.full((32, 5), 0.2)
    release = pv.private_matrix(
        matrix, epsilon=3.03, delta=0.011, change=0.025, protects="matrix", floor=0.1, mix=False
    )
    assert release.concentration == pytest.approx(9.87, rel=0.01)


def test_rows_of_different_width_share_the_loss():
    support = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [1, 1, 1, 0, 0]], dtype=bool)
    matrix = support / support.sum(axis=1, keepdims=True)
    release = pv.private_matrix(matrix, **PROMISE, protects="matrix", support=support, rng=pv.insecure_seed(1))
    assert pv.ComposedProfile(_profiles(release, support.sum(axis=1).tolist())).delta(1.0) <= 1e-6
    assert (release.values[~support] == 0).all()
    assert (release.draw[support] > 0).all()
    assert release.values[2, 2] == 1
    assert math.isinf(release.concentration[2])
    assert release.values.sum(axis=1) == pytest.approx(1)


def test_noise_and_floor_do_not_depend_on_the_matrix():
    other = pv.private_matrix(np.eye(5)[[0, 1, 2, 3, 4, 0]], **PROMISE)
    release = pv.private_matrix(MATRIX, **PROMISE)
    assert (other.concentration == release.concentration).all()
    assert (other.floor == release.floor).all()
    assert other.guarantee == release.guarantee


def test_the_estimate_is_unbiased_before_its_projection():
    # 4,000 draws: means within 5 standard errors for 5 entries; false-alarm probability 3e-6.
    row = np.array([[0.5, 0.2, 0.2, 0.05, 0.05]])
    many = pv.private_matrix(np.repeat(row, 4000, axis=0), **PROMISE, rng=pv.insecure_seed(3))
    floor = many.floor[0]
    undone = (many.draw - floor) / (1 - 5 * floor)
    error = undone.std(axis=0) / math.sqrt(4000)
    assert (np.abs(undone.mean(axis=0) - row[0]) < 5 * error).all()
    assert (np.abs(many.draw.mean(axis=0) - row[0]) > 5 * error).any()  # the control: before it is undone


def test_paper_mode_names_row_column_and_value_below_the_floor():
    matrix = [[0.4, 0.3, 0.2, 0.1], [0.5, 0.3, 0.17, 0.03]]
    with pytest.raises(pv.InvalidCountsError, match=r"row 2, column 4 is 0\.03, below the floor 0\.05"):
        pv.private_matrix(matrix, epsilon=3.0, delta=1e-3, change=0.01, floor=0.05, mix=False)


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        ([[0.5, 0.6], [0.5, 0.5]], r"row 1 of the matrix sums to 1\.1"),
        ([[0.5, 0.5], [1.2, -0.2]], r"row 2, column 2 of the matrix is -0\.2"),
        ([[0.5, 0.5], [math.nan, 0.5]], "row 2, column 1 of the matrix is nan"),
        ([0.5, 0.5], "shape"),
        ([["a", "b"]], "cannot be read"),
        ([[1.0], [1.0]], "single possible entry"),
    ],
)
def test_what_is_not_a_stochastic_matrix_is_refused(matrix, says):
    with pytest.raises(pv.InvalidCountsError, match=says):
        pv.private_matrix(matrix, **PROMISE)


def test_mass_off_the_support_is_refused():
    with pytest.raises(pv.InvalidCountsError, match=r"entry 1, 2 is 0\.5, but the public support"):
        pv.private_matrix([[0.5, 0.5], [0.5, 0.5]], **PROMISE, support=[[1, 0], [1, 1]])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"change": 0.0}, "change is 0"),
        ({"change": 2.5}, "change is 2.5"),
        ({"protects": "all"}, "protects is 'all'"),
        ({"floor": 0.2}, "below 1/5"),
        ({"mix": False}, "needs a floor"),
        ({"mix": False, "floor": 0.19, "change": 0.5}, "more than the mass that can move"),
        ({"delta": 0.6}, "delta is 0.6"),
    ],
)
def test_impossible_options_are_refused(options, says):
    with pytest.raises(pv.InvalidParameterError, match=says):
        pv.private_matrix(MATRIX, **(PROMISE | options))


def test_a_promise_for_all_rows_that_no_noise_keeps_is_refused():
    with pytest.raises(pv.UnreachablePrivacyError, match="no amount of noise"):
        pv.private_matrix(MATRIX, **PROMISE, protects="matrix", floor=0.01)
