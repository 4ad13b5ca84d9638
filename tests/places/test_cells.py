"""Cells: where they lie, what follows what, and what is refused."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest

import pathveil as pv
from pathveil.places.geometry import EqualArea, FlatMap
from tests.places.made_up import BOUNDS, FOUR_ZONES, all_cells, square, zones_of
from tests.reference.point_words import way_between

CELLS = all_cells()
KINDS = ["grid", "grid with staying", "hexagons", "zones"]
each_kind = pytest.mark.parametrize("cells", CELLS, ids=KINDS)


@each_kind
def test_centres_and_random_points_lie_in_their_cells(cells):
    codes = np.repeat(np.arange(len(cells.symbols)), 5)
    for place in ("centre", "uniform"):
        latitudes, longitudes = cells.degrees_of(codes, place, pv.insecure_seed(1))
        inside = cells.extent.contain(latitudes, longitudes)  # a hexagon at the edge reaches beyond the bounds
        assert inside.mean() > (0.4 if isinstance(cells, pv.places.Hexagons) else 0.999)
        assert (cells.codes_at(latitudes, longitudes)[inside] == codes[inside]).all()


@each_kind
def test_cells_are_the_same_after_a_journey_through_json(cells):
    again = pv.places.cells_from_document(json.loads(json.dumps(cells.document())))
    assert type(again) is type(cells)
    assert again.symbols == cells.symbols
    assert (again.system.matrix != cells.system.matrix).nnz == 0
    assert np.allclose(again.places_in_metres, cells.places_in_metres)


@each_kind
def test_ways_between_cells_are_those_of_the_literal_version(cells):
    some = range(0, len(cells.symbols), max(1, len(cells.symbols) // 9))
    pairs = [(a, b) for a, b in product(some, some) if a != b]
    codes, counts = cells.between(*(np.array(ends) for ends in zip(*pairs, strict=True)))
    begin = 0
    for (a, b), count in zip(pairs, counts.tolist(), strict=True):
        expected = way_between(cells, cells.symbols[a], cells.symbols[b])
        if expected is None:
            assert count == -1
            continue
        way = [cells.symbols[code] for code in codes[begin : begin + count]]
        begin += count
        assert way == expected
        assert cells.system.is_feasible([cells.symbols[a], *way, cells.symbols[b]])
    assert begin == len(codes)


def test_a_grid_has_king_moves_and_stays_only_where_it_may():
    cells = pv.places.Grid(BOUNDS, 3000.0)
    follows = cells.system.matrix.toarray() > 0
    place = cells.places_in_metres
    apart = np.abs(place[:, None] - place[None]).max(axis=2)
    rows, columns = np.divmod(np.arange(len(cells.symbols)), cells.columns)
    king = np.maximum(np.abs(rows[:, None] - rows), np.abs(columns[:, None] - columns))
    assert ((king == 1) == follows).all()
    assert (apart[follows] <= 3000 + 1e-6).all()
    staying = pv.places.Grid(BOUNDS, 3000.0, stay=True)
    assert ((king <= 1) == (staying.system.matrix.toarray() > 0)).all()


def test_row_one_is_the_northernmost_and_cells_end_where_the_bounds_end():
    cells = pv.places.Grid(BOUNDS, 1000.0)
    south, west, north, east = BOUNDS
    assert cells.cell_at(north, west) == cells.symbols[0]
    assert cells.cell_at(south, east) == cells.symbols[-1]
    assert cells.cell_at(south - 1e-9, west) is None
    corners = np.array([corner for symbol in cells.symbols for corner in cells.outline(symbol)[0]])
    assert corners.min(axis=0) == pytest.approx((south, west))
    assert corners.max(axis=0) == pytest.approx((north, east))


def test_bounds_that_are_a_whole_number_of_cells_get_no_sliver():
    flat = FlatMap(53.14, 8.2)
    half = 5 * 700.0
    south, north = (float(flat.to_degrees(0.0, y)[0]) for y in (-half, half))
    west, east = (float(flat.to_degrees(x, 0.0)[1]) for x in (-half, half))
    cells = pv.places.Grid((south, west, north, east), 700.0)
    assert (cells.rows, cells.columns) == (10, 10)


@pytest.mark.parametrize("latitude", [0.0, 41.9, 60.0, -35.0])
def test_the_flat_map_is_as_right_as_it_says(latitude):
    flat, exact = FlatMap(latitude, 10.0), EqualArea(latitude, 10.0)
    rng = np.random.default_rng(1)
    latitudes, longitudes = latitude + rng.uniform(-0.2, 0.2, 500), 10.0 + rng.uniform(-0.2, 0.2, 500)
    ours, theirs = (np.hypot(*one.to_metres(latitudes, longitudes)) for one in (flat, exact))
    allowed = 2e-4 + max(flat.distortion(latitude - 0.2), flat.distortion(latitude + 0.2))
    assert (np.abs(ours / theirs - 1) < allowed).all()
    back = flat.to_degrees(*flat.to_metres(latitudes, longitudes))
    assert np.allclose(back, (latitudes, longitudes), atol=1e-12)


def test_a_grid_may_lie_across_the_date_line():
    cells = pv.places.Grid((-17.0, 179.5, -16.0, -179.5), 5000.0)
    west, east = cells.cell_at(-16.5, 179.99), cells.cell_at(-16.5, -179.99)
    assert west is not None
    assert east is not None
    assert west == east or cells.system.is_feasible([west, east])
    assert cells.cell_at(-16.5, 0.0) is None


def test_where_any_cell_may_follow_any_other_nothing_is_filled_in():
    cells = pv.places.Grid(BOUNDS, 1000.0, moves="any")
    assert cells.system.is_feasible([cells.symbols[0], cells.symbols[-1]])
    table = {"user": [1, 1], "time": [0, 60], "lat": [53.11, 53.17], "lng": [8.16, 8.27]}
    [word] = cells.words(table)
    assert len(word) == 2
    assert pv.places.cells_from_document(cells.document()).moves == "any"
    with pytest.raises(pv.InvalidParameterError, match="'neighbours' or 'any'"):
        pv.places.Grid(BOUNDS, 1000.0, moves="king")


def test_zones_that_touch_are_neighbours_and_islands_have_none():
    zones = pv.places.Zones(FOUR_ZONES)
    pairs = {(a, b) for a in zones.symbols for b in zones.symbols if zones.system.is_feasible([a, b])}
    assert pairs == {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")}


@pytest.mark.parametrize(
    ("bounds", "says"),
    [
        ((41.6, -87.9, 42.1), "four numbers"),
        ((42.1, -87.9, 41.6, -87.5), "empty"),
        ((41.6, -87.9, 42.1, -87.9), "empty"),
        ((116.1, 39.7, 116.7, 40.2), "swapped"),
        ((-87.9, 41.6, -87.5, 42.1), "swapped"),
        ((4_600_000, 440_000, 4_660_000, 480_000), "Metres"),
        ((41.6, -87.5, 42.1, -87.9), "half the world"),
        ((float("nan"), 0, 1, 1), "finite"),
    ],
)
def test_bounds_that_make_no_sense_are_refused_with_the_reason(bounds, says):
    with pytest.raises(pv.InvalidParameterError, match=says):
        pv.places.Grid(bounds, 500.0)


@pytest.mark.parametrize("cell", [0.0, -5.0, float("inf"), float("nan"), 0.005, True, "500"])
def test_a_cell_is_a_length_in_metres(cell):
    with pytest.raises(pv.InvalidParameterError, match="metres"):
        pv.places.Grid(BOUNDS, cell)


def test_too_many_too_few_and_too_distorted_cells_are_refused():
    with pytest.raises(pv.TooLargeError, match="larger cells"):
        pv.places.Grid((40.0, 8.0, 45.0, 14.0), 100.0)
    with pytest.raises(pv.TooLargeError, match="smaller resolution"):
        pv.places.Hexagons((40.0, 8.0, 45.0, 14.0), 11)
    with pytest.raises(pv.InvalidSystemError, match="smaller cells"):
        pv.places.Grid(BOUNDS, 100_000.0)
    with pytest.raises(pv.InvalidParameterError, match="Hexagons or Zones"):
        pv.places.Grid((35.0, 0.0, 60.0, 10.0), 50_000.0)
    with pytest.raises(pv.InvalidParameterError, match="from 0 to 15"):
        pv.places.Hexagons(BOUNDS, 16)
    with pytest.raises(pv.InvalidParameterError, match="date line"):
        pv.places.Hexagons((-17.0, 179.5, -16.0, -179.5), 5)


@pytest.mark.parametrize(
    ("zones", "says"),
    [
        (zones_of(a=square(8.0, 53.0), b=square(8.01, 53.0)), "'a' and 'b' overlap"),
        (zones_of(a=square(8.0, 53.0)), "not enough"),
        ({"type": "FeatureCollection"}, "FeatureCollection"),
        ({**FOUR_ZONES, "features": [*FOUR_ZONES["features"], FOUR_ZONES["features"][0]]}, "two zones are called 'a'"),
        (zones_of(a=square(440_000, 5_880_000, 500), b=square(450_000, 5_880_000, 500)), "EPSG:4326"),
        ('{"type": "Feature', "not JSON"),
    ],
)
def test_zones_that_make_no_sense_are_refused_with_the_reason(zones, says):
    with pytest.raises(pv.PathVeilError, match=says):
        pv.places.Zones(zones)


def test_the_property_that_names_zones_is_asked_for_where_none_is_usual():
    features = [{**one, "properties": {"code": 7 + i}} for i, one in enumerate(FOUR_ZONES["features"])]
    document = {"type": "FeatureCollection", "features": features}
    with pytest.raises(pv.InvalidParameterError, match="'code'"):
        pv.places.Zones(document)
    assert pv.places.Zones(document, name="code").symbols == ("7", "8", "9", "10")


def test_slivers_of_overlap_are_allowed():
    zones = pv.places.Zones(zones_of(a=square(8.0, 53.0), b=square(8.0199, 53.0)))
    assert zones.cell_at(53.01, 8.01995) == "a"
