"""The recipes of docs/commands.md, run as written on small files of the same shapes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import pathveil as pv
from tests.cli.conftest import Run
from tests.cli.recipes import commands, write_bike_days, write_help_desk, write_list, write_visits
from tests.data.files import read_xes

SOURCE = pv.insecure_seed(11)


def _words(symbols: list[str], count: int, longest: int) -> list[list[str]]:
    world = pv.Alphabet(symbols)
    return [list(world.random_word(1 + i % longest, SOURCE)) for i in range(count)]


def _all_run(run: Run, about: str, count: int) -> None:
    lines = commands(about)
    assert len(lines) == count
    for line in lines:
        ran = run(line)
        assert ran.code == 0, f"{line}\n{ran.err}"


def test_every_recipe_belongs_to_one_of_the_files():
    names = ("msnbc", "bike-days", "flights", "helpdesk")
    assert sum(len(commands(name)) for name in names) == len(commands())


def test_visits_to_a_web_site(folder: Path, run: Run):
    visits = _words([str(i) for i in range(1, 18)], 60, 9)
    numbers = pa.array([[int(page) for page in visit] for visit in visits], pa.list_(pa.uint16()))
    write_visits(folder, numbers, range(1, 18))
    (folder / "msnbc.txt").write_text("".join(" ".join(visit) + "\n" for visit in visits))
    _all_run(run, "msnbc", 2)
    released = pq.read_table(folder / "msnbc-private.parquet")["seq"]
    assert released.type.value_type == pa.uint16()
    assert sorted(map(len, released.to_pylist())) == sorted(map(len, visits))
    lines = (folder / "msnbc-private.txt").read_text().splitlines()
    assert sorted(len(line.split()) for line in lines) == sorted(map(len, visits))


def test_where_a_bike_was_in_a_day(folder: Path, run: Run):
    stations = [str(i) for i in range(2, 12)]
    days = _words(stations, 50, 6)
    write_bike_days(folder, days, stations)
    _all_run(run, "bike-days", 1)
    with open(folder / "bike-days-private.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["bike_day", "step", "station"]
    assert len(rows) == sum(map(len, days))
    assert {row["station"] for row in rows} <= set(stations)
    assert {int(row["bike_day"]) for row in rows} == set(range(1, 51))


def test_flights_from_one_place_to_another(folder: Path, run: Run):
    airports = ["ABE", "JFK", "LAX", "SEA"]
    pairs = [(a, b) for a in airports for b in airports if a != b] * 300
    pq.write_table(pa.table({"o": [a for a, _ in pairs], "d": [b for _, b in pairs]}), folder / "flights.parquet")
    write_list(folder / "airports.txt", airports)
    _all_run(run, "flights", 2)
    assert pv.MarkovChain.from_json(folder / "flights.json").symbols == tuple(airports)
    assert len((folder / "routes.csv").read_text().splitlines()) == 1_001
    # The synthetic trips carry the promise of the model.
    promises = [json.loads((folder / f"{name}.manifest.json").read_text()) for name in ("flights.json", "routes.csv")]
    assert promises[0]["unit"] == promises[1]["unit"]
    assert promises[0]["epsilon"] == promises[1]["epsilon"] == 1.0


def test_the_steps_of_a_help_desk(folder: Path, run: Run):
    activities = ["Assign seriousness", "Take in charge ticket", "Resolve ticket", "Closed"]
    tickets = _words(activities, 40, 5)
    write_help_desk(folder, tickets, activities)
    _all_run(run, "helpdesk", 1)
    released = read_xes(folder / "helpdesk-private.xes")
    assert sorted(map(len, released)) == sorted(map(len, tickets))
    assert {step for ticket in released for step in ticket} <= set(activities)
    text = (folder / "helpdesk-private.xes").read_text()
    assert "person" not in text  # who it was is in the input, and not in the release
    assert "2024" not in text  # nor when; times are made up
