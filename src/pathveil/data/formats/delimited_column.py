"""A column of texts, one word a row, the symbols set apart by a separator: CSV, Parquet and JSON lines."""

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
from pathveil.data.formats.splitting import checked_separator, join, require_separable, split
from pathveil.data.sources import DataFile
from pathveil.data.symbols import SymbolTable
from pathveil.errors import DataFileError


@dataclass(frozen=True)
class DelimitedColumn(Layout):
    """One word a row, as a text such as `a>b>c` in `column`.

    `separator=None` splits at white space; `separator=""` takes every character as a symbol. Otherwise symbols are
    exactly what stands between two separators, white space included.
    """

    column: str
    separator: str | None = None

    formats = frozenset({"csv", "parquet", "jsonl"})

    def __post_init__(self) -> None:
        checked_separator(self.separator)

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def require_writable(self, symbols: SymbolTable) -> None:
        require_separable(symbols, self.separator)

    def read(self, engine: Engine, files: Sequence[DataFile], extra: Extra, keep_order: bool) -> Iterator[RawWords]:
        for file in files:
            if pa.types.is_integer(column_type([file], self.column, symbols_are_listed=False)):
                raise DataFileError(f"{file.name}, column {self.column!r}: texts are needed, not whole numbers")
            query = engine.scan(file, {"w": Column(self.column, "text"), **extra_columns(extra)})
            before = 0
            for batch in engine.stream(query):
                place = place_in_rows(file, self.column, before)
                yield RawWords(split(batch.column("w"), self.separator), *taken_extra(batch, extra), place)
                before += batch.num_rows

    def render(self, words: pa.ListArray, kept: Sequence[pa.Array], first: int, style: Style) -> pa.Table:
        texts = join(words, style.symbols.names, self.separator)
        return pa.Table.from_arrays([texts, *kept], names=[self.column, *style.keep])
