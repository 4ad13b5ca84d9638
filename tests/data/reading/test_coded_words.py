"""Words of files as codes: each different one once, with how often it occurs, whatever the layout and the order."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

import pathveil as pv
from pathveil import data
from pathveil.data.reading import DistinctWords
from tests.data.files import LISTS, write_csv
from tests.data.people_files import LAYOUTS, STATES, WORDS, as_counter, written
from tests.sizes import given_few_and_many


@pytest.mark.parametrize("kind", LAYOUTS)
def test_every_layout_gives_the_same_words_in_the_same_order(kind: str, tmp_path: Path) -> None:
    found = data.read_coded_words(written(tmp_path, kind), LAYOUTS[kind], STATES, max_length=3)
    expected = Counter(tuple(STATES.index(x) for x in word[:3]) for word in WORDS)
    assert as_counter(found.words) == expected
    assert list(as_counter(found.words)) == sorted(expected)
    assert found.words.max_words_per_user is None


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("most", [1, 2, 7])
def test_at_most_so_many_words_of_each_person_are_read_and_the_words_say_so(
    kind: str, most: int, tmp_path: Path
) -> None:
    path = written(tmp_path, kind)
    found = data.read_coded_words(path, LAYOUTS[kind], STATES, user="who", max_words_per_user=most, max_length=9)
    used = min(most, 3)
    firsts = Counter[int]()
    for word, times in as_counter(found.words).items():
        firsts[word[0]] += times
    assert firsts == {0: 2 * used, 1: used, 2: used, 3: used}
    assert (found.words.max_words_per_user, found.words_over_limit) == (most, 15 - 5 * used)
    asked = {"states": STATES, "epsilon": 1.0, "max_length": 9, "unit": "user"}
    assert "person" in pv.fit_private_sequences(found.words, **asked, max_words_per_user=most).guarantee.unit
    if most > 1:  # as many words of a person as the promise does not speak of
        with pytest.raises(pv.InvalidParameterError, match="needs `users`"):
            pv.fit_private_sequences(found.words, **asked, max_words_per_user=1)


def test_words_that_were_not_limited_are_not_taken_for_those_of_persons(tmp_path: Path) -> None:
    found = data.read_coded_words(written(tmp_path, "parquet"), LISTS, STATES, max_length=9)
    with pytest.raises(pv.InvalidParameterError, match="needs `users`"):
        pv.fit_private_sequences(
            found.words, states=STATES, epsilon=1.0, max_length=9, unit="user", max_words_per_user=1
        )


def test_rows_that_stand_for_several_words_count_so_often_and_none_not_at_all(tmp_path: Path) -> None:
    write_csv(tmp_path / "in.csv", [["route", "n"], ["ab", 3], ["b", 0], ["ab", 2], ["a", 1]])
    layout = data.DelimitedColumn("route", "")
    found = data.read_coded_words(tmp_path / "in.csv", layout, "ab", max_length=5, count="n")
    assert as_counter(found.words) == {(0,): 1, (0, 1): 5}
    write_csv(tmp_path / "none.csv", [["route", "n"], ["ab", 0]])
    with pytest.raises(pv.DataFileError, match="no word to release"):
        data.read_coded_words(tmp_path / "none.csv", layout, "ab", max_length=5, count="n")
    write_csv(tmp_path / "many.csv", [["route", "n"], *(["ab", 2**52] for _ in range(4))])
    with pytest.raises(pv.DataFileError, match="add up to more than"):
        data.read_coded_words(tmp_path / "many.csv", layout, "ab", max_length=5, count="n")


def test_a_symbol_that_is_no_state_is_named_to_the_curator_only(tmp_path: Path) -> None:
    path = written(tmp_path, "parquet")
    with pytest.raises(pv.UnknownSymbolError, match="unknown symbol 'd'") as problem:
        data.read_coded_words(path, LISTS, "abc", max_length=3)
    assert "'d'" not in str(problem.value.without_content)
    skipped = data.read_coded_words(path, LISTS, "abc", max_length=3, on_bad_row="skip")
    assert skipped.rows_skipped == 3
    assert sum(as_counter(skipped.words).values()) == 12


@pytest.mark.parametrize("length", [0, -1, True, 2.0])
def test_a_length_below_one_is_refused(tmp_path: Path, length: int) -> None:
    with pytest.raises(pv.InvalidParameterError, match="`max_length`"):
        data.read_coded_words(written(tmp_path, "parquet"), LISTS, STATES, max_length=length)


_WORDS = st.lists(st.lists(st.sampled_from([0, 1, 2, 70_000]), min_size=1, max_size=5), min_size=1, max_size=60)


@given_few_and_many(40, 100, words=_WORDS, longest=st.integers(1, 6), batch=st.integers(1, 7))
def test_equal_words_are_put_together_as_counting_them_one_by_one_does(
    words: list[list[int]], longest: int, batch: int
) -> None:
    found = DistinctWords(longest, room=10)  # so that parts are merged in between
    for begin in range(0, len(words), batch):
        found.add(pa.array(words[begin : begin + batch], pa.list_(pa.int64())))
    expected = Counter(tuple(word[:longest]) for word in words)
    assert as_counter(found.words()) == expected
    assert list(as_counter(found.words())) == sorted(expected)
    assert found.count == len(words)


@pytest.mark.parametrize("asked", [{}, {"delta": 1e-3}, {"neighbours": "add-remove"}])
def test_a_fit_does_not_depend_on_the_order_of_the_words_nor_on_how_they_are_counted(
    tmp_path: Path, asked: dict[str, float]
) -> None:
    words = [word for word in ("abc", "aab", "b", "cabca", "ab") for _ in range(300)]
    common = {"states": "abc", "epsilon": 3.0, "max_length": 4, "order": 2} | asked
    pq.write_table(pa.table({"route": [list(word) for word in words]}), tmp_path / "in.parquet", row_group_size=100)
    counted = data.read_coded_words(tmp_path / "in.parquet", LISTS, "abc", max_length=4).words
    models = [
        pv.fit_private_sequences(given, **common, rng=pv.insecure_seed(6)).to_json()
        for given in (words, words[::-1], counted)
    ]
    assert models[0] == models[1] == models[2]
