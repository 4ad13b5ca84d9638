"""A column of lists, one word a row: Parquet and JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from pathveil.data.embedded import Column, Engine
from pathveil.data.formats.layout import (
    Extra,
    Layout,
    RawWords,
    Style,
    column_type,
    extra_columns,
    place_in_rows,
    taken_extra,
)
from pathveil.data.sources import DataFile


@dataclass(frozen=True)
class ListColumn(Layout):
    """One word a row, as a list of symbols in `column`. (CSV has no lists: see `DelimitedColumn`.)"""

    column: str

    formats = frozenset({"parquet", "jsonl"})

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def value_type(self, files: Sequence[DataFile]) -> pa.DataType:
        return column_type(files, self.column, symbols_are_listed=True)

    def read(self, engine: Engine, files: Sequence[DataFile], extra: Extra, keep_order: bool) -> Iterator[RawWords]:
        for file in files:
            column_type([file], self.column, symbols_are_listed=True)
            query = engine.scan(file, {"w": Column(self.column, "list"), **extra_columns(extra)})
            before = 0
            for batch in engine.stream(query):
                yield RawWords(batch.column("w"), *taken_extra(batch, extra), place_in_rows(file, self.column, before))
                before += batch.num_rows

    def render(self, words: pa.ListArray, kept: Sequence[pa.Array], first: int, style: Style) -> pa.Table:
        symbols = style.symbols.decode(words.values, style.value_type)
        lists = pa.ListArray.from_arrays(words.offsets, symbols)
        return pa.Table.from_arrays([lists, *kept], names=[self.column, *style.keep])
