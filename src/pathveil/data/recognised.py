"""What a file probably is: where its words, its points and its times stand. Somebody has to look at the guess.

Only the beginning of the file is read, and nothing is released. A guess saves typing and decides nothing: whoever reads
the words afterwards checks every row.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from pathveil.data.database import Database, csv_header, parquet_batches, parquet_schema
from pathveil.data.formats import EventLog, Extra, read_lines
from pathveil.data.sources import DataFile, describe
from pathveil.errors import DataFileError

Kind = Literal["points", "long", "column", "text", "log"]
"""Points on a map; one symbol a row; one word a row; lines of text; an event log."""

_ROWS = 200  # rows that are looked at
_SHOWN = 6
_BEGINNING = 1 << 18  # bytes of a text file in which they must lie
_LONGEST = 120  # characters of a value that are shown
_SEPARATORS = (",", ";", "|", "->", ">", " ")

# Usual names of columns, the best ones first; upper case, blanks and other signs make no difference.
_NAMES: dict[str, tuple[str, ...]] = {
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lon", "lng", "long"),
    "user": ("user", "userid", "uid", "person", "personid", "rider", "driver", "customer", "patient", "who", "device"),
    "case": ("caseconceptname", "caseid", "case", "traceid", "trace", "tripid", "trip", "visit", "session"),
    "time": ("timetimestamp", "timestamp", "completetimestamp", "datetime", "time", "when", "date"),
    "order": ("step", "position", "seq", "index", "number", "nr"),
    "symbol": ("conceptname", "activity", "page", "symbol", "event", "station", "zone", "cell", "state", "url"),
    "column": ("route", "path", "sequence", "seq", "word", "words", "trajectory", "trace", "trip", "pages"),
}


@dataclass(frozen=True)
class Recognised:
    """What the beginning of a file looks like.

    `guess` has names of columns (and a separator) under the names of the commands' options. `rows` are for whoever may
    read the file. `times` are the columns whose values look like times.
    """

    kind: Kind
    format: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    guess: dict[str, str] = field(default_factory=dict)
    times: tuple[str, ...] = ()


def recognise(path: Path) -> Recognised:
    """Look at the first rows of a file; an error where it is none that can be read."""
    file = describe(path)
    if file.format == "text":
        lines = [line for line in next(read_lines(file), pa.array([], pa.string())).slice(0, _ROWS).to_pylist() if line]
        _require_rows(lines, file)
        return Recognised("text", "text", ("line",), _shown([(line,) for line in lines]))
    if file.format == "xes":
        first = next(iter(EventLog().read(Database(Path()), [file], Extra(), True)), None)
        cases = [] if first is None else first.words.slice(0, _ROWS).to_pylist()
        _require_rows(cases, file)
        return Recognised("log", "xes", ("case",), _shown([("  ·  ".join(map(str, case)),) for case in cases]))
    names, rows = _table(file)
    _require_rows(rows, file)
    times = tuple(name for i, name in enumerate(names) if _all(_is_time, (row[i] for row in rows)))
    kind, guess = _guessed(names, rows, times)
    return Recognised(kind, file.format, tuple(names), _shown(rows), guess, times)


def _require_rows(rows: Sequence[object], file: DataFile) -> None:
    if not rows:
        what = f"{file.name}: there is nothing in it"
        raise DataFileError(what, without_content=what)


def _table(file: DataFile) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of the columns and the first rows."""
    if file.format == "parquet":
        names = list(parquet_schema(file).names)
        first = next(iter(parquet_batches(file, names)), None)
        rows = [] if first is None else first.slice(0, _ROWS).to_pylist()
        return names, [tuple(row[name] for name in names) for row in rows]
    lines = list(islice(_lines(file), _ROWS + 1))
    if file.format == "csv":
        delimiter, names = csv_header(file, [])
        try:
            cells = list(csv.reader(lines[1:], delimiter=delimiter))
        except csv.Error as problem:
            what = f"{file.name}: this is no CSV file that can be read"
            raise DataFileError(f"{what} ({problem})", without_content=what) from None
        return names, [tuple(row) for row in cells if len(row) == len(names)]
    objects = []
    for line in lines:
        with suppress(ValueError):
            objects.append(json.loads(line, object_pairs_hook=_with_plain_names))
    found = [one for one in objects if isinstance(one, dict)]
    names = list(dict.fromkeys(str(key) for one in found for key in one))
    return names, [tuple(one.get(name) for name in names) for one in found]


def _with_plain_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; JSON can spell halves of characters, which no page and no command can name."""
    return {name.encode(errors="replace").decode(): value for name, value in pairs}


def _lines(file: DataFile) -> Iterator[str]:
    """The whole lines in the beginning of a text."""
    try:
        with pa.input_stream(str(file.path), compression=file.compression) as stream:
            beginning = bytes(stream.read(_BEGINNING))
    except (pa.ArrowException, OSError) as problem:
        what = f"{file.name}: cannot be read"
        raise DataFileError(f"{what} ({problem})", without_content=what) from None
    if len(beginning) == _BEGINNING:
        beginning = beginning[: beginning.rfind(b"\n") + 1]
    return iter(io.StringIO(beginning.decode("utf-8-sig", "replace")))


def _guessed(
    names: Sequence[str], rows: Sequence[tuple[Any, ...]], times: Sequence[str]
) -> tuple[Kind, dict[str, str]]:
    """The kind of a table, and what its columns probably are."""
    known = {_plain(name): name for name in reversed(names)}

    def named(role: str, among: Sequence[str] = names) -> str | None:
        return next((known[one] for one in _NAMES[role] if one in known and known[one] in among), None)

    values = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    numbers = [name for name in names if _all(_is_number, values[name])]
    when = named("time", times) or next(iter(times), None)
    found = {"user": named("user"), "time": when}
    latitude, longitude = named("latitude", numbers), named("longitude", numbers)
    if latitude and longitude:
        return "points", _given(found | {"latitude": latitude, "longitude": longitude})
    listed = next((name for name in names if _all(lambda value: isinstance(value, list), values[name])), None)
    if listed:
        return "column", _given({"user": named("user"), "column": listed})
    case, symbol = named("case"), named("symbol", [name for name in names if name not in times])
    order = when or named("order", numbers)
    rest = [name for name in names if name not in (case, order, *times)]
    if case is not None and order is not None and rest:
        symbol = symbol if symbol in rest else next((name for name in rest if name not in numbers), rest[0])
        return "long", _given(found | {"case": case, "order": order, "symbol": symbol})
    texts = [name for name in names if name not in numbers and name not in times]
    column = named("column", texts) or next(iter(texts), names[0])
    return "column", _given(
        {"user": named("user"), "column": column, "separator": _separator([str(v) for v in values[column]])}
    )


def _given(found: dict[str, str | None]) -> dict[str, str]:
    return {option: name for option, name in found.items() if name is not None}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _separator(texts: Sequence[str]) -> str:
    """What stands between symbols in most texts."""
    return max(_SEPARATORS, key=lambda one: (sum(one in text for text in texts), -_SEPARATORS.index(one)))


def _all(test: Callable[[Any], bool], values: Iterator[Any] | Sequence[Any]) -> bool:
    """Is it so for all values that are there, and for one at least?"""
    present = [value for value in values if value not in (None, "")]
    return bool(present) and all(map(test, present))


def _is_number(value: Any) -> bool:
    if isinstance(value, int | float):
        return True
    with suppress(TypeError, ValueError):
        float(value)
        return True
    return False


def _is_time(value: Any) -> bool:
    if isinstance(value, datetime):
        return True
    if not isinstance(value, str) or _is_number(value) or len(value) < len("1/1/2000"):
        return False
    with suppress(ValueError):
        datetime.fromisoformat(value)
        return True
    return re.fullmatch(r"\d{1,4}[-/.](\d{1,2}|[A-Za-z]{3,9})[-/.]\d{1,4}([ T,]+\d{1,2}:\d{2}.*)?", value) is not None


def _shown(rows: Sequence[tuple[Any, ...]]) -> tuple[tuple[str, ...], ...]:
    """A few rows as texts, long values shortened."""
    return tuple(tuple(_short(value) for value in row) for row in rows[:_SHOWN])


def _short(value: Any) -> str:
    text = "" if value is None else "  ".join(map(str, value)) if isinstance(value, list) else str(value)
    text = text.encode(errors="replace").decode()  # a page is UTF-8, halves of characters are not
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
