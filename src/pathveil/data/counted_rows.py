"""Rows that stand for several: a column says how many."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pathveil.data.sources import DataFile
from pathveil.errors import DataFileError

MOST = 2**53
"""The largest count, and the largest sum of counts: so far, numbers in floating point are exact."""

NO_COUNT = f"the count is missing or not a whole number from 0 to {MOST}"


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
