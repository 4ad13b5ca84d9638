"""Every shape and format: the words come out as they went in (at a huge ε), and nothing else does."""

from __future__ import annotations

import io
import sys
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from types import SimpleNamespace

import hypothesis.strategies as st
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings

import pathveil as pv
from pathveil import data
from pathveil.data.database import Database, parquet_batches
from pathveil.data.formats import row_words
from pathveil.data.formats.long_table import whole_cases
from pathveil.data.writing import gathered, private_file
from pathveil.data.writing.shuffle import shuffled
from tests.data.files import (
    ARROWS,
    COMPRESSED,
    LISTS,
    LONG,
    SHAPES,
    Shape,
    Words,
    faithful,
    long_rows,
    read_csv,
    read_json_lines,
    write_csv,
    write_json_lines,
    write_xes,
)

SYMBOLS = ["home", "Äpfel & Öl", 'say "hi"', "<b>", "7", "x;y", "semi|colon", "it's"]
WORLD = pv.Alphabet(SYMBOLS)
WORDS: Words = [["home"], ["7", "<b>", "7"], ['say "hi"', "Äpfel & Öl"], ["x;y", "semi|colon", "it's", "home"]] * 3


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are read, drawn and shuffled few at a time."""
    stream = Database.stream
    monkeypatch.setattr(Database, "stream", lambda self, query, _rows=0: stream(self, query, 1024))
    monkeypatch.setattr(row_words, "parquet_batches", partial(parquet_batches, rows=1024))
    monkeypatch.setattr(private_file, "gathered", partial(gathered, size=500))
    monkeypatch.setattr(private_file, "shuffled", partial(shuffled, rows_at_a_time=300))


@pytest.mark.parametrize("shape", SHAPES + COMPRESSED, ids=lambda shape: f"{shape.name} {shape.ending}")
def test_words_come_back_in_the_same_shape_and_in_another_order(shape: Shape, tmp_path: Path) -> None:
    source, output = tmp_path / f"in{shape.ending}", tmp_path / f"out{shape.ending}"
    shape.write(source, WORDS)
    summary = data.privatize_file(source, shape.layout, faithful(WORLD), output, rng=pv.insecure_seed(5))
    private = shape.read(output)
    assert sorted(private) == sorted(WORDS)
    assert private != WORDS
    assert summary.words_released == len(WORDS)
    assert summary.symbols_released == sum(map(len, WORDS))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [source.name, output.name, output.name + ".manifest.json"]
    )


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.name} {shape.ending}")
def test_the_order_of_the_file_is_kept_on_request(shape: Shape, tmp_path: Path) -> None:
    source, output = tmp_path / f"in{shape.ending}", tmp_path / f"out{shape.ending}"
    shape.write(source, WORDS)
    data.privatize_file(source, shape.layout, faithful(WORLD), output, keep_order=True)
    expected = WORDS
    if shape.name == "long table":  # there, the order is that of the first row of each case
        cases = dict.fromkeys(case for case, _, _ in long_rows(WORDS))
        expected = [WORDS[int(case.split()[1])] for case in cases]
    assert shape.read(output) == expected


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(st.lists(st.sampled_from(SYMBOLS), min_size=1, max_size=6), min_size=1, max_size=12),
    shape=st.sampled_from(SHAPES),
)
def test_any_words_survive_the_way_through_any_shape(words: Words, shape: Shape, tmp_path: Path) -> None:
    source, output = tmp_path / f"in{shape.ending}", tmp_path / f"out{shape.ending}"
    shape.write(source, words)
    data.privatize_file(source, shape.layout, faithful(WORLD), output, overwrite=True)
    assert sorted(shape.read(output)) == sorted(words)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.name} {shape.ending}")
def test_a_folder_and_a_pattern_are_read_as_one_file(shape: Shape, tmp_path: Path) -> None:
    folder = tmp_path / "parts [1]"
    folder.mkdir()
    if shape.name == "long table":  # the same case in two files would be one word
        shape.write(folder / f"a{shape.ending}", WORDS[:6])
        expected = WORDS[:6]
    else:
        shape.write(folder / f"a{shape.ending}", WORDS[:5])
        shape.write(folder / f"b{shape.ending}", WORDS[5:])
        expected = WORDS
    (folder / "_SUCCESS").touch()
    output = tmp_path / f"out{shape.ending}"
    data.privatize_file(folder, shape.layout, faithful(WORLD), output)
    assert sorted(shape.read(output)) == sorted(expected)
    pattern = str(tmp_path / "parts ?1]" / f"*{shape.ending}")
    data.privatize_file(pattern, shape.layout, faithful(WORLD), output, overwrite=True)
    assert sorted(shape.read(output)) == sorted(expected)


def test_a_case_may_be_spread_over_files_with_columns_in_another_order(tmp_path: Path) -> None:
    write_csv(tmp_path / "1.csv", [["visit", "step", "page"], ["v", "10", "c"], ["v", "9", "b"]])
    write_csv(tmp_path / "2.csv", [["step", "page", "visit"], ["1", "a", "v"], ["2", "a", "w"]])
    output = tmp_path / "out" / "private.csv"
    output.parent.mkdir()
    data.privatize_file(tmp_path / "*.csv", LONG, faithful(pv.Alphabet("abc")), output)
    words: dict[str, list[str]] = {}
    for row in read_csv(output):
        words.setdefault(row["visit"], []).append(row["page"])
    assert sorted(words.values()) == [["a"], ["a", "b", "c"]]


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        (["10", "9.5", "-1"], "cba"),
        (["9223372036854775808", "9223372036854775807", "3"], "cba"),
        (["1e300", "2e299", "5"], "cba"),
        (["2024-01-01T12:00:00+01:00", "2024-01-01T11:30:00+01:00", "2024-01-01 10:00:00Z"], "cba"),
        (["zebra", "apple pie", "apple"], "cba"),
        (["10", "9", "first"], None),
    ],
)
def test_an_order_column_of_texts_is_read_as_numbers_times_or_words(
    orders: list[str], expected: str | None, tmp_path: Path
) -> None:
    source, output = tmp_path / "in.csv", tmp_path / "out.csv"
    write_csv(source, [["visit", "step", "page"], *(["v", o, s] for o, s in zip(orders, "abc", strict=True))])
    if expected is None:
        with pytest.raises(pv.DataFileError, match="'step' is missing or not a number"):
            data.privatize_file(source, LONG, faithful(pv.Alphabet("abc")), output)
    else:
        data.privatize_file(source, LONG, faithful(pv.Alphabet("abc")), output)
        assert "".join(row["page"] for row in read_csv(output)) == expected


@pytest.mark.parametrize("cases", ["aaaaaaa", "abcdefg", "aabbbcc", "abbbbbc", "aaab__b", "__aab__"])
def test_however_rows_are_cut_into_batches_whole_cases_come_out(cases: str) -> None:
    """All 64 ways to cut seven rows; cases without a name belong together where they stand together."""
    rows = pa.RecordBatch.from_pydict({"c": [None if case == "_" else case for case in cases], "s": list(range(7))})
    for marks in product([False, True], repeat=6):
        bounds = [0, *(i for i, cut in enumerate(marks, start=1) if cut), 7]
        batches = [rows.slice(begin, end - begin) for begin, end in pairwise(bounds)]
        found = [table.to_pylist() for table in whole_cases(batches)]
        assert [row for table in found for row in table] == rows.to_pylist()
        assert all(before[-1]["c"] != after[0]["c"] for before, after in pairwise(found))


@pytest.mark.usefixtures("small_batches")
def test_cases_longer_than_a_batch_are_put_together(tmp_path: Path) -> None:
    words = [["a", "b"] * 3000, ["b"], ["b", "a"] * 1024, ["a"] * 2048, ["b"] * 2048]
    source, output = tmp_path / "in.csv", tmp_path / "out.csv"
    rows = [[f"{i}", j, symbol] for i, word in enumerate(words) for j, symbol in enumerate(word)]
    write_csv(source, [["visit", "step", "page"], *rows])
    data.privatize_file(source, LONG, faithful(pv.Alphabet("ab")), output)
    found: dict[str, list[str]] = {}
    for row in read_csv(output):
        found.setdefault(row["visit"], []).append(row["page"])
    assert sorted(found.values()) == sorted(words)


def test_long_words_are_drawn_in_several_batches() -> None:
    words = [[7] * 2 * length for length in (1, 40, 3, 200, 1, 1, 30, 12)]
    whole = pa.RecordBatch.from_arrays([pa.array(words)], ["0"])
    batches = [batch.column(0).to_pylist() for batch in gathered([whole], size=50)]
    assert [word for batch in batches for word in batch] == words
    assert [sum(map(len, batch)) for batch in batches] == [82, 406, 64, 24]


@pytest.mark.parametrize("kind", [pa.uint16(), pa.int64(), pa.string(), pa.large_string()])
def test_numbers_in_parquet_are_compared_as_text_and_keep_their_type(kind: pa.DataType, tmp_path: Path) -> None:
    words = pa.array([["1", "12"], ["3"]]).cast(pa.list_(kind))
    pq.write_table(pa.table({"route": words}), tmp_path / "in.parquet")
    world = pv.Alphabet(["1", "3", "12"])
    data.privatize_file(tmp_path / "in.parquet", LISTS, faithful(world), tmp_path / "out.parquet", keep_order=True)
    table = pq.read_table(tmp_path / "out.parquet")
    assert table["route"].to_pylist() == words.to_pylist()
    assert table["route"].type.value_type == (kind if pa.types.is_integer(kind) else pa.string())


def test_a_type_that_cannot_hold_every_symbol_of_the_system_becomes_text(tmp_path: Path) -> None:
    pq.write_table(pa.table({"route": pa.array([[1, 2]], pa.list_(pa.int8()))}), tmp_path / "in.parquet")
    for world in (pv.Alphabet(["1", "2", "home"]), pv.Alphabet(["1", "2", "300"]), pv.Alphabet(["1", "2", "03"])):
        output = tmp_path / "out.parquet"
        data.privatize_file(tmp_path / "in.parquet", LISTS, faithful(world), output, overwrite=True)
        assert pq.read_table(output)["route"].to_pylist() == [["1", "2"]]


def test_json_is_written_in_the_types_of_the_system(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "in.jsonl", [{"route": [1, "2"]}])
    for world, expected in ((pv.Alphabet([1, 2]), [1, 2]), (pv.Alphabet("12"), ["1", "2"])):
        data.privatize_file(tmp_path / "in.jsonl", LISTS, faithful(world), tmp_path / "out.jsonl", overwrite=True)
        assert read_json_lines(tmp_path / "out.jsonl") == [{"route": expected}]


@pytest.mark.parametrize(
    ("separator", "text", "word"),
    [(None, "  a\tbb  c ", ["a", "bb", "c"]), ("", "aäß", ["a", "ä", "ß"]), ("->", "a->bb->c", ["a", "bb", "c"])],
)
def test_words_are_split_at_white_space_at_a_text_or_between_characters(
    separator: str | None, text: str, word: list[str], tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text(f"{text}\n{text}", encoding="utf-8")
    layout = data.TextLines(separator)
    world = pv.Alphabet(dict.fromkeys(word))
    data.privatize_file(tmp_path / "in.txt", layout, faithful(world), tmp_path / "out.txt")
    joined = (" " if separator is None else separator).join(word)
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == f"{joined}\n{joined}\n"
    batches = list(data.read_words(tmp_path / "in.txt", layout, world))
    assert [w for batch in batches for w in batch.column("word").to_pylist()] == [world.encode(word).tolist()] * 2


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_of_a_csv_file_is_kept(delimiter: str, tmp_path: Path) -> None:
    write_csv(tmp_path / "in.csv", [["id, or number", "route"], ["1", "a > b"]], delimiter)
    data.privatize_file(
        tmp_path / "in.csv", ARROWS, faithful(pv.Alphabet("ab")), tmp_path / "out.csv", keep=["id, or number"]
    )
    assert read_csv(tmp_path / "out.csv", delimiter) == [{"route": "a > b", "id, or number": "1"}]


def test_kept_columns_stay_with_their_words_as_they_are(tmp_path: Path) -> None:
    world = pv.Alphabet("abc")
    rows = [{"route": ["a"], "n": 1.50, "who": {"x": [None, "é"]}}, {"route": ["b"], "n": None}, {"route": ["c"]}]
    write_json_lines(tmp_path / "in.jsonl", rows)  # type: ignore[arg-type]
    data.privatize_file(tmp_path / "in.jsonl", LISTS, faithful(world), tmp_path / "out.jsonl", keep=["who", "n"])
    private = sorted(read_json_lines(tmp_path / "out.jsonl"), key=str)
    assert private == [{"route": [row["route"][0]], "who": row.get("who"), "n": row.get("n")} for row in rows]  # type: ignore[index]

    write_csv(tmp_path / "in.csv", [["visit", "step", "page", "at"], ["v", 2, "b", "noon"], ["v", 1, "a", ""]])
    data.privatize_file(tmp_path / "in.csv", LONG, faithful(world), tmp_path / "out.csv", keep=["at"])
    assert [(row["page"], row["at"]) for row in read_csv(tmp_path / "out.csv")] == [("a", ""), ("b", "noon")]

    write_xes(tmp_path / "in.xes", [["a"], ["b"]], '<int key="age" value="{i}"/><date key="born &amp;" value="2000"/>')
    data.privatize_file(
        tmp_path / "in.xes", data.EventLog(), faithful(world), tmp_path / "out.xes", keep=["age", "born &"]
    )
    text = (tmp_path / "out.xes").read_text()
    assert (
        '<int key="age" value="0"/><date key="born &amp;" value="2000"/><event><string key="concept:name" value="a"'
        in text
    )


def test_standard_input_is_read_once_and_in_the_named_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"visit,step,page\nv,2,b\nv,1,a\n"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    data.privatize_file("-", LONG, faithful(pv.Alphabet("ab")), tmp_path / "out.csv", format="csv")
    assert [row["page"] for row in read_csv(tmp_path / "out.csv")] == ["a", "b"]
    with pytest.raises(pv.DataFileError, match="standard input has no name"):
        data.privatize_file("-", LONG, faithful(pv.Alphabet("ab")), tmp_path / "out2.csv")


def test_progress_counts_words_in_both_stages(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("a b\nb\n")
    calls: list[tuple[str, int]] = []
    data.privatize_file(
        tmp_path / "in.txt",
        data.TextLines(),
        faithful(pv.Alphabet("ab")),
        tmp_path / "out.txt",
        progress=lambda stage, words: calls.append((stage, words)),
    )
    assert calls == [("reading", 2), ("writing", 2)]


@pytest.mark.parametrize("count", [1, 2049, *(pytest.param(count, marks=pytest.mark.slow) for count in (2047, 2048))])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.name} {shape.ending}")
def test_many_batches_hold_the_same_words_as_one(
    shape: Shape, count: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    source, output = tmp_path / f"in{shape.ending}", tmp_path / f"out{shape.ending}"
    words = [[SYMBOLS[(i >> j) % len(SYMBOLS)] for j in range(1 + i % 5)] for i in range(count)]
    shape.write(source, words)
    data.privatize_file(source, shape.layout, faithful(WORLD), output)
    assert sorted(shape.read(output)) == sorted(words)
    request.getfixturevalue("small_batches")
    data.privatize_file(source, shape.layout, faithful(WORLD), output, overwrite=True)
    assert sorted(shape.read(output)) == sorted(words)


@pytest.mark.parametrize(
    "kind",
    [
        pa.large_list(pa.string()),
        pa.list_(pa.large_string()),
        pa.list_(pa.string(), 2),
        pa.list_(pa.dictionary(pa.int32(), pa.string())),
        pa.list_(pa.int8()),
        pa.list_(pa.uint64()),
    ],
    ids=str,
)
@pytest.mark.parametrize("keep", [(), ("id",)])
def test_lists_of_every_kind_are_read_with_and_without_other_columns(
    kind: pa.DataType, keep: tuple[str, ...], tmp_path: Path
) -> None:
    words = [["1", "12"], ["3", "3"], ["12", "1"]]
    routes = pa.array(words).cast(pa.list_(kind.value_type)).cast(kind)
    pq.write_table(pa.table({"id": [7, 8, 9], "route": routes}), tmp_path / "in.parquet", row_group_size=2)
    mechanism, output = faithful(pv.Alphabet(["1", "3", "12"])), tmp_path / "out.parquet"
    data.privatize_file(tmp_path / "in.parquet", LISTS, mechanism, output, keep_order=True, keep=keep)
    found = pq.read_table(output)
    assert [[str(symbol) for symbol in word] for word in found["route"].to_pylist()] == words
    assert found.column_names == ["route", *keep]


def test_a_column_with_a_dot_in_its_name_is_not_a_field_of_another(tmp_path: Path) -> None:
    table = pa.table({"a.b": [["x"], ["y", "x"]], "a": [{"b": ["y"]}, {"b": ["y"]}]})
    pq.write_table(table, tmp_path / "in.parquet")
    output = tmp_path / "out.parquet"
    layout, mechanism = data.ListColumn("a.b"), faithful(pv.Alphabet("xy"))
    data.privatize_file(tmp_path / "in.parquet", layout, mechanism, output, keep_order=True)
    assert pq.read_table(output).to_pydict() == {"a.b": [["x"], ["y", "x"]]}
