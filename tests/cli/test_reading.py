"""Files as users have them: times, ties and counts by commands, and what is said about them to whom."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.data.files import read_csv, write_csv

LONG = "privatize stays.csv --case visit --order time --symbol page --alphabet pages.txt --epsilon 600 --output out.csv"
FLOWS = "model od.csv --from a --to b --states zones.txt --epsilon 1 --delta 1e-6 --output model.json"


def pages() -> list[str]:
    return [row["page"] for row in read_csv(Path("out.csv"))]


def test_a_time_format_decides_what_is_ambiguous(run):
    rows = [["v", "2/1/2014", "cart"], ["v", "1/3/2014", "help"], ["v", "5/5/2014", "home"]]
    write_csv(Path("stays.csv"), [["visit", "time", "page"], *rows])
    ran = run(LONG)
    assert ran.code == 1
    assert "--time-format '%d/%m/%Y' or --time-format '%m/%d/%Y'" in ran.err
    assert "'2/1/2014'" in ran.err
    assert not Path("out.csv").exists()
    assert run("ledger init budget.db --epsilon 700 --unit symbols --adjacency 1").code == 0
    hidden = run(LONG + " --ledger budget.db")
    assert hidden.code == 1
    assert "row 1 and row 2 may be" in hidden.err
    assert "2/1/2014" not in hidden.err
    assert json.loads(run("ledger show budget.db --json").out)["spent"]["epsilon"] in (0, "0", "0.0")
    assert run(LONG + " --time-format %m/%d/%Y --ledger budget.db").code == 0
    assert pages() == ["help", "cart", "home"]


def test_ties_are_said_to_the_curator(run):
    rows = [["v", "1", "7", "cart"], ["v", "1", "6", "help"], ["v", "0", "8", "home"]]
    write_csv(Path("stays.csv"), [["visit", "time", "line", "page"], *rows])
    ran = run(LONG)
    assert "For you only: 1 words have rows with equal values of --order" in ran.out
    assert pages() == ["home", "cart", "help"]
    assert json.loads(run(LONG + " --overwrite --json").out)["for_the_curator_only"]["words_tied"] == 1
    assert run("ledger init budget.db --epsilon 700 --unit symbols --adjacency 1").code == 0
    assert "equal" not in run(LONG + " --overwrite --ledger budget.db").out
    ran = run(LONG + " --overwrite --ties refuse")
    assert ran.code == 1
    assert "two rows have the same 'time'" in ran.err
    assert run(LONG + " --overwrite --ties columns").code == 2
    assert run(LONG + " --overwrite --ties columns --order line").code == 0
    assert pages() == ["home", "help", "cart"]


def test_options_of_long_tables_are_refused_elsewhere(run):
    words = "privatize lines.txt --alphabet pages.txt --epsilon 1 --output out.txt"
    for option in ("--ties refuse", "--time-format %Y"):
        ran = run(f"{words} {option}")
        assert ran.code == 2
        assert "long tables" in ran.err


def test_counted_rows_are_counted_and_hinted_at(run):
    rows = [["s0", "s1", 900], ["s0", "s2", 100], ["s1", "s0", 5]]
    write_csv(Path("od.csv"), [["a", "b", "flow"], *rows])
    ran = run(FLOWS)
    assert ran.code == 0
    assert "--count flow" in ran.err
    ran = run(FLOWS + " --overwrite --count flow --matrix matrix.csv")
    assert ran.code == 0
    assert "--count" not in ran.err
    [first, *_] = read_csv(Path("matrix.csv"))
    assert abs(float(first["s1"]) - 0.9) < 0.1
    write_csv(Path("od.csv"), [["a", "b", "flow"], *rows, ["s1", "s1", -4]])
    ran = run(FLOWS + " --overwrite --count flow")
    assert ran.code == 1
    assert "row 4, column 'flow'" in ran.err


def test_counted_words_make_a_model(run):
    write_csv(Path("words.csv"), [["route", "n"], ["s0 s1", 40], ["s1 s2 s3", 2]])
    words = "model words.csv --column route --unit transition --states zones.txt --epsilon 1 --output model.json"
    assert "--count n" in run(words).err
    assert run(words + " --overwrite --count n").code == 0


def test_a_file_without_a_header_is_read_and_written_without_one(run):
    write_csv(Path("stays.csv"), [["home", "9/13/2014", "v"], ["cart", "9/2/2014", "v"]])
    bare = LONG.replace("--case visit --order time --symbol page", "--case 3 --order 2 --symbol 1")
    ran = run(LONG)
    assert ran.code == 1
    assert "--no-header" in ran.err
    ran = run(bare + " --no-header")
    assert ran.code == 0, ran.err
    assert Path("out.csv").read_text() == "1,1,cart\n1,2,home\n"
    assert run(bare.replace("--symbol 1", "--symbol 4") + " --no-header --overwrite").code == 1
    write_csv(Path("od.csv"), [["s0", "s1", 900], ["s0", "s2", 100]])
    pairs = FLOWS.replace("--from a --to b", "--from 1 --to 2 --count 3") + " --no-header --matrix matrix.csv"
    assert run(pairs).code == 0
    [first, *_] = read_csv(Path("matrix.csv"))
    assert abs(float(first["s1"]) - 0.9) < 0.1
    write_csv(Path("words.csv"), [["7", "home cart"], ["8", "help"]])
    words = "privatize words.csv --column 2 --alphabet pages.txt --epsilon 600 --keep-order --output words-out.csv"
    assert run(words + " --no-header").code == 0
    assert Path("words-out.csv").read_text() == "home cart\nhelp\n"
    wrong = run("privatize lines.txt --no-header --alphabet pages.txt --epsilon 1 --output out.txt")
    assert wrong.code == 2
    assert "--no-header" in wrong.err


def test_several_columns_make_one_symbol_and_come_out_as_several(run):
    Path("steps.txt").write_text("open:start\nopen:end\nclose:end\n")
    rows = [["v", 1, "open", "start"], ["v", 2, "open", "end"], ["v", 3, "close", "end"]]
    write_csv(Path("log.csv"), [["case", "nr", "name", "phase"], *rows])
    line = (
        "privatize log.csv --case case --order nr --symbol name --symbol phase --joiner : --alphabet steps.txt "
        "--epsilon 600 --output log-out.csv"
    )
    ran = run(line)
    assert ran.code == 0, ran.err
    found = [[row["case"], row["nr"], row["name"], row["phase"]] for row in read_csv(Path("log-out.csv"))]
    assert found == [["1", "1", "open", "start"], ["1", "2", "open", "end"], ["1", "3", "close", "end"]]
    ran = run(line.replace("--joiner :", "--overwrite"))
    assert ran.code == 1
    assert "choose another --joiner" in ran.err


def test_whoever_does_not_know_the_file_is_told_its_columns(run):
    write_csv(Path("stays.csv"), [["visit", "time", "page"], ["v", "1", "cart"]])
    Path("semicolons.csv").write_text("a;b;c\n1;2;3\n")
    line = "privatize {} --alphabet pages.txt --epsilon 1 --output out.csv"
    for file, columns in (
        ("stays.csv", "'visit', 'time', 'page'"),
        ("semicolons.csv", "'a', 'b', 'c'"),
        ("trips.parquet", "'route', 'driver', 'day'"),
    ):
        ran = run(line.format(file))
        assert ran.code == 2
        assert "where are the words? Give --column for one word a row" in ran.err
        assert f"Its columns: {columns}." in ran.err
    assert "Its columns" not in run(line.format("stays.csv") + " --no-header").err
    assert run("ledger init budget.db --epsilon 9 --unit symbols --adjacency 1").code == 0
    hidden = run(line.format("stays.csv") + " --ledger budget.db").err
    assert "where are the words?" in hidden
    assert "'visit'" not in hidden


def test_an_unknown_symbol_is_shown_beside_one_that_is_known(run):
    """Numbers in the file and names in the public list, or the other way round, are seen at once."""
    Path("codes.txt").write_text("0 1\n1\n")
    ran = run("privatize codes.txt --alphabet pages.txt --epsilon 9 --output out.txt")
    assert ran.code == 1
    assert "unknown symbol '0'" in ran.err
    assert "(this one has 3, the first is 'home')" in ran.err


COUNTED = FLOWS + " --count flow"
BAD_ROWS = {
    "mixed formats": (LONG, ["2014-01-09", "13/1/2014"], "row 2 ('13/1/2014') is day/month/year", "--time-format"),
    "a zone in one row": (LONG, ["2014-01-09 10:00Z", "2014-01-09 10:30"], "row 2 (", "give all times a zone, or none"),
    "a negative count": (COUNTED, ["4", "-4"], "row 2, column 'flow': the count is", "--on-bad-row skip"),
    "half a trip": (COUNTED, ["4", "2.5"], "row 2, column 'flow': the count is", "--on-bad-row skip"),
}


@pytest.mark.parametrize("what", BAD_ROWS)
def test_bad_rows_are_named_with_a_way_out_and_cost_nothing(run, what):
    line, values, place, way_out = BAD_ROWS[what]
    write_csv(Path("stays.csv"), [["visit", "time", "page"], *(["v", value, "cart"] for value in values)])
    write_csv(Path("od.csv"), [["a", "b", "flow"], *(["s0", "s1", value] for value in values)])
    unit = "symbols --adjacency 1" if line == LONG else "transition"
    assert run(f"ledger init budget.db --epsilon 700 --delta 1e-5 --unit {unit}").code == 0
    before = sorted(Path().iterdir())
    ran = run(f"{line} --ledger budget.db --curator")
    assert ran.code == 1
    assert place in ran.err
    assert way_out in ran.err
    assert "Traceback" not in ran.err
    assert sorted(Path().iterdir()) == before
    shown = json.loads(run("ledger show budget.db --json").out)
    assert float(shown["spent"]["epsilon"]) == 0
