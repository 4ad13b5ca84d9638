"""One symbol from the values of several columns, and the values back from the symbol.

A symbol of k columns has k - 1 joiners in it, so that it can be taken apart in one way only. A value with a joiner in
it would make a symbol with more of them, which is none of the public ones: its word is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from pathveil.data.symbols import SymbolTable
from pathveil.errors import InvalidParameterError, InvalidSystemError

JOINER = "+"


def checked_joiner(joiner: str, columns: Sequence[str]) -> None:
    """Wrong use if there is no column, one of them twice, or nothing to put between their values."""
    if not columns or len(set(columns)) < len(columns):
        raise InvalidParameterError("`symbol`: name at least one column, and none of them twice")
    if not isinstance(joiner, str) or not joiner:
        raise InvalidParameterError(f"`joiner` is a text that stands between values, such as '+', not {joiner!r}")


def joined(aliases: Sequence[str], joiner: str) -> str:
    """SQL for the symbol in one or several columns; null where a value is missing."""
    if len(aliases) == 1:
        return aliases[0]
    between = " || '" + joiner.replace("'", "''") + "' || "
    return between.join(f"CAST({alias} AS VARCHAR)" for alias in aliases)


def require_joined(symbols: SymbolTable, joiner: str, columns: int) -> None:
    """An error if a public symbol could not have come from so many columns, or from them in more than one way."""
    for name in symbols.names if columns > 1 else ():
        if len(name.split(joiner)) != columns or not all(name.split(joiner)):
            raise InvalidSystemError(
                f"the symbol {name!r} is not made of {columns} values with {joiner!r} between them. Correct the public "
                "system, or choose another `joiner` that occurs in no value."
            )
