"""Which columns look as if they said for how many each row stands."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence

import pyarrow as pa

from pathveil.data.database import csv_header, parquet_schema
from pathveil.data.formats import read_lines
from pathveil.data.sources import DataFile

_NAMES = frozenset(
    {"cnt", "commuters", "count", "counts", "flow", "flows", "freq", "frequency", "journeys", "n", "total", "trips"}
    | {"volume", "weight", "weights"}
)


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
