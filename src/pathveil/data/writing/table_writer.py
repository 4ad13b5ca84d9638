"""Tables of private words into files, batch by batch."""

from __future__ import annotations

import contextlib
import json
import re
from types import TracebackType
from typing import Any, assert_never

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pathveil.data.formats import text_bytes
from pathveil.data.sources import DataFile

_VALUES = 1 << 16  # of a Parquet column, encoded at a time: somewhat faster than the usual 1024


class TableWriter:
    """Writes tables of one schema to an open file, which it closes; format and compression are those of `like`.

    Columns named in `json_columns` are JSON already. `around` is what the layout has before and after all words.
    """

    def __init__(
        self,
        file: pa.NativeFile,
        like: DataFile,
        delimiter: str = ",",
        json_columns: frozenset[str] = frozenset(),
        around: tuple[bytes, bytes] = (b"", b""),
    ) -> None:
        self._file, self._like, self._delimiter, self._json_columns = file, like, delimiter, json_columns
        before, self._after = around
        compressed = like.compression is not None
        self._sink = pa.CompressedOutputStream(self._file, like.compression) if compressed else self._file
        self._parquet: pq.ParquetWriter | None = None
        self._begun = False
        if before:
            self._sink.write(before)

    def write(self, table: pa.Table) -> None:
        """Append a table."""
        format = self._like.format
        if format == "jsonl":
            self._write_texts(json_lines(table, self._json_columns))
        elif format == "csv":
            if not self._begun and self._like.has_header:
                self._sink.write((self._delimiter.join(_csv_names(table, self._delimiter)) + "\n").encode())
            self._write_texts(csv_lines(table, self._delimiter))
        elif format == "text" or format == "xes":  # `in (…)` would not tell mypy what is left
            self._write_texts(table.column(0))
        elif format == "parquet":
            self._parquet = self._parquet or pq.ParquetWriter(self._sink, table.schema, write_batch_size=_VALUES)
            self._parquet.write_table(table)
        else:
            assert_never(format)
        self._begun = True

    def _write_texts(self, texts: pa.ChunkedArray) -> None:
        for chunk in texts.chunks:
            self._sink.write(text_bytes(chunk))

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            if self._parquet is not None:
                self._parquet.close()
            if self._after:
                self._sink.write(self._after)
            self._sink.close()
        elif self._parquet is not None:
            # The file is thrown away: without this, the writer would complain on standard error that it cannot end it.
            self._parquet.is_open = False
        elif self._sink is not self._file:
            with contextlib.suppress(pa.ArrowException, OSError):  # likewise
                self._sink.close()
        self._file.close()


def csv_lines(table: pa.Table, delimiter: str) -> pa.ChunkedArray:
    """One line a row; values are quoted where they must be."""
    parts: list[Any] = []
    for i in range(table.num_columns):
        parts.append(_quoted(_whole(table.column(i)).cast(pa.string()), delimiter).fill_null(""))
        parts.append(delimiter if i + 1 < table.num_columns else "\n")
    return pa.chunked_array([pc.binary_join_element_wise(*parts, "")])


def _csv_names(table: pa.Table, delimiter: str) -> list[str]:
    return [name or "" for name in _quoted(pa.array(table.column_names), delimiter).to_pylist()]


def _quoted(texts: pa.Array, delimiter: str) -> pa.Array:
    data = bytes(text_bytes(texts))
    if not any(mark in data for mark in (delimiter.encode(), b'"', b"\r", b"\n")):
        return texts
    special = pc.match_substring_regex(texts, f'[{re.escape(delimiter)}"\\r\\n]')
    inner = pc.replace_substring(texts, '"', '""')
    return pc.if_else(special, pc.binary_join_element_wise('"', inner, '"', ""), texts)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def json_lines(table: pa.Table, json_columns: frozenset[str]) -> pa.ChunkedArray:
    """One JSON object a row."""
    parts: list[Any] = []
    for i, name in enumerate(table.column_names):
        column = _whole(table.column(i))
        parts.append(("{" if i == 0 else ",") + json.dumps(name, ensure_ascii=False) + ":")
        parts.append(column.fill_null("null") if name in json_columns else _json_texts(column))
    lines = pc.binary_join_element_wise(*parts, "}\n", "")
    return pa.chunked_array([lines])


def _json_texts(values: pa.Array) -> pa.Array:
    """Each value as JSON text."""
    kind = values.type
    if pa.types.is_list(kind):
        begin, end = values.offsets[0].as_py(), values.offsets[-1].as_py()
        inner = _json_texts(values.values.slice(begin, end - begin))
        offsets = pc.subtract(values.offsets, values.offsets[0])
        lists = pa.ListArray.from_arrays(offsets, inner, mask=values.is_null() if values.null_count else None)
        return pc.binary_join_element_wise("[", pc.binary_join(lists, ","), "]", "").fill_null("null")
    if pa.types.is_integer(kind):
        return values.cast(pa.string()).fill_null("null")
    # Every distinct value is written once.
    encoded = values.dictionary_encode()
    texts = [json.dumps(value, ensure_ascii=False, default=str) for value in encoded.dictionary.to_pylist()]
    return pa.array(texts, pa.string()).take(encoded.indices).fill_null("null")
