"""Small files of the shapes that the issue's users have, and a way to run commands in this process."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer.main

import pathveil as pv
from pathveil.cli.app import main
from tests.cli.promises import read_once
from tests.remembered import certificates_are_proved_once

__all__ = ["certificates_are_proved_once"]

# A ring of streets with shortcuts: small enough that certificates take no time.
ROADS = [(f"s{i}", f"s{(i + step) % 8}") for i in range(8) for step in (1, 2, 5)]
PAGES = ["home", "cart", "help"]


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@cache
def _trips() -> list[list[str]]:
    source, world = pv.insecure_seed(3), pv.MarkovChain.from_edges(ROADS)
    return [list(world.random_word(6 + i % 3, source)) for i in range(40)]


def write_inputs(folder: Path, trips: int = 40) -> list[list[str]]:
    """The files of the worked lines; returns the sensitive trips."""
    some = _trips()
    words = [list(some[i % 40]) for i in range(trips)]
    _write_csv(folder / "roads.csv", [("from", "to"), *ROADS])
    (folder / "zones.txt").write_text("".join(f"s{i}\n" for i in range(8)))
    (folder / "sizes.csv").write_text("state,records\n" + "".join(f"s{i},{1000 * (i + 1)}\n" for i in range(8)))
    (folder / "pages.txt").write_text("".join(f"{page}\n" for page in PAGES))
    table = {"route": words, "driver": [f"d{i % 7}" for i in range(trips)], "day": list(range(trips))}
    pq.write_table(pa.table(table), folder / "trips.parquet")
    pairs = [pair for word in some for pair in pairwise(word)]
    _write_csv(folder / "trips.csv", [("pickup", "dropoff"), *pairs])
    visits = [(f"v{v}", step, PAGES[(v * step) % 3]) for v in range(20) for step in range(1, 2 + v % 4)]
    _write_csv(folder / "visits.csv", [("visit", "step", "page"), *visits])
    timed = [
        (visit, page, f"2024-07-0{1 + int(visit[1:]) % 7} 09:{step:02}:00", ("east", "west")[int(visit[1:]) % 2])
        for visit, step, page in visits
    ]
    _write_csv(folder / "log.csv", [("visit", "page", "when", "city"), *timed])
    (folder / "cities.txt").write_text("east\nnorth\nwest\n")
    (folder / "lines.txt").write_text("home cart\ncart\nhelp help home\n")
    return words


def _write_csv(path: Path, rows: list[tuple[object, ...]]) -> None:
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(rows)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the input files in it."""
    write_inputs(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `pathveil` with these arguments, given as one line or one by one."""

    def call(*arguments: str) -> Ran:
        given = arguments[0].split() if len(arguments) == 1 else list(arguments)
        capsys.readouterr()
        with mock.patch.object(typer.main, "get_command", read_once):
            code = main(given)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call
