"""A column of lists, one word a row: Parquet and JSON lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from pathveil.data.formats.layout import Style, column_type
from pathveil.data.formats.row_words import RowWords
from pathveil.data.sources import DataFile


@dataclass(frozen=True)
class ListColumn(RowWords):
    """One word a row, as a list of symbols in `column`. (CSV has no lists: see `DelimitedColumn`.)"""

    formats = frozenset({"parquet", "jsonl"})
    kind = "list"

    def value_type(self, files: Sequence[DataFile]) -> pa.DataType:
        return column_type(files, self.column, symbols_are_listed=True)

    def require_values(self, file: DataFile) -> None:
        column_type([file], self.column, symbols_are_listed=True)

    def words_of(self, values: pa.Array) -> pa.ListArray:
        return values

    def values_of(self, words: pa.ListArray, style: Style) -> pa.Array:
        return pa.ListArray.from_arrays(words.offsets, style.symbols.decode(words.values, style.value_type))
