"""Private frequencies: what is released, what it promises, and what is refused."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

import pathveil as pv
from pathveil.models.calibration import calibrate
from pathveil.models.frequencies import project_to_simplex
from tests.sizes import small_and_large

GRADES = [31, 28, 20, 9, 10]


@settings(max_examples=30, deadline=None)
@given(
    counts=st.lists(st.integers(0, 1000), min_size=2, max_size=12).filter(any),
    epsilon=st.floats(0.05, 8.0),
    seed=st.integers(0, 100),
)
def test_a_release_is_a_distribution_and_its_noise_keeps_the_promise(counts, epsilon, seed):
    delta = 1e-6
    release = pv.private_frequencies(counts, epsilon=epsilon, delta=delta, rng=pv.insecure_seed(seed))
    assert release.values.sum() == pytest.approx(1.0)
    assert (release.values >= 0).all()
    assert (release.draw > 0).all()
    # Replacing one record moves 1/N of the frequencies and (1 - nη)/N of what is drawn from.
    shift = (1 - len(counts) * release.floor) / sum(counts)
    assert pv.DirichletProfile(release.floor, release.concentration, shift).delta(epsilon) <= delta


def test_the_floor_is_nine_tenths_of_the_mass_and_raised_only_where_the_promise_demands():
    usual = pv.private_frequencies(GRADES, epsilon=1.0, delta=1e-6)
    assert usual.mixing == 0.9
    assert usual.floor == pytest.approx(0.18)
    few = pv.forecast_frequencies(n=40, records=10, epsilon=1.0, delta=1e-6)
    assert 0.9 < few.mixing < 1
    floor, shift = 0.9 / 40, 0.1 / 10
    with pytest.raises(pv.UnreachablePrivacyError):
        pv.concentration_for(1.0, 1e-6, floor, shift)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-9), (1.0, 1e-6), (8.0, 0.1)])
def test_a_raised_floor_keeps_the_least_reachable_delta_twenty_in_logarithms_below_delta(epsilon, delta):
    row = calibrate(40, 1 / 3, epsilon, delta)
    assert row.mixing > 0.9
    least = row.shift / (2 * row.floor + row.shift) * math.exp(-epsilon * row.floor / row.shift)
    assert math.log(least) == pytest.approx(math.log(delta) - 20, abs=1e-6)


def test_floor_and_noise_are_the_same_for_all_data_of_the_same_size():
    one = pv.private_frequencies([98, 0, 0, 0, 0], epsilon=1.0, delta=1e-6)
    other = pv.private_frequencies(GRADES, epsilon=1.0, delta=1e-6)
    assert (one.floor, one.concentration, one.forecast) == (other.floor, other.concentration, other.forecast)
    assert one.guarantee == other.guarantee


def test_the_large_floor_table_comes_out():
    # RMSE over that of Laplace noise (variance 2·(2/ε)², sensitivity 2) at N = 73,000, n = 40, ε = 3.73, δ = 3e-6.
    laplace = math.sqrt(2) * (2 / 3.73) / 73_000
    expected = {0.01: 22.2, 0.1: 7.06, 0.3: 4.08, 0.5: 3.16, 0.7: 2.67, 0.9: 2.36, 0.99: 2.25}
    for mixing, ratio in expected.items():
        forecast = pv.forecast_frequencies(n=40, records=73_000, epsilon=3.73, delta=3e-6, floor=mixing / 40)
        assert forecast.rmse / laplace == pytest.approx(ratio, rel=0.003)


@small_and_large("count", 500, 2000)
def test_errors_of_many_releases_stay_within_the_forecast_and_are_not_far_below_it(count):
    # The forecast is a bound that uniform data attain but for the projection; 5% covers 5 standard errors of the mean
    # square of 2,000 releases, 10% those of 500: false-alarm probability below 1e-6.
    margin = 0.05 * math.sqrt(2000 / count)
    uniform = np.full(8, 250)
    source = pv.insecure_seed(4)
    releases = [pv.private_frequencies(uniform, epsilon=1.0, delta=1e-6, rng=source) for _ in range(count)]
    errors = np.array([release.values - 0.125 for release in releases])
    forecast = releases[0].forecast
    rmse = math.sqrt((errors**2).mean())
    assert (1 - margin) * forecast.rmse < rmse < (1 + margin) * forecast.rmse
    assert np.abs(errors).sum(axis=1).mean() / 2 < forecast.total_variation


def test_paper_mode_draws_around_the_frequencies_themselves():
    release = pv.private_frequencies(GRADES, epsilon=2.3, delta=1e-3, floor=0.073, mix=False, rng=pv.insecure_seed(1))
    assert (release.values == release.draw).all()
    assert release.mixing == 0
    assert pv.DirichletProfile(0.073, release.concentration, 1 / 98).delta(2.3) <= 1e-3
    assert "every frequency is at least 0.073" in str(release.guarantee)


def test_the_large_floor_is_far_more_accurate_than_paper_mode_at_the_same_promise():
    paper = pv.forecast_frequencies(n=5, records=98, epsilon=2.0, delta=1e-5, floor=0.073, mix=False)
    large = pv.forecast_frequencies(n=5, records=98, epsilon=2.0, delta=1e-5)
    assert large.rmse < 0.6 * paper.rmse


def test_a_category_off_the_support_is_never_released():
    release = pv.private_frequencies([5, 0, 7, 0], epsilon=1.0, delta=1e-5, support=[True, False, True, True])
    assert release.values[1] == release.draw[1] == 0
    assert release.draw[3] > 0


def test_the_guarantee_names_its_unit_and_everything_public():
    release = pv.private_frequencies(GRADES, epsilon=1.0, delta=1e-6)
    text = str(release.guarantee)
    for part in (
        "one is of another category",
        "number of records (98)",
        "which 5 categories",
        "grid of 2^-40 and made exactly",
    ):
        assert part in text
    assert not release.guarantee.seeded
    assert pv.private_frequencies(GRADES, epsilon=1.0, delta=1e-6, rng=pv.insecure_seed(1)).guarantee.seeded


def test_exact_errors_are_the_curators_and_no_part_of_a_release():
    release = pv.private_frequencies(GRADES, epsilon=1.0, delta=1e-6, rng=pv.insecure_seed(1))
    errors = pv.curator_errors(GRADES, release)
    frequencies = np.array(GRADES) / 98
    mixed = 0.1 * frequencies + 0.18
    assert errors.squared == pytest.approx(mixed * (1 - mixed) / (release.concentration + 1) / 0.01)
    assert "curator" in repr(errors)
    assert not any(character.isdigit() for character in repr(errors))
    fields = {field.name for field in dataclasses.fields(release)}
    assert fields == {"values", "draw", "guarantee", "concentration", "floor", "mixing", "forecast"}


def test_projection_finds_the_nearest_point_of_the_simplex():
    rng = np.random.default_rng(1)
    for _ in range(20):
        v = rng.normal(size=4)
        found = project_to_simplex(v, np.full(4, True))
        best = optimize.minimize(
            lambda x, v=v: ((x - v) ** 2).sum(),
            np.full(4, 0.25),
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
        )
        assert ((found - v) ** 2).sum() <= best.fun + 1e-6
        assert found.sum() == pytest.approx(1)


def test_rows_are_projected_one_by_one_and_only_on_their_support():
    rng = np.random.default_rng(2)
    rows, inside = rng.normal(size=(50, 6)), rng.random((50, 6)) < 0.6
    inside[:, 0] = True
    found = project_to_simplex(rows, inside)
    assert (found[~inside] == 0).all()
    for row, allowed, projected in zip(rows, inside, found, strict=True):
        alone = project_to_simplex(row[allowed], np.full(int(allowed.sum()), True))
        assert projected[allowed] == pytest.approx(alone, abs=1e-15)


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ([3, -1, 2], "entry 2 is -1"),
        ([3, 1.5, 2], r"entry 2 is 1\.5"),
        ([3, math.nan, 2], "entry 2 is nan"),
        ([3, math.inf, 2], "entry 2 is inf"),
        ([0, 0, 0], "all counts are zero"),
        ([7], "fewer than two"),
        ([], "non-empty"),
        ([[1, 2], [3, 4]], "shape"),
        (["a", "b"], "cannot be read"),
    ],
)
def test_what_is_not_a_count_vector_is_refused(counts, says):
    with pytest.raises(pv.InvalidCountsError, match=says):
        pv.private_frequencies(counts, epsilon=1.0, delta=1e-6)


def test_whole_floats_are_counts():
    release = pv.private_frequencies([3.0, 4.0], epsilon=1.0, delta=1e-6)
    assert "(7)" in str(release.guarantee)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"epsilon": 0.0}, "epsilon is 0"),
        ({"epsilon": -1.0}, "epsilon is -1"),
        ({"epsilon": math.inf}, "epsilon is inf"),
        ({"delta": 0.0}, "delta is 0"),
        ({"delta": 0.5}, "delta is 0.5"),
        ({"floor": 0.2}, "below 1/5"),
        ({"floor": 0.3}, "below 1/5"),
        ({"floor": 0.0}, "must be positive"),
        ({"mix": False}, "needs a floor"),
        ({"mix": False, "floor": 0.199}, "more than the mass that can move"),
        ({"support": [True, True]}, "entry by entry"),
        ({"support": [0, 2, 1, 1, 1]}, "entry by entry"),
    ],
)
def test_impossible_options_are_refused(options, says):
    with pytest.raises(pv.InvalidParameterError, match=says):
        pv.private_frequencies([10, 10, 10, 10, 1], **({"epsilon": 1.0, "delta": 1e-6} | options))


def test_paper_mode_refuses_a_frequency_below_the_floor_and_names_it():
    with pytest.raises(pv.InvalidCountsError, match=r"entry 4 is 0\.0918367, below the floor 0\.095"):
        pv.private_frequencies(GRADES, epsilon=2.3, delta=1e-3, floor=0.095, mix=False)


def test_counts_off_the_public_support_are_refused():
    with pytest.raises(pv.InvalidCountsError, match="entry 2 is 4, but the public support"):
        pv.private_frequencies([5, 4, 7], epsilon=1.0, delta=1e-6, support=[True, False, True])
    with pytest.raises(pv.InvalidCountsError, match="fewer than two"):
        pv.private_frequencies([5, 0, 0], epsilon=1.0, delta=1e-6, support=[True, False, False])


@pytest.mark.parametrize("options", [{"n": 1}, {"n": 2.5}, {"records": 0}, {"records": True}])
def test_a_forecast_of_nothing_is_refused(options):
    with pytest.raises(pv.InvalidParameterError, match="whole number"):
        pv.forecast_frequencies(**({"n": 5, "records": 98, "epsilon": 1.0, "delta": 1e-6} | options))


def test_a_promise_that_would_leave_nothing_but_noise_is_refused():
    with pytest.raises(pv.UnreachablePrivacyError, match="nothing but noise"):
        calibrate(1000, 1.0, 1e-9, 1e-9)


def test_the_forecast_of_total_variation_is_half_the_number_of_entries_times_the_error_of_one():
    # Σ|error| / 2 ≤ n/2 · √(mean of error²), and never more than 1.
    forecast = pv.private_frequencies([3100, 2800, 2000, 900, 1000], epsilon=1.0, delta=1e-6).forecast
    assert forecast.total_variation == pytest.approx(5 * forecast.rmse / 2)
    assert forecast.total_variation < 0.5
