"""Points to words: as the literal version says, however the points come."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import pathveil as pv
from pathveil.places.trips import seconds_of
from tests.places.made_up import BOUNDS, all_cells, columns_of, random_points
from tests.reference.point_words import words_of_points

CELLS = all_cells()


@pytest.mark.parametrize("cells", CELLS, ids=["grid", "grid with staying", "hexagons", "zones"])
@pytest.mark.parametrize("gap", [None, 500.0, 3000.0])
def test_words_are_those_of_the_literal_version(cells, gap):
    points = random_points(3, 150)
    trips = cells.words(columns_of(points), gap=gap)
    expected = words_of_points(cells, points, gap)
    found = [(u, b.timestamp(), list(w)) for u, b, w in zip(trips.users, trips.begins, trips, strict=True)]
    assert found == expected
    assert all(cells.system.is_feasible(word) for word in trips)
    counts = trips.counts
    assert counts.points == 150
    assert counts.people == 4
    assert counts.words == len(expected)
    assert counts.symbols == sum(len(word) for _, _, word in expected)
    assert counts.longest == max(len(word) for _, _, word in expected)
    assert counts.symbols == counts.points - counts.outside - counts.merged + counts.filled
    begins = counts.people + counts.cut_at_gaps + counts.cut_at_bounds + counts.cut_at_islands
    assert counts.words <= begins


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_where_batches_end_makes_no_difference(size):
    cells, points = CELLS[0], sorted(random_points(5, 200))
    user, time, latitude, longitude = zip(*points, strict=True)
    microseconds = [round(1e6 * one) for one in time]
    columns = {"user": user, "time": microseconds, "latitude": latitude, "longitude": longitude}
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    found = []
    for batch in cells.word_maker("10min").words(table.to_batches(size)):
        words = [batch.codes[begin:end].tolist() for begin, end in pairwise(batch.offsets.tolist())]
        found += list(zip(batch.users.to_pylist(), words, strict=True))
    expected = words_of_points(cells, points, 600.0)
    assert found == [(who, [cells.symbols.index(symbol) for symbol in word]) for who, _, word in expected]


def test_times_out_of_order_are_sorted():
    cells = CELLS[0]
    points = random_points(7, 80)
    assert list(cells.words(columns_of(points))) == list(cells.words(columns_of(points[::-1])))


def test_a_trip_that_leaves_the_bounds_and_comes_back_is_two_words():
    south, west, _, _ = BOUNDS
    inside, outside = (south + 0.01, west + 0.01), (south - 0.01, west + 0.01)
    points = [("p", 60.0 * i, *place) for i, place in enumerate([inside, outside, inside])]
    trips = CELLS[0].words(columns_of(points))
    assert len(trips) == 2
    assert (trips.counts.outside, trips.counts.cut_at_bounds) == (1, 1)


def test_swapped_columns_are_noticed_even_where_both_are_possible_latitudes():
    points = columns_of(random_points(1, 60))
    points["latitude"], points["longitude"] = points["longitude"], points["latitude"]
    with pytest.raises(pv.InvalidParameterError, match="swapped"):
        CELLS[0].words(points)


@pytest.mark.parametrize(
    ("latitude", "longitude", "says"),
    [
        (116.3, 39.9, "swapped"),
        (5_880_000.0, 440_000.0, "metres"),
        (float("nan"), 8.2, "row 1 has no latitude"),
        (95.0, 170.0, "±90"),
        (None, 8.2, "row 1 has no latitude"),
    ],
)
def test_points_that_are_no_degrees_are_refused(latitude, longitude, says):
    table = {"user": ["p"], "time": [0], "latitude": [latitude], "longitude": [longitude]}
    with pytest.raises(pv.InvalidParameterError, match=says):
        CELLS[0].words(table)


def test_times_come_in_many_forms():
    begin = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
    forms = [
        [begin],
        ["2026-03-01 08:00:00"],
        ["2026-03-01T09:00:00+01:00"],
        [begin.timestamp()],
        [int(begin.timestamp())],
        np.array(["2026-03-01T08:00"], dtype="datetime64[m]"),
    ]
    for times in forms:
        trips = CELLS[0].words({"uid": ["p"], "lat": [53.14], "lng": [8.2], "time": times})
        assert trips.begins == [begin]


def test_what_cannot_be_read_is_said():
    good = {"user": ["p"], "time": [0], "latitude": [53.14], "longitude": [8.2]}
    for change, says in (
        ({"time": ["soon"]}, "times cannot be read"),
        ({"latitude": ["north"]}, "numbers of degrees"),
        ({"user": [None]}, "has no user"),
        ({"user": ["p", "q"]}, "different lengths"),
    ):
        with pytest.raises(pv.InvalidParameterError, match=says):
            CELLS[0].words({**good, **change})
    with pytest.raises(pv.InvalidParameterError, match="which column is the user"):
        CELLS[0].words({name: values for name, values in good.items() if name != "user"})
    with pytest.raises(pv.InvalidParameterError, match="no column 'who'"):
        CELLS[0].words(good, user="who")
    with pytest.raises(pv.InvalidParameterError, match="not as int"):
        CELLS[0].words(7)


def test_gaps_are_lengths_of_time():
    assert [seconds_of(one) for one in ("90s", "30min", "2h", "1d", 5, timedelta(minutes=1), None)] == [
        90, 1800, 7200, 86400, 5, 60, None,
    ]  # fmt: skip
    for wrong in ("soon", "-3h", 0, True, float("inf")):
        with pytest.raises(pv.InvalidParameterError, match="length of time"):
            seconds_of(wrong)


def test_points_of_words_lie_in_their_cells_and_strangers_are_refused():
    cells = CELLS[0]
    words = [cells.symbols[:3], cells.symbols[5:6]]
    for place in ("centre", "uniform"):
        points = cells.points(words, place=place, rng=pv.insecure_seed(3))
        assert [tuple(cells.cell_at(*point) for point in word) for word in points] == [tuple(one) for one in words]
    with pytest.raises(pv.UnknownSymbolError, match="'nowhere'"):
        cells.points([["nowhere"]])
    with pytest.raises(pv.InvalidParameterError, match="'centre' or 'uniform'"):
        cells.points(words, place="edge")


def test_one_person_with_many_points_is_one_word():
    count = 200_000
    rng = np.random.default_rng(2)
    columns = {
        "user": np.zeros(count, dtype=int),
        "time": np.arange(count),
        "latitude": rng.uniform(53.1, 53.18, count),
        "longitude": rng.uniform(8.15, 8.28, count),
    }
    trips = CELLS[0].words(columns)
    assert len(trips) == 1
    assert trips.counts.longest == trips.counts.symbols > count
