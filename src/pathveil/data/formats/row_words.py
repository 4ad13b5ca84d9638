"""Words that stand in one column, one word a row: what lists and delimited texts have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import pyarrow as pa

from pathveil.data.database import Column, Database, arrow_reads, parquet_batches
from pathveil.data.formats.counted_rows import times_of, whole_count
from pathveil.data.formats.layout import (
    Extra,
    Layout,
    RawWords,
    Style,
    extra_columns,
    place_in_rows,
    taken_kept,
    taken_users,
)
from pathveil.data.formats.users import Users
from pathveil.data.sources import DataFile


@dataclass(frozen=True)
class RowWords(Layout):
    """One word a row, in `column`."""

    column: str

    counts_rows = True

    kind: ClassVar[Literal["list", "text"]]
    """What a value of the column is."""

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @abstractmethod
    def require_values(self, file: DataFile) -> None:
        """An error if the column of a file cannot hold such words."""

    @abstractmethod
    def words_of(self, values: pa.Array) -> pa.ListArray:
        """The values of the column as lists of symbols."""

    @abstractmethod
    def values_of(self, words: pa.ListArray, style: Style) -> pa.Array:
        """Lists of codes as values of the column."""

    def read(self, database: Database, files: Sequence[DataFile], extra: Extra, keep_order: bool) -> Iterator[RawWords]:
        for file in files:
            self.require_values(file)
            before = 0
            for values, users, kept, counts in self._values(database, file, extra):
                names, problems = (None, {}) if users is None else (users.names, users.problems)
                times, uncounted = (None, {}) if counts is None else times_of(counts)
                place = place_in_rows(file, self.column, before)
                yield RawWords(self.words_of(values), names, kept, place, {**problems, **uncounted}, times=times)
                before += len(values)

    def _values(
        self, database: Database, file: DataFile, extra: Extra
    ) -> Iterator[tuple[pa.Array, Users | None, tuple[pa.Array, ...], pa.Array | None]]:
        """The column, the users, the kept columns and the counts."""
        if extra == Extra() and arrow_reads(file, self.column):
            for batch in parquet_batches(file, [self.column]):
                yield batch.column(0), None, (), None
            return
        query = database.scan(file, {"w": Column(self.column, self.kind), **extra_columns(extra)})
        if extra.count is not None:
            query = f"SELECT * REPLACE ({whole_count('n')} AS n) FROM ({query})"
        for batch in database.stream(query):
            counts = None if extra.count is None else batch.column("n")
            yield batch.column("w"), taken_users(batch, extra, file), taken_kept(batch, extra), counts

    def render(self, words: pa.ListArray, kept: Sequence[pa.Array], first: int, style: Style) -> pa.Table:
        return pa.Table.from_arrays([self.values_of(words, style), *kept], names=[self.column, *style.keep])
