"""Distances between symbols: costs that are a metric, and bad input that is named."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from tests.reference.distances import is_metric, rounded_up


def test_costs_are_the_definition_and_a_metric_even_where_points_lie_whole_steps_apart():
    rng = np.random.default_rng(0)
    for _ in range(60):
        unit, steps = float(rng.choice([0.1, 1.0, 0.3])), int(rng.integers(1, 12))
        points = {i: tuple(rng.integers(0, 8, 2) * unit) for i in range(int(rng.integers(2, 20)))}
        d = pv.SymbolDistance.from_coordinates(points, radius=float(rng.uniform(0.3, 6)), steps=steps)
        apart = d.distances_from(np.arange(len(points)))
        assert is_metric(d.costs)
        by_matrix = pv.SymbolDistance.from_matrix(range(len(points)), apart, radius=d.radius, steps=steps)
        assert is_metric(by_matrix.costs)
        assert np.abs(by_matrix.costs.astype(int) - rounded_up(apart, d.radius, steps)).max() <= 1


def test_rounding_to_nearest_would_not_be_a_metric():
    apart = np.array([[0, 1.4, 2.8], [1.4, 0, 1.4], [2.8, 1.4, 0]])
    assert not is_metric(np.rint(apart))
    assert is_metric(rounded_up(apart, 10.0, 10))


def test_a_grid_of_coordinates_that_floating_point_cannot_hold_costs_what_it_should():
    points = {(i, j): (3.3 + 0.1 * i, 0.7 + 0.1 * j) for i in range(6) for j in range(6)}
    d = pv.SymbolDistance.from_coordinates(points, radius=0.5, steps=5)
    assert is_metric(d.costs)
    assert d.within(0.1).alone == 0


def test_radius_zero_is_hamming_distance_and_none_cuts_nothing_off():
    points = {"a": (0, 0), "b": (3, 4), "c": (30, 40)}
    assert pv.SymbolDistance.from_coordinates(points, radius=0).cost("a", "b") == 1
    wide = pv.SymbolDistance.from_coordinates(points)
    assert (wide.radius, wide.cost("a", "c"), wide.cost("a", "b")) == (50.0, 1.0, 0.1)
    assert wide.with_radius(5).cost("a", "b") == 1
    assert wide.fingerprint == wide.with_radius(5).fingerprint == wide.ordered("cab").fingerprint
    assert wide.coordinates == {symbol: tuple(map(float, point)) for symbol, point in points.items()}


def test_symbols_at_one_place_still_cost_a_step():
    d = pv.SymbolDistance.from_coordinates({"a": (0, 0), "b": (0, 0), "c": (1, 0)}, radius=1.0, steps=10)
    assert (d.cost("a", "b"), d.cost("a", "c")) == (0.1, 1.0)


def test_closeness_tells_who_is_alone_and_what_a_move_costs():
    d = pv.SymbolDistance.from_coordinates({"a": (0, 0), "b": (1, 0), "c": (9, 0)}, radius=4.0, steps=3)
    closeness = d.within(1.0)
    assert (closeness.largest_cost, closeness.alone) == (1, 1)


@pytest.mark.parametrize("radius", [-1, float("inf"), float("nan"), "far", True])
def test_a_radius_that_is_none_is_refused(radius):
    with pytest.raises(pv.InvalidParameterError, match="radius"):
        pv.SymbolDistance.from_coordinates({"a": (0, 0), "b": (1, 0)}, radius=radius)


@pytest.mark.parametrize(
    ("matrix", "what"),
    [
        ([[0, 1, 5], [1, 0, 1], [5, 1, 0]], "by way of 'b'"),
        ([[0, 1, 1], [2, 0, 1], [1, 1, 0]], "way back"),
        ([[1, 1, 1], [1, 0, 1], [1, 1, 0]], "from itself"),
        ([[0, -1, 1], [-1, 0, 1], [1, 1, 0]], "not negative"),
        ([[0, float("inf"), 1], [1, 0, 1], [1, 1, 0]], "finite"),
        ([[0, 1], [1, 0]], "square"),
        ([[0, "x", 1], [1, 0, 1], [1, 1, 0]], "no number"),
    ],
)
def test_a_matrix_that_is_no_metric_is_refused_by_name(matrix, what):
    with pytest.raises(pv.InvalidParameterError, match=what):
        pv.SymbolDistance.from_matrix("abc", matrix, radius=10.0)


def test_bad_coordinates_functions_and_sizes_are_refused_by_name():
    with pytest.raises(pv.InvalidParameterError, match="'b' are two numbers"):
        pv.SymbolDistance.from_coordinates({"a": (0, 0), "b": (1,)})
    with pytest.raises(pv.InvalidParameterError, match="'b' are not finite"):
        pv.SymbolDistance.from_coordinates({"a": (0, 0), "b": (1, float("nan"))})
    with pytest.raises(pv.InvalidParameterError, match="mapping"):
        pv.SymbolDistance.from_coordinates([(0, 0)])
    with pytest.raises(pv.InvalidParameterError, match="function"):
        pv.SymbolDistance.from_function("ab", 3)
    with pytest.raises(pv.InvalidParameterError, match="steps"):
        pv.SymbolDistance.from_coordinates({"a": (0, 0)}, steps=0)
    assert pv.SymbolDistance.from_function([1, 4], lambda x, y: abs(x - y)).distance(1, 4) == 3
    with pytest.raises(pv.TooLargeError, match="larger cells"):
        pv.SymbolDistance.from_coordinates({i: (i, 0) for i in range(10_001)})


def test_mechanisms_name_missing_symbols_and_units_that_protect_nothing():
    world, near = pv.Alphabet("abc"), pv.SymbolDistance.from_coordinates({"a": (0, 0), "b": (7, 0)})
    with pytest.raises(pv.InvalidParameterError, match="1 of 3 symbols of the system: 'c'"):
        pv.Exponential(world, epsilon=1.0, distance=near)
    with pytest.raises(pv.InvalidParameterError, match="7 apart"):
        pv.Exponential(pv.Alphabet("ab"), epsilon=1.0, distance=near, within=5.0)
    with pytest.raises(pv.InvalidParameterError, match="needs a distance"):
        pv.Online(world, epsilon=1.0, within=5.0)
    for within in (0, -1, float("inf"), "x"):
        with pytest.raises(pv.InvalidParameterError, match="within"):
            pv.Exponential(pv.Alphabet("ab"), epsilon=1.0, distance=near, within=within)
