"""Rows that stand for several: a column says how many, and which columns look as if they said so."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa

from pathveil.data.database import csv_header, parquet_schema
from pathveil.data.formats.plain_text import read_lines
from pathveil.data.sources import DataFile
from pathveil.errors import DataFileError

MOST = 2**53
"""The largest count, and the largest sum of counts: so far, numbers in floating point are exact."""

NO_COUNT = f"the count is missing or not a whole number from 0 to {MOST}"

_NAMES = frozenset(
    {"cnt", "commuters", "count", "counts", "flow", "flows", "freq", "frequency", "journeys", "n", "total", "trips"}
    | {"volume", "weight", "weights"}
)


def whole_count(alias: str) -> str:
    """SQL for a count in a column of any type; null where it is none."""
    number = f"TRY_CAST(trim(CAST({alias} AS VARCHAR)) AS DECIMAL(38, 10))"
    return f"CASE WHEN {number} BETWEEN 0 AND {MOST} AND {number} = floor({number}) THEN CAST({number} AS BIGINT) END"


def require_countable(total: int, file: DataFile) -> None:
    """An error if counts add up to more than can be counted exactly."""
    if total > MOST:
        what = f"{file.name}: the counts add up to more than {MOST}. Count in larger units."
        raise DataFileError(what, without_content=what)


def times_of(counts: pa.Array) -> tuple[pa.Array, dict[int, str]]:
    """Counts that were read with `whole_count`, and what is wrong with some of them."""
    missing = np.flatnonzero(counts.is_null().to_numpy(zero_copy_only=False))
    return counts.fill_null(0), {int(row): NO_COUNT for row in missing}


def columns_like_counts(files: Sequence[DataFile], used: Collection[str]) -> list[str]:
    """Columns of the first file that look like counts and are not used.

    Names and types decide, and no value does: whoever may not read the input may see this.
    """
    file = files[0]
    if file.format == "parquet":
        schema = parquet_schema(file)
        names = [field.name for field in schema if pa.types.is_integer(field.type)]
    elif file.format == "csv":
        names = csv_header(file, list(used))[1]
    elif file.format == "jsonl":
        names = _names_of_numbers(file)
    else:
        return []
    return [name for name in names if name not in used and _NAMES & set(re.split("[^a-z]+", name.lower()))]


def _names_of_numbers(file: DataFile) -> list[str]:
    for lines in read_lines(file):
        try:
            row = json.loads(lines[0].as_py())
        except ValueError:
            break  # reading it will say so
        return [name for name, value in row.items() if type(value) is int] if isinstance(row, dict) else []
    return []
