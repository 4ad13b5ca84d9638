"""Cells, bounds and zones at their edges: small maps whose answers can be worked out by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import pathveil as pv
from pathveil.places.geometry import Bounds, EqualArea, FlatMap, Polygons, needed, require_degrees, seem_swapped
from tests.places.made_up import BOUNDS, FOUR_ZONES, square, zones_of


def grid(rows: int, columns: int, cell: float = 700.0, **more) -> pv.places.Grid:
    """A grid of whole cells around a point."""
    flat = FlatMap(53.14, 8.2)
    south, north = (float(flat.to_degrees(0.0, y)[0]) for y in (-rows * cell / 2, rows * cell / 2))
    west, east = (float(flat.to_degrees(x, 0.0)[1]) for x in (-columns * cell / 2, columns * cell / 2))
    return pv.places.Grid((south, west, north, east), cell, **more)


# Grids.


def test_cells_are_named_by_row_and_column_with_as_many_digits_as_the_largest():
    assert grid(2, 3).symbols == ("r1c1", "r1c2", "r1c3", "r2c1", "r2c2", "r2c3")
    wide = grid(9, 10).symbols
    assert (wide[0], wide[9], wide[10], wide[-1]) == ("r1c01", "r1c10", "r2c01", "r9c10")
    assert grid(10, 2).symbols[-1] == "r10c2"


@pytest.mark.parametrize("cell", [1.0, 37.0, 333.3, 700.0, 1234.5])
def test_points_on_the_edges_belong_to_the_outermost_cells(cell):
    for rows, columns in ((1, 2), (3, 5), (7, 7)):
        cells = grid(rows, columns, cell)
        assert (cells.rows, cells.columns) == (rows, columns)
        south, west, north, east = cells.bounds.as_list()
        assert cells.cell_at(north, west) == "r1c1"
        assert cells.cell_at(north, east) == f"r1c{columns}"
        assert cells.cell_at(south, west) == f"r{rows}c1"
        assert cells.cell_at(south, east) == f"r{rows}c{columns}"
        for latitude, longitude in (
            (north + 1e-9, east),
            (south - 1e-9, east),
            (south, west - 1e-9),
            (south, east + 1e-9),
        ):
            assert cells.cell_at(latitude, longitude) is None


def test_centres_and_outlines_of_a_grid_are_where_rows_and_columns_say():
    cells = grid(2, 3, 1000.0)
    assert cells.coordinates["r1c1"] == pytest.approx((-1000.0, 500.0), abs=0.1)
    assert cells.coordinates["r2c3"] == pytest.approx((1000.0, -500.0), abs=0.1)
    corners = cells.projection.to_metres(*np.array(cells.outline("r1c3")[0]).T)
    assert np.column_stack(corners) == pytest.approx(
        np.array([(500, 0), (1500, 0), (1500, 1000), (500, 1000)]), abs=0.2
    )
    latitude, longitude = cells.centre("r2c1")
    assert np.array(cells.projection.to_metres(latitude, longitude)) == pytest.approx((-1000, -500), abs=0.2)


def test_the_last_row_and_column_end_with_the_bounds_and_random_points_fill_them():
    cells = pv.places.Grid(grid(3, 3, 1000.0).bounds.as_list(), 1250.0)  # 3000 m: 1250, 1250 and 500
    assert (cells.rows, cells.columns) == (3, 3)
    assert cells.coordinates["r3c3"] == pytest.approx((1250.0, -1250.0), abs=0.5)
    codes = np.full(4000, cells.symbols.index("r3c3"))
    x, y = cells.projection.to_metres(*cells.degrees_of(codes, "uniform", pv.insecure_seed(1)))
    # The extremes of 4,000 uniform numbers are farther than a hundredth from the ends with a chance below 1e-17.
    assert (x.min(), x.max()) == (pytest.approx(1000, abs=6), pytest.approx(1500, abs=6))
    assert (y.min(), y.max()) == (pytest.approx(-1500, abs=6), pytest.approx(-1000, abs=6))
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.12  # seven standard deviations


def test_the_straight_line_is_filled_with_halves_away_from_the_origin():
    cells = grid(5, 5)

    def between(origin: str, destination: str) -> list[str]:
        codes, counts = cells.between(*(np.array([cells.symbols.index(one)]) for one in (origin, destination)))
        assert counts.tolist() == [len(codes)]
        return [cells.symbols[code] for code in codes]

    assert between("r1c1", "r1c4") == ["r1c2", "r1c3"]
    assert between("r1c1", "r3c2") == ["r2c2"]  # a half
    assert between("r3c2", "r1c1") == ["r2c1"]
    assert between("r5c5", "r1c1") == ["r4c4", "r3c3", "r2c2"]
    assert between("r2c2", "r3c3") == between("r2c2", "r2c2") == []
    assert between("r1c5", "r4c4") == ["r2c5", "r3c4"]  # thirds


def test_nothing_lies_between_where_any_cell_may_follow():
    codes, counts = grid(3, 3, moves="any").between(np.array([0, 1]), np.array([8, 7]))
    assert (codes.tolist(), counts.tolist()) == ([], [0, 0])


def test_spacing_is_the_usual_distance_of_neighbours_and_the_radius_four_times_that():
    cells = grid(3, 4, 800.0)
    assert cells.spacing == pytest.approx(800.0, abs=0.1)
    assert cells.distance.radius == pytest.approx(4 * cells.spacing)
    assert cells.distance_within(1000.0).radius == 1000.0
    assert cells.distance_within(None).distance("r1c1", "r3c4") == pytest.approx(800 * math.sqrt(13), abs=1)
    # a, b and c are a zone's width apart; the island has no neighbour and does not count.
    zones = pv.places.Zones(FOUR_ZONES)
    assert zones.spacing == pytest.approx(math.dist(zones.coordinates["a"], zones.coordinates["b"]), rel=1e-3)
    islands = pv.places.Zones(zones_of(a=square(8.0, 53.0), b=square(9.0, 53.0)))
    assert islands.spacing == 0.0


def test_two_cells_are_enough_and_one_is_not():
    assert len(grid(1, 2).symbols) == 2
    with pytest.raises(pv.InvalidSystemError, match="1 cell is not enough"):
        grid(1, 1)


# Bounds.


def test_bounds_know_their_middle_and_size_also_across_the_date_line():
    box = Bounds.checked((10, 20, 14, 26))
    assert (box.middle, box.width, box.height, box.crosses_date_line) == ((12.0, 23.0), 6.0, 4.0, False)
    fiji = Bounds.checked((-20, 178, -16, -176))
    assert (fiji.middle, fiji.width, fiji.crosses_date_line) == ((-18.0, -179.0), 6.0, True)
    west = Bounds.checked((-20, 174, -16, -179))
    assert west.middle == (-18.0, 177.5)
    places = np.array([178.0, 177.9, 180.0, -180.0, -176.0, -175.9, 0.0])
    assert fiji.contain(np.full(7, -18.0), places).tolist() == [True, False, True, True, True, False, False]
    corners = box.contain(np.array([10.0, 14, 9.9, 14.1, 12, 12]), np.array([20.0, 26, 23, 23, 19.9, 26.1]))
    assert corners.tolist() == [True, True, False, False, False, False]


@pytest.mark.parametrize(
    ("bounds", "says"),
    [
        ((85.1, 0, 85.2, 1), "to a pole"),
        ((-85.1, 0, -84, 1), "to a pole"),
        ((100, 100, 110, 110), "Metres"),
        ((200, 10, 210, 20), "Metres"),
        ((-95, 10, 20, 30), "swapped"),
        ((10, 20, 10, 30), "south must lie below"),
        ((10, 20, 11, 201), "beyond 90"),
        ((0, -90, 1, 91), "181 degrees"),
        ("abcd", "four numbers"),
    ],
)
def test_bounds_that_make_no_sense_are_refused_with_the_likely_reason(bounds, says):
    with pytest.raises(pv.InvalidParameterError, match=says):
        Bounds.checked(bounds)


def test_bounds_at_the_limits_are_taken():
    for bounds in ((-85, 0, 85, 180), (84, -180, 85, 0), (0, -90, 1, 90), (-1, 179, 1, -179)):
        assert Bounds.checked(bounds).as_list() == list(map(float, bounds))


@pytest.mark.parametrize(
    ("latitude", "longitude", "says"),
    [
        (95.0, 8.0, "swapped"),
        (-180.0, 90.0, "swapped"),
        (180.5, 8.0, "±90"),
        (53.5, 181.0, "±90"),
        (5e6, 44.0, "metres"),
        (53.5, 4e5, "metres"),
        (999.0, 99.0, "±90"),
    ],
)
def test_points_that_are_no_degrees_are_told_apart(latitude, longitude, says):
    with pytest.raises(pv.InvalidParameterError, match=says) as told:
        require_degrees(np.array([53.0, latitude]), np.array([8.0, longitude]))
    assert f"{latitude:g}" not in told.value.without_content
    require_degrees(np.array([90.0, -90.0]), np.array([180.0, -180.0]))


def test_columns_seem_swapped_only_if_most_would_fit_the_other_way_and_hardly_any_do_now():
    box = [Bounds.checked((53, 8, 54, 9))]
    good, bad = (53.5, 8.5), (8.5, 53.5)

    def seem(goods: int, bads: int, others: int = 0) -> bool:
        points = np.array([good] * goods + [bad] * bads + [(0.0, 0.0)] * others).reshape(-1, 2)
        return seem_swapped(box, points[:, 0], points[:, 1])

    assert seem(0, 1)
    assert seem(9, 91)
    assert not seem(10, 90)
    assert seem(0, 51, 49)
    assert not seem(0, 50, 50)
    assert not seem(0, 0)
    assert not seem(1, 0)


def test_flat_maps_measure_degrees_as_the_ellipsoid_has_them():
    # Published lengths of a degree: at the equator 110,574 m and 111,320 m, at 60° 111,412 m and 55,800 m.
    for latitude, north, east in ((0.0, 110_574.3, 111_319.5), (60.0, 111_412.3, 55_800.0)):
        flat = FlatMap(latitude, 10.0)
        assert (flat.metres_north, flat.metres_east) == (pytest.approx(north, abs=0.5), pytest.approx(east, abs=0.5))
    # From one side of the date line to the other is a short way, there and back.
    flat = FlatMap(0.0, 179.9)
    x, y = flat.to_metres(np.array([0.1]), np.array([-179.9]))
    assert (x[0], y[0]) == (pytest.approx(0.2 * flat.metres_east), pytest.approx(0.1 * flat.metres_north))
    back = flat.to_degrees(x, y)
    assert (back[0][0], back[1][0]) == (pytest.approx(0.1), pytest.approx(-179.9))
    assert flat.distortion(0.0) == 0
    assert FlatMap(0.0, 0.0).distortion(60.0) == pytest.approx(0.4987, abs=1e-3)


def test_a_library_that_is_missing_is_named_with_the_way_to_get_it():
    with pytest.raises(pv.InvalidParameterError, match=r"no_such_library: pip install 'pathveil\[places\]'"):
        needed("no_such_library")


# Zones.


def test_points_between_zones_and_beyond_them_lie_in_none():
    zones = pv.places.Zones(FOUR_ZONES)
    assert [zones.cell_at(53.13, x) for x in (8.17, 8.19, 8.21, 8.25)] == ["a", "b", "c", "island"]
    assert zones.cell_at(53.13, 8.23) is None  # within the box around all zones
    assert zones.cell_at(53.2, 8.17) is None
    assert zones.cell_at(53.13, 8.18) == "a"  # a border belongs to the first
    assert zones.extent.as_list() == pytest.approx([53.12, 8.16, 53.14, 8.26])


def horseshoe() -> list[list[float]]:
    """Its centroid lies outside of it."""
    return [
        [8.0, 53.0],
        [8.3, 53.0],
        [8.3, 53.3],
        [8.2, 53.3],
        [8.2, 53.02],
        [8.1, 53.02],
        [8.1, 53.3],
        [8.0, 53.3],
        [8.0, 53.0],
    ]


def test_the_middle_of_a_zone_lies_in_it_whatever_its_shape():
    zones = pv.places.Zones(zones_of(bent=horseshoe(), plain=square(8.5, 53.0)))
    for symbol in zones.symbols:
        assert zones.cell_at(*zones.centre(symbol)) == symbol
    # Of a square it is the centre.
    assert zones.centre("plain") == pytest.approx((53.01, 8.51), abs=1e-4)
    assert zones.outline("plain") == [[(53.0, 8.5), (53.0, 8.52), (53.02, 8.52), (53.02, 8.5)]]


def test_zones_of_several_parts_and_with_holes():
    parts = {"type": "MultiPolygon", "coordinates": [[square(8.0, 53.0)], [square(8.1, 53.0)]]}
    ring = {"type": "Polygon", "coordinates": [square(8.2, 53.0, 0.06), square(8.22, 53.02)]}
    features = [
        {"type": "Feature", "properties": {"ID": i}, "geometry": shape} for i, shape in enumerate((parts, ring))
    ]
    zones = pv.places.Zones(json.dumps({"type": "FeatureCollection", "features": features}))
    assert zones.symbols == ("0", "1")
    assert [zones.cell_at(53.01, x) for x in (8.01, 8.05, 8.11, 8.21)] == ["0", None, "0", "1"]
    assert zones.cell_at(53.03, 8.23) is None  # the hole
    assert [len(zones.outline(symbol)) for symbol in zones.symbols] == [2, 1]
    codes = np.repeat([0, 1], 200)
    assert (zones.codes_at(*zones.degrees_of(codes, "uniform", pv.insecure_seed(1))) == codes).all()


def test_zones_may_overlap_by_a_hundredth_of_the_smaller_and_no_more():
    def overlapping(part: float, side: float) -> pv.places.Zones:
        return pv.places.Zones(zones_of(a=square(8.0, 53.0, 0.1), b=square(8.1 - part * side, 53.0, side)))

    assert len(overlapping(0.009, 0.02).symbols) == 2
    with pytest.raises(pv.InvalidSystemError, match=r"'a' and 'b' overlap \(50% of the smaller\)"):
        overlapping(0.5, 0.02)
    with pytest.raises(pv.InvalidSystemError, match="overlap"):
        overlapping(0.011, 0.02)


def test_overlaps_and_meetings_are_those_of_squares():
    shapely = needed("shapely")
    shapes = np.array([shapely.box(0, 0, 10, 10), shapely.box(8, 0, 12, 10), shapely.box(12, 0, 20, 9)], dtype=object)
    polygons = Polygons(shapes, EqualArea(0.0, 0.0))
    one, other = polygons.meeting()
    assert sorted(zip(one.tolist(), other.tolist(), strict=True)) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert polygons.overlap(np.array([0, 1, 0]), np.array([1, 2, 2])).tolist() == [0.5, 0.0, 0.0]


def without(name: str, **changes) -> dict[str, object]:
    features = [{**one, **changes} if one["properties"]["name"] == name else one for one in FOUR_ZONES["features"]]
    return {**FOUR_ZONES, "features": features}


@pytest.mark.parametrize(
    ("zones", "name", "says"),
    [
        (FOUR_ZONES, "code", "not all zones have a property 'code'. All zones have: 'name'"),
        (without("b", properties={"code": 1}), None, "which property names a zone. All zones have: none"),
        (without("b", properties={"name": None}), None, "feature 2: its 'name' is None"),
        (without("b", properties={"name": ""}), None, "feature 2"),
        (without("b", properties={"name": ["b"]}), None, "feature 2"),
        (without("b", geometry=None), None, "features have a geometry"),
        ({"features": {}}, None, "FeatureCollection"),
        ({"features": []}, "name", "not all zones|not enough"),
        (without("b", geometry={"type": "Point", "coordinates": [8, 53]}), None, "'b' is a Point; zones are polygons"),
        (without("b", geometry={"type": "Polygon", "coordinates": [[[8, 53], "x"]]}), None, "'b' cannot be read"),
        (
            without("b", geometry={"type": "Polygon", "coordinates": [[[8, 53], [9, 53], [8, 53], [8, 53]]]}),
            None, "'b' has no area",
        ),
        (zones_of(a=square(-120.0, 0.0), b=square(100.0, 0.0)), None, "cut at the date line"),
        (zones_of(a=square(179.99, 0.0), b=square(100.0, 0.0)), None, "EPSG:4326"),
        (zones_of(a=square(10.0, 89.99), b=square(20.0, 80.0)), None, "EPSG:4326"),
        ("[1, 2", None, "cannot be read|No such file"),
    ],
)  # fmt: skip
def test_zones_that_cannot_be_used_are_refused_with_the_place(zones, name, says):
    with pytest.raises(pv.PathVeilError, match=says):
        pv.places.Zones(zones, name=name)


def test_zones_come_from_files_and_crossed_outlines_are_mended(tmp_path):
    bow = [[8.0, 53.0], [8.02, 53.02], [8.02, 53.0], [8.0, 53.02], [8.0, 53.0]]
    file = tmp_path / "zones.geojson"
    file.write_text("\ufeff" + json.dumps(zones_of(bow=bow, b=square(8.1, 53.0))), encoding="utf-8")
    zones = pv.places.Zones(file)
    assert "zones.geojson" in zones.source
    assert zones.cell_at(53.01, 8.003) == zones.cell_at(53.01, 8.017) == "bow"
    assert zones.cell_at(53.017, 8.01) is None
    file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(pv.PathVeilError, match="not UTF-8"):
        pv.places.Zones(file)


# Hexagons.


def test_hexagons_are_those_of_h3_and_have_six_neighbours_inside():
    h3 = needed("h3.api.basic_str")
    cells = pv.places.Hexagons(BOUNDS, 7)
    assert list(cells.symbols) == sorted(cells.symbols)
    for symbol in cells.symbols:
        assert cells.centre(symbol) == pytest.approx(h3.cell_to_latlng(symbol), abs=1e-8)
        around = set(h3.grid_disk(symbol, 1)) - {symbol}
        follows = {other for other in cells.symbols if cells.system.is_feasible([symbol, other])}
        assert follows == around & set(cells.symbols)
    # A point outside the bounds is dropped although a hexagon reaches there.
    reaching = next(point for one in cells.symbols for point in cells.outline(one)[0] if point[0] < BOUNDS[0])
    assert cells.cell_at(*reaching) is None
    assert set(h3.cell_to_boundary(cells.symbols[0])) == set(cells.outline(cells.symbols[0])[0])


def test_resolutions_are_whole_numbers_up_to_fifteen():
    tiny = (53.1400, 8.2000, 53.14001, 8.20002)
    assert pv.places.Hexagons(tiny, 15).resolution == 15
    for wrong in (-1, 16, 7.0, True):
        with pytest.raises(pv.InvalidParameterError, match="whole number from 0 to 15"):
            pv.places.Hexagons(BOUNDS, wrong)


def test_hexagons_are_estimated_by_their_area_before_they_are_made():
    h3 = needed("h3.api.basic_str")
    with pytest.raises(pv.TooLargeError, match="smaller resolution") as told:
        pv.places.Hexagons((40.0, 8.0, 45.0, 14.0), 10)
    # 5° by 6° between 40° and 45° north: 555 km by 492 km on average.
    expected = 555 * 492 / h3.average_hexagon_area(10, unit="km^2")
    assert int(str(told.value).split()[1].replace(",", "")) == pytest.approx(expected, rel=0.1)


def test_random_points_of_hexagons_and_zones_are_spread_evenly():
    """Of 3,000 points half lie on either side of the middle: off by 0.06 with a probability below 1e-9."""
    for cells in (pv.places.Hexagons(BOUNDS, 6), pv.places.Zones(FOUR_ZONES)):
        x, y = cells.projection.to_metres(*cells.degrees_of(np.zeros(3000, dtype=int), "uniform", pv.insecure_seed(4)))
        middle = cells.places_in_metres[0]
        for values, centre in ((x, middle[0]), (y, middle[1])):
            assert (values < centre).mean() == pytest.approx(0.5, abs=0.06)
        assert (((x < middle[0]) == (y < middle[1])).mean()) == pytest.approx(0.5, abs=0.06)


def test_descriptions_that_are_no_cells_are_refused():
    with pytest.raises(pv.InvalidSystemError, match="no cells of the kind 'rings'"):
        pv.places.cells_from_document({"kind": "rings"})
    with pytest.raises(pv.InvalidSystemError, match="of the grid has no 'bounds'"):
        pv.places.cells_from_document({"kind": "grid", "stay": False, "moves": "any"})
    with pytest.raises(pv.InvalidSystemError, match="kind None"):
        pv.places.cells_from_document([])
    staying = pv.places.cells_from_document(grid(2, 2, stay=True).document())
    assert staying.stay
    assert staying.system.is_feasible(["r1c1", "r1c1"])
