"""XES event logs (IEEE 1849): a trace is a word, and its events are the symbols, in the order of the file.

XML can be hostile. The parser works in one pass, keeps one batch of traces, and stops at the first document type
declaration: without one there are no entities to expand and no other files to fetch, and XES needs none.

Programs for process mining want a time in every event. Real times are not released, so those that are written are made
up: the first event of every trace is at the beginning of 1970, and one second lies between two events. They depend on
nothing but the place in the trace, and the file says that they are not real. Synthetic words of a model that has
learned times have those of the model instead, and the file says that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathveil.data.database import Database
from pathveil.data.formats.joining import JOINER, checked_joiner, require_joined
from pathveil.data.formats.layout import Extra, Layout, RawWords, Style
from pathveil.data.formats.users import shortest_form
from pathveil.data.sources import DataFile
from pathveil.data.symbols import SymbolTable
from pathveil.errors import DataFileError, InvalidParameterError, InvalidSystemError

NAME, TIME = "concept:name", "time:timestamp"

_BLOCK = 1 << 18
_EVENTS = 1 << 16  # a batch of traces is full when it has this many events
_KINDS = ("string", "date", "int", "float", "boolean", "id")
ATTRIBUTE = pa.struct([("kind", pa.string()), ("value", pa.string())])
"""An attribute of a trace or of an event, as it is read and written."""

_START = datetime(1970, 1, 1, tzinfo=UTC)
_NOT_REAL = (
    "not real: PathVeil made them up, the same in every trace, one second from event to event. Only the order of the "
    "events in a trace means something."
)
_SYNTHETIC = (
    "synthetic: they were drawn from a private model, like the events. Hours of the week and durations are as likely "
    "as the model says; the date is arbitrary."
)
# The extensions of the standard, by the prefix that their attributes have.
_EXTENSIONS = {
    "concept": "Concept",
    "cost": "Cost",
    "identity": "Identity",
    "lifecycle": "Lifecycle",
    "org": "Organizational",
    "semantic": "Semantic",
    "time": "Time",
}


@dataclass(frozen=True)
class EventLog(Layout):
    """An XES log. `symbol` is the attribute of an event that becomes the symbol, and times are attributes of events;
    user, group and kept columns are attributes of traces. In the output, traces are numbered afresh, and events have
    the symbol and a made-up time. (Kept columns of a long table, which have a value for each symbol, are attributes of
    events there.) The values of several attributes make one symbol, with `joiner` between them, and come apart again
    in the output.
    """

    symbol: str | Sequence[str] = NAME
    joiner: str = JOINER

    formats = frozenset({"xes"})
    default_format = "xes"
    symbols_at_a_time = 1 << 17

    def __post_init__(self) -> None:
        checked_joiner(self.joiner, self.symbol_attributes)

    @property
    def symbol_attributes(self) -> tuple[str, ...]:
        """The attribute that is the symbol, or all of them."""
        return (self.symbol,) if isinstance(self.symbol, str) else tuple(self.symbol)

    def columns(self) -> tuple[str, ...]:
        return *self.symbol_attributes, NAME, TIME

    def require_symbols(self, symbols: SymbolTable) -> None:
        require_joined(symbols, self.joiner, len(self.symbol_attributes))

    def require_writable(self, symbols: SymbolTable) -> None:
        self.require_symbols(symbols)
        if TIME in self.symbol_attributes:
            raise InvalidParameterError(
                f"the symbols are values of {TIME!r}, which an event log has for made-up times. Write a table instead: "
                "a .csv, .jsonl or .parquet file."
            )
        for name in symbols.names:
            if any(ord(c) < 32 and c not in "\t\n\r" for c in name) or "\ufffe" in name or "\uffff" in name:
                raise InvalidSystemError(f"the symbol {name!r} has a character that XML cannot hold. Rename it.")

    def read(self, database: Database, files: Sequence[DataFile], extra: Extra, keep_order: bool) -> Iterator[RawWords]:
        for file in files:
            traces = _Traces(file, self.symbol_attributes, self.joiner, extra)
            before = 0
            for batch in traces.batches():
                yield RawWords(*batch, _place_in_traces(file, self.symbol_attributes, before))
                before += len(batch[0])

    def around(self, style: Style) -> tuple[bytes, bytes]:
        symbols = [_attribute_value(name) for name in self.symbol_attributes]
        # A classifier is a list of keys with blanks between them; a key with blanks in it stands in quotes.
        keys = " ".join(symbol if len(symbol.split()) == 1 else f"'{symbol}'" for symbol in symbols)
        usual = "".join(f'<string key="{symbol}" value="UNKNOWN"/>' for symbol in symbols)
        told = _SYNTHETIC if TIME in style.keep else _NOT_REAL
        prefixes = {key.partition(":")[0] for key in (TIME, *self.columns(), *style.keep) if ":" in key}
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f"<!-- The times in this file are {told} -->",
            '<log xes.version="1849.2016" xes.features="" xmlns="http://www.xes-standard.org/">',
            *(
                f'<extension name="{name}" prefix="{prefix}" uri="http://www.xes-standard.org/{prefix}.xesext"/>'
                for prefix, name in _EXTENSIONS.items()
                if prefix in prefixes
            ),
            f'<global scope="trace"><string key="{NAME}" value="UNKNOWN"/></global>',
            f'<global scope="event">{usual}{_time(0)}</global>',
            f'<classifier name="Activity" keys="{keys}"/>',
            f'<string key="{NAME}" value="private words"/>',
            f'<string key="times" value="{told}"/>',
        ]
        return "".join(f"{line}\n" for line in lines).encode(), b"</log>\n"

    def render(self, words: pa.ListArray, kept: Sequence[pa.Array], first: int, style: Style) -> pa.Table:
        names = [f"<event>{self._written(name)}" for name in style.symbols.names]
        offsets = words.offsets.to_numpy() - words.offsets[0].as_py()
        lengths = np.diff(offsets)
        positions = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        made_up = pa.array([_time(position) for position in range(lengths.max(initial=0))], pa.string())
        times = [] if TIME in style.keep else [made_up.take(pa.array(positions))]
        columns = [(name, values, pa.types.is_list(values.type)) for name, values in zip(style.keep, kept, strict=True)]
        events = pc.binary_join_element_wise(
            style.symbols.take(names, words.flatten()),
            *(_attributes(name, values.flatten()) for name, values, of_events in columns if of_events),
            *times,
            "</event>",
            "",
        )
        numbers = pa.array(range(first, first + len(words)), pa.int64()).cast(pa.string())
        traces = pc.binary_join_element_wise(
            f'<trace><string key="{NAME}" value="',
            numbers,
            '"/>',
            *(_attributes(name, values) for name, values, of_events in columns if not of_events),
            pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), events), ""),
            "</trace>\n",
            "",
        )
        return pa.Table.from_arrays([traces], names=["text"])

    def _written(self, symbol: str) -> str:
        """A symbol as attributes of an event."""
        attributes = self.symbol_attributes
        values = [symbol] if len(attributes) == 1 else symbol.split(self.joiner)
        return "".join(
            f'<string key="{_attribute_value(name)}" value="{_attribute_value(value)}"/>'
            for name, value in zip(attributes, values, strict=True)
        )


class _Traces:
    """Collects the traces of one file from the parser's calls."""

    def __init__(self, file: DataFile, symbol: Sequence[str], joiner: str, extra: Extra) -> None:
        self._file, self._symbol, self._joiner, self._extra = file, symbol, joiner, extra
        self._values: dict[str, str | None] = {}  # of the event that is being read
        self._path: list[str] = []
        self._trace: dict[str, tuple[str, str]] = {}
        self._word: list[str | None] = []
        self._words: list[list[str | None]] = []
        self._users: list[str | None] = []
        self._kept: list[list[dict[str, str] | None]] = [[] for _ in extra.keep]
        self._times: list[str | None] = []  # of the trace that is being read
        self._listed_times: list[list[str | None]] = []
        self._groups: list[str | None] = []
        self._events = 0

    def batches(self) -> Iterator[tuple[pa.ListArray, pa.Array | None, tuple[pa.Array, ...]]]:
        parser = expat.ParserCreate(namespace_separator="}")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        try:
            with pa.input_stream(str(self._file.path), compression=self._file.compression) as stream:
                while block := stream.read(_BLOCK):
                    parser.Parse(block, False)
                    if self._events >= _EVENTS:
                        yield self._taken()
                parser.Parse(b"", True)
        except expat.ExpatError as problem:
            what = f"{self._file.name}: this is not well-formed XML"
            raise DataFileError(
                f"{what} ({problem}). Repair the file.",
                without_content=f"{what} (line {problem.lineno}). Repair the file.",
            ) from None
        except (pa.ArrowException, OSError) as problem:
            what = f"{self._file.name}: cannot be read to its end"
            raise DataFileError(f"{what} ({problem})", without_content=what) from None
        except (LookupError, ValueError) as problem:
            if type(problem) not in (LookupError, ValueError):  # the parser's own, about the encoding that is declared
                raise
            raise DataFileError(
                f"{self._file.name}: {problem}. Save the file as UTF-8.",
                without_content=f"{self._file.name}: the encoding that is declared is unknown. Save the file as UTF-8.",
            ) from None
        if self._words:
            yield self._taken()

    def _taken(self) -> tuple[pa.ListArray, pa.Array | None, tuple[pa.Array, ...]]:
        words = pa.array(self._words, pa.list_(pa.string()))
        # Attributes are texts, so there is nothing that could be wrong with one.
        users = None if self._extra.user is None else pa.array(map(_name, self._users), pa.string())
        kept = [pa.array(values, ATTRIBUTE) for values in self._kept]
        if self._extra.time is not None:
            kept.append(pa.array(self._listed_times, pa.list_(pa.string())))
        if self._extra.group is not None:
            kept.append(pa.array(self._groups, pa.string()))
        self._words, self._users, self._events, self._listed_times, self._groups = [], [], 0, [], []
        self._kept = [[] for _ in self._extra.keep]
        return words, users, tuple(kept)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        kind = tag.rpartition("}")[2]
        if not self._path and kind != "log":
            what = f"{self._file.name}: an XES file is one <log>"
            raise DataFileError(f"{what}, not <{kind}>", without_content=what)
        path = self._path
        depth = len(path)
        if depth == 3 and path[2] == "event" and path[1] == "trace":
            if attributes.get("key") == self._extra.time and kind in _KINDS:
                self._times[-1] = attributes.get("value")
            if attributes.get("key") in self._symbol and kind in _KINDS:
                self._values[attributes["key"]] = attributes.get("value")
                values = [value for name in self._symbol if (value := self._values.get(name)) is not None]
                self._word[-1] = self._joiner.join(values) if len(values) == len(self._symbol) else None
        elif depth == 2 and path[1] == "trace":
            if kind == "event":
                self._word.append(None)
                self._times.append(None)
                self._values = {}
            elif kind in _KINDS and "key" in attributes and "value" in attributes:
                self._trace[attributes["key"]] = (kind, attributes["value"])
        elif depth == 1 and kind == "trace":
            self._trace, self._word, self._times = {}, [], []
        path.append(kind)

    def _end(self, _tag: str) -> None:
        if self._path.pop() != "trace" or len(self._path) != 1:
            return
        self._words.append(self._word)
        self._events += len(self._word) + 1
        self._listed_times.append(self._times)
        if self._extra.user is not None:
            self._users.append(self._trace.get(self._extra.user, (None, None))[1])
        if self._extra.group is not None:
            self._groups.append(self._trace.get(self._extra.group, (None, None))[1])
        for name, values in zip(self._extra.keep, self._kept, strict=True):
            found = self._trace.get(name)
            values.append(None if found is None else {"kind": found[0], "value": found[1]})

    def _refuse_doctype(self, *_: Any) -> None:
        what = (
            f"{self._file.name}: the file declares a document type, which can define entities that exhaust memory or "
            "read other files. XES needs none: remove the <!DOCTYPE …> declaration."
        )
        raise DataFileError(what, without_content=what)


def _name(user: str | None) -> str | None:
    return None if user is None else shortest_form(user)


def _time(position: int) -> str:
    """The time that every event at this position of a trace has, written as programs for process mining do."""
    return f'<date key="{TIME}" value="{(_START + timedelta(seconds=position)).isoformat(timespec="milliseconds")}"/>'


def _attribute_value(text: str) -> str:
    return escape(text, {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def _attributes(name: str, values: pa.Array) -> pa.Array:
    if pa.types.is_timestamp(values.type):
        seconds = pc.strftime(values.cast(pa.timestamp("s")), format="%Y-%m-%dT%H:%M:%S")
        return pc.binary_join_element_wise(f'<date key="{name}" value="', seconds, '.000+00:00"/>', "")
    key = _attribute_value(name)
    written = [
        "" if one is None else f'<{one["kind"]} key="{key}" value="{_attribute_value(one["value"])}"/>'
        for one in values.to_pylist()
    ]
    return pa.array(written, pa.string())


def _place_in_traces(file: DataFile, symbol: Sequence[str], before: int) -> Callable[[int, int | None], str]:
    names = " and ".join(map(repr, symbol))

    def place(i: int, position: int | None) -> str:
        at = "" if position is None else f", attribute {names} of event {position + 1}"
        return f"{file.name}, trace {before + i + 1}{at}"

    return place
