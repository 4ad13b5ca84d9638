"""Forecasts and choices with distances: in metres, from public quantities, Hamming distance among them."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv

LINE = pv.SymbolDistance.from_coordinates({place: (place, 0) for place in range(12)})
WORLD = pv.Alphabet(range(12))
ROAD = pv.MarkovChain.from_edges([(a, b) for a in range(12) for b in range(12) if abs(a - b) <= 1])


def test_a_forecast_is_the_mean_over_all_symbols_of_a_free_alphabet():
    row = pv.forecast(WORLD, length=3, epsilon=2.0, distance=LINE, within=2.0)["certified"]
    m = pv.CertifiedExponential(WORLD, epsilon=2.0, distance=LINE, within=2.0)
    assert row.expected_distance == pytest.approx(np.mean([m.expected_distance([place]) for place in range(12)]))
    assert row.distances.quantile(0.5) <= row.distances.quantile(0.9)
    assert "away" in repr(row)


def test_the_best_row_and_the_best_mechanism_are_the_nearest_ones():
    found = pv.forecast(ROAD, length=4, epsilon=3.0, distance=LINE, within=1.0)
    assert found.best.expected_distance == min(row.expected_distance for row in found)
    best = pv.best_mechanism(ROAD, length=4, epsilon=3.0, distance=LINE, within=1.0)
    assert best.within == 1.0
    assert "mean distance" in best.reason


def test_hamming_distance_takes_part_among_the_radii_and_may_win():
    curve = pv.radius_curve(ROAD, length=4, epsilon=8.0, distance=LINE)
    plain = pv.CertifiedExponential(ROAD, epsilon=8.0)
    at_zero = pv.CertifiedExponential(ROAD, epsilon=8.0, distance=LINE.with_radius(0))
    assert at_zero.theta(4) == pytest.approx(plain.theta(4), rel=1e-6)
    assert set(curve.means) >= {0.0, 11.0}
    assert curve.means[curve.best] == min(curve.means.values())
    assert pv.radius_curve(WORLD, length=1, epsilon=2.0, distance=LINE, within=1.0).best > 0
    with pytest.raises(pv.InvalidParameterError, match="radius"):
        pv.radius_curve(WORLD, length=1, epsilon=2.0, distance=LINE, radii=[])


def test_within_without_a_distance_is_refused():
    with pytest.raises(pv.InvalidParameterError, match="needs a distance"):
        pv.forecast(WORLD, length=1, epsilon=1.0, within=3.0)
