"""Small DataFrames of words. Where there is no Java, tests of Spark are skipped."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

needs_java = pytest.mark.skipif(
    shutil.which("java") is None and "JAVA_HOME" not in os.environ,
    reason="Spark needs Java: install openjdk-17-jre-headless",
)


def write_words(path: Path, words: list[list[str]], row_group_size: int = 7) -> Path:
    """Words with a number each, in many small row groups."""
    table = pa.table({"id": range(len(words)), "word": words})
    pq.write_table(table, path, row_group_size=row_group_size)
    return path


def by_number(private: DataFrame) -> dict[int, tuple[str, ...]]:
    """The private word of each number."""
    rows = private.collect()
    found = {row["id"]: tuple(row["word"]) for row in rows}
    assert len(found) == len(rows)
    return found
