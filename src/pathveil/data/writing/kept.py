"""Columns that are released as they are, on their way from one layout into another.

A kept column has a value for each word, or, in a long table, for each symbol. Tables of all formats hold the same
values then: texts and numbers stay what they are as far as the format knows them, and JSON lists and objects are texts.
In an event log, the value for a word is an attribute of the trace, and the value for a symbol one of the event.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathveil.data.database import parquet_schema
from pathveil.data.formats import ATTRIBUTE, EventLog, Layout, LongTable
from pathveil.data.sources import DataFile, Format
from pathveil.errors import InvalidParameterError


@dataclass(frozen=True)
class KeptColumns:
    """What becomes of kept columns that were read from files in one layout and are written in another."""

    source: DataFile
    read: Layout
    written: Layout
    format: Format
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        self.written.require_kept(self.names)
        by_symbol = isinstance(self.read, LongTable)
        if self.names and by_symbol and not isinstance(self.written, LongTable | EventLog):
            raise InvalidParameterError(
                f"`keep`: in a long table {self.names[0]!r} has a value for each symbol, with no place in "
                f"{type(self.written).__name__}. Leave it out, or write a long table (.csv, .jsonl, .parquet) or an "
                "event log (.xes)."
            )
        if self.source.format == "parquet" and self.format != "parquet":
            schema = parquet_schema(self.source)
            for name in set(self.names) & set(schema.names):  # reading says what is missing
                kind = schema.field(name).type
                if not _is_plain(kind):
                    raise InvalidParameterError(
                        f"`keep`: {name!r} holds {kind}, which cannot stand in a {self.format} file. Leave it out, or "
                        "write a .parquet file."
                    )

    @property
    def are_json(self) -> bool:
        """Values are JSON as they stand in the source."""
        return self.source.format == self.format == "jsonl"

    def converted(self, kept: Sequence[pa.Array], words: pa.ListArray) -> list[pa.Array]:
        """The columns beside these words as the layout that is written has them."""
        if self.source.format == self.format and self.read == self.written:
            return list(kept)
        return [self._converted(values, words) for values in kept]

    def _converted(self, values: pa.Array, words: pa.ListArray) -> pa.Array:
        if isinstance(self.read, LongTable):
            offsets = pc.subtract(values.offsets, values.offsets[0])
            return pa.ListArray.from_arrays(offsets, self._value_by_value(values.flatten()))
        values = self._value_by_value(values)
        if isinstance(self.written, LongTable):
            # Every symbol of a word has the value of the word.
            offsets = words.offsets.to_numpy() - words.offsets[0].as_py()
            owners = np.repeat(np.arange(len(words)), np.diff(offsets))
            return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values.take(pa.array(owners)))
        return values

    def _value_by_value(self, values: pa.Array) -> pa.Array:
        if self.source.format == self.format:
            return values
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        if self.format == "xes":
            return _attributes(values, self.source.format)
        if self.source.format == "xes":
            return pc.struct_field(values, "value")
        if self.source.format == "jsonl":
            return _each(values, lambda text: _plain(json.loads(text), text), pa.string())
        if self.format == "jsonl" and pa.types.is_floating(values.type):
            return pc.if_else(pc.is_finite(values), values, pa.scalar(None, values.type))  # JSON has no others
        return values


def _is_plain(kind: pa.DataType) -> bool:
    """One text, number, truth value or time, and not something that is made of several."""
    if pa.types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    return not pa.types.is_nested(kind) and not any(
        is_it(kind) for is_it in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    )


def _plain(value: Any, text: str) -> str | None:
    """A value from JSON as a text in a table."""
    return value if value is None or isinstance(value, str) else text


def _attributes(values: pa.Array, format: Format) -> pa.Array:
    """Values of a table as attributes of an event log."""
    if format == "jsonl":
        return _each(values, lambda text: _json_attribute(json.loads(text), text), ATTRIBUTE)
    kind = values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _each(values.cast(pa.timestamp("us", getattr(kind, "tz", None))), _date_attribute, ATTRIBUTE)
    name = "string"
    if pa.types.is_boolean(kind):
        name = "boolean"
    elif pa.types.is_integer(kind):
        name = "int"
    elif pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        name = "float"
    return _each(values.cast(pa.string()), lambda text: {"kind": name, "value": text}, ATTRIBUTE)


def _date_attribute(time: Any) -> dict[str, str]:
    # Without a time zone the same clock is meant everywhere; XES wants a zone, and this one changes no digit.
    return {"kind": "date", "value": time.isoformat(timespec="milliseconds") + ("" if time.tzinfo else "+00:00")}


def _json_attribute(value: Any, text: str) -> dict[str, str] | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return {"kind": "boolean", "value": text}
    if isinstance(value, int | float):
        return {"kind": "int" if isinstance(value, int) else "float", "value": text}
    return {"kind": "string", "value": value if isinstance(value, str) else text}


def _each(values: pa.Array, convert: Callable[[Any], Any], kind: pa.DataType) -> pa.Array:
    """What a function makes of each value; every distinct one is converted once."""
    encoded = values.dictionary_encode()
    made = [convert(value) for value in encoded.dictionary.to_pylist()]
    return pa.array(made, kind).take(encoded.indices)
