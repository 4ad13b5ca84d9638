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

Codes = npt.NDArray[np.unsignedinteger]

_WIDEST_SPAN = 1 << 16  # numbers that lie no farther apart are looked up in a table


class SymbolTable:
    """The symbols of a system as texts, in the order of their codes.

    What is no symbol has a code too: `unknown` or `missing`, both at least `len(names)`. Codes are as narrow as they
    can be, since all that happens to words takes time and memory in proportion.
    """

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self.names = [_text(symbol) for symbol in symbols]
        self.are_numbers = not any(isinstance(symbol, str) for symbol in symbols)
        self.unknown, self.missing = len(self.names), len(self.names) + 1
        self.code_type: np.dtype[np.unsignedinteger] = np.min_scalar_type(self.missing)
        self._texts = pa.array(self.names, pa.string())
        self._numbers = {int(name): code for code, name in enumerate(self.names) if _is_number(name)}
        self._lookups: dict[pa.DataType, _Lookup | None] = {}
        seen: dict[str, Symbol] = {}
        for symbol, name in zip(symbols, self.names, strict=True):
            if name in seen:
                raise InvalidSystemError(
                    f"the symbols {seen[name]!r} and {symbol!r} are the same text in a file. Rename one of them."
                )
            seen[name] = symbol

    def encode(self, values: pa.Array) -> Codes:
        """The code of each value; `unknown` for a symbol that the system does not have, `missing` for a null."""
        codes: Codes
        lookup = self._lookup(values.type)
        if lookup is not None:
            codes = lookup(values.fill_null(0).to_numpy())
            if values.null_count:
                codes[values.is_null().to_numpy(zero_copy_only=False)] = self.missing
            return codes
        encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
        found = pc.index_in(encoded.dictionary.cast(pa.string()), value_set=self._texts)
        known = np.append(found.fill_null(self.unknown).to_numpy(), self.missing).astype(self.code_type)
        # The last entry stands for nulls.
        codes = np.take(known, encoded.indices.fill_null(len(known) - 1).to_numpy())
        return codes

    def _lookup(self, kind: pa.DataType) -> _Lookup | None:
        """A table for numbers of this type, unless they are better looked up as texts."""
        if kind not in self._lookups:
            self._lookups[kind] = None
            if pa.types.is_integer(kind):
                native = np.dtype(kind.to_pandas_dtype())
                limits = np.iinfo(native)
                held = {number: code for number, code in self._numbers.items() if limits.min <= number <= limits.max}
                if held and max(held) - min(held) < _WIDEST_SPAN:
                    self._lookups[kind] = _Lookup(held, native, self.unknown, self.code_type)
        return self._lookups[kind]

    def decode(self, codes: pa.Array, kind: pa.DataType) -> pa.Array:
        """The symbols with these codes, as values of a type from `written_type`."""
        if pa.types.is_integer(kind):
            return pa.array(np.take(self._texts.cast(kind).to_numpy(), codes.to_numpy()))
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


class _Lookup:
    """The codes of whole numbers that lie close together, all of one type."""

    def __init__(
        self, held: dict[int, int], native: np.dtype[np.integer], unknown: int, code_type: np.dtype[np.unsignedinteger]
    ) -> None:
        self._unsigned = np.dtype(f"u{native.itemsize}")
        lowest = min(held)
        self._lowest = np.array(lowest, native).view(self._unsigned)
        self._codes = np.full(max(held) - lowest + 2, unknown, code_type)  # one more, for all that lies outside
        for number, code in held.items():
            self._codes[number - lowest] = code
        self._counts_up = bool(np.all(self._codes == np.arange(len(self._codes))))

    def __call__(self, values: npt.NDArray[np.integer]) -> Codes:
        # Numbers below the lowest wrap around and become large ones: one comparison finds all that lies outside.
        places = values.view(self._unsigned) - self._lowest
        outside = len(self._codes) - 1
        if outside <= np.iinfo(self._unsigned).max:
            np.minimum(places, self._unsigned.type(outside), out=places)
        codes: Codes = places.astype(self._codes.dtype) if self._counts_up else np.take(self._codes, places)
        return codes


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


def _is_number(name: str) -> bool:
    """Is this how a whole number is written as text? ("07" is not.)"""
    digits = name.removeprefix("-")
    return len(digits) <= 20 and digits.isascii() and digits.isdigit() and str(int(name)) == name


def _text(symbol: Symbol) -> str:
    if isinstance(symbol, str):
        return symbol
    if not isinstance(symbol, (bool, np.bool_)):
        try:
            return str(operator.index(symbol))  # type: ignore[arg-type]
        except TypeError:
            pass
    raise InvalidSystemError(f"the symbol {symbol!r} cannot stand in a file: use texts or whole numbers")
