"""Maps of cells: what is drawn where, and that names cannot break out of the picture."""

from __future__ import annotations

from xml.etree import ElementTree

import matplotlib.pyplot as plt
import pytest

import pathveil as pv
from pathveil.report.maps import MapData, flows_of, map_figure, maps_side_by_side
from tests.places.made_up import BOUNDS, FOUR_ZONES, all_cells, square, zones_of

CELLS = pv.places.Grid(BOUNDS, 2000.0)
TRIPS = [("r1c1", "r1c2", "r2c3"), ("r1c1", "r2c2", "r2c3"), ("r5c5",)]


def shapes(html, kind):
    root = ElementTree.fromstring(html)
    return [element for element in root.iter() if element.get("class") == kind]


@pytest.mark.parametrize("cells", all_cells(), ids=["grid", "grid with staying", "hexagons", "zones"])
def test_every_cell_is_drawn_once_and_stronger_where_there_is_more(cells):
    first, second = cells.symbols[:2]
    drawn = shapes(map_figure(cells, MapData("amounts", {first: 4.0, second: 1.0})), "place")
    assert len(drawn) == len(cells.symbols)
    assert [shape.get("fill-opacity") for shape in drawn[:3]] == ["1.000", "0.500", "0.000"]


def test_both_maps_have_the_same_scale():
    maps = [MapData("a", {"r1c1": 1.0}), MapData("b", {"r1c1": 0.25})]
    drawn = [shape for shape in shapes(maps_side_by_side(CELLS, maps), "place") if shape[0].text.startswith("r1c1")]
    assert [shape.get("fill-opacity") for shape in drawn] == ["1.000", "0.500"]


def test_flows_are_shares_of_trips_and_the_strongest_come_first():
    flows = flows_of(TRIPS)
    assert [(flow.origin, flow.destination, flow.amount) for flow in flows] == [("r1c1", "r2c3", pytest.approx(2 / 3))]
    assert len(shapes(map_figure(CELLS, MapData.of_words("trips", TRIPS)), "flow")) == 1


def test_the_radius_and_the_bar_are_to_scale():
    html = map_figure(CELLS, MapData("", {}), radius=1000.0)
    [circle] = shapes(html, "radius")
    assert float(circle.get("r")) == pytest.approx(480 * 1000 / CELLS.width, rel=1e-3)
    [bar] = shapes(html, "axis")
    assert "2 km" in html
    assert f"H{1 + 480 * 2000 / CELLS.width:.1f}" in bar.get("d")


def test_streets_are_lines_that_are_stronger_where_there_is_more():
    lines = {"a": ((53.14, 8.20), (53.15, 8.20)), "b": ((53.15, 8.20), (53.15, 8.22))}
    streets = pv.places.Streets(lines, [("a", "b")])
    drawn = shapes(map_figure(streets, MapData("", {"a": 4.0, "b": 1.0})), "street")
    assert [shape.get("stroke-opacity") for shape in drawn] == ["1.000", "0.500"]
    pv.plot_map(streets, [("a", "b")])
    plt.close("all")


def test_names_stay_text_and_strangers_are_refused():
    evil = "<script>alert(1)</script>"
    zones = pv.places.Zones(zones_of(**{evil: square(8.0, 53.0), "b": square(8.02, 53.0)}))
    html = map_figure(zones, MapData(evil, {evil: 1.0}))
    assert "<script" not in html
    assert shapes(html, "place")[0][0].text.startswith(evil)
    with pytest.raises(pv.InvalidParameterError, match="'z'"):
        map_figure(zones, MapData("", {"z": 1.0}))


def test_maps_can_be_drawn_in_notebooks():
    ax = pv.plot_map(CELLS, TRIPS, title="trips", radius=500.0)
    assert ax.get_title() == "trips"
    assert len(ax.collections) == 2
    assert len(ax.patches) == 1
    zones = pv.places.Zones(FOUR_ZONES)
    pv.plot_map(zones, {"a": 3.0, "b": 1.0}, ax=ax)
    with pytest.raises(pv.InvalidParameterError, match="'nowhere'"):
        pv.plot_map(CELLS, {"nowhere": 1.0})
    plt.close("all")
