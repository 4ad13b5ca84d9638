"""Words that are read in one layout and written in another."""

from __future__ import annotations

from pathlib import Path

import hypothesis.strategies as st
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from pathveil import data
from pathveil.data.formats import layout_in, layout_of_output
from pathveil.data.sources import describe
from tests.data.files import (
    ARROWS,
    LISTS,
    LONG,
    SHAPES,
    Shape,
    Words,
    faithful,
    read_csv,
    read_json_lines,
    read_xes,
    write_csv,
    write_json_lines,
    write_xes,
)
from tests.sizes import given_few_and_many

SYMBOLS = ["home", "Äpfel&Öl", 'say"hi"', "<b>", "7", "x;y", "semi|colon", "it's"]
WORLD = pv.Alphabet(SYMBOLS)
ENDINGS = [".csv", ".tsv", ".parquet", ".jsonl", ".txt", ".xes", ".xes.gz", ".csv.zst"]


def read_back(path: Path, layout: data.Layout) -> Words:
    batches = data.read_words(path, layout, WORLD)
    return [[SYMBOLS[code] for code in word] for batch in batches for word in batch.column("word").to_pylist()]


@given_few_and_many(
    15,
    60,
    words=st.lists(st.lists(st.sampled_from(SYMBOLS), min_size=1, max_size=6), min_size=1, max_size=9),
    shape=st.sampled_from(SHAPES),
    ending=st.sampled_from(ENDINGS),
)
def test_any_words_survive_the_way_from_any_layout_into_any_format(
    words: Words, shape: Shape, ending: str, tmp_path: Path
) -> None:
    source, output = tmp_path / f"in{shape.ending}", tmp_path / f"out{ending}"
    shape.write(source, words)
    data.privatize_file(source, shape.layout, faithful(WORLD), output, overwrite=True)
    assert sorted(read_back(output, layout_in(describe(output).format, shape.layout))) == sorted(words)


def test_each_layout_has_its_form_in_each_format() -> None:
    expected = {
        (LONG, "xes"): data.EventLog(),
        (LONG, "parquet"): LONG,
        (LONG, "text"): data.TextLines(),
        (ARROWS, "xes"): data.EventLog(),
        (ARROWS, "jsonl"): ARROWS,
        (ARROWS, "text"): data.TextLines(" > "),
        (LISTS, "csv"): data.DelimitedColumn("route"),
        (LISTS, "xes"): data.EventLog(),
        (data.TextLines(","), "csv"): data.DelimitedColumn("word", ","),
        (data.TextLines(","), "parquet"): data.ListColumn("word"),
        (data.EventLog("org:role"), "xes"): data.EventLog("org:role"),
        (data.EventLog("org:role"), "csv"): data.LongTable("case", "position", "symbol"),
        (data.EventLog(), "parquet"): data.LongTable("case", "position", "symbol"),
        (data.EventLog(), "text"): data.TextLines(),
    }
    assert {(read, format): layout_in(format, read) for read, format in expected} == expected  # type: ignore[arg-type]


def test_a_long_csv_becomes_an_event_log(tmp_path: Path) -> None:
    write_csv(tmp_path / "in.csv", [["visit", "step", "page"], ["v", 2, "b"], ["v", 1, "a"], ["w", 1, "b"]])
    mechanism = faithful(pv.Alphabet("ab"))
    data.privatize_file(tmp_path / "in.csv", LONG, mechanism, tmp_path / "out.xes", keep_order=True)
    assert read_xes(tmp_path / "out.xes") == [["a", "b"], ["b"]]


def test_what_was_sorted_by_times_in_two_columns_is_read_back_without_them(tmp_path: Path) -> None:
    rows = [["v", "3/1/2024", 2, "b"], ["v", "3/1/2024", 1, "a"], ["v", "2/1/2024", 5, "b"]]
    write_csv(tmp_path / "in.csv", [["visit", "day", "step", "page"], *rows])
    layout = data.LongTable("visit", ("day", "step"), "page", "%d/%m/%Y", ties="columns")
    mechanism = faithful(pv.Alphabet("ab"))
    for name in ("out.csv", "out.parquet", "out.xes"):
        data.privatize_file(tmp_path / "in.csv", layout, mechanism, tmp_path / name)
        written = layout_in(describe(tmp_path / name).format, layout)
        [batch] = data.read_words(tmp_path / name, written, pv.Alphabet("ab"))
        assert batch.column("word").to_pylist() == [[1, 0, 1]]
    assert list(read_csv(tmp_path / "out.csv")[0]) == ["visit", "day", "page"]


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (data.LongTable("3", "2", "1", header=False), "b,2,v\na,1,v\n"),
        (data.LongTable("4", "3", ("2", "1"), header=False), "y,b,2,v\nx,a,1,v\n"),
        (data.DelimitedColumn("2", header=False), "7,{} {}\n"),
    ],
)
def test_what_has_no_header_is_read_back_by_the_places_of_its_columns(
    layout: data.Layout, text: str, tmp_path: Path
) -> None:
    symbols = ["a+x", "b+y"] if "y" in text else ["a", "b"]
    (tmp_path / "in.csv").write_text(text.format(*symbols))
    world = pv.Alphabet(symbols)
    for name in ("out.csv", "out.parquet", "out.xes", "out.txt"):
        output = tmp_path / name
        data.privatize_file(tmp_path / "in.csv", layout, faithful(world), output)
        [batch] = data.read_words(output, layout_of_output(describe(output).format, layout), world)
        assert batch.column("word").to_pylist() == [[0, 1]]


def test_an_event_log_becomes_a_long_table_whose_columns_have_plain_names(tmp_path: Path) -> None:
    write_xes(tmp_path / "in.xes", [["a", "b"], ["b"]], '<int key="age" value="4{i}"/>')
    mechanism = faithful(pv.Alphabet("ab"))
    data.privatize_file(
        tmp_path / "in.xes", data.EventLog(), mechanism, tmp_path / "out.csv", keep_order=True, keep=["age"]
    )
    assert (tmp_path / "out.csv").read_text() == "case,position,symbol,age\n1,1,a,40\n1,2,b,40\n2,1,b,41\n"


def test_another_layout_may_be_asked_for(tmp_path: Path) -> None:
    write_csv(tmp_path / "in.csv", [["route"], ["a > b"]])
    mechanism = faithful(pv.Alphabet("ab"))
    data.privatize_file(tmp_path / "in.csv", ARROWS, mechanism, tmp_path / "out.csv", output_layout=LONG)
    assert read_csv(tmp_path / "out.csv") == [
        {"visit": "1", "step": "1", "page": "a"},
        {"visit": "1", "step": "2", "page": "b"},
    ]
    # A name that says nothing takes what the layout is for.
    data.privatize_file(tmp_path / "in.csv", ARROWS, mechanism, tmp_path / "out", output_layout=data.EventLog())
    assert b"<trace>" in (tmp_path / "out").read_bytes()


def test_types_of_symbols_survive_where_the_format_has_types(tmp_path: Path) -> None:
    pq.write_table(pa.table({"route": pa.array([[1, 2], [2]], pa.list_(pa.int16()))}), tmp_path / "in.parquet")
    mechanism = faithful(pv.Alphabet(["1", "2"]))
    for ending in (".jsonl", ".csv"):
        data.privatize_file(tmp_path / "in.parquet", LISTS, mechanism, tmp_path / f"out{ending}", keep_order=True)
    assert read_json_lines(tmp_path / "out.jsonl") == [{"route": [1, 2]}, {"route": [2]}]
    assert read_csv(tmp_path / "out.csv") == [{"route": "1 2"}, {"route": "2"}]


def test_a_name_that_ends_in_tsv_means_tabs(tmp_path: Path) -> None:
    write_csv(tmp_path / "in.csv", [["visit", "step", "page"], ["v", 1, "a"]])
    write_json_lines(tmp_path / "in.jsonl", [{"visit": "v", "step": 1, "page": "a"}])
    for source in ("in.csv", "in.jsonl"):
        output = tmp_path / f"{source}.out.tsv"
        data.privatize_file(tmp_path / source, LONG, faithful(pv.Alphabet("a")), output)
        assert output.read_text() == "visit\tstep\tpage\n1\t1\ta\n"


def test_what_the_new_layout_cannot_hold_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    write_csv(tmp_path / "in.csv", [["visit", "step", "page", "at"], ["v", 1, "a b", "x"]])
    world = pv.Alphabet(["a b", "\x01"])

    def refused(name: str, match: str, **options: object) -> None:
        with pytest.raises(pv.PathVeilError, match=match):
            data.privatize_file(
                tmp_path / "in.csv",
                LONG,
                faithful(world),
                tmp_path / name,
                before_drawing=lambda: pytest.fail("charged"),
                **options,  # type: ignore[arg-type]
            )
        assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]

    refused("out.txt", "white space in it. Choose another `separator` or layout")
    refused("out.xes", "XML cannot hold")
    world = pv.Alphabet(["a b"])
    refused("out.txt", "plain text has no columns", output_layout=data.TextLines(","), keep=["at"])
    refused("out.xes", "'page'|made-up times", output_layout=data.EventLog("time:timestamp"))
    refused("out.jsonl", "'at' has a value for each symbol", output_layout=LISTS, keep=["at"])
    refused("out.xes", "'at' is a column of the words themselves", output_layout=data.EventLog("at"), keep=["at"])


def test_long_traces_are_rendered_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pathveil.data.formats.EventLog.symbols_at_a_time", 5)
    words = [["a"] * 3, ["b"] * 12, ["a", "b"], ["b"], ["a"] * 5, ["b"] * 4, ["a"]]
    rows = [[i, j, symbol, f"{i}.{j}"] for i, word in enumerate(words) for j, symbol in enumerate(word)]
    write_csv(tmp_path / "in.csv", [["visit", "step", "page", "at"], *rows])
    mechanism = faithful(pv.Alphabet("ab"))
    data.privatize_file(tmp_path / "in.csv", LONG, mechanism, tmp_path / "out.xes", keep_order=True, keep=["at"])
    assert read_xes(tmp_path / "out.xes") == words
    text = (tmp_path / "out.xes").read_text()
    kept = [part.split('"')[0] for part in text.split('<string key="at" value="')[1:]]
    assert kept == [f"{i}.{j}" for i, word in enumerate(words) for j in range(len(word))]
