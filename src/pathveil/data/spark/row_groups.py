"""Parquet files as the row groups that they consist of, which tasks read without Spark's help.

A row group is named by its file and its number there. That does not depend on how the work is shared out among tasks,
and neither does what is in it, as long as the file is left alone. So its size and the time of its last change are
looked at again, before and after a row group is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pathveil.data.database import parquet_batches, parquet_schema, require_columns
from pathveil.data.formats import Extra, Layout, RawWords, RowWords, place_in_rows
from pathveil.data.sources import STANDARD_INPUT, DataFile, Format, Source, find_files
from pathveil.errors import DataFileError, FileItselfError, InvalidParameterError

_BYTES_A_VALUE = 4  # at least, however well a file is compressed


@dataclass(frozen=True)
class RowGroup:
    """A row group of a file: its number there, how many rows come before it, and about how many bytes it will take."""

    file: DataFile
    stamp: tuple[int, int]
    number: int
    rows_before: int
    size: int

    @property
    def name(self) -> tuple[str, int]:
        """What no other row group of a job is called."""
        return str(self.file.path), self.number

    def read(self, layout: RowWords, keep: Sequence[str]) -> Iterator[RawWords]:
        """All words, in the order of the file."""
        self._require_unchanged()
        before = self.rows_before
        for batch in parquet_batches(self.file, [layout.column, *keep], self.number):
            values, *kept = batch.columns
            place = place_in_rows(self.file, layout.column, before)
            yield RawWords(layout.words_of(values), None, tuple(map(_plain, kept)), place)
            before += batch.num_rows
        self._require_unchanged()

    def _require_unchanged(self) -> None:
        try:
            now = _stamp(self.file)
        except OSError as problem:
            raise FileItselfError(
                f"{self.file.name}: a task cannot read the file ({problem.strerror}). All machines have to see the "
                "input under the same name."
            ) from None
        if now != self.stamp:
            raise FileItselfError(
                f"{self.file.name}: the file has changed since the job began. Leave it alone, and begin again."
            )


def files_for_tasks(source: Source, layout: Layout, format: Format | None) -> list[DataFile]:
    """The files of a source, if tasks can read them: Parquet files with a word in each row."""
    listed = [source] if isinstance(source, (str, Path)) else list(source)
    if STANDARD_INPUT in map(str, listed):
        raise InvalidParameterError("on Spark, the input is in files that all machines see, not on standard input")
    files = find_files(listed, Path(), format or layout.default_format)
    if files[0].format != "parquet" or not isinstance(layout, RowWords):
        raise InvalidParameterError(
            f"{files[0].name}: on Spark, words stand in a column of Parquet files, one a row (--column). Convert "
            "the input, or leave out --engine spark."
        )
    return files


def row_groups(files: Sequence[DataFile], layout: RowWords, keep: Sequence[str]) -> list[RowGroup]:
    """All row groups, in the order of the files; an error for columns that cannot be read."""
    layout.check(files, Extra(None, tuple(keep)))
    wanted = [layout.column, *keep]
    kept = kept_columns(files[0], keep)
    found = []
    for file in files:
        layout.require_values(file)
        if kept_columns(file, keep) != kept:
            raise DataFileError(f"{file.name}: a column to keep has another type than in {files[0].name}. Convert it.")
        stamp = _stamp(file)
        content, before = pq.read_metadata(file.path), 0
        for number in range(content.num_row_groups):
            group = content.row_group(number)
            columns = (group.column(i) for i in range(group.num_columns))
            size = sum(
                max(column.total_uncompressed_size, column.num_values * _BYTES_A_VALUE)
                for column in columns
                if any(f"{column.path_in_schema}.".startswith(f"{name}.") for name in wanted)
            )
            found.append(RowGroup(file, stamp, number, before, size))
            before += group.num_rows
    return found


def kept_columns(file: DataFile, keep: Sequence[str]) -> list[pa.DataType]:
    """The types in which columns are kept: those of the file, without dictionaries, of which each batch has its own."""
    schema = parquet_schema(file)
    require_columns(file, schema.names, keep)
    types = (schema.field(name).type for name in keep)
    return [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in types]


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _stamp(file: DataFile) -> tuple[int, int]:
    found = file.path.stat()
    return found.st_size, found.st_mtime_ns
