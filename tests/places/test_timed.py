"""Cells with the time of day in the symbol."""

from __future__ import annotations

import json

import pytest

import pathveil as pv
from tests.places.made_up import BOUNDS, FOUR_ZONES, columns_of, random_points

GRID = pv.places.Grid(BOUNDS, 2000.0)
TIMED = pv.places.TimedCells(GRID, "1h")


def test_words_have_the_cells_of_the_grid_and_the_hour_of_each_point():
    columns = columns_of(random_points(6, 200))
    timed, plain = TIMED.words(columns, gap="30min"), GRID.words(columns, gap="30min")
    assert timed.users == plain.users
    assert timed.begins == plain.begins
    for word, cells, begin in zip(timed, plain, timed.begins, strict=True):
        assert TIMED.system.is_feasible(word)
        passed = [symbol.partition("@")[0] for symbol in word]
        merged = [cell for i, cell in enumerate(passed) if i == 0 or cell != passed[i - 1]]
        assert merged == list(cells)
        assert word[0].endswith(f"@{begin.hour:02}:00")


def test_the_system_allows_the_same_bin_and_the_next_and_no_other():
    cells = pv.places.TimedCells(pv.places.Zones(FOUR_ZONES), "6h")
    bins = ["00:00", "06:00", "12:00", "18:00"]
    for a in cells.cells.symbols:
        for b in cells.cells.symbols:
            for i, one in enumerate(bins):
                for j, other in enumerate(bins):
                    later = (j - i) % 4
                    expected = later == 1 if a == b else later <= 1 and cells.cells.system.is_feasible([a, b])
                    assert cells.system.is_feasible([f"{a}@{one}", f"{b}@{other}"]) == expected


def test_points_and_files_work_as_without_times():
    again = pv.places.cells_from_document(json.loads(json.dumps(TIMED.document())))
    assert again.symbols == TIMED.symbols
    assert (again.system.matrix != TIMED.system.matrix).nnz == 0
    assert TIMED.centre("r2c3@07:00") == GRID.centre("r2c3")
    [[(latitude, longitude)]] = TIMED.points([["r2c3@07:00"]], place="uniform", rng=pv.insecure_seed(1))
    assert GRID.cell_at(latitude, longitude) == "r2c3"
    assert TIMED.outline("r2c3@07:00") == GRID.outline("r2c3")


def test_what_makes_no_sense_is_refused():
    for wrong in ("7h", "90s", "1d", "soon", 0):
        with pytest.raises(pv.InvalidParameterError, match="times"):
            pv.places.TimedCells(GRID, wrong)
    points = columns_of(random_points(6, 20))
    for gap in (None, "2h"):
        with pytest.raises(pv.InvalidParameterError, match="longer than a bin"):
            TIMED.words(points, gap=gap)
    with pytest.raises(pv.InvalidParameterError, match="distance"):
        _ = TIMED.distance
    with pytest.raises(pv.InvalidParameterError, match="Grid, Hexagons or Zones"):
        pv.places.TimedCells(TIMED, "6h")
    with pytest.raises(pv.InvalidParameterError, match="without a time"):
        TIMED.cell_at(53.14, 8.2)
