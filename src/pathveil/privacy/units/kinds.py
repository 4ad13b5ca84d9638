"""All kinds of units by name, and a unit from what a file says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from math import isfinite
from typing import Any

from pathveil.privacy.units.people import User, UserSymbols
from pathveil.privacy.units.records import Episode, Exchange, Mass, Record, Step, Transition
from pathveil.privacy.units.unit import Unit
from pathveil.privacy.units.words import Edits, MovedSymbols, SameLength, Symbols, Word

_ALL = (
    *(Symbols, MovedSymbols, SameLength, Edits, Word),
    *(User, UserSymbols),
    *(Transition, Step, Episode, Record, Mass, Exchange),
)
_KINDS: dict[str, type[Unit]] = {kind.kind: kind for kind in _ALL}


def unit_from_dict(content: Mapping[str, Any]) -> Unit:
    """A unit from what `Unit.to_dict` wrote; KeyError, TypeError or ValueError for anything else."""
    kind = _KINDS[content["kind"]]
    values = {name: value for name, value in content.items() if name != "kind"}
    if set(values) != {field.name for field in fields(kind)}:
        raise ValueError(f"these are not the fields of the unit {kind.kind!r}")
    for value in values.values():
        if not isinstance(value, bool | int | str | float | None) or (isinstance(value, float) and not isfinite(value)):
            raise TypeError(f"{value!r} is no part of a unit")
    unit = kind(**values)
    if isinstance(unit, Symbols | MovedSymbols | Edits) and not isinstance(unit.feasible, bool):
        raise TypeError("feasible")
    return unit
