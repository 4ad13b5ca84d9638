"""What is wrong is named: file, row, column, position, symbol, and what to do. Nothing is written."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from pathveil import data
from pathveil.data.sources import Format
from tests.data.files import (
    ARROWS,
    LISTS,
    LONG,
    faithful,
    read_csv,
    read_json_lines,
    write_bytes,
    write_csv,
    write_json_lines,
    write_xes,
)

LINE = pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "c")])


def refused(source: Path, layout: data.Layout, error: type[Exception], *says: str, world: pv.System = LINE) -> None:
    """The file is refused with an error that says all of this, and nothing is left behind."""
    before = sorted(source.parent.iterdir())
    output = source.with_name(f"out{source.suffix}")
    with pytest.raises(error) as caught:
        data.privatize_file(source, layout, faithful(world), output)
    for part in says:
        assert part in str(caught.value)
    assert sorted(source.parent.iterdir()) == before


@pytest.mark.parametrize(
    ("word", "error", "says"),
    [
        (["a", "b", "x"], pv.UnknownSymbolError, ["position 3", "unknown symbol 'x'", "skip"]),
        (["a", "a"], pv.InfeasibleWordError, ["'a' cannot follow 'a'", "position 2 of 2"]),
        ([], pv.EmptyWordError, ["empty or missing"]),
        (None, pv.EmptyWordError, ["empty or missing"]),
        (["a", None], pv.DataFileError, ["position 2", "the symbol is missing"]),
    ],
)
@pytest.mark.parametrize("ending", [".parquet", ".jsonl"])
def test_a_bad_word_in_a_list_column_is_named_with_its_row(
    word: list[str] | None, error: type[Exception], says: list[str], ending: str, tmp_path: Path
) -> None:
    words = [["a", "b"], word, ["b", "c"]]
    source = tmp_path / f"trips{ending}"
    if ending == ".parquet":
        pq.write_table(pa.table({"route": pa.array(words, pa.list_(pa.string()))}), source)
    else:
        write_json_lines(source, [{"route": word} for word in words])
    refused(source, LISTS, error, f"trips{ending}, row 2, column 'route'", *says)
    summary = data.privatize_file(source, LISTS, faithful(LINE), tmp_path / f"out{ending}", on_bad_row="skip")
    assert (summary.words_released, summary.words_skipped) == (2, 1)
    assert "row 2" in summary.skipped_examples[0]


def test_rows_are_counted_across_batches_and_files(tmp_path: Path) -> None:
    good = [{"route": ["a", "b"]}] * 70_000
    write_json_lines(tmp_path / "1.jsonl", good)  # type: ignore[arg-type]
    write_json_lines(tmp_path / "2.jsonl", [*good, {"route": ["b", "b"]}])  # type: ignore[list-item]
    with pytest.raises(pv.InfeasibleWordError, match=r"2.jsonl, row 70001, column 'route'"):
        data.privatize_file(tmp_path, LISTS, faithful(LINE), tmp_path / "out.jsonl")


@pytest.mark.parametrize(
    ("rows", "error", "says"),
    [
        ([["v", 2, "b"], ["v", 1, "x"]], pv.UnknownSymbolError, ["row 2, visit 'v', column 'page', position 1", "'x'"]),
        ([["v", 1, "a"], ["v", 2, "a"]], pv.InfeasibleWordError, ["row 1, visit 'v'", "cannot follow"]),
        ([["v", "", "a"], ["w", 1, "b"]], pv.DataFileError, ["row 1, visit 'v'", "'step' is missing"]),
        ([["v", 1, "a"], ["", 1, "b"]], pv.DataFileError, ["row 2, visit None", "'visit' belong to no word"]),
        ([["v", 1, "a"], ["v", 2, ""]], pv.DataFileError, ["row 2, visit 'v'", "position 2", "symbol is missing"]),
    ],
)
def test_a_bad_case_in_a_long_table_is_named_with_its_row(
    rows: list[list[object]], error: type[Exception], says: list[str], tmp_path: Path
) -> None:
    source = tmp_path / "visits.csv"
    write_csv(source, [["visit", "step", "page"], *rows, ["z", 2, "c"], ["z", 1, "b"]])
    refused(source, LONG, error, "visits.csv", *says)
    data.privatize_file(source, LONG, faithful(LINE), tmp_path / "out.csv", on_bad_row="skip")
    symbols = [row["page"] for row in read_csv(tmp_path / "out.csv")]
    assert "".join(symbols).replace("bc", "", 1) in ("", "a", "b")


def test_bad_lines_and_traces_are_named(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a b\n\nb a\n")
    refused(tmp_path / "words.txt", data.TextLines(), pv.EmptyWordError, "words.txt, line 2")
    (tmp_path / "words.txt").write_text("a b\nb  q\n")
    refused(tmp_path / "words.txt", data.TextLines(), pv.UnknownSymbolError, "line 2, position 2", "'q'")
    write_xes(tmp_path / "log.xes", [["a", "b"], ["b", "q"]])
    refused(tmp_path / "log.xes", data.EventLog(), pv.UnknownSymbolError, "trace 2", "event 2", "'q'")
    refused(tmp_path / "log.xes", data.EventLog("org:resource"), pv.DataFileError, "trace 1", "symbol is missing")


def test_files_that_hold_no_word_are_refused(tmp_path: Path) -> None:
    write_csv(tmp_path / "in.csv", [["visit", "step", "page"]])
    refused(tmp_path / "in.csv", LONG, pv.DataFileError, "in.csv: there is no word to release")
    (tmp_path / "in.csv").write_bytes(b"")
    refused(tmp_path / "in.csv", LONG, pv.DataFileError, "in.csv: the file is empty")
    (tmp_path / "in.txt").write_bytes(b"")
    refused(tmp_path / "in.txt", data.TextLines(), pv.DataFileError, "no word to release")
    (tmp_path / "in.txt").write_bytes(b"q\nq\n")
    with pytest.raises(pv.DataFileError, match=r"no word to release; 2 were skipped, e\.g\. .*line 1"):
        data.privatize_file(
            tmp_path / "in.txt", data.TextLines(), faithful(LINE), tmp_path / "out.txt", on_bad_row="skip"
        )


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_missing_column_is_named_together_with_those_that_are_there(ending: str, tmp_path: Path) -> None:
    source = tmp_path / f"in{ending}"
    if ending == ".csv":
        write_csv(source, [["Route", "id"], ["a", "1"]])
    else:
        pq.write_table(pa.table({"Route": [["a"]], "id": [1]}), source)
    layout = ARROWS if ending == ".csv" else LISTS
    refused(source, layout, pv.DataFileError, f"in{ending}: there is no column 'route'", "'Route', 'id'")


def test_columns_of_the_wrong_type_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "in.parquet"
    for values, layout, kind in (
        (pa.array([1.5]), ARROWS, "double"),
        (pa.array([3]), ARROWS, "whole numbers"),
        (pa.array(["a"]), LISTS, "string"),
        (pa.array([[1.5]]), LISTS, "double"),
        (pa.array([[["a"]]]), LISTS, "list<"),
        (pa.array([["a"]]), ARROWS, "list<"),
    ):
        pq.write_table(pa.table({"route": values}), source)
        refused(source, layout, pv.DataFileError, "in.parquet, column 'route'", kind)
    write_json_lines(tmp_path / "in.jsonl", [{"route": ["a", "b"]}, {"route": "ab"}])
    refused(tmp_path / "in.jsonl", LISTS, pv.DataFileError, "in.jsonl", "Expected ARRAY", '"ab"')


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"route": [["a", "b"]] * 5000}), tmp_path / "whole.parquet")
    content = (tmp_path / "whole.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(content[: len(content) // 2])
    refused(tmp_path / "cut.parquet", LISTS, pv.DataFileError, "cut.parquet", "not a complete Parquet file")
    (tmp_path / "hole.parquet").write_bytes(b"PAR1" + bytes(len(content) - 300) + content[-296:])
    refused(tmp_path / "hole.parquet", LISTS, pv.DataFileError)

    packed = gzip.compress("".join(f"{i},{i % 7},a\n" for i in range(50_000)).encode())
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"visit,step,page\n") + packed[: len(packed) // 2])
    refused(tmp_path / "cut.csv.gz", LONG, pv.DataFileError, "cut.csv.gz")
    (tmp_path / "cut.txt.gz").write_bytes(packed[: len(packed) // 2])
    refused(tmp_path / "cut.txt.gz", data.TextLines(","), pv.DataFileError, "cut.txt.gz", world=pv.Alphabet("a"))
    (tmp_path / "no.csv.gz").write_bytes(b"this is not gzip")
    refused(tmp_path / "no.csv.gz", LONG, pv.DataFileError, "no.csv.gz")
    write_xes(tmp_path / "log.xes", [["a", "b"]])
    (tmp_path / "cut.xes").write_bytes((tmp_path / "log.xes").read_bytes()[:-9])
    refused(tmp_path / "cut.xes", data.EventLog(), pv.DataFileError, "cut.xes", "not well-formed XML")
    (tmp_path / "rows.jsonl").write_text('{"route": ["a", "b"]}\n{"route": ["a", \n')
    refused(tmp_path / "rows.jsonl", LISTS, pv.DataFileError, "rows.jsonl", "Malformed JSON", "line 2")


def test_files_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_bytes(b"a b\nb a\nb \xe4\n")
    refused(tmp_path / "in.txt", data.TextLines(), pv.DataFileError, "in.txt, line 3", "UTF-8")
    (tmp_path / "in.csv").write_bytes(b"visit,step,page\nv,1,a\nv,2,\xe4\n")
    refused(tmp_path / "in.csv", LONG, pv.DataFileError, "in.csv", "Line: 3", "utf-8")
    (tmp_path / "head.csv").write_bytes(b"visit,step,p\xe4ge\nv,1,a\n")
    refused(tmp_path / "head.csv", LONG, pv.DataFileError, "head.csv", "UTF-8")
    (tmp_path / "in.jsonl").write_bytes(b'{"route": ["\xe4"]}\n')
    refused(tmp_path / "in.jsonl", LISTS, pv.DataFileError, "in.jsonl")


def test_a_byte_order_mark_is_not_part_of_the_first_column_or_symbol(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b"\xef\xbb\xbfvisit,step,page\nv,1,a\n")
    data.privatize_file(tmp_path / "in.csv", LONG, faithful(LINE), tmp_path / "out.csv")
    (tmp_path / "in.txt").write_bytes(b"\xef\xbb\xbfa b\n")
    data.privatize_file(tmp_path / "in.txt", data.TextLines(), faithful(LINE), tmp_path / "out.txt")


def test_rows_with_too_many_values_are_refused_with_their_line(tmp_path: Path) -> None:
    write_bytes(tmp_path / "in.csv", b"visit,step,page\nv,1,a\nv,2,b,c\n")
    refused(tmp_path / "in.csv", LONG, pv.DataFileError, "in.csv", "Line: 3", "Found: 4")


def test_layouts_and_formats_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    write_csv(tmp_path / "in.csv", [["route"], ["a"]])
    refused(tmp_path / "in.csv", LISTS, pv.DataFileError, "ListColumn is for jsonl, parquet files")
    with pytest.raises(pv.DataFileError, match=r"out\.txt: ListColumn is for jsonl, parquet files, not for text"):
        data.privatize_file(tmp_path / "in.csv", ARROWS, faithful(LINE), tmp_path / "out.txt", output_layout=LISTS)
    write_json_lines(tmp_path / "in.jsonl", [{"route": ["a"]}])
    with pytest.raises(pv.DataFileError, match="mixes formats"):
        data.privatize_file(tmp_path, LISTS, faithful(LINE), tmp_path / "out.jsonl")
    with pytest.raises(pv.DataFileError, match="there is no such file"):
        data.privatize_file(tmp_path / "none.csv", ARROWS, faithful(LINE), tmp_path / "out.csv")
    with pytest.raises(pv.DataFileError, match="does not say what the file is"):
        data.privatize_file(Path(__file__), LISTS, faithful(LINE), tmp_path / "out.csv")
    with pytest.raises(pv.InvalidParameterError, match="'route' is a column of the words"):
        data.privatize_file(tmp_path / "in.csv", ARROWS, faithful(LINE), tmp_path / "out.csv", keep=["route"])


@pytest.mark.parametrize(
    ("layout", "format", "symbols"),
    [
        (data.TextLines(), "text", ["a b", "c"]),
        (data.TextLines(","), "text", ["a,b", "c"]),
        (data.TextLines(","), "text", ["a\nb", "c"]),
        (data.TextLines(""), "text", ["ab", "c"]),
        (data.DelimitedColumn("route", ">"), "csv", ["", "c"]),
        (data.EventLog(), "xes", ["\x00", "c"]),
    ],
)
def test_symbols_that_the_output_could_not_tell_apart_are_refused(
    layout: data.Layout, format: Format, symbols: list[str], tmp_path: Path
) -> None:
    (tmp_path / "in").write_text("route\nc\n")
    with pytest.raises(pv.InvalidSystemError, match="the symbol"):
        data.privatize_file(tmp_path / "in", layout, faithful(pv.Alphabet(symbols)), tmp_path / "out", format=format)


def test_symbols_that_are_the_same_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(pv.InvalidSystemError, match="1 and '1' are the same text"):
        data.privatize_file(tmp_path / "in", LISTS, faithful(pv.Alphabet([1, "1"])), tmp_path / "out")
    with pytest.raises(pv.InvalidSystemError, match=r"1\.5 cannot stand in a file"):
        data.privatize_file(tmp_path / "in", LISTS, faithful(pv.Alphabet([1.5])), tmp_path / "out")


def test_infeasible_words_are_released_by_a_mechanism_that_accepts_them(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "in.jsonl", [{"route": ["a", "a"]}, {"route": ["a", "c", "a"]}])
    mechanism = pv.PermuteAndFlip(LINE, epsilon=600.0, on_infeasible="nearest")
    data.privatize_file(tmp_path / "in.jsonl", LISTS, mechanism, tmp_path / "out.jsonl")
    assert all(LINE.is_feasible(row["route"]) for row in read_json_lines(tmp_path / "out.jsonl"))  # type: ignore[arg-type]
    short = pv.PermuteAndFlip(pv.MarkovChain.from_edges([("a", "b")]), epsilon=1.0, on_infeasible="nearest")
    write_json_lines(tmp_path / "in.jsonl", [{"route": ["a", "b"]}, {"route": ["a", "b", "a"]}])
    with pytest.raises(pv.NoFeasibleWordError, match="row 2"):
        data.privatize_file(tmp_path / "in.jsonl", LISTS, short, tmp_path / "out2.jsonl")
    summary = data.privatize_file(tmp_path / "in.jsonl", LISTS, short, tmp_path / "out2.jsonl", on_bad_row="skip")
    assert summary.words_skipped == 1


@pytest.mark.parametrize("layout", [LISTS, ARROWS])
def test_texts_in_parquet_that_are_not_utf_8_are_refused(layout: data.Layout, tmp_path: Path) -> None:
    texts = pa.array([b"a", b"\xff", b"b"])
    texts = pa.StringArray.from_buffers(len(texts), texts.buffers()[1], texts.buffers()[2])
    words = pa.ListArray.from_arrays([0, 1, 2, 3], texts) if layout is LISTS else texts
    pq.write_table(pa.table({"route": words}), tmp_path / "in.parquet")
    refused(tmp_path / "in.parquet", layout, pv.DataFileError, "in.parquet, column 'route'", "UTF8", "Repair the file")


@pytest.mark.parametrize("layout", [LISTS, ARROWS])
def test_rows_of_parquet_are_counted_across_row_groups_and_batches(layout: data.Layout, tmp_path: Path) -> None:
    words = [["a", "b"]] * 70_000 + [["a", "x"]]
    values = words if layout is LISTS else [" > ".join(word) for word in words]
    pq.write_table(pa.table({"route": values}), tmp_path / "in.parquet", row_group_size=30_000)
    place = "in.parquet, row 70001, column 'route', position 2"
    refused(tmp_path / "in.parquet", layout, pv.UnknownSymbolError, place, "'x'")


@pytest.mark.parametrize("layout", [LISTS, ARROWS])
def test_two_columns_of_one_name_are_refused(layout: data.Layout, tmp_path: Path) -> None:
    words = pa.array([["a"]] if layout is LISTS else ["a"])
    pq.write_table(pa.Table.from_arrays([words, words], names=["route", "route"]), tmp_path / "in.parquet")
    refused(tmp_path / "in.parquet", layout, pv.DataFileError, "two columns are called 'route'")
