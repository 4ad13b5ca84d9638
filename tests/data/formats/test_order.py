"""The order column of a long table: read as the times that stand there, or refused where nobody can know them."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

import pathveil as pv
from pathveil import data
from pathveil.data.formats.table_rows import TableRows
from tests.data.files import write_csv, write_json_lines
from tests.reference.long_rows import time_key, words_of_rows
from tests.sizes import given_few_and_many

WORLD = pv.Alphabet("abcdefgh")


def written(path: Path, rows: list[tuple[str, str, str]]) -> Path:
    """A long table of (visit, time, page) rows."""
    if path.suffix == ".csv":
        write_csv(path, [["visit", "time", "page"], *map(list, rows)])
    elif path.suffix == ".parquet":
        visits, times, pages = zip(*rows, strict=True)
        pq.write_table(pa.table({"visit": visits, "time": times, "page": pages}), path)
    else:
        write_json_lines(path, [{"visit": v, "time": t, "page": p} for v, t, p in rows])
    return path


def read(path: Path, **how: object) -> list[str]:
    layout = data.LongTable("visit", how.pop("order", "time"), "page", **how)  # type: ignore[arg-type]
    batches = data.read_words(path, layout, WORLD)
    return ["".join(WORLD.symbols[code] for code in word) for b in batches for word in b.column(0).to_pylist()]


def read_times(path: Path, times: list[str], **how: object) -> str:
    """The one word whose symbols a, b, c, ... have these times."""
    [word] = read(written(path, [("v", time, page) for time, page in zip(times, "abcdefgh", strict=False)]), **how)
    return word


def refused(path: Path, times: list[str], *says: str, hides: bool = True, **how: object) -> str:
    """Refused with such a message; the one for others says the same without quoting a time."""
    with pytest.raises(pv.DataFileError) as caught:
        read_times(path, times, **how)
    bare = caught.value.without_content or ""
    for part in says:
        assert part in str(caught.value)
    assert not hides or not any(time in bare for time in times)
    assert "row " in bare
    assert path.name in bare
    return bare


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
@pytest.mark.parametrize(
    "times",
    [
        ["13/1/2014", "2/2/2014", "10/1/2014"],
        ["13.01.2014 09:00", "02.02.2014 08:00", "13.01.2014 08:59"],
        ["13-01-2014 09:00:00", "02-02-2014 08:00:00", "13-01-2014 08:59:59"],
        ["1/13/2014 9:00", "2/2/2014", "1/13/2014 8:59:59"],
        ["1/13/2014 1:00 PM", "2/2/2014 8:00 AM", "1/13/2014 12:30 PM"],
        ["2014.01.10", "2014.2.1", "2014.01.09"],
        ["2014/1/10", "2014/2/1", "2014/1/9"],
        ["10-Jan-2014", "01-Feb-2014", "9-Jan-2014"],
        ["January 10, 2014", "February 1, 2014", "January 9, 2014"],
        ["9:30", "10:00", "9:05"],
        ["2014-01-10T09:00:00+02:00", "2014-01-10 10:00:00Z", "2014-01-10 08:59:00+02:00"],
        ["1389225600", "1391212800", "999999999"],
    ],
)
def test_times_are_sorted_as_times(times: list[str], ending: str, tmp_path: Path) -> None:
    assert read_times(tmp_path / f"in{ending}", times) == "cab"


def test_the_file_of_the_first_user_is_not_sorted_as_text(tmp_path: Path) -> None:
    """9/1, 10/1, 11/1: as text the first comes last. Both ways to read them give this order."""
    assert read_times(tmp_path / "in.csv", ["9/1/2014", "10/1/2014", "11/1/2014"]) == "abc"


def test_a_day_that_could_be_a_month_is_refused_if_the_order_depends_on_it(tmp_path: Path) -> None:
    times = ["5/5/2014 10:00", "2/1/2014 10:00", "1/3/2014 10:00"]
    says = ["row 2 ('2/1/2014 10:00')", "row 3 ('1/3/2014 10:00')", "'%d/%m/%Y %H:%M'", "'%m/%d/%Y %H:%M'"]
    bare = refused(tmp_path / "in.csv", times, *says)
    assert "row 2 and row 3 may be day/month/year or month/day/year" in bare
    assert "`time_format='%d/%m/%Y %H:%M'` or `time_format='%m/%d/%Y %H:%M'`" in bare
    assert read_times(tmp_path / "in.csv", times, time_format="%d/%m/%Y %H:%M") == "bca"
    assert read_times(tmp_path / "in.csv", times, time_format="%m/%d/%Y %H:%M") == "cba"


def test_ambiguous_dates_in_different_words_do_no_harm(tmp_path: Path) -> None:
    rows = [("v", "2/1/2014", "a"), ("w", "1/3/2014", "b"), ("w", "2/3/2014", "c")]
    assert sorted(read(written(tmp_path / "in.csv", rows))) == ["a", "bc"]


def test_one_row_at_the_end_of_many_decides_what_is_a_day(tmp_path: Path) -> None:
    rows = [("v", f"{1 + i % 12}/{1 + i % 12}/{2000 + i}", "a") for i in range(3000)]
    rows += [("w", "2/1/2014 10:00", "a"), ("w", "13/1/2014", "c"), ("w", "1/3/2014 10:00:30", "b")]
    assert read(written(tmp_path / "in.csv", rows))[-1] == "acb"


@pytest.mark.parametrize(
    ("times", "says"),
    [
        (
            ["2014-01-09", "2014-01-10", "13/1/2014"],
            ["row 1 ('2014-01-09') is an ISO time", "row 3 ('13/1/2014') is day"],
        ),
        (["13/1/2014", "1/14/2014", "15/1/2014"], ["row 1 ('13/1/2014') is day/m", "row 2 ('1/14/2014') is month/d"]),
        (["77.25", "99.5", "2014-01-10"], ["row 1 ('77.25') is a number", "row 3"]),
        (["2014-01-09 10:00Z", "2014-01-09 10:30", "2014-01-09 11:00+01"], ["row 1", "row 2", "give all times a zone"]),
    ],
)
def test_mixed_formats_are_refused_with_a_row_of_each(times: list[str], says: list[str], tmp_path: Path) -> None:
    refused(tmp_path / "in.csv", times, "formats are mixed", *says)


def test_rows_of_several_files_are_named_with_their_file(tmp_path: Path) -> None:
    written(tmp_path / "1.csv", [("v", "2014-01-09", "a")])
    written(tmp_path / "2.csv", [("v", "2014-01-10", "a"), ("v", "13/1/2014", "b")])
    with pytest.raises(pv.DataFileError, match=r"1\.csv, column 'time': .*row 1 .*, row 2 of .*2\.csv"):
        read(tmp_path / "*.csv")


def test_text_with_digits_is_refused_until_somebody_says_what_it_is(tmp_path: Path) -> None:
    times = ["13/01/14", "02/02/14", "10/01/14"]
    refused(tmp_path / "in.csv", times, "row 1 ('13/01/14')", "`time_format='%d/%m/%y")
    assert read_times(tmp_path / "in.csv", times, time_format="%d/%m/%y") == "cab"
    refused(tmp_path / "in.csv", ["step 9", "step 10"], "row 1", '`time_format="text"`')
    assert read_times(tmp_path / "in.csv", ["step 9", "step 10"], time_format="text") == "ba"
    assert read_times(tmp_path / "in.csv", ["second", "first"]) == "ba"


def test_what_is_no_time_among_times_makes_a_bad_row(tmp_path: Path) -> None:
    times = ["13/1/2014", "unknown", "2/2/2014"]
    refused(tmp_path / "in.csv", times, "'time' is missing or not day/month/year like the others", hides=False)
    refused(tmp_path / "in.csv", times, "not a time of the form '%d/%m/%Y'", hides=False, time_format="%d/%m/%Y")
    # A year of two digits is not year 14: among others it would come first.
    refused(tmp_path / "in.csv", ["13/1/2014", "14/1/14"], "not a time", hides=False, time_format="%d/%m/%Y")


def test_several_formats_may_be_declared(tmp_path: Path) -> None:
    times = ["13/1/2014", "2014-02-02", "10/1/2014"]
    assert read_times(tmp_path / "in.csv", times, time_format=["%d/%m/%Y", "%Y-%m-%d"]) == "cab"


@pytest.mark.parametrize("wrong", ["", "d/m/Y", "%Q", ["%d/%m/%Y", "%d/%m/%Y %z"], [3]])
def test_formats_that_make_no_sense_are_wrong_use(wrong: object, tmp_path: Path) -> None:
    with pytest.raises(pv.InvalidParameterError, match="`time_format`"):
        read_times(tmp_path / "in.csv", ["13/1/2014"], time_format=wrong)


def test_a_column_of_times_needs_no_format(tmp_path: Path) -> None:
    times = pa.array([datetime(2014, 1, 2), datetime(2014, 1, 1)])
    pq.write_table(pa.table({"visit": ["v", "v"], "time": times, "page": ["a", "b"]}), tmp_path / "in.parquet")
    assert read(tmp_path / "in.parquet") == ["ba"]
    with pytest.raises(pv.InvalidParameterError, match="times already"):
        read(tmp_path / "in.parquet", time_format="%d/%m/%Y")


def test_ties_stay_in_the_order_of_the_file_and_are_counted(tmp_path: Path) -> None:
    rows = [("v", "2", "c"), ("w", "1", "a"), ("v", "1", "b"), ("v", "1", "a"), ("w", "2", "b"), ("v", "2", "d")]
    source = written(tmp_path / "in.csv", rows)
    assert sorted(read(source)) == ["ab", "bacd"]
    counted = data.count_transitions(source, data.LongTable("visit", "time", "page"), "abcd")
    assert counted.words_tied == 1
    with pytest.raises(pv.DataFileError, match=r"row 3, visit 'v': two rows have the same 'time' \(`ties"):
        read(source, ties="refuse")
    mechanism = pv.CertifiedExponential(WORLD, epsilon=600.0)
    layout = data.LongTable("visit", "time", "page")
    assert data.privatize_file(source, layout, mechanism, tmp_path / "out.csv").words_tied == 1


def test_further_columns_decide_between_equal_times(tmp_path: Path) -> None:
    rows = [["v", "13/1/2014", "10", "c"], ["v", "13/1/2014", "9", "b"], ["v", "12/1/2014", "11", "a"]]
    write_csv(tmp_path / "in.csv", [["visit", "time", "line", "page"], *rows])
    for ties in ("columns", "refuse", "file-order"):
        assert read(tmp_path / "in.csv", order=["time", "line"], ties=ties) == ["abc"]
    write_csv(tmp_path / "in.csv", [["visit", "time", "line", "page"], *rows, rows[0]])
    assert read(tmp_path / "in.csv", order=["time", "line"]) == ["abcc"]
    with pytest.raises(pv.DataFileError, match="same 'time' and 'line'"):
        read(tmp_path / "in.csv", order=["time", "line"], ties="columns")
    output = tmp_path / "out.csv"
    layout = data.LongTable("visit", ("time", "line"), "page")
    data.privatize_file(tmp_path / "in.csv", layout, pv.CertifiedExponential(WORLD, epsilon=600.0), output)
    assert output.read_text().splitlines()[0] == "visit,time,page"


def test_ties_that_make_no_sense_are_wrong_use() -> None:
    with pytest.raises(pv.InvalidParameterError, match="second `order`"):
        data.LongTable("visit", "time", "page", ties="columns")
    with pytest.raises(pv.InvalidParameterError, match="`ties` is"):
        data.LongTable("visit", "time", "page", ties="later")  # type: ignore[arg-type]
    with pytest.raises(pv.InvalidParameterError, match="twice"):
        data.LongTable("visit", ["time", "time"], "page")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
def test_the_order_of_a_large_file_does_not_depend_on_threads(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifty words, mixed, and all rows of a word tied, in two files. They stay in the order of the files.

    Negative control: without the numbers of rows the database sorts ties as it likes, and the test would notice.
    """
    random = Random(1)
    rows = [(f"v{random.randrange(50)}", "1", random.choice(WORLD.symbols)) for _ in range(60_000)]
    for name, part in zip("12", (rows[:35_000], rows[35_000:]), strict=True):
        written(tmp_path / f"{name}{ending}", part)
    words = words_of_rows(rows, int)
    expected = sorted("".join(word) for word in words.values())
    assert sorted(read(tmp_path / f"*{ending}")) == expected
    numbered = TableRows.__init__

    def unnumbered(self: TableRows, *given: Any) -> None:
        numbered(self, *given)
        self.numbered = f"SELECT *, 0 AS r FROM ({self.all})"

    monkeypatch.setattr(TableRows, "__init__", unnumbered)
    assert sorted(read(tmp_path / f"*{ending}")) != expected


FORMATS = ["%d/%m/%Y %H:%M", "%m/%d/%Y", "%d.%m.%Y %H:%M:%S", "%Y-%m-%d", "%d-%b-%Y %H:%M", "%m-%d-%Y %I:%M %p"]


@given_few_and_many(
    12,
    60,
    rows=st.lists(
        st.tuples(st.sampled_from("uvw"), st.integers(0, 2000).map(lambda h: 7 * h), st.sampled_from("abcdefgh")),
        min_size=1,
        max_size=30,
    ),
    time_format=st.sampled_from(FORMATS),
    is_declared=st.booleans(),
)
def test_words_are_those_of_a_plain_reading(
    rows: list[tuple[str, int, str]], time_format: str, is_declared: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    start = datetime(2013, 11, 25)
    texts = [(case, (start + timedelta(hours=hours)).strftime(time_format), page) for case, hours, page in rows]
    texts += [("z", datetime(2014, 1, 31).strftime(time_format), "a")]  # the 31st is no month
    words = words_of_rows(texts, time_key(time_format))
    path = written(tmp_path_factory.mktemp("rows") / "in.csv", texts)
    found = read(path, **({"time_format": time_format} if is_declared else {}))
    first_seen = dict.fromkeys(case for case, _, _ in texts)
    assert found == ["".join(words[case]) for case in first_seen]


def test_what_is_recognised_is_no_guess(tmp_path: Path) -> None:
    """Whatever two dates a word has: they come in the one possible order, or are refused."""
    days = ["1/2/2014", "2/1/2014", "1/13/2014", "13/1/2014", "12/12/2013"]
    for number, pair in enumerate(itertools.permutations(days, 2)):
        possible = set()
        for time_format in ("%d/%m/%Y", "%m/%d/%Y"):
            try:
                rows = [("v", day, page) for day, page in zip(pair, "ab", strict=True)]
                possible.add("".join(words_of_rows(rows, time_key(time_format))["v"]))
            except ValueError:
                continue
        path = tmp_path / f"{number}.csv"
        if len(possible) == 1:
            assert {read_times(path, list(pair))} == possible
        else:
            refused(path, list(pair), "row 1", "row 2")
