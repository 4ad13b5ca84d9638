"""Files for the fuzzing: every shape that the command reads, whole or damaged in a way that files get damaged."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

Words = list[list[str]]
LETTERS = ["a", "b", "c"]

words = st.lists(st.lists(st.sampled_from(LETTERS), min_size=1, max_size=5), min_size=1, max_size=6)


@dataclass(frozen=True)
class Shape:
    """How words stand in a file: its name, its bytes, and the options that say so."""

    name: str
    content: Callable[[Words], bytes]
    options: tuple[str, ...]


def _csv(rows: list[list[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _json_lines(rows: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _parquet(columns: dict[str, object]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def _drivers(found: Words) -> list[str]:
    return [f"d{i % 2}" for i in range(len(found))]


def _delimited(found: Words) -> bytes:
    rows = [[" ".join(w), d, i] for i, (w, d) in enumerate(zip(found, _drivers(found), strict=True))]
    return _csv([["w", "driver", "day"], *rows])


def _long_rows(found: Words) -> list[list[object]]:
    return [[f"c{i}", k + 1, s, f"d{i % 2}", i] for i, word in enumerate(found) for k, s in enumerate(word)]


def _pairs(found: Words) -> list[list[object]]:
    return [list(pair) for word in found for pair in pairwise(word)]


def _xes(found: Words) -> bytes:
    traces = (
        '<trace><string key="driver" value="d1"/>'
        + "".join(f'<event><string key="concept:name" value="{symbol}"/></event>' for symbol in word)
        + "</trace>"
        for word in found
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<log>\n{chr(10).join(traces)}\n</log>\n'.encode()


LONG = ("--case", "case", "--order", "step", "--symbol", "s")
LONG_NAMES = ["case", "step", "s", "driver", "day"]
TABLES = [
    Shape("in.csv", _delimited, ("--column", "w")),
    Shape("in.csv", lambda found: _csv([LONG_NAMES, *_long_rows(found)]), LONG),
    Shape("in.jsonl", lambda found: _json_lines([{"w": w, "driver": "x", "day": 1} for w in found]), ("--column", "w")),
    Shape(
        "in.jsonl",
        lambda found: _json_lines([{"w": ">".join(w), "driver": "x", "day": [1]} for w in found]),
        ("--column", "w", "--separator", ">"),
    ),
    Shape(
        "in.jsonl",
        lambda found: _json_lines([dict(zip(LONG_NAMES, row, strict=True)) for row in _long_rows(found)]),
        LONG,
    ),
    Shape(
        "in.parquet",
        lambda found: _parquet({"w": found, "driver": _drivers(found), "day": list(range(len(found)))}),
        ("--column", "w"),
    ),
    Shape(
        "in.parquet",
        lambda found: _parquet(
            {name: list(values) for name, values in zip(LONG_NAMES, zip(*_long_rows(found), strict=True), strict=True)}
        ),
        LONG,
    ),
]
TEXTS = [
    Shape("in.txt", lambda found: "".join(" ".join(word) + "\n" for word in found).encode(), ()),
    Shape("in.txt", lambda found: "".join("".join(word) + "\n" for word in found).encode(), ("--separator", "")),
    Shape("in.xes", _xes, ()),
]
PAIRS = [
    Shape("in.csv", lambda found: _csv([["o", "d"], *_pairs(found)]), ("--from", "o", "--to", "d")),
    Shape(
        "in.parquet",
        lambda found: _parquet({"o": [p[0] for p in _pairs(found)], "d": [p[1] for p in _pairs(found)]}),
        ("--from", "o", "--to", "d"),
    ),
]

_ODD_TYPES: list[pa.Array] = [
    pa.array([["a"], None, []]),
    pa.array([["a", None], ["b"], ["c"]]),
    pa.array([[1.5], [2.0], [3.0]]),
    pa.array([[["a"]], [["b"]], [["c"]]]),
    pa.array([[True], [False], [True]]),
    pa.array([1.5, float("nan"), 2.0]),
    pa.array([{"a": 1}, {"a": 2}, None]),
    pa.array([b"a", b"\xff", b"c"]),
    pa.array([[b"a"], [b"\xff"], [b"c"]]),
    pa.array([None, None, None]),
    pa.array([[None], [None], [None]]),
    pa.array([1, 2, 3], pa.timestamp("us")),
    pa.array(["a", "b", "a"]).dictionary_encode(),
    pa.array([["a"], ["b"], ["c"]], pa.large_list(pa.large_string())),
    pa.array([["a"], ["b"], ["c"]], pa.list_(pa.string(), 1)),
    pa.array([["a"], ["b"], ["c"]], pa.list_(pa.string_view())),
    pa.array([[("a", 1)], [("b", 2)], []], pa.map_(pa.string(), pa.int64())),
    pa.array([[2**63], [0], [1]], pa.list_(pa.uint64())),
    pa.array(["a", "b", "c"], pa.string()),
    pa.array([], pa.list_(pa.string())),
]


@st.composite
def odd_parquet(draw: st.DrawFn) -> bytes:
    """Columns `w`, `driver` and `day` of types that one does not expect."""
    columns = [draw(st.sampled_from(_ODD_TYPES)) for _ in range(3)]
    rows = min(map(len, columns))
    sink = io.BytesIO()
    pq.write_table(pa.table([column[:rows] for column in columns], names=["w", "driver", "day"]), sink)
    return sink.getvalue()


def _replaced(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda content: content.replace(old, new, 1)


def _doubled_names(content: bytes) -> bytes:
    header, newline, rest = content.partition(b"\n")
    return header + b"," + header + newline + rest


def _last_line_again(content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    return content + lines[-1] if lines else content


# Damage to the text of a file; on other files these do nothing, or something else that is just as wrong.
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "white space": lambda _: b" \n\t\n\n",
    "the first line alone": lambda content: content.partition(b"\n")[0] + b"\n",
    "names stand twice": _doubled_names,
    "last line twice": _last_line_again,
    "byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "Windows line ends": lambda content: content.replace(b"\n", b"\r\n"),
    "old Mac line ends": lambda content: content.replace(b"\n", b"\r"),
    "UTF-16": lambda content: content.decode("latin-1").encode("utf-16"),
    "Latin-1": _replaced(b"a", "ä".encode("latin-1")),
    "an accent": _replaced(b"a", "ä".encode()),
    "a NUL": _replaced(b"a", b"\0"),
    "NULs": lambda content: content.replace(b" ", b"\0"),
    "an open quote": _replaced(b"a", b'"a'),
    "quotes inside": _replaced(b"a", b'a"b"'),
    "a stray delimiter": _replaced(b"a", b"a,b;c"),
    "an unknown symbol": lambda content: content.replace(b"c", b"zebra"),
    "a huge number": lambda content: content.replace(b"1", b"9" * 400),
    "a large exponent": lambda content: content.replace(b"1", b"1e999"),
    "no line end": lambda content: content.rstrip(b"\n"),
    "a very long line": _replaced(b"a", b"a " * 70_000),
    "a very long name": lambda content: b"x" * 200_000 + content,
    "JSON null": _replaced(b'"a"', b"null"),
    "JSON fraction": _replaced(b'"a"', b"1.5"),
    "JSON truth": _replaced(b'"a"', b"true"),
    "JSON object": _replaced(b'"a"', b'{"a": ["a"]}'),
    "JSON nested": _replaced(b'"a"', b"[" * 30 + b'"a"' + b"]" * 30),
    "JSON nested deeply": _replaced(b'"a"', b"[" * 20_000 + b"]" * 20_000),
    "JSON half a pair of surrogates": _replaced(b'"a"', rb'"\ud800"'),
    "JSON list": lambda content: b"[" + content.replace(b"\n", b",\n") + b"]",
    "JSON number": lambda _: b"5\n",
    "JSON text": lambda _: b'"abc"\n',
    "JSON null alone": lambda _: b"null\n",
    "an entity": _replaced(b'"a"', b'"&undefined;"'),
    "a document type": _replaced(b"<log>", b'<!DOCTYPE log [<!ENTITY a "a">]><log>'),
    "an end that is missing": _replaced(b"</trace>", b""),
    "an event without a name": _replaced(b"concept:name", b"org:name"),
    "a trace without events": _replaced(b"</trace>", b"</trace><trace/>"),
    "another root": lambda content: content.replace(b"log>", b"html>"),
    "another encoding by name": _replaced(b"UTF-8", b"EBCDIC-37"),
    "elements nested deeply": _replaced(b"<event>", b"<event>" + b"<list>" * 5_000 + b"</list>" * 5_000),
}


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The content after one or two accidents."""
    for _ in range(draw(st.integers(1, 2))):
        kind = draw(st.sampled_from(["known", "known", "cut", "flip", "insert", "junk"]))
        if kind == "known":
            content = DAMAGE[draw(st.sampled_from(sorted(DAMAGE)))](content)
        elif kind == "junk":
            content = draw(st.binary(max_size=40))
        elif content:
            at = draw(st.integers(0, len(content) - 1))
            if kind == "cut":
                content = content[:at]
            elif kind == "flip":
                content = content[:at] + bytes([content[at] ^ 1 << draw(st.integers(0, 7))]) + content[at + 1 :]
            else:
                content = content[:at] + draw(st.binary(min_size=1, max_size=6)) + content[at:]
    return content


def _zstd(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


@st.composite
def input_file(draw: st.DrawFn, shapes: list[Shape], damage: bool) -> tuple[str, bytes, tuple[str, ...]]:
    """A file of one of the shapes: its name, its bytes, and the options for it."""
    shape = draw(st.sampled_from(shapes))
    name, content = shape.name, shape.content(draw(words))
    odd_columns = damage and shape.options == ("--column", "w") and name.endswith("parquet") and draw(st.booleans())
    if odd_columns:
        content = draw(odd_parquet())
    if damage and not odd_columns and draw(st.integers(0, 5)):
        content = draw(damaged(content))
    packing = "" if name.endswith("parquet") else draw(st.sampled_from(["", "", "", ".gz", ".zst"]))
    if packing:
        content = gzip.compress(content, mtime=0) if packing == ".gz" else _zstd(content)
        if damage and draw(st.integers(0, 2)) == 0:
            content = content[: draw(st.integers(0, len(content)))]
    if damage and draw(st.integers(0, 11)) == 0:
        return (
            draw(st.sampled_from(["in.csv", "in.gz", "in.xes.zst", "in", "in.db", "in.parquet"])),
            content,
            shape.options,
        )
    return name + packing, content, shape.options
