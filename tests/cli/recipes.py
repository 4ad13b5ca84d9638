"""The commands on the page about the command line, and files of the shapes that its recipes are for."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.data.files import write_xes

PAGE = Path(__file__).resolve().parents[2] / "docs" / "commands.md"


def commands(about: str = "") -> list[str]:
    """The commands of the section with recipes that name this file, without the name of the program."""
    _, recipes, _ = _sections()
    return [line for line in _commands(recipes) if about in line]


def other_commands() -> list[str]:
    """The commands of all other sections."""
    before, _, after = _sections()
    return _commands(before + after)


def _sections() -> tuple[str, str, str]:
    before, begin, rest = PAGE.read_text().partition("\n## Recipes")
    recipes, end, after = rest.partition("\n## ")
    assert begin
    assert end
    return before, recipes, after


def _commands(text: str) -> list[str]:
    return [line.removeprefix("$ pathveil ") for line in text.splitlines() if line.startswith("$ ")]


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
