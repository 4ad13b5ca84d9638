"""Files of points to a file of words: the database sorts, the cells are found batch by batch.

Nothing is held in memory but a few batches and the trip that is not over; what the sort needs beyond that overflows
into a private folder. Nothing here is private: the words are as sensitive as the points.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pyarrow as pa

from pathveil.data.database import Column, Database
from pathveil.data.formats import DelimitedColumn, Layout, ListColumn
from pathveil.data.reading import SKIP_BAD_ROWS
from pathveil.data.sources import DataFile, Source, Watch, describe, find_files
from pathveil.data.symbols import SymbolTable
from pathveil.data.workspace import private_workspace
from pathveil.data.writing import form_of_new, publish, refuse_existing
from pathveil.errors import DataFileError, InvalidParameterError
from pathveil.places import COLUMNS, Cells, MakesWords, PointCounts, WordBatch
from pathveil.words.base import Progress

_POINTS = 1 << 17  # at a time
_BESIDE = ("user", "begin")


@dataclass(frozen=True)
class PointColumns:
    """The names of the columns of a file of points."""

    latitude: str
    longitude: str
    user: str
    time: str


def write_words_of_points(
    source: Source,
    output: Path,
    cells: Cells,
    columns: PointColumns,
    *,
    gap: str | float | timedelta | None = "30min",
    on_bad_row: Literal["fail", "skip"] = "fail",
    overwrite: bool = False,
    progress: Progress | None = None,
) -> PointCounts:
    """Write one word of cells for each trip: the columns `word`, `user` and `begin` (UTC). What became of the points.

    `source` is CSV, Parquet or JSON lines; `columns` says where its points are. Times are as in ISO 8601 (UTC where
    they name no zone) or seconds since 1970. Rows that are no points end the work, or are left out (`skip`).
    `Cells.words` says how words are made. Words are lists in Parquet and JSON lines, and texts with blanks in CSV. Only
    the owner may read the file.
    """
    target = output.absolute()
    refuse_existing(target, overwrite)
    form = form_of_new(target, _layout(target), SymbolTable(cells.symbols), _BESIDE)
    report = progress or (lambda _stage, _points: None)
    with private_workspace(target) as workspace, contextlib.closing(Database(workspace)) as database:
        files = find_files(source, workspace)
        if files[0].format not in ("csv", "parquet", "jsonl"):
            raise InvalidParameterError(f"{files[0].name}: points are read from CSV, Parquet or JSON lines")
        watch = Watch(files)
        points = _Points(database, files, columns, skip=on_bad_row == "skip")
        maker = cells.word_maker(gap)
        unfinished = workspace / "unfinished"
        batches = _reported(maker, points, report)
        form.write(map(_rows, batches), pa.OSFile(str(unfinished), "wb"), lambda _stage, _words: None)
        watch.require_unchanged()
        maker.counts.unreadable = points.unreadable()
        _require_words(maker.counts)
        os.chmod(unfinished, 0o600)
        publish(unfinished, target, overwrite)
    return maker.counts


def _layout(target: Path) -> Layout:
    format = describe(target).format
    if format in ("parquet", "jsonl"):
        return ListColumn("word")
    if format == "csv":
        return DelimitedColumn("word", " ")
    raise InvalidParameterError(f"{target.name}: words of places are written as .parquet, .jsonl or .csv")


def _require_words(counts: PointCounts) -> None:
    if not counts.words:
        what = "no point lies inside the cells: are the bounds in degrees, as (south, west, north, east)?"
        raise DataFileError(f"{what} {counts.points:,} points were read.", without_content=what)


def _reported(maker: MakesWords, points: _Points, report: Progress) -> Iterator[WordBatch]:
    for batch in maker.words(points.sorted()):
        report("reading", maker.counts.points)
        yield batch


def _rows(batch: WordBatch) -> pa.RecordBatch:
    words = pa.ListArray.from_arrays(pa.array(batch.offsets, pa.int32()), pa.array(batch.codes, pa.int32()))
    begins = pa.array(batch.begins, pa.timestamp("us", "UTC"))
    return pa.RecordBatch.from_arrays([words, batch.users.cast(pa.string()), begins], names=["word", *_BESIDE])


class _Points:
    """The points of files, as the database reads them."""

    def __init__(self, database: Database, files: list[DataFile], columns: PointColumns, *, skip: bool) -> None:
        self._database, self._files, self._columns, self._skip = database, files, columns, skip
        wanted = {role: Column(getattr(columns, role), "text") for role in COLUMNS}
        scans = [database.scan(file, wanted) for file in files]
        kinds = database.types(scans[0])
        chosen = ", ".join(f"{_as_point(role, kind)} AS {role}" for role, kind in zip(COLUMNS, kinds, strict=True))
        self._query = " UNION ALL ".join(f"SELECT {chosen} FROM ({scan})" for scan in scans)

    def sorted(self) -> Iterator[pa.RecordBatch]:
        """By user and time; points of one moment by where they are, so that the order of rows makes no difference."""
        keep = f"WHERE NOT ({_BAD})" if self._skip else ""
        order = ", ".join(COLUMNS)
        for batch in self._database.stream(f"SELECT * FROM ({self._query}) {keep} ORDER BY {order}", _POINTS):
            if any(column.null_count for column in batch.columns):
                raise self._bad_row()
            yield batch

    def unreadable(self) -> int:
        """How many rows were left out."""
        if not self._skip:
            return 0
        return int(self._database.rows(f"SELECT count(*) FROM ({self._query}) WHERE {_BAD}")[0][0])

    def _bad_row(self) -> DataFileError:
        """What is wrong with the first row that is no point, in the order of the files."""
        numbered = f"SELECT row_number() OVER () AS number, * FROM ({self._query})"
        number, *values = self._database.rows(f"SELECT * FROM ({numbered}) WHERE {_BAD} ORDER BY number LIMIT 1")[0]
        missing = next(role for role, value in zip(COLUMNS, values, strict=True) if value is None)
        where = self._files[0].name if len(self._files) == 1 else "the input files"
        what = (
            f"{where}, row {number} (without the header): column {getattr(self._columns, missing)!r} holds no "
            f"{missing}. Correct the row, or {SKIP_BAD_ROWS}."
        )
        return DataFileError(what, without_content=what)


_BAD = " OR ".join(f"{role} IS NULL" for role in COLUMNS)


def _as_point(role: str, kind: str) -> str:
    """SQL that makes a user, a time in microseconds or degrees of a column; NULL where that cannot be."""
    is_number = kind.startswith(("DECIMAL", "DOUBLE", "FLOAT")) or kind.lstrip("U").endswith("INT") or "INTEGER" in kind
    if role == "user":
        return "NULLIF(CAST(user AS VARCHAR), '')"
    if role != "time":
        # NaN and infinity are no degrees.
        return f"CASE WHEN isfinite(TRY_CAST({role} AS DOUBLE)) THEN TRY_CAST({role} AS DOUBLE) END"
    seconds = "CAST(round(TRY_CAST(time AS DOUBLE) * 1000000) AS BIGINT)"
    if is_number:
        return seconds
    moment = "epoch_us(TRY_CAST(time AS TIMESTAMPTZ))"
    return f"COALESCE({moment}, {seconds})" if kind == "VARCHAR" else moment
