"""Whose word it is: one name for each user, however files spell it.

A user is a text, a number or a truth value, and two of them are the same user if they are written the same:

- what is written like a number is that number, in its shortest plain form: 7, 7.0, 7e0 and the text "7" are "7", -0.0
  is "0", and whole numbers keep all of their digits. "007" and "+7" are not how numbers are written: they stay texts;
- truth values are "true" and "false", dates "2024-12-31", and other texts are what they are;
- nothing else is a user: not a number, infinite, a time, a list, an object, bytes. The row is bad then. So is it if a
  floating-point number has more than 15 digits: whoever wrote or read the file may have rounded it, and one person
  would have two names.

So the same rows are the same users' in every format: CSV has no types, JSON writes 7.0 for what Parquet calls 7. Where
two people are taken for one by this, that is the safe direction: at most k words of the two together are released,
and so at most k of each. The other way round, one person with two names would get 2k.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathveil.errors import DataFileError

# As JSON writes numbers. (Longer exponents stay texts.)
_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,15}))?")
_NOT_SHORTEST = r"^-?[0-9]+(\.|[eE])|^-0$"  # numbers that may be written otherwise look like this
_EXACT_DIGITS = 15  # of a decimal number that survive floating point
_LONGEST = 400  # zeros in a plain form: enough for every floating-point number


@dataclass(frozen=True)
class Users:
    """A name for each row, or null, and what is wrong with some of the rows."""

    names: pa.Array
    problems: dict[int, str] = field(default_factory=dict)


def users_of(values: pa.Array, column: str, are_json: bool) -> Users:
    """The users in a column, which errors call `column`. With `are_json` values are JSON texts, quotes and all."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return users_of(values.dictionary_decode(), column, are_json)
    if are_json:
        return _each(values, _from_json)
    if pa.types.is_floating(kind):
        return _each(pa.array(map(str, values.to_numpy(zero_copy_only=False)), mask=_nulls(values)), _from_float)
    if pa.types.is_decimal(kind):
        return _each(pa.array(map(str, values.to_pylist()), mask=_nulls(values)), shortest_form)
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_date(kind) or pa.types.is_null(kind):
        return Users(values.cast(pa.string()))
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        what = f"{column}, row 1 and all others: a user is a text, a number or a truth value"
        raise DataFileError(f"{what}, not {kind}. Choose another column.", without_content=what)
    texts = values.cast(pa.string())
    if pc.any(pc.match_substring_regex(texts, _NOT_SHORTEST)).as_py():
        return _each(texts, shortest_form)
    return Users(texts)


def shortest_form(text: str) -> str:
    """A number in its shortest plain form; any other text as it is."""
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    sign, whole, fraction, power = (part or "" for part in number.groups())
    digits = (whole + fraction).rstrip("0")
    exponent = int(power or 0) + len(whole) - len(digits)  # the number is `digits` times ten to this power
    digits = digits.lstrip("0")
    if not digits:
        return "0"
    if abs(exponent) > _LONGEST:
        return f"{sign}{digits}e{exponent}"
    if exponent >= 0:
        return sign + digits + "0" * exponent
    padded = digits.rjust(1 - exponent, "0")
    return f"{sign}{padded[:exponent]}.{padded[exponent:]}"


def _each(texts: pa.Array, name_of: Callable[[str], str | None]) -> Users:
    """What a function says of every distinct text."""
    encoded = texts.dictionary_encode()
    names: list[str | None] = []
    wrong: dict[int, str] = {}
    for code, text in enumerate(encoded.dictionary.to_pylist()):
        try:
            names.append(name_of(text))
        except _NoUserError as problem:
            names.append(None)
            wrong[code] = str(problem)
    problems = {}
    if wrong:
        codes = encoded.indices.fill_null(-1).to_numpy()
        problems = {int(row): wrong[int(codes[row])] for row in np.flatnonzero(np.isin(codes, list(wrong)))}
    return Users(pa.array(names, pa.string()).take(encoded.indices), problems)


class _NoUserError(Exception):
    """Such a value names nobody."""


def _from_float(text: str) -> str:
    if text.lstrip("+-").lower() in ("nan", "inf", "infinity"):
        raise _NoUserError("the user is not a number that can be written")
    mantissa = text.lower().partition("e")[0]
    if len(mantissa.lstrip("-").replace(".", "").strip("0")) > _EXACT_DIGITS:
        raise _NoUserError("the user is a floating-point number of more than 15 digits. Write it as a text")
    return shortest_form(text)


def _from_json(text: str) -> str | None:
    if text == "null":
        return None
    if text[0] in "[{":
        raise _NoUserError("the user is a list or an object, not a text, a number or a truth value")
    if text[0] == '"':
        return shortest_form(str(json.loads(text)))  # DuckDB has refused what is not UTF-8
    is_whole = text.lstrip("-").isdigit()  # DuckDB keeps all digits of these, and rounds the others
    return shortest_form(text) if is_whole else _from_float(text)


def _nulls(values: pa.Array) -> np.ndarray:
    return np.asarray(values.is_null().to_numpy(zero_copy_only=False))
