"""Synthetic words from Python; tests/cli has the command."""

from __future__ import annotations

import json
import re
from datetime import datetime

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from pathveil import data
from pathveil.release import SyntheticChoices, release_synthetic
from tests.data.files import read_csv, read_xes


@pytest.fixture
def model(tmp_path):
    counts = np.array([[9, 1], [2, 8]])
    pv.fit_private_chain(counts, states=["a", "b"], epsilon=5.0, mechanism="laplace").save(tmp_path / "model.json")
    return tmp_path / "model.json"


def test_words_of_a_private_model_carry_its_promise(tmp_path, model):
    promise = release_synthetic(model, tmp_path / "out.txt", SyntheticChoices(3, length=4, separator=""))
    assert promise == pv.load_model(model).guarantee
    assert json.loads((tmp_path / "out.txt.manifest.json").read_text())["guarantee"] == str(promise)
    words = (tmp_path / "out.txt").read_text().splitlines()
    assert [(len(word), set(word) <= {"a", "b"}) for word in words] == [(4, True)] * 3


def test_words_of_any_other_chain_carry_none(tmp_path):
    (tmp_path / "chain.json").write_text(pv.MarkovChain.from_edges([("a", "b"), ("b", "a")]).to_json())
    assert release_synthetic(tmp_path / "chain.json", tmp_path / "out.csv", SyntheticChoices(2, length=2)) is None
    assert not (tmp_path / "out.csv.manifest.json").exists()


def test_progress_ends_at_the_number_of_words(tmp_path, model):
    told = []
    release_synthetic(model, tmp_path / "out.txt", SyntheticChoices(12, length=4), lambda *what: told.append(what))
    assert told[-1] == ("writing", 12)


def test_the_model_itself_is_not_overwritten(model):
    before = model.read_bytes()
    with pytest.raises(pv.InvalidParameterError, match="a file that this command reads"):
        release_synthetic(model, model, SyntheticChoices(1, length=2, overwrite=True))
    assert model.read_bytes() == before


LONG = {"case": "visit", "order": "step", "symbol": "page"}


@pytest.mark.parametrize(
    ("name", "choices", "layout"),
    [
        ("out.csv", {}, data.DelimitedColumn("word")),
        ("out.tsv", {"column": "route", "separator": ">"}, data.DelimitedColumn("route", ">")),
        ("out.parquet", {}, data.ListColumn("word")),
        ("out.parquet", {"separator": ">"}, data.DelimitedColumn("word", ">")),
        ("out.jsonl.gz", {"column": "route"}, data.ListColumn("route")),
        ("out.txt", {"separator": ","}, data.TextLines(",")),
        ("out.csv.zst", LONG, data.LongTable(**LONG)),
        ("out.parquet", LONG, data.LongTable(**LONG)),
        ("out.jsonl", {"case": "visit"}, data.LongTable("visit", "position", "symbol")),
        ("out.xes", {}, data.EventLog()),
        ("out.xes.gz", {"symbol": "org:role"}, data.EventLog("org:role")),
    ],
)
def test_every_format_and_layout_is_written(tmp_path, model, name, choices, layout):
    release_synthetic(model, tmp_path / name, SyntheticChoices(25, length=4, **choices))
    batches = list(data.read_words(tmp_path / name, layout, pv.Alphabet("ab")))
    words = [word for batch in batches for word in batch.column("word").to_pylist()]
    assert [len(word) for word in words] == [4] * 25


def test_long_tables_and_event_logs_are_as_privatize_writes_them(tmp_path, model):
    release_synthetic(model, tmp_path / "out.csv", SyntheticChoices(2, length=2, **LONG))
    rows = read_csv(tmp_path / "out.csv")
    assert [(row["visit"], row["step"]) for row in rows] == [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]
    release_synthetic(model, tmp_path / "out.xes", SyntheticChoices(3, length=2))
    assert [len(word) for word in read_xes(tmp_path / "out.xes")] == [2, 2, 2]
    assert "not real" in (tmp_path / "out.xes").read_text()
    release_synthetic(model, tmp_path / "out.parquet", SyntheticChoices(3, length=2, symbol="page"))
    assert pq.read_table(tmp_path / "out.parquet").column_names == ["case", "position", "page"]


@pytest.mark.parametrize(
    ("name", "choices", "message"),
    [
        ("out.xes", {"column": "route"}, "an event log has no columns. Leave out --column."),
        ("out.xes", {"case": "a", "order": "b"}, "Leave out --case and --order."),
        ("out.txt", {"symbol": "page"}, "plain text has no columns. Leave out --symbol."),
        ("out.csv", {"case": "visit", "column": "word"}, "Leave out --column."),
        ("out.csv", {"case": "symbol"}, "three names"),
    ],
)
def test_choices_that_contradict_the_format_are_refused(tmp_path, model, name, choices, message):
    with pytest.raises(pv.InvalidParameterError, match=message):
        release_synthetic(model, tmp_path / name, SyntheticChoices(2, length=2, **choices))
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]


def _timed_model(tmp_path, times):
    model = pv.fit_private_sequences(
        [("open", "close")] * 500, times=times, states=["open", "close"], epsilon=50.0, max_length=3,
        rng=pv.insecure_seed(1),
    )  # fmt: skip
    model.save(tmp_path / "timed.json")
    return tmp_path / "timed.json"


def test_events_have_the_times_that_the_model_has_learned(tmp_path):
    """All words of the data begin on a Thursday at 5 and take about an hour."""
    model = _timed_model(tmp_path, [[5 * 3600, 6 * 3600 + 30]] * 500)
    release_synthetic(model, tmp_path / "out.xes", SyntheticChoices(200))
    text = (tmp_path / "out.xes").read_text()
    assert "drawn from a private model" in text
    assert "1970-01-01T00:00:01" not in text
    found = [datetime.fromisoformat(one) for one in re.findall(r'<event>.*?time:timestamp" value="(.*?)"', text)]
    assert np.mean([one.strftime("%a %H") in ("Thu 05", "Thu 06") for one in found]) > 0.8
    assert len(read_xes(tmp_path / "out.xes")) == 200


@pytest.mark.parametrize(("order", "column"), [("step", "time"), ("time", "time:timestamp")])
@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_long_tables_have_a_column_of_learned_times(tmp_path, order, column, ending):
    model = _timed_model(tmp_path, [[5 * 3600, 6 * 3600 + 30]] * 500)
    target = tmp_path / f"out.{ending}"
    release_synthetic(model, target, SyntheticChoices(50, case="visit", order=order, symbol="page"))
    reader = {"csv": pd.read_csv, "parquet": pd.read_parquet, "jsonl": lambda path: pd.read_json(path, lines=True)}
    table = reader[ending](target)
    assert list(table.columns) == ["visit", order, "page", column]
    table[column] = pd.to_datetime(table[column])
    assert (table.groupby("visit")[column].diff().dropna() >= pd.Timedelta(0)).all()
    assert table[column].dt.year.between(2024, 2025).all()


def test_words_in_a_row_have_a_start_and_lines_of_text_have_none(tmp_path):
    model = _timed_model(tmp_path, [[5 * 3600, 6 * 3600 + 30]] * 500)
    release_synthetic(model, tmp_path / "out.csv", SyntheticChoices(5))
    assert list(read_csv(tmp_path / "out.csv")[0]) == ["word", "start"]
    release_synthetic(model, tmp_path / "out.txt", SyntheticChoices(5))
    assert not any(character.isdigit() for character in (tmp_path / "out.txt").read_text())


def test_models_that_know_only_starts_give_made_up_times(tmp_path):
    model = _timed_model(tmp_path, [5 * 3600] * 500)
    release_synthetic(model, tmp_path / "out.xes", SyntheticChoices(5))
    assert "not real" in (tmp_path / "out.xes").read_text()
