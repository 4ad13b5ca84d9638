"""Small files of every shape, written and read without PathVeil."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import pyarrow as pa
import pyarrow.parquet as pq

import pathveil as pv
from pathveil import data

Words = list[list[str]]


@dataclass(frozen=True)
class Shape:
    """A layout in a format: how to write words, and how to read them back."""

    name: str
    ending: str
    layout: data.Layout
    write: Callable[[Path, Words], None]
    read: Callable[[Path], Words]


def faithful(world: pv.System) -> pv.WordMechanism:
    """A mechanism whose ε is so large that it never errs, so that words can be followed from file to file."""
    return pv.CertifiedExponential(world, epsilon=600.0)


def write_bytes(path: Path, content: bytes) -> None:
    if path.suffix == ".gz":
        content = gzip.compress(content)
    elif path.suffix == ".zst":
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(content)
        content = sink.getvalue().to_pybytes()
    path.write_bytes(content)


def read_text(path: Path) -> str:
    with pa.input_stream(str(path)) as stream:  # takes the compression from the name
        return str(stream.read(), "utf-8")


def write_csv(path: Path, rows: list[list[object]], delimiter: str = ",") -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    write_bytes(path, text.getvalue().encode())


def read_csv(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(read_text(path), newline=""), delimiter=delimiter))


def write_json_lines(path: Path, rows: list[dict[str, object]]) -> None:
    write_bytes(path, "".join(json.dumps(row) + "\n" for row in rows).encode())


def read_json_lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in read_text(path).splitlines()]


def long_rows(words: Words) -> list[tuple[str, int, str]]:
    """Rows of a long table in a scattered order, with orders that are not 1, 2, 3."""
    rows = [(f"case {i:03}", 7 * j + i, symbol) for i, word in enumerate(words) for j, symbol in enumerate(word)]
    return sorted(rows, key=lambda row: (row[1] * 7919 % 31, row[0]))


def words_of_long_rows(rows: list[tuple[int, int, str]]) -> Words:
    """Checks cases 1, 2, 3, ... and orders 1, 2, 3, ... on the way."""
    words: Words = []
    for case, order, symbol in rows:
        if order == 1:
            words.append([])
        words[-1].append(symbol)
        assert (case, order) == (len(words), len(words[-1]))
    return words


def write_xes(path: Path, words: Words, attributes: str = "") -> None:
    def event(symbol: str) -> str:
        return (
            '<event><date key="time:timestamp" value="2024-01-01T00:00:00Z"/>'
            f'<string key="concept:name" value={quoteattr(symbol)}><string key="concept:name" value="nested"/></string>'
            "</event>"
        )

    traces = "".join(
        f'<trace><string key="concept:name" value="person {i}"/>{attributes.format(i=i)}'
        + "".join(map(event, word))
        + "</trace>"
        for i, word in enumerate(words)
    )
    header = '<?xml version="1.0" encoding="UTF-8"?><log xmlns="http://www.xes-standard.org/">'
    globals_ = '<global scope="event"><string key="concept:name" value="default"/></global>'
    write_bytes(path, f"{header}{globals_}{traces}</log>".encode())


def read_xes(path: Path) -> Words:
    tag = "{http://www.xes-standard.org/}"
    log = ElementTree.fromstring(read_text(path))
    traces = log.findall(f"{tag}trace")
    assert [trace.find(f"{tag}string").get("value") for trace in traces] == [str(i + 1) for i in range(len(traces))]
    return [[event.find(f"{tag}string").get("value") for event in trace.findall(f"{tag}event")] for trace in traces]


def _long_csv(path: Path, words: Words) -> None:
    write_csv(path, [["page", "visit", "step", "secret"], *([s, c, o, "x"] for c, o, s in long_rows(words))])


def _long_parquet(path: Path, words: Words) -> None:
    cases, orders, symbols = zip(*long_rows(words), strict=True)
    pq.write_table(pa.table({"visit": cases, "step": orders, "page": symbols, "secret": symbols}), path)


def _long_json(path: Path, words: Words) -> None:
    write_json_lines(path, [{"visit": c, "step": o, "page": s, "secret": 1} for c, o, s in long_rows(words)])


def _read_long(rows: list[dict[str, object]]) -> Words:
    assert all(list(row) == ["visit", "step", "page"] for row in rows)
    return words_of_long_rows([(int(str(r["visit"])), int(str(r["step"])), str(r["page"])) for r in rows])


LONG = data.LongTable(case="visit", order="step", symbol="page")
LISTS = data.ListColumn("route")
ARROWS = data.DelimitedColumn("route", " > ")

SHAPES = [
    Shape(
        "list column",
        ".parquet",
        LISTS,
        lambda path, words: pq.write_table(pa.table({"id": range(len(words)), "route": words}), path),
        lambda path: pq.read_table(path).to_pydict()["route"],
    ),
    Shape(
        "list column",
        ".jsonl",
        LISTS,
        lambda path, words: write_json_lines(path, [{"id": 7, "route": word} for word in words]),
        lambda path: [row["route"] for row in read_json_lines(path)],  # type: ignore[misc]
    ),
    Shape(
        "delimited column",
        ".csv",
        ARROWS,
        lambda path, words: write_csv(path, [["id", "route"], *([i, " > ".join(w)] for i, w in enumerate(words))]),
        lambda path: [row["route"].split(" > ") for row in read_csv(path)],
    ),
    Shape(
        "delimited column",
        ".parquet",
        ARROWS,
        lambda path, words: pq.write_table(pa.table({"route": [" > ".join(word) for word in words]}), path),
        lambda path: [text.split(" > ") for text in pq.read_table(path).to_pydict()["route"]],
    ),
    Shape(
        "delimited column",
        ".jsonl",
        ARROWS,
        lambda path, words: write_json_lines(path, [{"route": " > ".join(word)} for word in words]),
        lambda path: [str(row["route"]).split(" > ") for row in read_json_lines(path)],
    ),
    Shape("long table", ".csv", LONG, _long_csv, lambda path: _read_long(list(read_csv(path)))),  # type: ignore[arg-type]
    Shape("long table", ".parquet", LONG, _long_parquet, lambda path: _read_long(pq.read_table(path).to_pylist())),
    Shape("long table", ".jsonl", LONG, _long_json, lambda path: _read_long(read_json_lines(path))),
    Shape(
        "plain text",
        ".txt",
        data.TextLines(","),
        lambda path, words: write_bytes(path, "".join(",".join(word) + "\r\n" for word in words).encode()),
        lambda path: [line.split(",") for line in read_text(path).splitlines()],
    ),
    Shape("event log", ".xes", data.EventLog(), write_xes, read_xes),
]
COMPRESSED = [
    Shape(shape.name, shape.ending + packed, shape.layout, shape.write, shape.read)
    for shape in SHAPES
    if shape.ending != ".parquet"
    for packed in (".gz", ".zst")
]
