"""How fast files are privatized, and in how much memory.

    python benchmarks/files.py                     MSNBC from file to file, against DuckDB copying the same file
    python benchmarks/files.py --memory            peak memory for 10^8 symbols (some minutes, 2 GB of disk)

`goals()` gives the same figures to other programs. The data lie in `shared/data` beside the repository, or where
PATHVEIL_DATA says.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TypedDict

import duckdb
from rich.console import Console
from rich.table import Table
from timing import in_turns

import pathveil as pv
from pathveil import data

DATA = Path(os.environ.get("PATHVEIL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
ROUNDS = 7
TIMES, GIGABYTES = 3.0, 1.5  # the goals: times as long as a copy of the Parquet file, and peak memory
WORLD = pv.Alphabet([str(i) for i in range(17)])

LAYOUTS: dict[str, tuple[str, data.Layout, str]] = {
    "list column, Parquet": ("parquet", data.ListColumn("seq"), "SELECT seq FROM {msnbc}"),
    "delimited column, CSV": (
        "csv",
        data.DelimitedColumn("seq"),
        "SELECT array_to_string(seq, ' ') AS seq FROM {msnbc}",
    ),
    "list column, JSON lines": ("jsonl", data.ListColumn("seq"), "SELECT seq::VARCHAR[] AS seq FROM {msnbc}"),
    "long table, CSV": (
        "csv",
        data.LongTable("c", "o", "s"),
        "SELECT c, unnest(range(1, len(seq) + 1)) AS o, unnest(seq) AS s "
        "FROM (SELECT row_number() OVER () AS c, seq FROM {msnbc})",
    ),
}
READERS = {"parquet": "read_parquet", "csv": "read_csv", "jsonl": "read_json"}
WRITERS = {"parquet": "parquet", "csv": "csv", "jsonl": "json"}


class Result(TypedDict):
    """One comparison: `ratio` is ours divided by theirs, so less is better; no goal, nothing to be met."""

    work: str
    compared_with: str
    ratio: float
    goal: float | None
    met: bool | None
    detail: str


def result(work: str, compared_with: str, ratio: float, goal: float | None, detail: str) -> Result:
    met = None if goal is None else ratio <= goal
    return Result(work=work, compared_with=compared_with, ratio=ratio, goal=goal, met=met, detail=detail)


def throughput(folder: Path) -> list[Result]:
    """From file to file, and DuckDB copying the same file with the same two ends."""
    found = []
    mechanism = pv.CertifiedExponential(WORLD, epsilon=2.0)
    for name, (ending, layout, query) in LAYOUTS.items():
        source = folder / f"in.{ending}"
        made = query.format(msnbc=f"'{DATA / 'msnbc.parquet'}'")
        duckdb.execute(f"COPY ({made}) TO '{source}' (FORMAT {WRITERS[ending]})")

        def copy(source: Path = source, ending: str = ending) -> None:
            target = folder / f"copy.{ending}"
            duckdb.execute(
                f"COPY (SELECT * FROM {READERS[ending]}('{source}')) TO '{target}' (FORMAT {WRITERS[ending]})"
            )

        def privatize(source: Path = source, ending: str = ending, layout: data.Layout = layout) -> None:
            data.privatize_file(source, layout, mechanism, folder / f"out.{ending}", overwrite=True)

        ours, theirs = in_turns(privatize, copy, rounds=ROUNDS)
        goal = TIMES if name == "list column, Parquet" else None
        detail = f"{ours:.2f} s ({989_818 / ours:,.0f} words a second) against {theirs:.2f} s"
        found.append(result(f"MSNBC as {name}", "DuckDB copying the file", ours / theirs, goal, detail))
    return found


LARGE: dict[str, tuple[str, data.Layout, str]] = {
    "10^7 words, list column, Parquet": (
        "parquet",
        data.ListColumn("seq"),
        "SELECT list_transform(range(10), lambda j: hash(i * 10 + j) % 17) AS seq FROM range(10_000_000) t(i)",
    ),
    "10^8 rows, long table, Parquet": (
        "parquet",
        data.LongTable("c", "o", "s"),
        "SELECT hash(i % 10_000_000) AS c, i // 10_000_000 AS o, hash(i) % 17 AS s FROM range(100_000_000) t(i)",
    ),
}


def memory(folder: Path) -> list[Result]:
    """Each in a process of its own, whose largest resident size is what counts."""
    found = []
    for name, (ending, layout, query) in LARGE.items():
        source, output = folder / f"large.{ending}", folder / f"large-private.{ending}"
        connection = duckdb.connect()
        connection.execute(f"SET temp_directory = '{folder / 'overflow'}'")
        connection.execute(f"COPY ({query}) TO '{source}' (FORMAT {WRITERS[ending]})")
        connection.close()
        script = (
            "import resource, time, pathveil as pv; from pathveil import data\n"
            "from pathveil.data import *\n"
            "mechanism = pv.CertifiedExponential(pv.Alphabet([str(i) for i in range(17)]), 2.0)\n"
            "begin = time.perf_counter()\n"
            f"data.privatize_file({str(source)!r}, {layout!r}, mechanism, {str(output)!r}, overwrite=True)\n"
            "print(time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        seconds, kilobytes = map(float, done.stdout.split())
        detail = f"peak memory {kilobytes / 1e6:.2f} GB, in {seconds:.0f} s"
        found.append(result(name, f"{GIGABYTES} GB", kilobytes / 1e6 / GIGABYTES, 1.0, detail))
        source.unlink()
        output.unlink()
    return found


def goals() -> list[Result]:
    """Every goal of this file, measured now."""
    with tempfile.TemporaryDirectory() as folder:
        return throughput(Path(folder)) + memory(Path(folder))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", action="store_true", help="measure peak memory for 10^8 symbols")
    wanted = parser.parse_args()
    table = Table("work", "compared with", "ratio", "goal", "measured")
    with tempfile.TemporaryDirectory() as folder:
        for one in memory(Path(folder)) if wanted.memory else throughput(Path(folder)):
            goal = "" if one["goal"] is None else f"{one['goal']:g} ({'met' if one['met'] else 'missed'})"
            table.add_row(one["work"], one["compared_with"], f"{one['ratio']:.2f}", goal, one["detail"])
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
