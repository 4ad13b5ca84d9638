"""How long Apache Spark on this machine takes, against the embedded engine.

    python benchmarks/spark.py

MSNBC ten times over (9.9 million words), from Parquet file to Parquet files, with two cores for Spark: what
`pathveil privatize` does with and without `--engine spark`. The time that Spark needs to start is left out.
The data lie in `shared/data` beside the repository, or where PATHVEIL_DATA says.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb
from rich.console import Console
from rich.table import Table
from timing import in_turns

import pathveil as pv
from pathveil import data

DATA = Path(os.environ.get("PATHVEIL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
GOAL = 2.5
ROUNDS = 3
COPIES = 10


def goals() -> list[dict[str, Any]]:
    """One row for each comparison: what was done, against what, the ratio of the times, and the goal."""
    from pyspark.sql import SparkSession

    from pathveil.data import spark as on_spark

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "4g"}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    layout = data.ListColumn("seq")
    mechanism = pv.CertifiedExponential(pv.Alphabet([str(i) for i in range(17)]), epsilon=2.0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "words.parquet"
        copied = f"SELECT seq FROM '{DATA / 'msnbc.parquet'}', range({COPIES})"
        duckdb.execute(f"COPY ({copied}) TO '{source}' (FORMAT parquet)")

        def spark() -> None:
            on_spark.privatize_files(session, source, layout, mechanism, folder / "spark", overwrite=True)

        def embedded() -> None:
            data.privatize_file(source, layout, mechanism, folder / "out.parquet", overwrite=True)

        ours, theirs = in_turns(spark, embedded, rounds=ROUNDS)
    session.stop()
    return [
        {
            "work": f"MSNBC × {COPIES}, Spark local[2]",
            "compared_with": "the embedded engine",
            "ratio": ours / theirs,
            "goal": GOAL,
            "met": ours / theirs <= GOAL,
            "detail": f"{ours:.1f} s against {theirs:.1f} s, best of {ROUNDS}, start-up left out",
        }
    ]


def main() -> int:
    rows = goals()
    table = Table("work", "compared with", "times as long", "goal", "met", "detail")
    for row in rows:
        met = "yes" if row["met"] else "no"
        cells = (f"{row['ratio']:.2f}", f"at most {row['goal']}", met, row["detail"])
        table.add_row(row["work"], row["compared_with"], *cells)
    Console().print(table)
    return 0 if all(row["met"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
