"""What becomes of a row before and after its draw, with draws that are known; and what counts may be."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import sparse

import pathveil as pv
from pathveil.models import accuracy, frequencies
from pathveil.models.calibration import Calibration, calibrate
from pathveil.models.frequencies import (
    checked_counts,
    checked_support,
    draw_rows,
    forecast_row,
    project_to_simplex,
    require_floor,
    require_inside,
    row_rmse,
)

MIXED = Calibration(size=4, floor=0.2, mixing=0.8, shift=0.05, concentration=64.0)
PAPERS = Calibration(size=2, floor=0.3, mixing=0.0, shift=0.125, concentration=32.0)


def test_rows_are_drawn_around_counts_and_their_mixing_is_undone(monkeypatch):
    drawn_with = []
    draws = np.array([[0.24, 0.26, 0.21, 0.29], [0.4, 0.6, 0.0, 0.0]])
    monkeypatch.setattr(frequencies, "draw_on_grid", lambda _, rows: drawn_with.append(rows) or draws)
    counts = np.array([[1, 2, 0, 4], [3, 5, 0, 0]])
    inside = np.array([[True] * 4, [True, True, False, False]])
    drawn, values = draw_rows(pv.insecure_seed(0), counts, 0.5, inside, [MIXED, PAPERS])
    assert drawn is draws
    # (draw - 0.2)/0.2 in the first row; the papers' row stays as it was drawn.
    assert values == pytest.approx(np.array([[0.2, 0.3, 0.05, 0.45], [0.4, 0.6, 0, 0]]))
    [rows] = drawn_with
    # kη and 0; ks for half a count.
    assert rows.base == pytest.approx([12.8, 0], rel=1e-14)
    assert rows.step == pytest.approx([6.4, 8.0], rel=1e-14)
    assert rows.data is counts
    assert rows.inside is inside


def nearest(v: list[float]) -> list[float]:
    """The nearest point of the simplex: the best over all sets of entries that may stay positive."""
    best = None
    for size in range(1, len(v) + 1):
        for kept in itertools.combinations(range(len(v)), size):
            fall = (sum(v[i] for i in kept) - 1) / size
            point = [v[i] - fall if i in kept else 0.0 for i in range(len(v))]
            if min(point) >= 0:
                distance = sum((a - b) ** 2 for a, b in zip(point, v, strict=True))
                best = min(best, (distance, point)) if best else (distance, point)
    return best[1]


def test_projection_agrees_with_trying_every_set_of_positive_entries():
    rng = np.random.default_rng(7)
    rows = np.concatenate(
        [rng.normal(size=(40, 4)), rng.integers(-2, 3, (40, 4)) / 2, [[0.25] * 4, [1, 0, 0, 0], [9] * 4]]
    )
    found = project_to_simplex(rows, np.ones(rows.shape, dtype=bool))
    for row, projected in zip(rows.tolist(), found.tolist(), strict=True):
        assert projected == pytest.approx(nearest(row), abs=1e-12)


def test_rounding_leaves_no_projection_off_the_simplex():
    # Numbers near 10⁹ are rounded by 10⁻⁷, and so are the thresholds.
    rows = 1e9 + np.random.default_rng(3).random((50, 7))
    assert project_to_simplex(rows, rows > 0).sum(axis=1) == pytest.approx(1, abs=1e-15)


def test_what_lies_outside_the_support_has_no_influence_on_a_projection():
    v = np.array([[0.5, 9.0, 0.3, -4.0], [7.0, 7.0, 7.0, -3.0]])
    inside = np.array([[True, False, True, True], [False, False, False, True]])
    assert project_to_simplex(v, inside) == pytest.approx(np.array([[0.6, 0, 0.4, 0], [0, 0, 0, 1]]))


def test_forecasts_are_the_stated_bounds():
    # (1 - 1/4)/(64 + 1)/4 is the mean squared error of an entry of the uniform row; undoing the mixing divides by 0.2.
    rmse = math.sqrt(0.75 / 65 / 4) / 0.2
    assert row_rmse(MIXED) == pytest.approx(rmse)
    found = forecast_row(MIXED)
    assert (found.concentration, found.floor, found.mixing) == (64.0, 0.2, 0.8)
    assert found.rmse == pytest.approx(rmse)
    assert found.total_variation == pytest.approx(2 * rmse)
    assert found.kl == pytest.approx(accuracy.expected_kl([0.2, 0.2, 0.2, 0.4], 64.0))
    assert forecast_row(PAPERS).rmse == pytest.approx(math.sqrt(0.5 / 33 / 2))
    assert (
        forecast_row(Calibration(size=4, floor=0.249, mixing=0.996, shift=0.05, concentration=3.0)).total_variation == 1
    )


def test_forecasts_begin_at_two_categories_and_one_record():
    promise = {"epsilon": 1.0, "delta": 1e-6}
    assert pv.forecast_frequencies(n=2, records=1, **promise) == forecast_row(calibrate(2, 1.0, 1.0, 1e-6))
    assert pv.forecast_frequencies(n=np.int64(3), records=np.int64(50), **promise).mixing == 0.9
    paper = pv.forecast_frequencies(n=3, records=50, epsilon=2.0, delta=1e-2, floor=0.2, mix=False)
    assert paper == forecast_row(calibrate(3, 1 / 50, 2.0, 1e-2, 0.2, mix=False))


def test_two_categories_and_one_record_can_be_released():
    release = pv.private_frequencies([1, 0], epsilon=1.0, delta=1e-6, rng=pv.insecure_seed(1))
    assert release.values.sum() == pytest.approx(1)
    assert release.forecast == pv.forecast_frequencies(n=2, records=1, epsilon=1.0, delta=1e-6)
    guarantee = release.guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.seeded) == (1.0, 1e-6, True)
    assert guarantee.public[0] == "the number of records (1)"


def test_released_numbers_are_those_of_one_draw_with_the_calibrated_noise():
    counts = np.array([31, 28, 0, 9, 10])
    support = np.array([True, True, False, True, True])
    release = pv.private_frequencies(counts, epsilon=1.0, delta=1e-6, support=support, rng=pv.insecure_seed(3))
    row = calibrate(4, 1 / 78, 1.0, 1e-6)
    draw, values = draw_rows(pv.insecure_seed(3), counts[None], 1, support[None], [row])
    assert (release.draw == draw[0]).all()
    assert (release.values == values[0]).all()
    assert (release.concentration, release.floor, release.mixing) == (row.concentration, row.floor, row.mixing)


@pytest.mark.parametrize("options", [{}, {"floor": 0.05, "mix": False}], ids=["mixed", "papers"])
def test_the_curators_errors_are_those_of_the_law_that_was_drawn_from(options):
    counts = np.array([31, 0, 28, 20, 19])
    support = np.array([True, False, True, True, True])
    release = pv.private_frequencies(
        counts, epsilon=3.0, delta=1e-3, support=support, rng=pv.insecure_seed(1), **options
    )
    p = counts / 98
    kept = 1.0 if options else 0.1
    mixed = p if options else np.where(support, 0.1 * p + 0.9 / 4, 0.0)
    errors = pv.curator_errors(counts, release)
    k = release.concentration
    assert errors.absolute == pytest.approx(accuracy.expected_absolute_error(mixed, k) / kept)
    assert errors.squared == pytest.approx(mixed * (1 - mixed) / (k + 1) / kept**2)
    assert errors.kl == pytest.approx(accuracy.expected_kl(mixed, k))


def test_counts_end_below_two_to_the_sixty_second():
    largest = 2**62 - 2**10  # the last float below it, so that nothing is rounded up to it
    assert checked_counts([largest, 0], "counts").tolist() == [largest, 0]
    for refused in (2**62, 2**63, float(2**62)):
        with pytest.raises(pv.InvalidCountsError, match="entry 2 is"):
            checked_counts([0, refused], "counts")


def test_the_place_of_what_is_no_count_is_told_from_one_on():
    with pytest.raises(pv.InvalidCountsError, match="entry 2, 3 is -1"):
        checked_counts([[1, 2, 3], [4, 5, -1]], "counts", dimensions=2)
    with pytest.raises(pv.InvalidCountsError, match="non-empty"):
        checked_counts(np.zeros((0, 3)), "counts", dimensions=2)
    assert checked_counts(sparse.csr_array([[1, 0], [0, 2]]), "counts", dimensions=2).tolist() == [[1, 0], [0, 2]]
    assert checked_counts([1, 2], "counts").dtype == np.int64


def test_a_support_is_marked_with_truth_values_or_with_zeros_and_ones():
    assert checked_support(None, (2,), "support").tolist() == [True, True]
    for marks in ([True, False], [1, 0], [1.0, 0.0], sparse.csr_array([[1, 0]])):
        shape = (1, 2) if sparse.issparse(marks) else (2,)
        found = checked_support(marks, shape, "support")
        assert found.dtype == bool
        assert found.ravel().tolist() == [True, False]
    for marks in ([0, 2], [0.5, 1], [True], [[True, False]]):
        with pytest.raises(pv.InvalidParameterError, match="entry by entry"):
            checked_support(marks, (2,), "support")


def test_data_off_the_support_are_named_with_their_place():
    inside = np.array([[True, False], [True, True]])
    require_inside(np.array([[5, 0], [0, 7]]), inside, "counts")
    with pytest.raises(pv.InvalidCountsError, match="entry 1, 2 is 7"):
        require_inside(np.array([[5, 7], [0, 7]]), inside, "counts")


def test_a_floor_forgives_rounding_and_nothing_else():
    inside = np.array([True, True, False])
    for least in (0.2, 0.2 * (1 - 5e-13), 0.3):
        require_floor(np.array([0.7, least, 0.0]), inside, 0.2, "data")
    with pytest.raises(pv.InvalidCountsError, match=r"entry 2 is 0\.2, below"):
        require_floor(np.array([0.7, 0.2 * (1 - 2e-12), 0.0]), inside, 0.2, "data")
    with pytest.raises(pv.InvalidCountsError, match=r"row 1, column 2 is 0\.1, below"):
        require_floor(np.array([[0.7, 0.1, 0.0]]), inside[None], 0.2, "data")
