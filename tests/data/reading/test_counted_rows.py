"""Rows that stand for several: counted as often as they say, and refused where they say nonsense."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pathveil as pv
from pathveil import data
from pathveil.data.reading import columns_like_counts
from pathveil.data.sources import find_files
from tests.data.files import write_csv, write_json_lines

FLOWS = data.PairColumns("origin", "destination", count="flow")


def written(path: Path, rows: list[tuple[str, str, object]]) -> Path:
    if path.suffix == ".csv":
        write_csv(path, [["flow", "origin", "destination"], *([n, a, b] for a, b, n in rows)])
    elif path.suffix == ".parquet":
        origins, destinations, flows = zip(*rows, strict=True)
        pq.write_table(pa.table({"origin": origins, "destination": destinations, "flow": flows}), path)
    else:
        write_json_lines(path, [{"origin": a, "destination": b, "flow": n} for a, b, n in rows])
    return path


@settings(max_examples=20)
@given(
    ending=st.sampled_from([".csv", ".parquet", ".jsonl"]),
    kind=st.sampled_from([int, float]),
    rows=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("ab"), st.integers(0, 9)), min_size=1),
)
def test_pairs_count_as_often_as_they_say(
    ending: str, kind: type, rows: list[tuple[str, str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = [*rows, ("a", "a", 3)]
    expected: Counter[tuple[str, str]] = Counter()
    for a, b, n in rows:
        expected[a, b] += n
    path = written(tmp_path_factory.mktemp("flows") / f"in{ending}", [(a, b, kind(n)) for a, b, n in rows])
    counted = data.count_transitions(path, FLOWS, "ab")
    assert counted.counts.tolist() == [[expected[a, b] for b in "ab"] for a in "ab"]
    model = pv.fit_private_chain(
        pairs=[(a, b) for a, b, _ in rows],
        pair_counts=(n for _, _, n in rows),
        states="ab",
        epsilon=1.0,
        delta=1e-6,
        rng=pv.insecure_seed(1),
    )
    same = pv.fit_private_chain(counted.counts, states="ab", epsilon=1.0, delta=1e-6, rng=pv.insecure_seed(1))
    assert (model.chain.matrix.toarray() == same.chain.matrix.toarray()).all()
    assert "transition" in model.guarantee.unit


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
@pytest.mark.parametrize("wrong", [-1, 2.5, "", "many", 2**53 + 1, "1e40", "nan"])
def test_what_is_no_count_is_named_with_its_row(wrong: object, ending: str, tmp_path: Path) -> None:
    path = written(tmp_path / f"in{ending}", [("a", "b", 1), ("a", "b", wrong), ("b", "a", 7)])
    with pytest.raises(pv.DataFileError, match=r"row 2, column 'flow': the count is missing or not a whole") as caught:
        data.count_transitions(path, FLOWS, "ab")
    assert caught.value.without_content is not None
    assert "it is" not in caught.value.without_content
    skipped = data.count_transitions(path, FLOWS, "ab", on_bad_row="skip")
    assert (skipped.counts.tolist(), skipped.rows_skipped) == ([[0, 1], [7, 0]], 1)


def test_counts_that_add_up_to_too_much_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "in.csv", [("a", "b", 2**53), ("b", "a", 1)])
    with pytest.raises(pv.DataFileError, match="add up to more"):
        data.count_transitions(path, FLOWS, "ab")
    path = written(tmp_path / "in.csv", [("a", "b", 2**53)] * 3000)
    with pytest.raises(pv.DataFileError, match="add up to more"):
        data.count_transitions(path, FLOWS, "ab")
    write_csv(path, [["route", "n"], *(["a b", 2**52], ["a", 2**52])])
    with pytest.raises(pv.DataFileError, match="add up to more"):
        data.count_transitions(path, data.DelimitedColumn("route"), "ab", count="n")


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl"])
def test_words_count_as_often_as_they_say(ending: str, tmp_path: Path) -> None:
    words, times = ["a b", "b b a", "a", "b a"], [3, 1, 5, 0]
    once, counted = tmp_path / f"once{ending}", tmp_path / f"counted{ending}"
    repeated = [word for word, n in zip(words, times, strict=True) for _ in range(n)]
    if ending == ".csv":
        write_csv(once, [["route"], *([word] for word in repeated)])
        write_csv(counted, [["route", "n"], *map(list, zip(words, times, strict=True))])
    elif ending == ".parquet":
        pq.write_table(pa.table({"route": repeated}), once)
        pq.write_table(pa.table({"route": words, "n": times}), counted)
    else:
        write_json_lines(once, [{"route": word} for word in repeated])
        write_json_lines(counted, [{"route": word, "n": n} for word, n in zip(words, times, strict=True)])
    layout = data.DelimitedColumn("route", " ")
    for cut in (None, 2):
        expected = data.count_transitions(once, layout, "ab", max_length=cut).words
        found = data.count_transitions(counted, layout, "ab", max_length=cut, count="n").words
        assert expected is not None and found is not None  # noqa: PT018
        assert found.transitions.tolist() == expected.transitions.tolist()
        assert found.first.tolist() == expected.first.tolist()
        assert found.lengths.tolist() == expected.lengths.tolist()


def test_a_bad_count_of_a_word_is_a_bad_row(tmp_path: Path) -> None:
    write_csv(tmp_path / "in.csv", [["route", "n"], ["a b", "2"], ["a b", "-2"]])
    layout = data.DelimitedColumn("route")
    with pytest.raises(pv.DataFileError, match=r"row 2, column 'route': the count is missing or not"):
        data.count_transitions(tmp_path / "in.csv", layout, "ab", count="n")
    found = data.count_transitions(tmp_path / "in.csv", layout, "ab", count="n", on_bad_row="skip")
    assert (found.counts.tolist(), found.rows_skipped) == ([[0, 2], [0, 0]], 1)


def test_only_rows_that_are_words_can_be_counted(tmp_path: Path) -> None:
    write_csv(tmp_path / "in.csv", [["visit", "step", "page", "n"], ["v", "1", "a", "2"]])
    with pytest.raises(pv.InvalidParameterError, match="`count` is for one word a row"):
        data.count_transitions(tmp_path / "in.csv", data.LongTable("visit", "step", "page"), "ab", count="n")


@pytest.mark.parametrize("wrong", [[1], [1, 2, 3], [1, -1], [1, 0.5], [2**53, 2**53], ["x", "y"]])
def test_counts_of_pairs_in_python_are_checked(wrong: list[object]) -> None:
    for pairs in ([("a", "b"), ("b", "a")], np.array([["a", "b"], ["b", "a"]])):
        with pytest.raises(pv.InvalidCountsError):
            pv.fit_private_chain(pairs=pairs, pair_counts=wrong, states="ab", epsilon=1.0, delta=1e-6)  # type: ignore[arg-type]
    with pytest.raises(pv.InvalidParameterError, match="needs `pairs`"):
        pv.fit_private_chain([[1, 1], [1, 1]], pair_counts=wrong, states="ab", epsilon=1.0, delta=1e-6)  # type: ignore[arg-type]


def test_columns_that_look_like_counts_are_found_by_name_and_type(tmp_path: Path) -> None:
    for ending in (".csv", ".parquet", ".jsonl"):
        [file] = find_files(written(tmp_path / f"in{ending}", [("a", "b", 5)]), tmp_path)
        assert columns_like_counts([file], FLOWS.columns[:2]) == ["flow"]
        assert columns_like_counts([file], FLOWS.columns) == []
    [file] = find_files(written(tmp_path / "in.parquet", [("a", "b", 5.5)]), tmp_path)
    assert columns_like_counts([file], FLOWS.columns[:2]) == []
    write_csv(tmp_path / "in.csv", [["origin", "destination", "account", "n_trips"]])
    [file] = find_files(tmp_path / "in.csv", tmp_path)
    assert columns_like_counts([file], ["origin", "destination"]) == ["n_trips"]
