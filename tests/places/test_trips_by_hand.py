"""Points to words where steps can be told by hand: what is counted, batches, times of day, frames and figures."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import pathveil as pv
from pathveil.places.metrics import divergence
from pathveil.places.streets import _distances
from tests.places.made_up import BOUNDS, FOUR_ZONES, all_cells, columns_of, random_points
from tests.reference import matching
from tests.reference.point_words import way_between

ZONES = pv.places.Zones(FOUR_ZONES)
PLACE = {name: ZONES.centre(name) for name in ZONES.symbols} | {"outside": (53.0, 8.0)}
GRID = pv.places.Grid(BOUNDS, 1500.0)


def points(*steps: tuple[str, float, str]) -> dict[str, list[object]]:
    return columns_of([(user, time, *PLACE[where]) for user, time, where in steps])


# What becomes of points.


def test_every_point_of_a_day_is_counted_once():
    trips = ZONES.words(
        points(
            ("p", 0, "a"), ("p", 60, "a"), ("p", 120, "c"), ("p", 180, "island"), ("p", 240, "outside"),
            ("p", 300, "outside"), ("p", 360, "a"), ("p", 9000, "b"), ("q", 0, "b"), ("q", 60, "b"), ("q", 120, "a"),
        )
    )  # fmt: skip
    assert list(trips) == [("a", "b", "c"), ("island",), ("a",), ("b",), ("b", "a")]
    assert trips.users == ["p", "p", "p", "p", "q"]
    assert [one.timestamp() for one in trips.begins] == [0, 180, 360, 9000, 0]
    assert trips.counts.as_dict() == {
        "points": 11, "unreadable": 0, "outside": 2, "people": 2, "words": 5, "symbols": 8, "filled": 1, "merged": 2,
        "cut_at_gaps": 1, "cut_at_bounds": 1, "cut_at_islands": 1, "longest": 3,
    }  # fmt: skip


def literal_counts(cells: pv.places.Cells, given: list, gap: float | None) -> Counter:
    """One point at a time, by the table of `places/trips.py`."""
    found = Counter()
    before = None
    for user, time, latitude, longitude in sorted(given):
        cell = cells.cell_at(latitude, longitude)
        same = before is not None and before[0] == user
        pause = same and gap is not None and time - before[1] > gap
        found["people"] += not same
        found["outside"] += cell is None
        if cell is not None:
            found["cut_at_gaps"] += pause
            found["cut_at_bounds"] += same and not pause and before[2] is None
            if same and not pause and before[2] is not None:
                way = way_between(cells, before[2], cell)
                found["cut_at_islands"] += way is None
                found["merged"] += cell == before[2] and not cells.stay
                found["filled"] += len(way or [])
        before = user, time, cell
    return found


@pytest.mark.parametrize("cells", all_cells(), ids=["grid", "grid with staying", "hexagons", "zones"])
@pytest.mark.parametrize("gap", [None, 900.0])
def test_counts_are_those_of_the_literal_version(cells, gap):
    given = random_points(11, 120)
    given += [(user, time + 30.0, lat, lng) for user, time, lat, lng in given[::4]]  # some stay where they are
    counts, expected = cells.words(columns_of(given), gap=gap).counts.as_dict(), literal_counts(cells, given, gap)
    assert {name: counts[name] for name in expected} == expected
    assert expected["filled"] > 0 or len(cells.symbols) == 4


def test_a_pause_as_long_as_the_gap_is_none_and_the_next_person_begins_anew_however_late():
    steps = [("p", 0, "a"), ("p", 600, "b"), ("p", 1201, "c"), ("q", 9999, "a"), ("q", 10_000, "b")]
    trips = ZONES.words(points(*steps), gap="10min")
    assert list(trips) == [("a", "b"), ("c",), ("a", "b")]
    assert trips.users == ["p", "p", "q"]
    assert ZONES.words(points(("p", 0, "a"), ("q", 60, "b"), ("r", 120, "c")), gap=None).users == ["p", "q", "r"]


def test_a_person_goes_on_over_the_end_of_a_batch_and_another_does_not():
    def made(batches: list[list[tuple[str, float, str]]], gap: str | None) -> list[tuple[str, list[int]]]:
        maker, found = ZONES.word_maker(gap), []
        tables = []
        for steps in batches:
            columns = points(*steps)
            columns["time"] = [round(1e6 * one) for one in columns["time"]]
            tables += pa.table(columns).to_batches()
        for batch in maker.words(tables):
            words = [batch.codes[begin:end].tolist() for begin, end in pairwise(batch.offsets.tolist())]
            found += zip(batch.users.to_pylist(), words, strict=True)
        return found

    first = [("p", 0, "a"), ("p", 60, "b")]
    assert made([first, [("p", 120, "c")]], "10min") == [("p", [0, 1, 2])]
    assert made([first, [("p", 60 + 600, "c")]], "10min") == [("p", [0, 1, 2])]
    assert made([first, [("p", 60 + 601, "c")]], "10min") == [("p", [0, 1]), ("p", [2])]
    assert made([first, [("q", 120, "c")]], "10min") == [("p", [0, 1]), ("q", [2])]
    assert made([[*first, ("p", 90, "outside")], [("p", 120, "c")]], None) == [("p", [0, 1]), ("p", [2])]
    assert made([first, [("p", 120, "outside")], [("q", 0, "outside")]], None) == [("p", [0, 1])]
    assert made([], None) == []


def test_swapped_columns_are_noticed_only_if_most_points_are():
    def words(batches: list[bool]) -> int:
        maker, tables = ZONES.word_maker(None), []
        for i, swapped in enumerate(batches):
            latitude, longitude = PLACE["b"][::-1] if swapped else PLACE["b"]
            columns = {"user": ["p"] * 5, "time": [i * 10 + k for k in range(5)]}
            tables += pa.table(columns | {"latitude": [latitude] * 5, "longitude": [longitude] * 5}).to_batches()
        return sum(len(batch.offsets) - 1 for batch in maker.words(tables))

    assert words([True, False, False]) == 1
    assert words([True, False]) == 1
    with pytest.raises(pv.InvalidParameterError, match="swapped"):
        words([True, True, False])


# Times of day.


@pytest.mark.parametrize("bins", ["1h", "3h", "30min"])
def test_a_point_has_the_bin_of_its_time(bins):
    cells = pv.places.TimedCells(GRID, bins)
    minutes = {"1h": 60, "3h": 180, "30min": 30}[bins]
    symbol = GRID.symbols[7]
    latitude, longitude = GRID.centre(symbol)
    for minute in (0, 1, 29, 30, 59, 60, 700, 719, 720, 1380, 1439, 1440, 10_000):
        start = minute % 1440 // minutes * minutes
        table = {"user": ["p"], "time": [60 * minute], "latitude": [latitude], "longitude": [longitude]}
        [word] = cells.words(table, gap=60 * minutes)
        assert word == (f"{symbol}@{start // 60:02}:{start % 60:02}",)
    with pytest.raises(pv.InvalidParameterError, match=f"bin of {minutes} minutes"):
        cells.words(table, gap=60 * minutes + 1)
    outside = {"user": ["p"], "time": [0], "latitude": [0.0], "longitude": [0.0]}
    assert list(cells.words(outside, gap=60)) == []


def test_what_is_filled_in_belongs_to_the_bin_that_the_step_began_in():
    cells = pv.places.TimedCells(ZONES, "12h")
    trips = cells.words(points(("p", 43_000, "a"), ("p", 43_300, "c"), ("p", 43_400, "island")), gap="1h")
    assert list(trips) == [("a@00:00", "b@00:00", "c@12:00"), ("island@12:00",)]
    assert trips.counts.cut_at_islands == 1
    assert (cells.bins, cells.seconds) == (2, 43_200)
    assert cells.places_in_metres.tolist() == np.repeat(ZONES.places_in_metres, 2, axis=0).tolist()
    assert cells.extent == ZONES.extent


def test_bins_of_a_day_are_whole_minutes_and_not_too_many():
    assert pv.places.TimedCells(GRID, timedelta(minutes=1)).bins == 1440
    for wrong in (61, 60.5, 7 * 60, "1d", "2d"):
        with pytest.raises(pv.InvalidParameterError, match=r"whole minutes|length of time"):
            pv.places.TimedCells(GRID, wrong)
    with pytest.raises(pv.TooLargeError, match="1440 bins"):
        pv.places.TimedCells(pv.places.Grid(BOUNDS, 300.0), 60)


# Tables and frames.


def test_columns_of_all_kinds_are_read():
    base = {"latitude": [53.13] * 2, "longitude": [8.17, 8.19]}
    begin = datetime(2026, 5, 1, tzinfo=UTC)
    for times in (
        pa.array([date(2026, 5, 1)] * 2),
        pa.array([Decimal(int(begin.timestamp()))] * 2),
        pa.array(["2026-05-01"] * 2, pa.large_string()),
        pa.array([begin] * 2, pa.timestamp("ns", "UTC")),
        np.array(["2026-05-01T00"] * 2, dtype="datetime64[h]"),
    ):
        assert ZONES.words({**base, "user": ["p", "q"], "t": times}).begins == [begin, begin]
    table = {**base, "time": [0, 0.4999999]}
    for users in (pa.array(["p", "q"], pa.large_string()), pa.array(["p", "q"]).dictionary_encode(), ["p", "q"]):
        assert ZONES.words({**table, "who": users}, user="who").users == ["p", "q"]
    assert ZONES.words({**table, "user": [5, 6]}).begins[1] == datetime(1970, 1, 1, 0, 0, 0, 500_000, UTC)
    indexed = pd.DataFrame({**base, "user": ["p", "q"]}, index=pd.DatetimeIndex([begin] * 2, name="t"))
    assert ZONES.words(indexed).begins == [begin, begin]
    with pytest.raises(pv.InvalidParameterError, match="row 2 has no longitude"):
        ZONES.words({**table, "user": ["p", "q"], "longitude": [8.17, None]})
    with pytest.raises(pv.InvalidParameterError, match="cannot be read"):
        ZONES.words({**table, "user": [object(), object()]})


def test_frames_have_made_up_times_numbers_and_x_before_y():
    words = [("a", "b", "c"), ("island",)]
    frame = pv.places.to_scikit_mobility(words, ZONES)
    assert frame["uid"].to_list() == frame["tid"].to_list() == [1, 1, 1, 2]
    assert frame["cell"].to_list() == ["a", "b", "c", "island"]
    begin = datetime(1970, 1, 1, tzinfo=UTC)
    assert frame["datetime"].to_list() == [begin + timedelta(minutes=k) for k in (0, 1, 2, 0)]
    assert frame["lat"].to_list() == [PLACE[cell][0] for cell in frame["cell"]]
    lines = pv.places.to_geopandas(words, ZONES)
    assert (lines["trip"].to_list(), lines["word"].to_list()) == ([1, 2], words)
    assert list(lines.geometry[0].coords) == [PLACE[cell][::-1] for cell in "abc"]
    assert list(lines.geometry[1].coords) == [PLACE["island"][::-1]]
    with pytest.raises(pv.InvalidParameterError, match="as many times"):
        pv.places.to_scikit_mobility(words, ZONES, times=[[0, 60, 120], []])


# Streets.


def test_a_segment_is_as_far_as_the_same_segment_backwards():
    rng = np.random.default_rng(2)
    begins, ends = rng.normal(0, 300, (2, 600, 2))
    ends[:200, 0] = begins[:200, 0]  # from south to north, and back
    ends[200:210] = begins[200:210]  # no length at all
    for place in rng.normal(0, 300, (5, 2)):
        there, back = _distances(place, begins, ends), _distances(place, ends, begins)
        assert (there == back).all()
        literal = [
            matching.distance(tuple(place), tuple(a), tuple(b)) if (a != b).any() else math.dist(place, a)
            for a, b in zip(begins, ends, strict=True)
        ]
        assert there == pytest.approx(literal, abs=1e-9)


@pytest.mark.parametrize("radius", [30.0, 200.0])
def test_points_beside_a_long_street_find_it_all_along(radius):
    lines = {"long": ((53.14, 8.2), (53.14, 8.23)), "short": ((53.14, 8.23), (53.141, 8.23))}
    streets = pv.places.Streets(lines, [("long", "short"), ("short", "long")], radius=radius)
    x = np.linspace(8.2, 8.23, 301)
    beside = radius / streets.projection.metres_north
    for side in (-0.999 * beside, 0.0, 0.999 * beside):
        assert all(0 in dict(near) for near in streets.candidates(np.full(301, 53.14 + side), x))
    assert not any(0 in dict(near) for near in streets.candidates(np.full(301, 53.14 - 1.001 * beside), x))


# Five streets both ways round a square and across: every point is as near to a street as to its way back.
CORNERS = {"a": (53.140, 8.200), "b": (53.142, 8.200), "c": (53.142, 8.203), "d": (53.140, 8.203)}
ROADS = [x + y for x, y in ("ab", "bc", "cd", "da", "ac", "ba", "cb", "dc", "ad", "ca")]
TOWN = pv.places.Streets(
    {road: (CORNERS[road[0]], CORNERS[road[1]]) for road in ROADS},
    [(one, other) for one in ROADS for other in ROADS if one[1] == other[0] and one[0] != other[1]],
    radius=90.0, reach=3,
)  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_of_equally_near_ways_that_with_the_fewest_symbols_and_then_the_first_is_taken(seed):
    rng = np.random.default_rng(seed)
    near = TOWN.candidates(rng.uniform(53.1398, 53.1422, 3), rng.uniform(8.1998, 8.2032, 3))
    near = [one[:6] for one in near if one]
    keys = []
    for choice in product(*near):
        codes = [code for code, _ in choice]
        moves = sum(matching.moves(TOWN, a, b) for a, b in pairwise(codes))
        if moves < math.inf:
            keys.append((sum(square for _, square in choice), moves, codes[::-1]))
    assert TOWN.match(near) == [min(keys)[2][::-1]]
    squares = [key[0] for key in keys]
    assert squares.count(min(squares)) > 1


def test_the_nearest_segment_of_a_point_by_itself_is_the_first_of_equally_near_ones():
    latitudes, longitudes = np.array([53.141, 53.1419, 53.0]), np.array([8.2001, 8.2015, 8.0])
    assert TOWN.codes_at(latitudes, longitudes).tolist() == [ROADS.index("ab"), ROADS.index("bc"), -1]
    assert TOWN.outline("bc") == [[CORNERS["b"], CORNERS["c"]]]
    for road in ROADS:
        middle = [(x + y) / 2 for x, y in zip(CORNERS[road[0]], CORNERS[road[1]], strict=True)]
        assert TOWN.centre(road) == pytest.approx(middle, abs=1e-9)
    wider = TOWN.snapping(120.0)
    assert (wider.radius, wider.reach, wider.symbols) == (120.0, 3, TOWN.symbols)
    assert (wider.system.matrix != TOWN.system.matrix).nnz == 0
    assert wider.document()["lines"] == TOWN.document()["lines"]
    assert TOWN.document()["lines"][0] == [8.200, 53.140, 8.200, 53.142]


# Figures.


def test_divergences_by_hand():
    def of(p, q) -> float:
        return divergence(np.array(p, dtype=float), np.array(q, dtype=float))

    assert of([1, 1], [5, 5]) == 0
    assert of([3, 0], [0, 7]) == pytest.approx(math.log(2))
    # (1, 0) against (½, ½): the middle is (¾, ¼).
    assert of([2, 0], [1, 1]) == pytest.approx((math.log(4 / 3) + (math.log(2 / 3) + math.log(2)) / 2) / 2)


def test_range_queries_count_the_rectangles_that_hold_a_cell():
    """Everybody passes everywhere, or one cell only: wrong are the rectangles with some cell, but not that one.

    A rectangle between two uniform points holds a place at a share u of a side with probability 2u(1-u) in that
    direction. There are 200, which are fixed; were they drawn anew, the difference between two cells would be off by
    more than 0.12 with a probability below 1e-2.
    """
    everywhere = [GRID.symbols]
    place = GRID.places_in_metres
    low, high = place.min(axis=0) - GRID.spacing, place.max(axis=0) + GRID.spacing
    u = (place - low) / (high - low)
    held = (2 * u * (1 - u)).prod(axis=1)
    codes = (0, GRID.columns // 2, len(GRID.symbols) // 2, len(GRID.symbols) - 1)
    wrong = [pv.trip_metrics(everywhere, [(GRID.symbols[code],)], GRID).range_queries for code in codes]
    for code, found in zip(codes, wrong, strict=True):
        assert wrong[0] - found == pytest.approx(held[code] - held[0], abs=0.12)
        assert held[code] - 0.12 < 1 - found < held[code] + 0.4  # not a few lie between the middles of cells


def test_rare_trips_are_compared_with_a_hundredth_of_all():
    here, there = (GRID.symbols[20],), (GRID.symbols[25],)

    def error(ours: int, theirs: int) -> float:
        words = [[there] * (1000 - count) + [here] * count for count in (ours, theirs)]
        return pv.trip_metrics(*words, GRID).range_queries

    share = error(100, 0)  # some rectangles hold the one and not the other; there everything is missing
    # And in those that hold the other only, what is missing here is too much there.
    gained = [error(ours, 0) for ours in (1, 5, 10)]
    assert gained[2] > 1.9 * gained[1] > 4.9 * 1.9 * gained[0] > 0
    assert gained[2] == pytest.approx(share, rel=0.2)


def test_hot_spots_patterns_and_ranks_by_hand():
    names = GRID.symbols
    ours = [(names[i],) for i in range(12) for _ in range(20 - i)]  # the first ten are visited most
    theirs = [(names[i],) for i in (*range(3, 12), 30, 31) for _ in range(40 - i)]
    found = pv.trip_metrics(ours, theirs, GRID)
    assert found.hot_spots == 0.7  # 3 to 9 of 0 to 9 and of 3 to 12 without the last
    assert found.patterns == 1.0  # neither has a step
    few = pv.trip_metrics([("r1c1", "r1c2", "r1c3")], [("r1c1", "r1c2")], GRID)
    assert few.patterns == pytest.approx(2 * 1 / (3 + 1))
    assert few.hot_spots == pytest.approx(2 / 3)
    visits = [Counter(word[0] for word in words) for words in (ours, theirs)]
    signs = [[np.sign(one[a] - one[b]) for a in names for b in names] for one in visits]
    tau = np.dot(*signs) / math.sqrt(np.dot(signs[0], signs[0]) * np.dot(signs[1], signs[1]))
    assert found.ranks == pytest.approx(tau)
    long = [tuple(names[:12])]
    assert pv.trip_metrics(long, long, GRID).patterns == 1.0
    same = pv.trip_metrics([(names[0], names[0])], [(names[0],)], GRID)
    assert (same.lengths, same.diameters) == (0.0, 0.0)


def test_trips_that_are_longer_than_any_sensitive_one_count_as_the_longest():
    step, names = ("r1c1", "r1c2"), tuple(f"r1c{k}" for k in range(1, 6))
    found = pv.trip_metrics([step], [names], GRID)
    assert (found.lengths, found.diameters) == (0.0, 0.0)
    assert pv.trip_metrics([names], [step], GRID).lengths == pytest.approx(math.log(2))


def test_what_is_counted_cannot_be_changed_afterwards():
    figures = pv.trip_metrics([("r1c1",)], [("r1c1",)], GRID)
    for value, name in ((figures, "density"), (GRID.bounds, "north")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, 0.0)
    assert list(figures.as_dict()) == [
        "density", "trips", "lengths", "diameters", "range_queries", "hot_spots", "patterns", "ranks",
    ]  # fmt: skip
    assert [figure for _, figure, _ in figures.rows()] == list(figures.as_dict().values())


def test_what_becomes_of_points_on_streets_is_counted():
    middle = {road: tuple((x + y) / 2 for x, y in zip(*(CORNERS[end] for end in road), strict=True)) for road in ROADS}
    drive = [
        ("p", 0, (53.0, 8.0)), ("p", 10, middle["ab"]), ("p", 20, middle["ab"]), ("p", 30, middle["cd"]),
        ("p", 9000, middle["da"]), ("q", 9001, middle["bc"]), ("q", 9002, (53.0, 8.0)), ("q", 9003, middle["cd"]),
    ]  # fmt: skip
    table = {"user": [u for u, _, _ in drive], "time": [t for _, t, _ in drive]}
    trips = TOWN.words({**table, "lat": [x for _, _, (x, _) in drive], "lng": [y for _, _, (_, y) in drive]})
    assert list(trips) == [("ab", "bc", "cd"), ("da",), ("bc", "cd")]
    assert trips.users == ["p", "p", "q"]
    assert [one.timestamp() for one in trips.begins] == [10, 9000, 9001]
    assert trips.counts.as_dict() == {
        "points": 8, "unreadable": 0, "outside": 2, "people": 2, "words": 3, "symbols": 6, "filled": 1, "merged": 1,
        "cut_at_gaps": 1, "cut_at_bounds": 0, "cut_at_islands": 0, "longest": 3,
    }  # fmt: skip
    south, west, north, east = TOWN.extent.as_list()
    assert (south, west) == (pytest.approx(53.140, abs=0.002), pytest.approx(8.200, abs=0.002))
    assert (north, east) == (pytest.approx(53.142, abs=0.002), pytest.approx(8.203, abs=0.002))
    assert south < 53.140 < 53.142 < north
    assert west < 8.200 < 8.203 < east


def test_a_trip_on_streets_is_cut_where_no_reach_is_long_enough():
    far = {"e": (53.150, 8.200), "f": (53.152, 8.200)}
    lines = {road: (CORNERS[road[0]], CORNERS[road[1]]) for road in ROADS} | {"ef": (far["e"], far["f"])}
    islands = pv.places.Streets(lines, [("ab", "bc"), ("bc", "cd")], radius=60.0)
    points = [(53.141, 8.2), (53.151, 8.2), (53.1515, 8.2)]
    trips = islands.words(
        {"user": [1] * 3, "time": [5, 6, 7], "lat": [x for x, _ in points], "lng": [y for _, y in points]}
    )
    assert list(trips) == [("ab",), ("ef",)]
    assert [one.timestamp() for one in trips.begins] == [5, 6]
    assert (trips.counts.cut_at_islands, trips.counts.merged, trips.counts.longest) == (1, 1, 1)
    # Each way of a street has its own segment; "ab" leads to "cd" over "bc" in two moves.
    one_move = pv.places.Streets(lines, [("ab", "bc"), ("bc", "cd")], radius=60.0, reach=1)
    ends = {"user": [1, 1], "time": [0, 1], "lat": [53.141, 53.141], "lng": [8.2, 8.203]}
    assert len(islands.words(ends)) == 1
    assert len(one_move.words(ends)) == 2
    for wrong in ({"radius": -1.0}, {"radius": float("nan")}, {"radius": "50"}, {"reach": 0}, {"reach": 2.0}):
        with pytest.raises(pv.InvalidParameterError, match=r"radius is a positive|reach is a whole"):
            pv.places.Streets(lines, [], **wrong)
    for place in ((91.0, 8.2), (53.0, 181.0), (float("nan"), 8.2)):
        with pytest.raises(pv.InvalidSystemError, match="no degrees"):
            pv.places.Streets({**lines, "xy": (place, far["e"])}, [])
