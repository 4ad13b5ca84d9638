"""Words from frames of pandas and polars, and back."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pathveil as pv

LIBRARIES = pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
WORDS = [("list", "item", "list"), ("home",), ("item", "home")]


@LIBRARIES
def test_a_list_column_gives_its_words(library):
    assert pv.words_from_column(library.Series([list(word) for word in WORDS])) == WORDS


def test_arrays_in_a_column_become_plain_python_values():
    [word] = pv.words_from_column(pd.Series([np.array([1, 2])]))
    assert [type(symbol) for symbol in word] == [int, int]


@LIBRARIES
def test_a_long_table_is_sorted_within_its_cases_and_by_first_appearance_between_them(library):
    frame = library.DataFrame(
        {"who": ["u", "v", "u", "u"], "at": [30, 1, 10, 20], "page": ["c", "x", "a", "b"]},
    )
    assert pv.words_from_table(frame, case="who", symbol="page", order="at") == [("a", "b", "c"), ("x",)]
    assert pv.words_from_table(frame, case="who", symbol="page") == [("c", "a", "b"), ("x",)]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_words_go_to_a_long_table_and_come_back(library):
    frame = pv.words_to_table(WORDS, case="visit", symbol="page", order="step", library=library)
    assert type(frame).__module__.startswith(library)
    assert list(frame.columns) == ["visit", "step", "page"]
    assert pv.words_from_table(frame, case="visit", symbol="page", order="step") == WORDS


@LIBRARIES
def test_an_event_frame_is_read_by_time(library):
    times = pd.to_datetime(["2026-01-01 10:00", "2026-01-02 08:00", "2026-01-01 09:00"]).to_pydatetime().tolist()
    columns = {
        "case:concept:name": ["7", "8", "7"],
        "concept:name": ["close", "open", "open"],
        "time:timestamp": times,
        "org:resource": ["Ann", "Bo", "Cy"],
    }
    assert pv.words_from_events(library.DataFrame(columns)) == [("open", "close"), ("open",)]


def test_an_event_frame_of_words_has_the_layout_of_pm4py_and_made_up_times():
    frame = pv.words_to_events(WORDS)
    assert list(frame.columns) == ["case:concept:name", "concept:name", "time:timestamp"]
    assert isinstance(frame["time:timestamp"].dtype, pd.DatetimeTZDtype)
    # Every case has the same times: how long a word is, is all that they tell.
    starts = frame.groupby("case:concept:name")["time:timestamp"].min()
    assert starts.nunique() == 1
    assert pv.words_from_events(frame.sample(frac=1, random_state=1).sort_values("case:concept:name")) == WORDS


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NaT, pd.NA])
def test_a_missing_symbol_is_named_by_its_row(missing):
    frame = pd.DataFrame({"who": ["u", "u"], "page": pd.Series(["a", missing], dtype=object)})
    with pytest.raises(pv.InvalidParameterError, match=r"'page' of row 2 is missing"):
        pv.words_from_table(frame, case="who", symbol="page")
    with pytest.raises(pv.InvalidParameterError, match=r"symbol 2 of row 1 is missing"):
        pv.words_from_column(pd.Series([["a", missing]]))


def test_what_is_no_list_no_column_or_no_frame_is_refused():
    frame = pd.DataFrame({"who": ["u", "u"], "page": ["a", "b"], "at": [1, "x"]})
    with pytest.raises(pv.InvalidParameterError, match="has no column 'site'; it has 'who', 'page'"):
        pv.words_from_table(frame, case="who", symbol="site")
    with pytest.raises(pv.InvalidParameterError, match="cannot be compared"):
        pv.words_from_table(frame, case="who", symbol="page", order="at")
    with pytest.raises(pv.InvalidParameterError, match="Split texts first"):
        pv.words_from_column(pd.Series(["a>b"]))
    with pytest.raises(pv.EmptyWordError, match="row 2"):
        pv.words_from_column(pd.Series([["a"], []]))
    with pytest.raises(pv.InvalidParameterError, match="list is no data frame"):
        pv.words_from_table([("u", "a")], case="who", symbol="page")
    with pytest.raises(pv.InvalidParameterError, match="not one series"):
        pv.words_from_column([["a"]])
    with pytest.raises(pv.InvalidParameterError, match="three names"):
        pv.words_to_table(WORDS, case="x", symbol="x", order="y")
    with pytest.raises(pv.InvalidParameterError, match="'pandas' or 'polars'"):
        pv.words_to_table(WORDS, case="c", symbol="s", order="o", library="spark")


def test_events_have_the_times_that_are_given():
    times = [np.array(["2024-01-01T09", "2024-01-01T10"], dtype="datetime64[s]"), [datetime(2024, 1, 2)]]
    log = pv.words_to_events([("open", "close"), ("open",)], times)
    assert log["time:timestamp"].dt.hour.to_list() == [9, 10, 0]
    assert str(log["time:timestamp"].dt.tz) == "UTC"
    with pytest.raises(pv.InvalidParameterError, match="as many times"):
        pv.words_to_events([("open", "close")], [[datetime(2024, 1, 2)]])
