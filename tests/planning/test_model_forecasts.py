"""Forecasts of every mechanism, row by row, from the noise that would be drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.calibration import calibrate
from pathveil.models.frequencies import row_rmse
from pathveil.models.laplace import count_noises

RECORDS, SUCCESSORS = [1000, 10, 0, 7, 1], [3, 4, 3, 1, 2]


@pytest.mark.parametrize(("unit", "max_length"), [("transition", None), ("symbol", None), ("word", 6)])
def test_the_error_of_a_row_is_that_of_its_noise_over_its_records(unit, max_length):
    forecasts = pv.compare_models(
        RECORDS, successors=SUCCESSORS, epsilon=1.0, delta=1e-6, unit=unit, max_length=max_length
    )
    named = {forecast.mechanism: forecast for forecast in forecasts}
    assert set(named) == {"laplace", "gaussian"} | ({"dirichlet"} if unit == "transition" else set())
    assert forecasts == sorted(forecasts, key=lambda forecast: forecast.count_error)
    for name, forecast in named.items():
        if name == "dirichlet":
            # Rows without records, or with a single successor, need no noise.
            expected = [
                row_rmse(calibrate(n, 1 / N, 1.0, 1e-6)) if N and n > 1 else 0.0
                for N, n in zip(RECORDS, SUCCESSORS, strict=True)
            ]
        else:
            noise = count_noises(name, 1.0, 1e-6, unit, max_length, {"transitions": 1.0})["transitions"]
            expected = [
                math.sqrt(noise.variance) / N if N and n > 1 else 0.0 for N, n in zip(RECORDS, SUCCESSORS, strict=True)
            ]
        assert forecast.row_rmse == pytest.approx(expected, rel=1e-6)
        mean_square = sum(N * e**2 for N, e in zip(RECORDS, expected, strict=True)) / sum(RECORDS)
        assert forecast.rmse == pytest.approx(math.sqrt(mean_square), rel=1e-6)
        assert forecast.delta == (0 if name == "laplace" else 1e-6)
        assert ("zeros" in forecast.remark) is (name != "dirichlet")


def test_one_number_of_successors_is_that_of_every_row():
    one, other = (
        pv.compare_models([100, 50], successors=successors, epsilon=1.0, delta=1e-6) for successors in (4, [4, 4])
    )
    assert [forecast.rmse for forecast in one] == [forecast.rmse for forecast in other]


def test_a_row_may_be_empty_or_have_a_single_successor_and_not_less():
    pv.compare_models([0, 1], successors=[1, 2], epsilon=1.0, delta=1e-6)
    for records, successors in (
        ([0, 0], 2),
        ([5, math.nan], 2),
        ([5, -1e-9], 2),
        (np.ones((2, 2)), 2),
        (5, 2),
        ([5], 0),
    ):
        with pytest.raises(pv.InvalidParameterError, match=r"records|successors"):
            pv.compare_models(records, successors=successors, epsilon=1.0, delta=1e-6)


def test_a_greatest_length_belongs_to_words_only():
    options = {"successors": 2, "epsilon": 1.0, "delta": 1e-6}
    pv.compare_models([5], unit="word", max_length=2, **options)
    for unit, max_length in (("word", None), ("symbol", 3), ("transition", 3), ("other", None), ("other", 3)):
        with pytest.raises(pv.InvalidParameterError, match=r"`max_length`|unit is"):
            pv.compare_models([5], unit=unit, max_length=max_length, **options)
