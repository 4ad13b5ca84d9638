"""Times and groups beside words: every way to write them, and what spoils a word."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pyarrow as pa
import pytest

from pathveil.data.formats import RawWords
from pathveil.data.reading import Beside
from pathveil.errors import DataFileError, InvalidParameterError

NINE = 9 * 3600.0  # on the first day of 1970


def read(beside, *columns, words=(("a",),), are_json=False):
    raw = RawWords(pa.array(map(list, words)), None, tuple(columns), lambda *_: "")
    [found] = beside.read([raw], are_json)
    return [column.to_pylist() for column in found.kept], found.spoiled


@pytest.mark.parametrize(
    "written",
    [
        pa.array(["1970-01-01 09:00"]),
        pa.array(["1970/01/01 09:00:00.000"]),
        pa.array(["1970-01-01T09:00:00+05:00"]),  # on the clock of the place
        pa.array(["01.01.1970 at 9"]),
        pa.array([" 32400 "]),
        pa.array([32400]),
        pa.array([32400.0]),
        pa.array([datetime(1970, 1, 1, 9)]),
        pa.array([datetime(1970, 1, 1, 9)], pa.timestamp("ns")),
        pa.array([datetime(1970, 1, 1, 9)], pa.timestamp("s", "UTC")),
    ],
)
def test_every_way_to_write_a_time_is_read(written):
    beside = Beside("t", ("%d.%m.%Y at %H",))
    assert read(beside, written) == ([[NINE]], {})
    listed = pa.ListArray.from_arrays([0, 1], written)
    assert read(beside, listed) == ([[[NINE]]], {})


@pytest.mark.parametrize("written", ["", "soon", None, "nan", "inf", "1e300", "09:00", "01.01.1970"])
def test_what_is_no_time_spoils_the_word(written):
    _, spoiled = read(Beside("t"), pa.array([written], pa.string()))
    assert "a time is missing" in spoiled[0]


def test_a_clock_that_is_put_forwards_adds_no_hour():
    winter, summer = (timezone(timedelta(hours=hours)) for hours in (1, 2))
    texts = [
        datetime(2024, 3, 31, 1, 30, tzinfo=winter).isoformat(),
        datetime(2024, 3, 31, 3, 30, tzinfo=summer).isoformat(),
    ]
    [[[first, second]]], spoiled = read(Beside("t"), pa.array([texts]), words=["ab"])
    assert (second - first, spoiled) == (3600, {})


@pytest.mark.parametrize(
    ("times", "why"),
    [
        ([["1970-01-01", "1969-12-31"]], "earlier than the one before"),
        ([["1970-01-01 09:00+01:00", "1970-01-01 10:00"]], "have a zone"),
        ([["1970-01-01"]], "one time for each symbol"),
        ([None], "one time for each symbol"),
    ],
)
def test_times_that_do_not_fit_the_word_spoil_it(times, why):
    _, spoiled = read(Beside("t"), pa.array(times, pa.list_(pa.string())), words=["ab"])
    assert why in spoiled[0]


def test_the_next_word_may_be_earlier():
    times = pa.array([["1970-01-02", "1970-01-03"], ["1970-01-01"]])
    assert read(Beside("t"), times, words=["ab", "c"])[1] == {}


def test_groups_are_the_same_however_files_write_them():
    beside = Beside(group="g", groups=("7", "east", "true"))
    words = [("a",)] * 3
    for column, are_json in [
        (pa.array(["7", "east", "true"]), False),
        (pa.array(["7.0", '"east"', "true"]), True),
    ]:
        assert read(beside, column, words=words, are_json=are_json) == ([[0, 1, 2]], {})
    assert read(beside, pa.array([7.0, 7.0, 7.0]), words=words)[0] == [[0, 0, 0]]
    _, spoiled = read(beside, pa.array([None, "north", "east"]), words=words)
    assert ("missing" in spoiled[0], "not among" in spoiled[1], len(spoiled)) == (True, True, 2)
    listed = pa.array([["east", "east"], ["east", "7"]])
    assert list(read(beside, listed, words=["ab", "ab"])[1]) == [1]


def test_times_and_groups_come_together():
    found, _ = read(Beside("t", (), "g", ("x", "y")), pa.array([5]), pa.array(["y"]))
    assert found == [[5.0], [1]]


def test_what_makes_no_sense_is_refused():
    with pytest.raises(InvalidParameterError, match="belong together"):
        Beside(group="g")
    with pytest.raises(InvalidParameterError, match="zone"):
        Beside("t", ("%H:%M %z",))
    with pytest.raises(InvalidParameterError, match="one name"):
        read(Beside(group="g", groups=("7", "7.0")), pa.array(["7"]))
    with pytest.raises(DataFileError, match="holds no times"):
        read(Beside("t"), pa.array([True]))
