"""A column of texts, one word a row, the symbols set apart by a separator: CSV, Parquet and JSON lines."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from pathveil.data.formats.layout import Style, column_type
from pathveil.data.formats.row_words import RowWords
from pathveil.data.formats.splitting import checked_separator, join, require_separable, split
from pathveil.data.sources import DataFile
from pathveil.data.symbols import SymbolTable
from pathveil.errors import DataFileError


@dataclass(frozen=True)
class DelimitedColumn(RowWords):
    """One word a row, as a text such as `a>b>c` in `column`.

    `separator=None` splits at white space; `separator=""` takes every character as a symbol. Otherwise symbols are
    exactly what stands between two separators, white space included. With `header=False` a CSV file has no line with
    the names of its columns, and they are called 1, 2, 3, …
    """

    separator: str | None = None
    header: bool = True

    formats = frozenset({"csv", "parquet", "jsonl"})
    kind = "text"

    def __post_init__(self) -> None:
        checked_separator(self.separator)

    def require_writable(self, symbols: SymbolTable) -> None:
        require_separable(symbols, self.separator)

    def require_values(self, file: DataFile) -> None:
        if pa.types.is_integer(column_type([file], self.column, symbols_are_listed=False)):
            what = f"{file.name}, column {self.column!r}: texts are needed, not whole numbers"
            raise DataFileError(what, without_content=what)

    def words_of(self, values: pa.Array) -> pa.ListArray:
        return split(values, self.separator)

    def values_of(self, words: pa.ListArray, style: Style) -> pa.Array:
        return join(words, style.symbols.names, self.separator)
