"""Noise for the rows of a matrix: the search, with a composition that is known, and limits of what may be given."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pathveil as pv
from pathveil.models import matrix
from pathveil.models.calibration import calibrate, plan_floor
from pathveil.models.frequencies import draw_rows
from pathveil.models.matrix import calibrate_rows, checked_matrix
from pathveil.privacy.profile import SAFETY

EPSILON, DELTA, CHANGE = 1.5, 1e-6, 0.0125


class KnownComposition:
    """In place of the composed profile: δ grows with the cube of the scale k·s²/η, and is `right` at the scale 0.02."""

    right = DELTA
    unproven = 0.0  # by how much (in logarithms of the scale) a proof needs more noise than the search thinks
    searched: list[float]
    proven: list[float]

    def __init__(self, profiles: list[pv.DirichletProfile], unproven: float | None = None) -> None:
        scales = [p.concentration * p.shift**2 / p.floor for p in profiles]
        assert scales == pytest.approx([scales[0]] * len(profiles))  # every row has the same share
        self.log_scale = math.log(scales[0])
        self.more = self.unproven if unproven is None else unproven
        (self.searched if unproven is not None else self.proven).append(self.log_scale)

    @classmethod
    def for_searches(cls, profiles: list[pv.DirichletProfile]) -> KnownComposition:
        return cls(profiles, unproven=0.0)

    def delta(self, epsilon: float) -> float:
        assert epsilon == EPSILON
        return self.right * math.exp(3 * (self.log_scale + self.more - math.log(0.02)))


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setattr(matrix, "ComposedProfile", KnownComposition)
    KnownComposition.searched, KnownComposition.proven = [], []
    monkeypatch.setattr(KnownComposition, "unproven", 0.0)
    monkeypatch.setattr(KnownComposition, "right", DELTA)
    return KnownComposition


@pytest.mark.parametrize("right", [1e-30, 1e-9, DELTA, 1e-3, 1e9])
def test_the_least_noise_is_found_wherever_it_lies_and_soon(known, monkeypatch, right):
    monkeypatch.setattr(known, "right", right)
    sizes = [3, 1, 5, 3]
    rows = calibrate_rows(sizes, CHANGE, EPSILON, DELTA, "matrix", None, mix=True)
    assert [row is None for row in rows] == [False, True, False, False]
    expected = 0.02 * (DELTA / right) ** (1 / 3)
    for size, row in zip(sizes, rows, strict=True):
        if row is not None:
            plan = plan_floor(size, CHANGE, EPSILON / 3, DELTA / 3, None, mix=True)
            assert (row.size, row.floor, row.mixing, row.shift) == (size, *plan)
            scale = row.concentration * row.shift**2 / row.floor
            assert expected * (1 - 1e-4) < scale <= expected
            assert scale == pytest.approx(expected * math.exp(-SAFETY / 3), rel=1e-4)
    # The search begins at ε²/(2·rows), and few steps lead from there to the answer.
    assert known.searched[0] == pytest.approx(math.log(EPSILON**2 / 6))
    assert len(known.searched) < 60
    assert len(known.proven) == 1


def test_noise_that_is_not_proven_is_increased_in_steps_that_double(known, monkeypatch):
    monkeypatch.setattr(known, "unproven", 1e-5)
    [row, _] = calibrate_rows([4, 4], CHANGE, EPSILON, DELTA, "matrix", None, mix=True)
    scale = row.concentration * row.shift**2 / row.floor
    assert scale <= 0.02 * math.exp(-1e-5)
    assert scale > 0.02 * math.exp(-5e-5)
    steps = -np.diff(known.proven)
    assert steps == pytest.approx(1e-7 * 2.0 ** np.arange(len(steps)), rel=1e-3, abs=0)
    assert 3 <= len(steps) <= 8


def test_noise_that_no_step_proves_is_refused(known, monkeypatch):
    monkeypatch.setattr(known, "unproven", 6.0)  # steps from 1e-7 on that double, up to 3.4, add up to 6.7
    [row, _] = calibrate_rows([4, 4], CHANGE, EPSILON, DELTA, "matrix", None, mix=True)
    assert row.concentration > 0
    monkeypatch.setattr(known, "unproven", 7.5)
    with pytest.raises(pv.UnreachablePrivacyError, match="can be proven"):
        calibrate_rows([4, 4], CHANGE, EPSILON, DELTA, "matrix", None, mix=True)


def test_a_search_that_goes_on_for_ever_is_given_up(known, monkeypatch):
    monkeypatch.setattr(known, "right", DELTA * math.exp(150))  # the answer is e⁻⁵⁰ times 0.02: still found
    assert calibrate_rows([4, 4], CHANGE, EPSILON, DELTA, "matrix", None, mix=True)[0].concentration > 0
    monkeypatch.setattr(known, "right", DELTA * math.exp(180))
    with pytest.raises(pv.UnreachablePrivacyError, match=r"each of 2 rows may change by 0\.025"):
        calibrate_rows([4, 4], CHANGE, EPSILON, DELTA, "matrix", None, mix=True)
    assert len(known.searched) < 80


@pytest.mark.parametrize(("floor", "mix"), [(None, True), (0.1, True), (0.1, False)])
def test_when_one_row_changes_every_row_has_noise_of_its_own(floor, mix):
    rows = calibrate_rows([3, 1, 5], 0.001, 3.0, 1e-3, "row", floor, mix)
    assert rows == [calibrate(3, 0.001, 3.0, 1e-3, floor, mix), None, calibrate(5, 0.001, 3.0, 1e-3, floor, mix)]


def test_a_matrix_is_released_row_by_row_with_the_noise_that_was_settled():
    support = np.array([[True, True, True], [False, True, False], [True, False, True]])
    given = np.array([[0.5, 0.3, 0.2], [0.0, 1.0, 0.0], [0.25, 0.0, 0.75]])
    release = pv.private_matrix(
        given, epsilon=EPSILON, delta=DELTA, change=0.025, support=support, rng=pv.insecure_seed(2)
    )
    settled = [calibrate(size, CHANGE, EPSILON, DELTA) for size in (3, 2)]
    noisy = [0, 2]
    draw, values = draw_rows(pv.insecure_seed(2), given[noisy], CHANGE, support[noisy], settled)
    assert (release.draw[noisy] == draw).all()
    assert (release.values[noisy] == values).all()
    assert release.draw[1].tolist() == release.values[1].tolist() == [0, 1, 0]
    assert release.concentration.tolist() == [settled[0].concentration, math.inf, settled[1].concentration]
    assert release.floor.tolist() == [settled[0].floor, 1.0, settled[1].floor]
    guarantee = release.guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.seeded) == (EPSILON, DELTA, True)
    assert "at most 0.0125" in guarantee.unit
    assert "one row" in guarantee.unit
    assert guarantee.public[1] == "the floor of each row"
    unseeded = pv.private_matrix(given, epsilon=3.0, delta=1e-2, change=0.01, support=support, floor=0.15, mix=False)
    assert unseeded.guarantee.public[1] == "that every such entry is at least 0.15"
    assert not unseeded.guarantee.seeded


def test_a_row_may_change_by_two_and_no_more():
    options = {"epsilon": EPSILON, "delta": DELTA}
    release = pv.private_matrix([[0.5, 0.5]], change=2, **options)
    assert release.floor[0] == calibrate(2, 1.0, EPSILON, DELTA).floor
    for change in (0, -0.1, 2.0001, math.nan):
        with pytest.raises(pv.InvalidParameterError, match="at most 2"):
            pv.private_matrix([[0.5, 0.5]], change=change, **options)


def test_the_papers_floor_is_not_asked_of_rows_with_a_single_entry():
    given = [[0.5, 0.5], [0.0, 1.0]]
    support = [[True, True], [False, True]]
    options = {"epsilon": 3.0, "delta": 1e-2, "change": 0.01, "support": support, "mix": False}
    release = pv.private_matrix(given, floor=0.4, **options)
    assert release.values[1].tolist() == [0, 1]
    with pytest.raises(pv.InvalidCountsError, match=r"row 1, column 2 is 0\.35"):
        pv.private_matrix([[0.65, 0.35], [0.0, 1.0]], floor=0.4, **options)


def test_rows_sum_to_one_up_to_a_hundred_millionth():
    for surplus in (0.9e-8, -0.9e-8):
        assert checked_matrix([[1.0, 0.0], [0.5, 0.5 + surplus]]).shape == (2, 2)
    for surplus in (1.1e-8, -1.1e-8):
        with pytest.raises(pv.InvalidCountsError, match="row 2 of the matrix sums to"):
            checked_matrix([[1.0, 0.0], [0.5, 0.5 + surplus]])
    for empty in (np.zeros((0, 2)), np.zeros((2, 0)), np.zeros((1, 1, 1))):
        with pytest.raises(pv.InvalidCountsError, match="rows and columns"):
            checked_matrix(empty)
