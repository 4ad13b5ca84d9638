"""Markov chains as JSON: what is written is what is read, bit for bit.

The file is one object:

    format, version   "pathveil Markov chain", 1
    states            strings, numbers, true, false and null as they are; a tuple is {"tuple": [...]}; an infinite
                      number or one that is none is {"float": "inf"}
    transitions       for each state {"to": [numbers of states, from 0], "probability": [...]}
    initial           null, {"after": number} for a public state before the word, or {"among": [numbers]}
    final             null or {"among": [numbers]}
    guarantee         null or an object: what was promised when the chain was made from sensitive data

Numbers are written with as many digits as it takes to read the same floating-point number again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pathveil.errors import InvalidParameterError, InvalidSystemError
from pathveil.systems.system import Symbol, unique_symbols

_FORMAT = "pathveil Markov chain"
_VERSION = 1
_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class ChainParts:
    """What a file holds. `after`, `first` and `final` are numbers of states; None means no restriction."""

    states: tuple[Symbol, ...]
    matrix: sparse.csr_array
    after: int | None
    first: list[int] | None
    final: list[int] | None
    guarantee: Mapping[str, Any] | None


def write(parts: ChainParts) -> str:
    """The parts as JSON text."""
    P = parts.matrix.copy()
    P.sort_indices()
    rows = [slice(P.indptr[i], P.indptr[i + 1]) for i in range(len(parts.states))]
    first = None if parts.first is None else {"among": parts.first}
    try:
        guarantee = None if parts.guarantee is None else json.dumps(dict(parts.guarantee), allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise InvalidParameterError(f"the guarantee cannot be written as JSON: {problem}") from None
    return json.dumps(
        {
            "format": _FORMAT,
            "version": _VERSION,
            "states": [encoded(state) for state in parts.states],
            "transitions": [{"to": P.indices[row].tolist(), "probability": P.data[row].tolist()} for row in rows],
            "initial": first if parts.after is None else {"after": parts.after},
            "final": None if parts.final is None else {"among": parts.final},
            "guarantee": None if guarantee is None else json.loads(guarantee),
        }
    )


def read(text: str) -> ChainParts:
    """The parts of a file, checked one by one; the caller checks the rows as those of any other matrix."""
    try:
        document = json.loads(text)
    except ValueError as problem:
        raise InvalidSystemError(f"this is not JSON: {problem}") from None
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise InvalidSystemError(f"this JSON is not a saved chain: its 'format' would be {_FORMAT!r}")
    if document.get("version") != _VERSION:
        raise InvalidSystemError(
            f"the chain was saved in version {document.get('version')!r} of the format; this release reads version "
            f"{_VERSION}. Load it with the release of PathVeil that saved it, or a newer one."
        )
    listed = _field(document, "states", list)
    states = unique_symbols([decoded(state, f"state number {i + 1}") for i, state in enumerate(listed)], "states")
    n = len(states)
    initial = _field(document, "initial", dict, type(None))
    after = first = None
    if initial is not None and "after" in initial:
        [after] = _numbers([initial["after"]], n, "initial")
    elif initial is not None:
        first = _numbers(_field(initial, "among", list), n, "initial")
    final = _field(document, "final", dict, type(None))
    return ChainParts(
        states=states,
        matrix=_matrix(_field(document, "transitions", list), n),
        after=after,
        first=first,
        final=None if final is None else _numbers(_field(final, "among", list), n, "final"),
        guarantee=_field(document, "guarantee", dict, type(None)),
    )


def _matrix(rows: list[Any], n: int) -> sparse.csr_array:
    if len(rows) != n:
        raise InvalidSystemError(f"saved chain: {n} states, but {len(rows)} rows of transitions")
    targets: list[int] = []
    values: list[float] = []
    offsets = [0]
    for i, row in enumerate(rows):
        where = f"row {i + 1} of the transitions"
        if not isinstance(row, dict):
            raise InvalidSystemError(f"saved chain: {where} is {row!r}, not an object")
        entered = _numbers(_field(row, "to", list), n, where)
        weights = _field(row, "probability", list)
        if len(entered) != len(weights) or len(set(entered)) != len(entered):
            raise InvalidSystemError(f"saved chain: {where} needs one probability for each state, and no state twice")
        for weight in weights:
            if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 < weight < 2:
                raise InvalidSystemError(f"saved chain: {where} has the probability {weight!r}")
        targets += entered
        values += weights
        offsets.append(len(targets))
    return sparse.csr_array((np.array(values, dtype=float), np.array(targets, dtype=np.int64), offsets), shape=(n, n))


def _field(document: dict[str, Any], name: str, *kinds: type) -> Any:
    if name not in document or not isinstance(document[name], kinds):
        raise InvalidSystemError(f"saved chain: {name!r} is missing or of the wrong kind")
    return document[name]


def _numbers(listed: list[Any], n: int, where: str) -> list[int]:
    for number in listed:
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < n:
            raise InvalidSystemError(f"saved chain: {where} names state number {number!r}, but there are 0 to {n - 1}")
    return listed


def encoded(state: Any) -> Any:
    """A state as JSON can hold it; an error for one that cannot be saved."""
    if isinstance(state, np.generic):
        state = state.item()  # equal to the numpy number, and hashes alike
    if type(state) is tuple:
        return {"tuple": [encoded(part) for part in state]}
    if type(state) not in _PLAIN:
        raise InvalidSystemError(
            f"state {state!r} is a {type(state).__name__}: only strings, numbers, True, False, None and tuples of "
            "these can be saved. Rename the states first."
        )
    return {"float": repr(state)} if isinstance(state, float) and not math.isfinite(state) else state


def decoded(saved: Any, where: str) -> Symbol:
    """The state that was saved so."""
    if isinstance(saved, dict) and list(saved) == ["tuple"] and isinstance(saved["tuple"], list):
        return tuple(decoded(part, where) for part in saved["tuple"])
    if isinstance(saved, dict) and list(saved) == ["float"] and saved["float"] in ("inf", "-inf", "nan"):
        return float(saved["float"])
    if not isinstance(saved, _PLAIN):
        raise InvalidSystemError(f"saved chain: {where} is {saved!r}, which is no state")
    return saved
