"""Symbols in files and their codes in the system, whole columns at a time.

In files a symbol is a text or a whole number. The two are compared as text: the number 7 is the symbol "7", and so is
a system's own symbol 7. Numbers with a fraction, dates and the like have no single natural form and are refused.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pathveil.errors import InvalidSystemError
from pathveil.systems.system import Symbol

Codes = npt.NDArray[np.int32]

UNKNOWN = -1
MISSING = -2


class SymbolTable:
    """The symbols of a system as texts, in the order of their codes."""

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self.names = [_text(symbol) for symbol in symbols]
        self.are_numbers = not any(isinstance(symbol, str) for symbol in symbols)
        self._texts = pa.array(self.names, pa.string())
        seen: dict[str, Symbol] = {}
        for symbol, name in zip(symbols, self.names, strict=True):
            if name in seen:
                raise InvalidSystemError(
                    f"the symbols {seen[name]!r} and {symbol!r} are the same text in a file. Rename one of them."
                )
            seen[name] = symbol

    def encode(self, values: pa.Array) -> Codes:
        """The code of each value; UNKNOWN for a symbol that the system does not have, MISSING for a null."""
        encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
        found = pc.index_in(encoded.dictionary.cast(pa.string()), value_set=self._texts)
        codes = np.append(found.fill_null(UNKNOWN).to_numpy(), np.int32(MISSING))
        # The last entry stands for nulls.
        places = encoded.indices.fill_null(len(codes) - 1).to_numpy()
        taken: Codes = codes[places].astype(np.int32)
        return taken

    def decode(self, codes: pa.Array, kind: pa.DataType) -> pa.Array:
        """The symbols with these codes, as values of a type from `written_type`."""
        return self._texts.cast(kind).take(codes)

    def take(self, texts: Sequence[str], codes: pa.Array) -> pa.Array:
        """For each code the text that stands for its symbol in some format."""
        return pa.array(texts, pa.string()).take(codes)

    def written_type(self, read: pa.DataType) -> pa.DataType:
        """The type as it was read, if every symbol of the system can be written in it; otherwise text.

        That depends on the system and on the file's declared type, not on the words in the file.
        """
        if pa.types.is_integer(read):
            try:
                if self._texts.cast(read).cast(pa.string()).equals(self._texts):
                    return read
            except pa.ArrowInvalid:
                pass
        return pa.string()


def holds_symbols(kind: pa.DataType) -> bool:
    """Can values of this type be symbols?"""
    if pa.types.is_dictionary(kind):
        return holds_symbols(kind.value_type)
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_null(kind)
    )


def _text(symbol: Symbol) -> str:
    if isinstance(symbol, str):
        return symbol
    if not isinstance(symbol, (bool, np.bool_)):
        try:
            return str(operator.index(symbol))  # type: ignore[arg-type]
        except TypeError:
            pass
    raise InvalidSystemError(f"the symbol {symbol!r} cannot stand in a file: use texts or whole numbers")
