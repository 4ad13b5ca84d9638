"""What a file probably is: a guess for each kind, and clear errors for what is none."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pathveil.data.recognised import recognise
from pathveil.errors import PathVeilError

TABLES = {
    "a column of words": ("trip,route\n1,a b\n2,b c\n", "column", {"column": "route", "separator": " "}),
    "words with bars": ("who,words\nx,a|b|c\ny,b|c\n", "column", {"user": "who", "column": "words", "separator": "|"}),
    "words with arrows": ("n,t\n1,a->b\n2,b->c\n", "column", {"column": "t", "separator": "->"}),
    "an event log": (
        "case:concept:name,concept:name,time:timestamp\n1,go,2024-01-01T10:00:00\n1,stop,2024-01-01T11:00:00\n", "long",
        {"case": "case:concept:name", "order": "time:timestamp", "symbol": "concept:name", "time": "time:timestamp"},
    ),
    "clicks": (
        "session,user_id,nr,page\n1,u,1,home\n1,u,2,cart\n", "long",
        {"case": "session", "order": "nr", "symbol": "page", "user": "user_id"},
    ),
    "points": (
        "uid;Lat;Lon;when\nu;50.1;4.2;2024-01-01 10:00\nu;50.2;4.3;2024-01-01 10:05\n", "points",
        {"latitude": "Lat", "longitude": "Lon", "user": "uid", "time": "when"},
    ),
    "times of another country": (
        "case,date,state\n1,31.12.2024 10:00,a\n1,31.12.2024 11:00,b\n", "long",
        {"case": "case", "order": "date", "symbol": "state", "time": "date"},
    ),
    "one column": ("x\na\nb\n", "column", {"column": "x", "separator": ","}),
    "a mark in front": ("\ufeffroute,n\na b,1\n", "column", {"column": "route", "separator": " "}),
    "quotes with line ends": ('route,n\n"a\nb",1\n"b c",2\n', "column", {"column": "route", "separator": " "}),
    "blanks in names": (" route ,n\na b,1\n", "column", {"column": " route ", "separator": " "}),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_recognised_by_their_columns(name, tmp_path: Path):
    text, kind, guess = TABLES[name]
    (tmp_path / "x.csv").write_text(text)
    found = recognise(tmp_path / "x.csv")
    assert (found.kind, found.guess) == (kind, guess)
    assert found.format == "csv"
    assert set(guess.values()) - {guess.get("separator")} <= set(found.columns)
    assert all(len(row) == len(found.columns) for row in found.rows)


def test_other_formats_are_recognised_too(tmp_path: Path):
    pq.write_table(pa.table({"who": ["x", "y"], "trip": [["a", "b"], ["b"]]}), tmp_path / "x.parquet")
    (tmp_path / "x.jsonl").write_text('{"user": 1, "path": ["a"]}\n{"path": ["b"], "more": null}\n')
    (tmp_path / "x.txt").write_text("a b\n\nb c\n")
    (tmp_path / "x.xes").write_text('<log><trace><event><string key="concept:name" value="go"/></event></trace></log>')
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"route,n\na b,1\n"))
    found = {path.name: recognise(path) for path in tmp_path.iterdir()}
    assert {name: one.kind for name, one in found.items()} == {
        "x.parquet": "column", "x.jsonl": "column", "x.txt": "text", "x.xes": "log", "x.csv.gz": "column",
    }  # fmt: skip
    assert found["x.parquet"].guess == {"user": "who", "column": "trip"}
    assert found["x.jsonl"].columns == ("user", "path", "more")
    assert found["x.txt"].rows == (("a b",), ("b c",))


def test_ten_thousand_columns_and_a_long_value_are_no_problem(tmp_path: Path):
    names = [f"c{i}" for i in range(10_000)]
    (tmp_path / "x.csv").write_text(f"{','.join(names)}\n{','.join(['a' * 500] + ['1'] * 9_999)}\n")
    found = recognise(tmp_path / "x.csv")
    assert len(found.columns) == 10_000
    assert max(len(value) for row in found.rows for value in row) <= 120


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", b""),
        ("x.csv", b"\n\n"),
        ("x.csv", b"a,b\n"),
        ("x.csv", bytes(range(256)) * 8),
        ("x.csv", b"\xff\xfea\x00,\x00b\x00"),
        ("x.csv.gz", gzip.compress(b"a,b\n1,2\n" * 10_000)[:-20]),
        ("x.csv.gz", b"no gzip"),
        ("x.csv.zst", b"no zstd"),
        ("x.parquet", b""),
        ("x.parquet", b"PAR1PAR1"),
        ("x.jsonl", b""),
        ("x.jsonl", b"[1, 2]\nnull\n{"),
        ("x.txt", b""),
        ("x.txt", b"\n\n\n"),
        ("x.xes", b""),
        ("x.xes", b"<log></log>"),
        ("x.xes", b"<log><trace>"),
        ("x.csv", b"a\n" + b'"' + b"x" * 300_000 + b'"\n'),
    ],
)
def test_what_cannot_be_read_is_a_clear_error_or_a_guess(name, content, tmp_path: Path):
    (tmp_path / name).write_bytes(content)
    try:
        found = recognise(tmp_path / name)
    except PathVeilError:
        with pytest.raises(PathVeilError, match=name):
            recognise(tmp_path / name)
    else:
        assert found.rows
        json.dumps(found.rows).encode()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(["x.csv", "x.jsonl", "x.txt", "x.xes", "x.parquet", "x.csv.gz"]),
       content=st.binary(max_size=60) | st.text('",;\n\r|a1\0\ufeff{}[]:<>', max_size=40).map(str.encode))  # fmt: skip
def test_rubbish_is_never_a_crash(name, content, tmp_path: Path):
    (tmp_path / name).write_bytes(content)
    try:
        found = recognise(tmp_path / name)
    except PathVeilError:
        return
    for text in (*found.columns, *(value for row in found.rows for value in row)):
        text.encode()
