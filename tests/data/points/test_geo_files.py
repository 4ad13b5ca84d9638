"""Words of cells back onto the map, and cells in a file."""

from __future__ import annotations

import csv
import json

import geopandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from pathveil import data
from pathveil.data.points import read_cells, save_cells, write_points_of_words
from tests.places.made_up import BOUNDS, all_cells

CELLS = pv.places.Grid(BOUNDS, 1000.0)
WORDS = [list(CELLS.symbols[3:7]), [CELLS.symbols[12]], list(CELLS.symbols[20:22])]


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.parquet"
    pq.write_table(pa.table({"word": WORDS}), path)
    return path


def cells_at(lines):
    return [[CELLS.cell_at(latitude, longitude) for longitude, latitude in line] for line in lines]


@pytest.mark.parametrize("place", ["centre", "uniform"])
def test_geojson_and_geoparquet_hold_the_same_trips_for_other_programs(words, place, tmp_path):
    for name in ("trips.geojson", "trips.parquet"):
        output = tmp_path / name
        count = write_points_of_words(words, data.ListColumn("word"), output, CELLS, place=place)
        frame = geopandas.read_parquet(output) if name.endswith("parquet") else geopandas.read_file(output)
        assert count == len(frame) == 3
        assert frame.crs.to_epsg() in (4326, None)
        assert frame["trip"].to_list() == [1, 2, 3]
        assert frame.geometry.geom_type.to_list() == ["LineString", "Point", "LineString"]
        assert cells_at(shape.coords for shape in frame.geometry) == WORDS


def test_a_table_has_a_row_for_each_symbol(words, tmp_path):
    write_points_of_words(words, data.ListColumn("word"), tmp_path / "trips.csv", CELLS)
    with open(tmp_path / "trips.csv") as file:
        rows = list(csv.DictReader(file))
    assert [row["symbol"] for row in rows] == [symbol for word in WORDS for symbol in word]
    assert [(int(row["trip"]), int(row["step"])) for row in rows] == [
        (1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (3, 1), (3, 2),
    ]  # fmt: skip
    assert all(CELLS.cell_at(float(row["latitude"]), float(row["longitude"])) == row["symbol"] for row in rows)


def test_strangers_and_other_endings_are_refused_and_nothing_is_written(words, tmp_path):
    other = pv.places.Grid(BOUNDS, 3000.0)
    with pytest.raises(pv.PathVeilError, match="symbol"):
        write_points_of_words(words, data.ListColumn("word"), tmp_path / "trips.geojson", other)
    with pytest.raises(pv.InvalidParameterError, match="geojson"):
        write_points_of_words(words, data.ListColumn("word"), tmp_path / "trips.shp", CELLS)
    assert [path.name for path in tmp_path.iterdir()] == ["words.parquet"]


@pytest.mark.parametrize("cells", all_cells(), ids=["grid", "grid with staying", "hexagons", "zones"])
def test_cells_are_saved_as_a_system_that_commands_take(cells, tmp_path):
    path = tmp_path / "cells.json"
    save_cells(cells, path)
    saved = data.SavedSystem.read(path)
    assert saved.system.symbols == cells.symbols
    longitude, latitude = saved.coordinates[cells.symbols[0]]
    assert (latitude, longitude) == pytest.approx(cells.centre(cells.symbols[0]))
    again = read_cells(path)
    assert again.document() == cells.document()
    with pytest.raises(pv.DataFileError, match="exists already"):
        save_cells(cells, path)


def test_a_system_without_cells_and_cells_of_another_are_refused(tmp_path):
    path = tmp_path / "grid.json"
    path.write_text(data.grid_system(2, 2).to_json())
    with pytest.raises(pv.InvalidSystemError, match="has no cells"):
        read_cells(path)
    save_cells(CELLS, path, overwrite=True)
    document = json.loads(path.read_text())
    for places, says in (
        ({**document["places"], "cell": 2000.0}, "do not belong together"),
        ({"kind": "circles"}, "'circles'"),
        ({"kind": "grid"}, "'stay'"),
    ):
        path.write_text(json.dumps({**document, "places": places}))
        with pytest.raises(pv.InvalidSystemError, match=says):
            read_cells(path)
