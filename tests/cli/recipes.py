"""The commands on the page of recipes, and files of the shapes that they are for."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.data.files import write_xes

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"


def commands(about: str) -> list[str]:
    """The lines of the page that name this file, without the name of the command itself."""
    lines = [line.removeprefix("$ pathveil ") for line in PAGE.read_text().splitlines() if line.startswith("$ ")]
    return [line for line in lines if about in line]


def write_list(path: Path, names: Iterable[object]) -> None:
    path.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")


def write_visits(folder: Path, visits: pa.ChunkedArray | pa.Array, categories: Iterable[int]) -> None:
    pq.write_table(pa.table({"seq": visits}), folder / "msnbc.parquet")
    write_list(folder / "categories.txt", categories)


def write_bike_days(folder: Path, days: Sequence[Sequence[object]], stations: Sequence[object]) -> None:
    with open(folder / "bike-days.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["bike_day", "step", "station"])
        rows.writerows((i, k, station) for i, day in enumerate(days) for k, station in enumerate(day, start=1))
    with open(folder / "station-pairs.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["from", "to"])
        rows.writerows((a, b) for a in stations for b in stations)


def write_help_desk(folder: Path, tickets: list[list[str]], activities: Iterable[str]) -> None:
    write_xes(folder / "helpdesk.xes", tickets)
    write_list(folder / "activities.txt", activities)
