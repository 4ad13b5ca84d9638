"""GTFS feeds: which stop, station, name or route may follow which."""

from __future__ import annotations

import random
from itertools import pairwise
from math import asin, cos, radians, sin, sqrt
from pathlib import Path
from zipfile import ZipFile

import pytest

import pathveil as pv
from pathveil.data.public import SavedSystem, read_gtfs
from tests.data.public.public_files import LINES, STOPS, write_feed

Edges = set[tuple[object, object]]


def edges(saved: SavedSystem) -> Edges:
    return {(a, b) for a in saved.system.symbols for b in saved.system.symbols if saved.system.is_feasible([a, b])}


def along(lines: dict[str, list[str]], name: dict[str, str] | None = None) -> Edges:
    """Plainly: every pair of stops that stand beside each other on a line."""
    return {(name[a], name[b]) if name else (a, b) for stops in lines.values() for a, b in pairwise(stops)}


def test_stops_follow_each_other_as_on_trips(tmp_path: Path) -> None:
    saved = read_gtfs(write_feed(tmp_path / "feed"))
    assert edges(saved) == along(LINES)
    assert saved.coordinates == {stop: (lon, lat) for stop, (_, _, lat, lon) in STOPS.items()}
    assert "GTFS feed feed: stops, one after another on some trip" in saved.source


def test_a_zip_archive_is_read_like_a_folder(tmp_path: Path) -> None:
    folder = write_feed(tmp_path / "feed")
    with ZipFile(tmp_path / "feed.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, file.name)
    assert edges(read_gtfs(tmp_path / "feed.zip")) == edges(read_gtfs(folder))


def test_stations_and_names_are_one_symbol_for_their_stops(tmp_path: Path) -> None:
    feed = write_feed(tmp_path / "feed")
    stations = {stop: station or stop for stop, (_, station, _, _) in STOPS.items()}
    names = {stop: name for stop, (name, *_) in STOPS.items()}
    assert edges(read_gtfs(feed, "stations")) == along(LINES, stations)
    by_name = read_gtfs(feed, "names")
    assert edges(by_name) == along(LINES, names)
    assert by_name.coordinates is not None
    assert by_name.coordinates["North"] == pytest.approx((8.0, 47.0005))


def test_routes_follow_each_other_where_both_call_at_one_stop(tmp_path: Path) -> None:
    expected = {(one, other) for one in LINES for other in LINES if set(LINES[one]) & set(LINES[other])}
    assert edges(read_gtfs(write_feed(tmp_path / "feed"), "routes")) == expected


def test_listed_transfers_are_added_when_asked_for(tmp_path: Path) -> None:
    saved = read_gtfs(write_feed(tmp_path / "feed"), transfers=True)
    assert edges(saved) == along(LINES) | {("a", "b"), ("b", "a")}
    assert "transfers.txt" in saved.source


def metres(one: str, other: str) -> float:
    (lat1, lon1), (lat2, lon2) = ((radians(x) for x in STOPS[stop][2:]) for stop in (one, other))
    h = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * 6_371_000 * asin(sqrt(h))


@pytest.mark.parametrize("walk", [50.0, 111.1, 111.3, 1200.0, 1e9])
def test_stops_within_a_walk_are_added(walk: float, tmp_path: Path) -> None:
    near = {(a, b) for a in STOPS for b in STOPS if a != b and metres(a, b) <= walk}
    assert edges(read_gtfs(write_feed(tmp_path / "feed"), walk=walk)) == along(LINES) | near


def test_a_feed_without_stops_txt_has_no_coordinates(tmp_path: Path) -> None:
    feed = write_feed(tmp_path / "feed", stops=None)
    assert read_gtfs(feed).coordinates is None
    with pytest.raises(pv.InvalidSystemError, match="without coordinates"):
        read_gtfs(feed, walk=100.0)
    with pytest.raises(pv.DataFileError, match=r"the feed has no stops\.txt, which says what stops are called"):
        read_gtfs(feed, "names")


def test_many_random_lines_agree_with_plain_python(tmp_path: Path) -> None:
    draw = random.Random(7)
    lines = {f"r{i}": [f"s{draw.randrange(40)}" for _ in range(draw.randrange(2, 15))] for i in range(60)}
    assert edges(read_gtfs(write_feed(tmp_path / "feed", lines))) == along(lines)


HEADER = "trip_id,stop_id,stop_sequence\n"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"stop_times": None},
            r"the feed has no stop_times\.txt, which says where each trip stops\. Get the whole feed",
        ),
        ({"stop_times": ""}, r"stop_times\.txt: the file is empty"),
        ({"stop_times": HEADER}, "no trip with two stops"),
        ({"stop_times": HEADER + "t,a,1\nu,b,1\n"}, "no trip with two stops"),
        ({"stop_times": "trip_id,stop_id\nt,a\n"}, "no column 'stop_sequence'"),
        ({"stop_times": HEADER + "t,a,1\nt,b,two\n"}, "the trip 't' has the stop 'b' and the sequence number 'two'"),
        ({"stop_times": HEADER + "t,a,1\nt,,2\n"}, "the trip 't' has the stop"),
        ({"stop_times": HEADER + "t,a,1\nt,b,2\nu,a,3\nu,b,3\n"}, "same stop_sequence on the trip 'u'"),
        ({"stop_times": HEADER + "t,a,1,9,9\n"}, r"stop_times\.txt|feed"),
    ],
)
def test_feeds_that_do_not_say_where_trips_stop_are_refused(
    changed: dict[str, str | None], message: str, tmp_path: Path
) -> None:
    with pytest.raises(pv.PathVeilError, match=message):
        read_gtfs(write_feed(tmp_path / "feed", **changed))


@pytest.mark.parametrize(
    ("changed", "options", "message"),
    [
        ({"trips": None}, {"symbols": "routes"}, r"the feed has no trips\.txt"),
        ({"trips": "route_id,trip_id\nr1,other\n"}, {"symbols": "routes"}, r"trips\.txt has no row for the trip"),
        ({"stops": "stop_id,stop_name\na,A\n"}, {"symbols": "names"}, r"stops\.txt has no row for the stop 'b'"),
        ({"stops": "stop_id,stop_name\na,\nb,\nc,\nd,\ne,\n"}, {"symbols": "names"}, "'a' has no stop_name"),
        ({"transfers": None}, {"transfers": True}, r"no transfers\.txt, which says where riders can change"),
        ({}, {"symbols": "routes", "walk": 9.0}, "do not go with routes"),
        ({}, {"symbols": "trains"}, "symbols is one of"),
        ({}, {"walk": -1.0}, "metres above 0"),
    ],
)
def test_what_is_asked_for_and_not_there_is_named(
    changed: dict[str, str | None], options: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(pv.PathVeilError, match=message):
        read_gtfs(write_feed(tmp_path / "feed", **changed), **options)  # type: ignore[arg-type]


def test_a_feed_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pv.DataFileError, match=r"none\.zip: cannot be read"):
        read_gtfs(tmp_path / "none.zip")


def test_a_feed_in_another_encoding_is_refused_by_name(tmp_path: Path) -> None:
    feed = write_feed(tmp_path / "feed")
    (feed / "stop_times.txt").write_bytes((HEADER + "t,Zürich,1\nt,Bern,2\n").encode("latin-1"))
    with pytest.raises(pv.DataFileError, match=r"(?i)stop_times\.txt.*(utf-8|unicode)"):
        read_gtfs(feed)
