"""The public system from files of its own. It is never learned from sensitive words.

    read_alphabet    text, one symbol a line; or a column of a CSV file
    read_edges       CSV with the columns `from` and `to`, or others: which symbol may follow which
    read_symbols     symbols with commas between, or a text file, one a line: where words may begin or end
    read_chain       JSON, as `MarkovChain.to_json` writes it
    read_model       the same for a private model, with its guarantee and the forecasts of its rows
    read_sequences   a private model of sequences
    read_automaton   CSV or JSON: which symbol leads from which state to which
    read_row_sizes   CSV with the columns `state` and `records`: how large a curator expects the rows of a model to be
    read_coordinates CSV with the columns `symbol`, `x` and `y`: where each symbol stands in a picture
    support_of       what may follow what in a system, as a table over given states, for a model
    successors_of    how many symbols may follow each of given states, for the plan of a model

An automaton in CSV has the columns `from`, `symbol` and `to`. A row with `to` alone names a state where words may
begin, a row with `from` alone one where they may end (if there is none, they may end anywhere):

    from,symbol,to
    ,,idle
    idle,start,busy
    busy,stop,idle
    idle,,

The same in JSON:

    {"moves": [["idle", "start", "busy"], ["busy", "stop", "idle"]], "initial": ["idle"], "accepting": ["idle"]}

All symbols and states are texts.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from pathveil.errors import FileItselfError, InvalidParameterError, InvalidSystemError, PathVeilError
from pathveil.models.control import PrivateMDP
from pathveil.models.model_file import model_parts
from pathveil.models.saved_model import mdp_in, sequences_in
from pathveil.models.sequences import PrivateSequences, PrivateSequencesByGroup
from pathveil.numerics.arrays import BoolArray, IntArray
from pathveil.privacy.guarantee import Guarantee
from pathveil.systems.alphabet import Alphabet
from pathveil.systems.automaton import Automaton
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import System

Made = TypeVar("Made")

_DELIMITERS = ",;\t|"


def split_columns(text: str, count: int) -> tuple[Path, tuple[str, ...] | None]:
    """A file, and the names of its columns where they follow a colon: `roads.csv:source,target`.

    A file whose own name has a colon in it is found first. Names with commas stand in double quotes, as in CSV.
    """
    if not Path(text).exists():
        for place, letter in enumerate(text):
            if letter == ":" and Path(text[:place]).is_file():
                columns = tuple(next(csv.reader([text[place + 1 :]]), ()))
                if len(columns) != count or not all(columns):
                    what = (
                        "the name of a column" if count == 1 else f"the names of {count} columns, a comma between them"
                    )
                    raise InvalidParameterError(
                        f"{text}: after the colon should stand {what}, not {text[place + 1 :]!r}"
                    )
                return Path(text[:place]), columns
    return Path(text), None


def read_symbols(text: str) -> tuple[str, ...]:
    """The symbols in a text file, one a line; where there is no such file, the text itself, cut at its commas."""
    if Path(text).is_file():
        return tuple(map(str, read_alphabet(text).symbols))
    return tuple(part.strip() for part in text.split(","))


def read_alphabet(path: str | Path, column: str | None = None) -> Alphabet:
    """Every word over the symbols: one symbol a line, or what stands in a column of a CSV file, each value once."""
    if column is not None:
        values = [value for _, (value,) in _rows(path, (column,)) if value]
        if not values:
            raise InvalidSystemError(f"{path}: the column {column!r} is empty")
        return Alphabet(dict.fromkeys(values))
    _require_list(path)
    lines = _text(path).splitlines()
    seen: dict[str, int] = {}
    for number, symbol in enumerate(lines, start=1):
        if not symbol.strip():
            raise InvalidSystemError(f"{path}, line {number}: the line is empty; write one symbol on each line")
        if symbol in seen:
            raise InvalidSystemError(
                f"{path}, line {number}: the symbol {symbol!r} is on line {seen[symbol]} already. Remove one of them."
            )
        seen[symbol] = number
    if not seen:
        raise InvalidSystemError(f"{path}: the file is empty; write one symbol on each line")
    return Alphabet(seen)


def _require_list(path: str | Path) -> None:
    """An error if the name says that the file is no list, one symbol a line: its lines would become symbols."""
    ending = Path(path).suffix.lower()
    if ending in (".csv", ".tsv"):
        header = (_text(path).splitlines() or [""])[0]
        named = max((next(csv.reader([header], delimiter=one), []) for one in _DELIMITERS), key=len)
        raise InvalidSystemError(
            f"{path}: which column of this table holds the symbols: {', '.join(map(repr, named))}? Name it after a "
            f"colon ({path}:COLUMN), or list the symbols in a .txt file, one a line."
        )
    if ending in (".json", ".geojson"):
        raise InvalidSystemError(
            f"{path}: this is JSON and no list of symbols, one a line. List them in a .txt file, or in a column of a "
            "CSV file; files from `pathveil system` and `pathveil model` have options of their own."
        )


def read_edges(
    path: str | Path,
    initial: Any = None,
    final: Any = None,
    columns: tuple[str, str] = ("from", "to"),
    *,
    both_ways: bool = False,
) -> MarkovChain:
    """The chain whose edges are the rows of a CSV file; two of its columns say from where to where.

    With `both_ways` each row also stands for the way back, as in a list of streets without directions.
    """
    edges = []
    for number, (origin, destination) in _rows(path, columns):
        if not origin or not destination:
            raise InvalidSystemError(f"{path}, line {number}: an edge needs both {columns[0]!r} and {columns[1]!r}")
        edges.append((origin, destination))
    if both_ways:
        edges += [(destination, origin) for origin, destination in edges]
    return _named(path, lambda: MarkovChain.from_edges(edges, initial=initial, final=final))


def read_chain(path: str | Path) -> MarkovChain:
    """A chain that was saved with `to_json`."""
    text = _chain_text(path)
    return _named(path, lambda: MarkovChain.from_json(text))


def read_model(path: str | Path) -> tuple[MarkovChain, Guarantee | None, dict[str, Any] | None]:
    """A chain, and if it is a private model, what was promised and the forecasts of its rows."""
    text = _chain_text(path)
    return _named(path, lambda: model_parts(text))


def read_sequences(path: str | Path) -> PrivateSequences | PrivateSequencesByGroup | None:
    """A private model of sequences, or those of groups; None where the file is, or should be, that of a chain."""
    text = _text(path)
    return _named(path, lambda: sequences_in(text))


def read_mdp(path: str | Path) -> PrivateMDP | None:
    """A private decision process; None where the file is, or should be, another model."""
    text = _text(path)
    return _named(path, lambda: mdp_in(text))


def _chain_text(path: str | Path) -> str:
    text = _text(path)
    if not text.lstrip().startswith("{"):  # `from_json` would take it for the name of another file
        raise InvalidSystemError(f"{path}: this is not the JSON of a chain, which begins with a brace")
    return text


def read_automaton(path: str | Path) -> Automaton:
    """A finite automaton, deterministic or not, from CSV or (where the name ends in `.json`) from JSON."""
    moves, initial, accepting = (_automaton_json if Path(path).suffix.lower() == ".json" else _automaton_csv)(path)
    if not initial:
        raise InvalidSystemError(f"{path}: no state is named where words begin")
    targets: dict[tuple[Hashable, Hashable], set[str]] = {}
    for origin, symbol, destination in moves:
        targets.setdefault((origin, symbol), set()).add(destination)
    return _named(path, lambda: Automaton(targets, initial=initial, accepting=accepting or None))


def read_steps_possible(
    path: str | Path, states: Sequence[Hashable], actions: Sequence[Hashable], columns: tuple[str, str, str]
) -> tuple[BoolArray, BoolArray]:
    """Which steps can occur, from a CSV file of them: [state, action] and [state, action, next]."""
    place = {str(state): i for i, state in enumerate(states)}
    deed = {str(action): i for i, action in enumerate(actions)}
    support: BoolArray = np.zeros((len(place), len(deed), len(place)), dtype=bool)
    for number, (origin, action, destination) in _rows(path, columns):
        for name, known, what in ((origin, place, "state"), (action, deed, "action"), (destination, place, "state")):
            if name not in known:
                raise InvalidSystemError(f"{path}, line {number}: {name!r} is not one of the public {what}s")
        support[place[origin], deed[action], place[destination]] = True
    return np.asarray(support.any(axis=2)), support


def read_row_sizes(path: str | Path) -> dict[str, int]:
    """The declared number of transitions from each state, in the order of the file."""
    sizes: dict[str, int] = {}
    for number, (state, records) in _rows(path, ("state", "records")):
        if not state or state in sizes:
            problem = f"the state {state!r} is there twice" if state else "the state is missing"
            raise InvalidSystemError(f"{path}, line {number}: {problem}; write one row for each state")
        records = records.strip()
        if not records.isdecimal() or len(records) > 15:
            raise InvalidSystemError(
                f"{path}, line {number}: records is {records!r}: it must be a whole number below 10^15"
            )
        sizes[state] = int(records)
    if not any(sizes.values()):
        raise InvalidSystemError(f"{path}: there is no row with records in it")
    return sizes


def read_length_counts(path: str | Path) -> dict[int, float]:
    """How many words have each length, as declared: CSV with the columns length,words (shares will do as well)."""
    counts: dict[int, float] = {}
    for number, (length, words) in _rows(path, ("length", "words")):
        length = length.strip()
        if not length.isdecimal() or len(length) > 7 or int(length) < 1:
            raise InvalidSystemError(
                f"{path}, line {number}: length is {length!r}: it must be a whole number from 1 on"
            )
        if int(length) in counts:
            raise InvalidSystemError(f"{path}, line {number}: the length {length} is there twice")
        try:
            count = float(words)
        except ValueError:
            count = math.nan
        if not (math.isfinite(count) and count > 0):
            raise InvalidSystemError(f"{path}, line {number}: words is {words!r}: it must be a positive number")
        counts[int(length)] = count
    if not counts:
        raise InvalidSystemError(f"{path}: there is no row with a length in it")
    return counts


def read_coordinates(
    path: str | Path, columns: tuple[str, ...] = ("symbol", "x", "y")
) -> dict[str, tuple[float, float]]:
    """Where each symbol lies: CSV with the columns symbol,x,y (longitude and latitude make a map)."""
    places: dict[str, tuple[float, float]] = {}
    for number, (symbol, x, y) in _rows(path, columns):
        try:
            place = float(x), float(y)
        except ValueError:
            place = (math.nan, math.nan)
        if not all(math.isfinite(value) for value in place):
            raise InvalidSystemError(f"{path}, line {number}: x is {x!r} and y is {y!r}: both must be numbers")
        if symbol in places:
            raise InvalidSystemError(f"{path}, line {number}: the symbol {symbol!r} is there twice")
        places[symbol] = place
    return places


def support_of(system: System, states: Sequence[Hashable], path: str | Path) -> BoolArray:
    """Which transitions between public states can occur: a row and a column for each state.

    The system is from the file `path`; all its symbols must be among the states.
    """
    table: BoolArray = sparse_support_of(system, states, path).toarray()
    return table


def sparse_support_of(system: System, states: Sequence[Hashable], path: str | Path) -> sparse.csr_array:
    """The same for many states of which few can follow each other."""
    number = {state: i for i, state in enumerate(states)}
    for state in system.symbols:
        if state not in number:
            raise InvalidParameterError(f"{path}: {state!r} is not among the states. Add it there, or remove the edge.")
    codes = np.array([number[state] for state in system.symbols])
    origins, destinations = _followers(system)
    ones = np.ones(len(origins), dtype=bool)
    return sparse.csr_array((ones, (codes[origins], codes[destinations])), shape=(len(states), len(states)))


def successors_of(system: System, states: Collection[str], path: str | Path) -> list[int]:
    """How many states can follow each state of a plan for a model. The system is from the file `path`."""
    counts = np.bincount(_followers(system)[0], minlength=len(system.symbols)).tolist()
    followers = dict(zip(system.symbols, counts, strict=True))
    for state in followers:
        if state not in states:
            raise InvalidParameterError(f"{path}: {state!r} is not among the states of --rows. Add it there.")
    for state in states:
        if not followers.get(state):
            raise InvalidParameterError(f"{path}: nothing can follow {state!r}. Add an edge, or remove its row.")
    return [followers[state] for state in states]


def _followers(system: System) -> tuple[IntArray, IntArray]:
    """The pairs of codes (a, b) such that b can follow a in some state of the system."""
    compiled = system.compiled
    ones = np.ones(compiled.edge_count)
    shape = (compiled.symbol_count, compiled.state_count)
    entering = sparse.csr_array((ones, (compiled.labels, compiled.targets)), shape=shape)
    leaving = sparse.csr_array((ones, (compiled.sources, compiled.labels)), shape=shape[::-1])
    origins, destinations = (entering @ leaving).nonzero()
    return origins.astype(np.int64), destinations.astype(np.int64)


_Parts = tuple[list[tuple[str, str, str]], list[str], list[str]]


def _automaton_csv(path: str | Path) -> _Parts:
    moves, initial, accepting = [], [], []
    for number, (origin, symbol, destination) in _rows(path, ("from", "symbol", "to")):
        if origin and symbol and destination:
            moves.append((origin, symbol, destination))
        elif destination and not origin and not symbol:
            initial.append(destination)
        elif origin and not symbol and not destination:
            accepting.append(origin)
        else:
            raise InvalidSystemError(
                f"{path}, line {number}: a row has 'from', 'symbol' and 'to'; or 'to' alone, where words may begin; or "
                "'from' alone, where they may end"
            )
    return moves, initial, accepting


def _automaton_json(path: str | Path) -> _Parts:
    try:
        document = json.loads(_text(path))
    except (ValueError, RecursionError) as problem:
        raise InvalidSystemError(f"{path}: this is not JSON ({problem})") from None
    if not isinstance(document, dict) or not isinstance(document.get("moves"), list):
        raise InvalidSystemError(f'{path}: an automaton is an object with "moves", "initial" and "accepting"')
    moves = []
    for number, move in enumerate(document["moves"], start=1):
        if not isinstance(move, list) or len(move) != 3 or not all(isinstance(part, str) for part in move):
            raise InvalidSystemError(f"{path}, move {number}: a move is [from, symbol, to], three texts, not {move!r}")
        moves.append((move[0], move[1], move[2]))
    return moves, _states(path, document, "initial"), _states(path, document, "accepting")


def _states(path: str | Path, document: dict[str, Any], name: str) -> list[str]:
    listed = document.get(name, [])
    states = [listed] if isinstance(listed, str) else listed
    if not isinstance(states, list) or not all(isinstance(state, str) for state in states):
        raise InvalidSystemError(f"{path}: {name!r} is a state or a list of states, all of them texts")
    return states


def _rows(path: str | Path, columns: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """The values of the columns in each row, with the number of the line."""
    lines = _text(path).splitlines(keepends=True)
    try:
        # The delimiter is the one that makes the wanted columns appear.
        for delimiter in _DELIMITERS:
            reader = csv.reader(lines, strict=True, delimiter=delimiter)
            if set(columns) <= set(header := next(reader, [])):
                break
        else:
            reader = csv.reader(lines, strict=True)
            header = next(reader, [])
        for column in columns:
            if header.count(column) != 1:
                raise InvalidSystemError(
                    f"{path}: the first line must name the columns {', '.join(columns)} once each, not {header}. "
                    "Columns with other names are given after a colon, as in FILE:source,target."
                )
        places = [header.index(column) for column in columns]
        for row in reader:
            if not row:
                continue
            if len(row) != len(header):
                raise InvalidSystemError(f"{path}, line {reader.line_num}: {len(row)} values for {len(header)} columns")
            yield reader.line_num, [row[place] for place in places]
    except csv.Error as problem:
        raise InvalidSystemError(f"{path}, line {reader.line_num}: this is not CSV ({problem})") from None


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise FileItselfError(f"{path}: this is not UTF-8. Save the file as UTF-8.") from None
    except OSError as problem:
        raise FileItselfError(f"{path}: cannot be read ({problem.strerror or problem})") from None


def _named(path: str | Path, make: Callable[[], Made]) -> Made:
    """An error about the system says which file it came from."""
    try:
        return make()
    except PathVeilError as problem:
        raise type(problem)(f"{path}: {problem}") from None
    except RecursionError:
        raise InvalidSystemError(f"{path}: the lists in this file are nested thousands deep; no system is") from None
