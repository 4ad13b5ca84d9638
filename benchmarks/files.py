"""How fast files are privatized, and in how much memory.

    python benchmarks/files.py                     MSNBC from file to file, against DuckDB copying the same file
    python benchmarks/files.py --memory            peak memory for 10^8 symbols (some minutes, 2 GB of disk)

The data lie in `shared/data` beside the repository, or where PATHVEIL_DATA says.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
from rich.console import Console
from rich.table import Table

import pathveil as pv
from pathveil import data

DATA = Path(os.environ.get("PATHVEIL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
ROUNDS = 5
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


def in_turns(*tasks: Callable[[], Any]) -> list[float]:
    """The best time of each task in seconds."""
    best = [float("inf")] * len(tasks)
    for _ in range(ROUNDS):
        for i, task in enumerate(tasks):
            begin = time.perf_counter()
            task()
            best[i] = min(best[i], time.perf_counter() - begin)
    return best


def throughput(folder: Path) -> Table:
    """From file to file, and DuckDB copying the same file with the same two ends."""
    table = Table("MSNBC as", "PathVeil", "words a second", "DuckDB copies in", "times as long", title="throughput")
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

        ours, theirs = in_turns(privatize, copy)
        table.add_row(name, f"{ours:.2f} s", f"{989_818 / ours:,.0f}", f"{theirs:.2f} s", f"{ours / theirs:.1f}")
    return table


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


def memory(folder: Path) -> Table:
    """Each in a process of its own, whose largest resident size is what counts."""
    table = Table("10^8 symbols as", "time", "peak memory", title="memory (goal: below 1.5 GB)")
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
        table.add_row(name, f"{seconds:.0f} s", f"{kilobytes / 1e6:.2f} GB")
        source.unlink()
        output.unlink()
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", action="store_true", help="measure peak memory for 10^8 symbols")
    wanted = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        console.print(memory(Path(folder)) if wanted.memory else throughput(Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
