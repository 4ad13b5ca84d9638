"""A public system in one file, which `--system FILE` gives to every command.

The file is JSON, one object, with what it is in its first lines:

    format, version   "pathveil public system", 1
    about             one sentence for a person who opens the file
    source            where the system came from
    kind              "alphabet", "chain" or "automaton"
    symbols           in their order; a tuple is {"tuple": [...]}, as in the JSON of a chain
    system            of an alphabet nothing; otherwise, with symbols and states as numbers from 0:
                      of a chain {"successors": [[symbols], ...], "after": a symbol or null,
                      "first": [symbols] or null, "last": [symbols] or null},
                      of an automaton {"states": 3, "moves": [[state, symbol, state], ...], "initial": [states],
                      "accepting": [states]}
    coordinates       [x, y] or null for each symbol, in their order; the whole is null where there are none

Whatever else is in the object is kept when the file is read and written again (`more`): a command that makes systems
of its own kind adds what it needs later, such as the cells of a grid. Probabilities are not kept: a private word
depends only on what may follow what. `MarkovChain.to_json` keeps them.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain as joined
from itertools import pairwise
from pathlib import Path
from sys import float_info
from typing import Any

import numpy as np
from scipy import sparse

from pathveil.errors import FileItselfError, InvalidSystemError, PathVeilError
from pathveil.systems import chain_file
from pathveil.systems.alphabet import Alphabet
from pathveil.systems.automaton import Automaton
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import Symbol, System, unique_symbols
from pathveil.systems.transition_system import TransitionSystem

FORMAT = "pathveil public system"
_VERSION = 1
_PARTS = ("format", "version", "about", "source", "kind", "symbols", "system", "coordinates")
_ABOUT = (
    "Which symbols there are and which may follow which. Public: every release shows it, so nothing in it may come "
    "from sensitive data. The commands of pathveil take it as --system FILE."
)

Coordinates = Mapping[Any, tuple[float, float]]


@dataclass(frozen=True)
class SavedSystem:
    """A public system, where it came from, and where its symbols lie, if that is known.

    `coordinates` are (x, y), on a map longitude and latitude; symbols may be missing.
    """

    system: System
    source: str = ""
    coordinates: Coordinates | None = field(default=None, repr=False)
    more: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def map(self) -> Coordinates | None:
        """The coordinates if the states of a chain can all be drawn there; otherwise None."""
        known = self.coordinates or {}
        complete = isinstance(self.system, MarkovChain) and all(symbol in known for symbol in self.system.symbols)
        return known if complete else None

    def to_json(self) -> str:
        """The text of the file."""
        kind, document = _document(self.system)
        known = self.coordinates or {}
        parts = {
            "format": FORMAT,
            "version": _VERSION,
            "about": _ABOUT,
            "source": self.source,
            "kind": kind,
            "symbols": [chain_file.encoded(symbol) for symbol in self.system.symbols],
            "system": document,
            "coordinates": [known.get(symbol) for symbol in self.system.symbols] if known else None,
        }
        # The first lines are for people. Each part is one line, however long.
        lines = (f"{_json(name)}: {_json(part)}" for name, part in {**parts, **self.more}.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @classmethod
    def from_json(cls, text: str) -> SavedSystem:
        """The parts of a file, checked one by one."""
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as problem:
            raise InvalidSystemError(f"this is not JSON ({problem})") from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise InvalidSystemError(
                f"this is not a saved system, whose `format` would be {FORMAT!r}. `pathveil system` writes one; a list "
                "of edges goes to --edges, a chain or a model to --chain."
            )
        if document.get("version") != _VERSION:
            raise InvalidSystemError(
                f"the system was saved in version {document.get('version')!r} of the format; this release reads "
                f"version {_VERSION}. Use the release of PathVeil that saved it, or a newer one."
            )
        source = document.get("source", "")
        if not isinstance(source, str):
            raise InvalidSystemError("`source` is a text that says where the system came from")
        listed = document.get("symbols")
        if not isinstance(listed, list):
            raise InvalidSystemError("`symbols` is missing, or is not a list")
        symbols = unique_symbols(
            chain_file.decoded(symbol, f"symbol number {i + 1}") for i, symbol in enumerate(listed)
        )
        return cls(
            system=_system(document.get("kind"), symbols, document.get("system")),
            source=source,
            coordinates=_coordinates(document.get("coordinates"), symbols),
            more={name: part for name, part in document.items() if name not in _PARTS},
        )

    @classmethod
    def read(cls, path: str | Path) -> SavedSystem:
        """A file that `to_json` was written to."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8-sig"))
        except UnicodeDecodeError:
            raise FileItselfError(f"{path}: this is not UTF-8, as every saved system is") from None
        except OSError as problem:
            raise FileItselfError(f"{path}: cannot be read ({problem.strerror or problem})") from None
        except PathVeilError as problem:
            raise type(problem)(f"{path}: {problem}") from None
        except RecursionError:
            raise InvalidSystemError(
                f"{path}: the lists in this file are nested thousands deep; no system is"
            ) from None


def _json(part: Any) -> str:
    return json.dumps(part, ensure_ascii=False)


def _document(system: System) -> tuple[str, dict[str, Any] | None]:
    if isinstance(system, Alphabet):
        return "alphabet", None
    code = {symbol: i for i, symbol in enumerate(system.symbols)}
    if isinstance(system, MarkovChain):
        matrix = system.matrix.copy()
        matrix.sort_indices()
        targets, bounds = matrix.indices.tolist(), matrix.indptr.tolist()
        restricted = system.initial is not None and not system.starts_after
        return "chain", {
            "successors": [targets[a:b] for a, b in pairwise(bounds)],
            "after": code[system.initial] if system.starts_after else None,
            "first": sorted(code[symbol] for symbol in system.first) if restricted else None,
            "last": sorted(code[symbol] for symbol in system.final) if len(system.final) < len(code) else None,
        }
    if not isinstance(system, Automaton | TransitionSystem):
        raise InvalidSystemError(f"a {type(system).__name__} cannot be saved: make an Automaton of it")
    number = {state: i for i, state in enumerate(system.states)}
    if isinstance(system, Automaton):
        moves = [(key, target) for key, targets in system.moves.items() for target in targets]
    else:
        moves = list(system.moves.items())
    return "automaton", {
        "states": len(number),
        "moves": sorted([number[state], code[symbol], number[target]] for (state, symbol), target in moves),
        "initial": sorted(
            number[state] for state in (system.initial if isinstance(system, Automaton) else [system.initial])
        ),
        "accepting": sorted(number[state] for state in system.accepting),
    }


def _system(kind: Any, symbols: tuple[Symbol, ...], document: Any) -> System:
    if kind == "alphabet":
        return Alphabet(symbols)
    if kind not in ("chain", "automaton") or not isinstance(document, dict):
        raise InvalidSystemError('`kind` is "alphabet", "chain" or "automaton", and the last two need a `system`')
    return (_chain if kind == "chain" else _automaton)(symbols, document)


def _chain(symbols: tuple[Symbol, ...], document: dict[str, Any]) -> MarkovChain:
    n, rows = len(symbols), document.get("successors")
    if not isinstance(rows, list) or len(rows) != n or not all(isinstance(row, list) for row in rows):
        raise InvalidSystemError(f"a chain needs `successors`, one list for each of the {n} symbols")
    targets = _numbers(list(joined.from_iterable(rows)), n, "successors")
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    weights = sparse.csr_array((np.ones(len(targets)), np.array(targets, dtype=np.int64), offsets), shape=(n, n))
    weights.sum_duplicates()
    weights.data[:] = 1.0
    chosen = {
        name: None if document.get(name) is None else [symbols[i] for i in _numbers(document[name], n, name)]
        for name in ("first", "last")
    }
    initial: Any = chosen["first"]
    if document.get("after") is not None:
        [after] = _numbers([document["after"]], n, "after")
        initial = symbols[after]
    return MarkovChain.from_counts(symbols, weights, initial=initial, final=chosen["last"])


def _automaton(symbols: tuple[Symbol, ...], document: dict[str, Any]) -> Automaton:
    states, moves = document.get("states"), document.get("moves")
    if type(states) is not int or not isinstance(moves, list):
        raise InvalidSystemError("an automaton needs a number of `states` and a list of `moves`")
    targets: dict[tuple[Hashable, Symbol], set[int]] = {}
    for i, move in enumerate(moves):
        if not isinstance(move, list) or len(move) != 3:
            raise InvalidSystemError(f"move number {i + 1} is {move!r}, not [state, symbol, state]")
        source, target = _numbers(move[::2], states, f"move number {i + 1}")
        [label] = _numbers(move[1:2], len(symbols), f"move number {i + 1}")
        targets.setdefault((source, symbols[label]), set()).add(target)
    made = Automaton(targets, *(_numbers(document.get(name), states, name) for name in ("initial", "accepting")))
    if set(made.symbols) != set(symbols):
        raise InvalidSystemError("the automaton has symbols that no move writes")
    return made


def _numbers(listed: Any, n: int, where: str) -> list[int]:
    """Numbers of symbols or states, from 0 to n - 1."""
    if not isinstance(listed, list) or not all(type(number) is int and 0 <= number < n for number in listed):
        raise InvalidSystemError(f"{where}: only whole numbers from 0 to {n - 1} can stand here")
    return listed


def _coordinates(listed: Any, symbols: Sequence[Symbol]) -> dict[Symbol, tuple[float, float]] | None:
    if listed is None:
        return None
    if not isinstance(listed, list) or len(listed) != len(symbols):
        raise InvalidSystemError(f"`coordinates` is null, or has one entry for each of the {len(symbols)} symbols")
    places: dict[Symbol, tuple[float, float]] = {}
    for symbol, place in zip(symbols, listed, strict=True):
        if place is None:
            continue
        if not isinstance(place, list) or len(place) != 2 or not all(map(_is_coordinate, place)):
            raise InvalidSystemError(f"the coordinates of {symbol!r} are {place!r}, not [x, y] or null")
        places[symbol] = (float(place[0]), float(place[1]))
    return places


def _is_coordinate(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -float_info.max <= value <= float_info.max
