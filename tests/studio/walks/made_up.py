"""Made-up data of four kinds, small enough that a release takes little but the start of its commands."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pathveil as pv

ROADS = [(f"s{i}", f"s{(i + step) % 8}") for i in range(8) for step in (1, 2, 5)]
ACTIVITIES = ("register", "assign", "work", "wait", "close")
PAGES = ("home", "search", "item", "cart", "pay")
BOUNDS = "52.40, 13.30, 52.44, 13.38"

_WAYS = (
    ("register", "assign", "work", "close"),
    ("register", "assign", "work", "wait", "work", "close"),
    ("register", "wait", "close"),
)
_VISITS = ("home search item cart pay", "home search item", "home home", "search item item cart")


def write_files(folder: Path) -> None:
    """trips.csv and roads.csv; log.csv; visits.txt and pages.txt; points.csv."""
    world, source = pv.MarkovChain.from_edges(ROADS), pv.insecure_seed(4)
    trips = [(f"r{i % 9}", " ".join(world.random_word(6 + i % 3, source))) for i in range(40)]
    _write(folder / "trips.csv", ("rider", "route"), trips)
    _write(folder / "roads.csv", ("from", "to"), ROADS)
    start = datetime(2026, 3, 2, 8)
    events = [
        (f"T{case}", step, f"{start + timedelta(hours=5 * case, minutes=20 * i):%Y/%m/%d %H:%M:%S}")
        for case in range(300)
        for i, step in enumerate(_WAYS[case * case % 3])
    ]
    _write(folder / "log.csv", ("Case ID", "Activity", "Complete Timestamp"), events)
    (folder / "visits.txt").write_text("".join(f"{_VISITS[i * i % 7 % 4]}\n" for i in range(600)))
    (folder / "pages.txt").write_text("".join(f"{page}\n" for page in PAGES))
    points = [
        (f"p{person}", 52.405 + 0.003 * ((person + i) % 10), 13.31 + 0.006 * i, f"2026-03-0{1 + trip} 09:{3 * i:02}:00")
        for person in range(40)
        for trip in range(2)
        for i in range(8)
    ]
    _write(folder / "points.csv", ("user", "lat", "lon", "time"), points)


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
