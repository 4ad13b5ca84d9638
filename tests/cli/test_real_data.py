"""The recipes on real data, from file to release with one command each.

The data lie in `shared/data` beside the repository, or where PATHVEIL_DATA says.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from tests.cli.conftest import Run
from tests.cli.recipes import commands, write_bike_days, write_help_desk, write_list
from tests.data.files import read_xes
from tests.real_data import FOLDER, needs_real_data

pytestmark = [pytest.mark.slow, needs_real_data]


def _symbols(name: str) -> list[str]:
    with open(FOLDER / f"{name}_vocab.csv", encoding="utf-8") as file:
        return [row[1] for row in csv.reader(file)][1:]


def _runs(run: Run, line: str) -> None:
    ran = run(line)
    assert ran.code == 0, ran.err


def test_all_visits_to_msnbc(folder: Path, run: Run):
    (folder / "msnbc.parquet").symlink_to(FOLDER / "msnbc.parquet")
    write_list(folder / "categories.txt", range(17))
    _runs(run, commands("msnbc.parquet")[0])
    before, after = (
        pq.read_table(path)["seq"] for path in (FOLDER / "msnbc.parquet", folder / "msnbc-private.parquet")
    )
    assert len(after) == 989_818
    lengths = [sorted(pc.list_value_length(column).to_pylist()) for column in (before, after)]
    assert lengths[0] == lengths[1]
    assert json.loads((folder / "msnbc-private.parquet.manifest.json").read_text())["epsilon"] == 4.0


def test_all_bike_days_of_a_year(folder: Path, run: Run):
    names = _symbols("bikeshare2014_bike_day")
    days = pq.read_table(FOLDER / "bikeshare2014_bike_day.parquet")["seq"].to_pylist()
    write_bike_days(folder, [[names[i] for i in day] for day in days], names)
    _runs(run, commands("bike-days")[0])
    with open(folder / "bike-days-private.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(map(len, days))
    assert int(rows[-1]["bike_day"]) == len(days) == 115_186


def test_three_million_flights(folder: Path, run: Run):
    (folder / "flights.parquet").symlink_to(FOLDER / "flights3m_od.parquet")
    write_list(folder / "airports.txt", range(len(_symbols("flights3m"))))
    for line in commands("flights"):
        _runs(run, line)
    model = pv.MarkovChain.from_json(folder / "flights.json")
    assert len(model.symbols) == 229
    # Most flights from the busiest airports are known to within a percent: the model says something about the data.
    pairs = pq.read_table(FOLDER / "flights3m_od.parquet")
    busiest = pc.mode(pairs["o"])[0]["mode"].as_py()
    leaving = pairs.filter(pc.equal(pairs["o"], busiest))
    share = pc.sum(pc.equal(leaving["d"], pc.mode(leaving["d"])[0]["mode"])).as_py() / leaving.num_rows
    found = model.matrix[[busiest], [pc.mode(leaving["d"])[0]["mode"].as_py()]]
    assert abs(float(found[0]) - share) < 0.01


def test_the_help_desk_as_an_event_log(folder: Path, run: Run):
    names = _symbols("helpdesk")
    tickets = [[names[i] for i in word] for word in pq.read_table(FOLDER / "helpdesk.parquet")["seq"].to_pylist()]
    write_help_desk(folder, tickets, names)
    _runs(run, commands("helpdesk")[0])
    released = read_xes(folder / "helpdesk-private.xes")
    assert sorted(map(len, released)) == sorted(map(len, tickets))
    assert len(released) == 4_580
    assert sorted(released) != sorted(tickets)
