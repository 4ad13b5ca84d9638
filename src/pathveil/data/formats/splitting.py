"""Texts taken apart into symbols and put together again, whole columns at a time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathveil.data.symbols import SymbolTable
from pathveil.errors import InvalidParameterError, InvalidSystemError


def split(texts: pa.Array, separator: str | None) -> pa.ListArray:
    """Lists of symbols. `separator=None` splits at white space, `""` between characters. An empty text is null."""
    if pa.types.is_null(texts.type):  # a column of nothing but nulls
        texts = texts.cast(pa.string())
    if separator is None:
        texts = pc.ascii_trim_whitespace(texts)
    texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, texts.type), texts)
    if separator is None:
        return pc.ascii_split_whitespace(texts)
    return _characters(texts) if separator == "" else pc.split_pattern(texts, pattern=separator)


def _characters(texts: pa.Array) -> pa.ListArray:
    filled = texts.fill_null("").cast(pa.string())
    offsets = np.append(0, np.cumsum(pc.utf8_length(filled).to_numpy()))
    points, places = np.unique(
        np.frombuffer(str(text_bytes(filled), "utf-8").encode("utf-32-le"), "<u4"), return_inverse=True
    )
    symbols = pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32)), pa.array(map(chr, points), pa.string()))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), symbols, mask=texts.is_null())


def _data_range(texts: pa.StringArray) -> tuple[int, int]:
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return int(offsets[0]), int(offsets[-1])


def text_bytes(texts: pa.StringArray) -> memoryview:
    """The texts one after the other, without a copy. There must be no null among them."""
    begin, end = _data_range(texts)
    return memoryview(texts.buffers()[2] or b"")[begin:end]


def join(words: pa.ListArray, names: list[str], separator: str | None) -> pa.Array:
    """One text for each word, from lists of codes."""
    symbols = pa.array(names, pa.string()).take(words.values)
    return pc.binary_join(pa.ListArray.from_arrays(words.offsets, symbols), " " if separator is None else separator)


def checked_separator(separator: str | None) -> None:
    """An error for a separator that is no text."""
    if separator is not None and not isinstance(separator, str):
        raise InvalidParameterError(
            f"`separator` is a text, '' (every character is a symbol) or None (white space), not {separator!r}"
        )


def require_separable(symbols: SymbolTable, separator: str | None) -> None:
    """An error if joined symbols could not be taken apart again."""
    for name in symbols.names:
        if separator == "":
            trouble = len(name) != 1 and "is not a single character"
        elif separator is None:
            trouble = (not name or any(c in " \t\n\r\v\f" for c in name)) and "is empty or has white space in it"
        else:
            trouble = (not name or separator in name) and f"is empty or has the separator {separator!r} in it"
        if trouble:
            raise InvalidSystemError(f"the symbol {name!r} {trouble}. Choose another `separator` or layout.")
