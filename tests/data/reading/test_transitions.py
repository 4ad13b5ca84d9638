"""Counting transitions in files agrees with counting them by hand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings

import pathveil as pv
from pathveil import data
from tests.data.files import SHAPES, Shape, Words, write_csv, write_json_lines

STATES = ["a", "b", "c"]


def by_hand(words: Words, cut: int | None = None) -> list[list[int]]:
    pairs = [pair for word in words for pair in pairwise(word[:cut])]
    return [[pairs.count((x, y)) for y in STATES] for x in STATES]


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(st.lists(st.sampled_from(STATES), min_size=1, max_size=6), min_size=1, max_size=8),
    shape=st.sampled_from(SHAPES),
    cut=st.one_of(st.none(), st.integers(1, 6)),
)
def test_transitions_are_counted_inside_words(words: Words, shape: Shape, cut: int | None, tmp_path: Path) -> None:
    source = tmp_path / f"in{shape.ending}"
    shape.write(source, words)
    found = data.count_transitions(source, shape.layout, STATES, max_length=cut)
    assert found.counts.tolist() == by_hand(words, cut)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet", ".csv.gz"])
def test_pairs_are_counted_over_all_files(ending: str, tmp_path: Path) -> None:
    pairs = [("1", "2"), ("2", "1"), ("1", "2"), ("3", "3")]
    for part in ("x", "y"):
        path = tmp_path / f"{part}{ending}"
        if "csv" in ending:
            write_csv(path, [["from", "n", "to"], *([a, 7, b] for a, b in pairs)])
        elif ending == ".jsonl":
            write_json_lines(path, [{"from": int(a), "to": b} for a, b in pairs])
        else:
            pq.write_table(pa.table({"from": [int(a) for a, _ in pairs], "to": [b for _, b in pairs]}), path)
    found = data.count_transitions(tmp_path, data.PairColumns("from", "to"), [1, 2, 3])
    assert found.counts.tolist() == [[0, 4, 0], [2, 0, 0], [0, 0, 2]]


def test_the_counts_fit_a_private_chain(tmp_path: Path) -> None:
    write_csv(tmp_path / "trips.csv", [["o", "d"], *([["a", "b"], ["b", "a"], ["b", "c"], ["c", "a"]] * 50)])
    counts = data.count_transitions(tmp_path / "trips.csv", data.PairColumns("o", "d"), STATES).counts
    model = pv.fit_private_chain(counts, states=STATES, epsilon=1.0, delta=1e-6, rng=pv.insecure_seed(1))
    assert np.allclose(model.chain.matrix.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("row", "error", "says"),
    [
        (["z", "b"], pv.UnknownSymbolError, "row 3, column 'o': unknown state 'z'"),
        (["a", "z"], pv.UnknownSymbolError, "row 3, column 'd': unknown state 'z'"),
        (["a", ""], pv.DataFileError, "row 3, column 'd': the state is missing"),
    ],
)
def test_bad_pairs_are_named_or_skipped(row: list[str], error: type[Exception], says: str, tmp_path: Path) -> None:
    source = tmp_path / "trips.csv"
    write_csv(source, [["o", "d"], ["a", "b"], ["b", "a"], row, row])
    columns = data.PairColumns("o", "d")
    with pytest.raises(error, match=f"trips.csv, {says}"):
        data.count_transitions(source, columns, STATES)
    found = data.count_transitions(source, columns, STATES, on_bad_row="skip")
    assert found.counts.sum() == 2
    assert found.rows_skipped == 2
    assert says in found.skipped_examples[0]


def test_bad_options_and_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a b\n")
    with pytest.raises(pv.InvalidParameterError, match="max_length"):
        data.count_transitions(tmp_path / "words.txt", data.TextLines(), STATES, max_length=0)
    with pytest.raises(pv.InvalidParameterError, match="`max_length` is for words"):
        data.count_transitions(tmp_path / "words.txt", data.PairColumns("o", "d"), STATES, max_length=2)
    with pytest.raises(pv.DataFileError, match="columns of pairs"):
        data.count_transitions(tmp_path / "words.txt", data.PairColumns("o", "d"), STATES)
    write_csv(tmp_path / "trips.csv", [["o", "d"]])
    with pytest.raises(pv.DataFileError, match="no transition to count"):
        data.count_transitions(tmp_path / "trips.csv", data.PairColumns("o", "d"), STATES)
