"""Forecasts that choose between mechanisms from public quantities only."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pathveil as pv


def test_forecasts_agree_with_the_errors_of_fitted_models():
    # 60 fits of 4 rows of 4 entries; the data are uniform, where the bound is attained. The mean square has a relative
    # standard error of about 5% (Laplace: 9%), so 50% is more than five of them: false alarms below 1e-6.
    counts = np.full((4, 4), 400)
    forecasts = pv.compare_models([1600] * 4, successors=4, epsilon=1.0, delta=1e-6)
    for forecast in forecasts:
        source = pv.insecure_seed(1)
        errors = [
            pv.fit_private_chain(
                counts, states="abcd", epsilon=1.0, delta=1e-6, mechanism=forecast.mechanism, rng=source
            ).chain.matrix.toarray()
            - 0.25
            for _ in range(60)
        ]
        found = float((np.array(errors) ** 2).mean())
        # Projection to the simplex takes the part of independent noise that moves the sum: a quarter, for four entries.
        expected = forecast.rmse**2 * (1.0 if forecast.mechanism == "dirichlet" else 0.75)
        assert 0.5 * expected < found < 1.5 * expected


def test_the_large_floor_stays_within_four_times_of_laplace_noise():
    for records, successors in ((73_000, 40), (5_000, 40), (500, 5)):
        forecasts = {
            forecast.mechanism: forecast.rmse
            for forecast in pv.compare_models([records] * 3, successors=successors, epsilon=3.73, delta=3e-6)
        }
        assert forecasts["dirichlet"] < 4 * forecasts["laplace"]


def test_exact_accounting_with_the_papers_floor_gains_three_times_and_the_large_floor_ten():
    # At the published ε of a concentration k: the error goes as 1/√k.
    k, eta, N, n, gamma = 2_000.0, 1e-3, 70_000, 40, 1e-8
    epsilon = pv.published.mcm_epsilon(k, eta, N, n, gamma)
    delta = pv.published.mcm_delta(k, eta, n, gamma)
    published = math.sqrt((1 - 1 / n) / n / (k + 1))
    exact = pv.forecast_frequencies(n=n, records=N, epsilon=epsilon, delta=delta, floor=eta, mix=False).rmse
    large = pv.forecast_frequencies(n=n, records=N, epsilon=epsilon, delta=delta).rmse
    assert published > 3 * exact
    assert published > 10 * large


def test_for_a_symbol_or_a_word_only_noise_on_counts_is_offered():
    for unit, length in (("symbol", None), ("word", 10)):
        offered = pv.compare_models([1000] * 3, successors=3, epsilon=1.0, delta=1e-6, unit=unit, max_length=length)
        assert {forecast.mechanism for forecast in offered} == {"laplace", "gaussian"}
        assert [forecast.rmse for forecast in offered] == sorted(forecast.rmse for forecast in offered)


def test_rows_count_as_often_as_they_are_used():
    (best, *_) = pv.compare_models([1000, 10, 0], successors=[3, 3, 3], epsilon=1.0, delta=1e-6)
    assert best.row_rmse[1] == pytest.approx(100 * best.row_rmse[0])
    assert best.row_rmse[2] == 0
    assert best.row_rmse[0] < best.rmse < best.row_rmse[1]


@pytest.mark.parametrize(
    "options",
    [
        {"records": []},
        {"records": [0, 0]},
        {"records": [-1, 5]},
        {"successors": 0},
        {"unit": "word"},
        {"unit": "person"},
        {"max_length": 3},
        {"delta": 0.0},
        {"epsilon": -1.0},
    ],
)
def test_impossible_questions_are_refused(options):
    asked = {"records": [100, 200], "successors": 5, "epsilon": 1.0, "delta": 1e-6} | options
    with pytest.raises(pv.InvalidParameterError):
        pv.compare_models(asked.pop("records"), **asked)


def test_the_words_of_a_person_multiply_the_error_and_add_remove_halves_it():
    def error(**options) -> float:
        (one,) = pv.compare_models([1000] * 4, successors=4, epsilon=1.0, max_length=6, **options)
        return one.count_error

    word = error(unit="word")
    assert error(unit="user", max_words_per_user=1) == word
    assert error(unit="user", max_words_per_user=5) == pytest.approx(5 * word, rel=0.01)
    assert error(unit="user", max_words_per_user=2, neighbours="add-remove") == word
    with pytest.raises(pv.InvalidParameterError, match="needs `max_words_per_user`"):
        error(unit="user")
