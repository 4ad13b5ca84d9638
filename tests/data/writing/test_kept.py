"""Columns that are released as they are, from every format into every other."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from pathveil import data
from tests.data.files import LISTS, LONG, faithful, read_csv, read_json_lines, write_csv, write_json_lines, write_xes

MECHANISM = faithful(pv.Alphabet("ab"))


def convert(source: Path, layout: data.Layout, ending: str, keep: list[str]) -> Path:
    output = source.parent / f"{source.stem}-out{ending}"
    data.privatize_file(source, layout, MECHANISM, output, keep=keep, keep_order=True, overwrite=True)
    return output


def trace_attributes(path: Path) -> list[list[tuple[str, str, str]]]:
    """Kind, key and value of the attributes of each trace, without its name."""
    traces = ElementTree.parse(path).getroot().findall("{*}trace")
    return [
        [
            (one.tag.split("}")[1], one.attrib["key"], one.attrib["value"])
            for one in trace
            if "key" in one.attrib and one.attrib["key"] != "concept:name"
        ]
        for trace in traces
    ]


def test_json_values_become_attributes_and_texts(tmp_path: Path) -> None:
    values = ["a<b", 'q"', 7, 1.5, True, None, [1, "x"], {"y": None}]
    write_json_lines(tmp_path / "in.jsonl", [{"route": ["a"], "n & m": value} for value in values])
    texts = ["a<b", 'q"', "7", "1.5", "true", None, '[1,"x"]', '{"y":null}']
    kinds = ["string", "string", "int", "float", "boolean", None, "string", "string"]

    def compact(text: str | None) -> str | None:
        return text if text is None else text.replace(" ", "")

    xes = trace_attributes(convert(tmp_path / "in.jsonl", LISTS, ".xes", ["n & m"]))
    found = [None if not one else (one[0][0], one[0][1], compact(one[0][2])) for one in xes]
    assert found == [None if kind is None else (kind, "n & m", text) for kind, text in zip(kinds, texts, strict=True)]
    table = pq.read_table(convert(tmp_path / "in.jsonl", LISTS, ".parquet", ["n & m"]))
    assert [compact(text) for text in table["n & m"].to_pylist()] == texts
    rows = read_csv(convert(tmp_path / "in.jsonl", LISTS, ".csv", ["n & m"]))
    assert [compact(row["n & m"]) for row in rows] == [text or "" for text in texts]


def test_typed_values_become_attributes_and_json(tmp_path: Path) -> None:
    noon = datetime(2024, 1, 2, 12, tzinfo=UTC)
    columns = {
        "route": [["a"], ["b"]],
        "i": pa.array([1, None], pa.int16()),
        "f": [0.5, float("nan")],
        "b": [True, False],
        "t": pa.array([noon, noon], pa.timestamp("us", "UTC")),
        "d": pa.array([noon.date(), None], pa.date32()),
        "s": pa.array(["x", "é"]).dictionary_encode(),
    }
    pq.write_table(pa.table(columns), tmp_path / "in.parquet")
    keep = list(columns)[1:]
    first, second = trace_attributes(convert(tmp_path / "in.parquet", LISTS, ".xes", keep))
    assert first == [
        ("int", "i", "1"),
        ("float", "f", "0.5"),
        ("boolean", "b", "true"),
        ("date", "t", "2024-01-02T12:00:00.000+00:00"),
        ("date", "d", "2024-01-02T00:00:00.000+00:00"),
        ("string", "s", "x"),
    ]
    assert [key for _, key, _ in second] == ["f", "b", "t", "s"]
    rows = read_json_lines(convert(tmp_path / "in.parquet", LISTS, ".jsonl", keep))
    assert [(row["i"], row["f"], row["b"], row["s"]) for row in rows] == [(1, 0.5, True, "x"), (None, None, False, "é")]
    assert str(rows[0]["t"]).startswith("2024-01-02 12:00:00")
    assert [row["i"] for row in read_csv(convert(tmp_path / "in.parquet", LISTS, ".csv", keep))] == ["1", ""]


def test_attributes_of_traces_become_columns_of_every_row(tmp_path: Path) -> None:
    write_xes(tmp_path / "in.xes", [["a", "b"], ["b"]], '<int key="age" value="{i}"/>')
    for ending in (".csv", ".jsonl", ".parquet"):
        output = convert(tmp_path / "in.xes", data.EventLog(), ending, ["age"])
        rows = {
            ".csv": read_csv,
            ".jsonl": read_json_lines,
            ".parquet": lambda path: pq.read_table(path).to_pylist(),
        }[ending](output)
        assert [(str(row["case"]), row["symbol"], row["age"]) for row in rows] == [
            ("1", "a", "0"),
            ("1", "b", "0"),
            ("2", "b", "1"),
        ]


def test_a_value_for_each_symbol_becomes_an_attribute_of_the_event(tmp_path: Path) -> None:
    write_csv(tmp_path / "in.csv", [["visit", "step", "page", "room"], ["v", 2, "b", "x"], ["v", 1, "a", ""]])
    output = convert(tmp_path / "in.csv", LONG, ".xes", ["room"])
    [trace] = ElementTree.parse(output).getroot().findall("{*}trace")
    events = [{one.attrib["key"]: one.attrib["value"] for one in event} for event in trace.findall("{*}event")]
    assert [(event["concept:name"], event.get("room")) for event in events] == [("a", None), ("b", "x")]
    parquet = convert(tmp_path / "in.csv", LONG, ".parquet", ["room"])
    assert pq.read_table(parquet).to_pydict() == {
        "visit": [1, 1],
        "step": [1, 2],
        "page": ["a", "b"],
        "room": [None, "x"],
    }


@pytest.mark.parametrize("value", [[1], b"x", {"y": 1}])
def test_columns_that_only_parquet_can_hold_are_refused(value: object, tmp_path: Path) -> None:
    pq.write_table(pa.table({"route": [["a"]], "other": [value]}), tmp_path / "in.parquet")
    for ending in (".csv", ".jsonl", ".xes"):
        with pytest.raises(pv.InvalidParameterError, match=r"'other' holds .* cannot stand in a .* Leave it out"):
            convert(tmp_path / "in.parquet", LISTS, ending, ["other"])
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_a_value_for_each_symbol_needs_private_words_that_are_as_long(tmp_path: Path) -> None:
    write_csv(tmp_path / "in.csv", [["visit", "step", "page", "room"], ["v", 1, "a", "x"]])
    edits = pv.EditExponential(pv.Alphabet("ab"), 1.0, lengths=(1, 3))
    with pytest.raises(pv.InvalidParameterError, match="'room' has a value for each symbol of a long table"):
        data.privatize_file(
            tmp_path / "in.csv",
            LONG,
            edits,
            tmp_path / "out.csv",
            keep=["room"],
            before_drawing=lambda: pytest.fail("charged"),
        )


def test_json_stays_as_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"route": ["a"], "n": 1.50}\n')
    text = convert(tmp_path / "in.jsonl", LISTS, ".jsonl", ["n"]).read_text()
    assert json.loads(text) == {"route": ["a"], "n": 1.5}
