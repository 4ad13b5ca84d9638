"""At most so many words of each person, counted on Spark."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from pathveil import data
from pathveil.data import spark as on_spark
from pathveil.data.spark.people import PeopleInOrder
from pathveil.randomness.derived import DerivingKey
from tests.statistics import FALSE_ALARM, chi_square_p_value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PERSONS = 400
# Every person has words of 2, 3 and 4 symbols, in one letter of four.
WORDS = [["abcd"[who % 4]] * length for length in (2, 3, 4) for who in range(PERSONS)]
USERS = [who for _ in range(3) for who in range(PERSONS)]


def batches(sizes: list[int], owners: list[str | None], words: list[list[int] | None]) -> list[pa.RecordBatch]:
    """Sorted rows as `by_person` gives them, in batches of these sizes."""
    table = pa.table(
        {
            "owner": pa.array(owners, pa.string()),
            "codes": pa.array(words, pa.list_(pa.int32())),
            "skipped": pa.array([None if owner else 2 for owner in owners], pa.int64()),
            "example": pa.array([None if owner else "row 7" for owner in owners], pa.string()),
        }
    )
    ends = np.cumsum(sizes).tolist()
    assert ends[-1] == len(owners)
    cuts = zip([0, *ends], sizes, strict=False)
    return [batch for begin, size in cuts for batch in table.slice(begin, size).combine_chunks().to_batches()]


OWNERS = [None, *"a" * 5, "b", *"c" * 4, *"d" * 2]
CODES = [None, *([i] for i in range(12))]


@pytest.mark.parametrize("sizes", [[13], [1] * 13, [3, 3, 3, 3, 1], [6, 7], [2, 9, 2], [12, 1]])
def test_the_choice_does_not_depend_on_how_rows_come_in_batches(sizes: list[int]) -> None:
    key = DerivingKey(pv.insecure_seed(3))
    whole, cut = PeopleInOrder(2, key), PeopleInOrder(2, key)
    expected = [code for part in whole.words(batches([13], OWNERS, CODES)) for code in part.to_pylist()]
    found = [code for part in cut.words(batches(sizes, OWNERS, CODES)) for code in part.to_pylist()]
    assert found == expected
    assert Counter(OWNERS[code + 1] for [code] in found) == {"a": 2, "b": 1, "c": 2, "d": 2}
    assert (cut.dropped, cut.largest, cut.skipped) == (5, 5, [(2, "row 7")])


@pytest.mark.parametrize("sizes", [[5], [1] * 5, [2, 3], [3, 2]])
def test_a_person_whose_words_come_in_two_places_is_an_error(sizes: list[int]) -> None:
    people = PeopleInOrder(1, DerivingKey(pv.insecure_seed(3)))
    with pytest.raises(AssertionError, match="did not keep the words"):
        list(people.words(batches(sizes, list("aabba"), [[0]] * 5)))


def test_no_row_at_all_gives_no_word() -> None:
    people = PeopleInOrder(2, DerivingKey(pv.insecure_seed(3)))
    assert list(people.words([])) == []
    assert (people.dropped, people.largest) == (0, 0)


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "words.parquet"
    pq.write_table(pa.table({"word": WORDS, "who": USERS}), path, row_group_size=100)
    return path


@pytest.mark.spark
def test_persons_are_limited_as_in_files_and_the_choice_is_uniform(spark: SparkSession, words: Path) -> None:
    rows = spark.read.parquet(str(words))
    options = {"user": "who", "max_words_per_user": 1}
    here = on_spark.count_transitions(rows, "abcd", "word", **options, rng=pv.insecure_seed(4))
    there = data.count_transitions(words, data.ListColumn("word"), "abcd", **options)
    assert here.words is not None
    assert there.words is not None
    assert here.words.first.tolist() == there.words.first.tolist() == [PERSONS // 4] * 4
    assert (here.words_over_limit, here.largest_words_per_user) == (there.words_over_limit, 3) == (2 * PERSONS, 3)
    assert here.words.max_words_per_user == 1
    # False-alarm probability 1e-6; the same words of everybody would be noticed.
    lengths = [length + 1 for length, times in enumerate(here.words.lengths) for _ in range(times)]
    law = dict.fromkeys((2, 3, 4), 1 / 3)
    assert chi_square_p_value(lengths, law) > FALSE_ALARM
    assert chi_square_p_value([2] * PERSONS, law) < FALSE_ALARM
    # However the rows are spread, the same secret makes the same choice.
    spread = rows.repartition(7, "word")
    again = on_spark.count_transitions(spread, "abcd", "word", **options, rng=pv.insecure_seed(4))
    assert again.words is not None
    assert again.words.lengths.tolist() == here.words.lengths.tolist()
    model = pv.fit_private_chain(
        here.words, states="abcd", epsilon=1.0, unit="user", max_words_per_user=1, max_length=4
    )
    assert "person" in model.guarantee.unit


@pytest.mark.spark
def test_users_have_one_name_and_rows_without_one_are_bad(spark: SparkSession) -> None:
    rows = spark.createDataFrame(
        [("a b", "7"), ("a b", "7.0"), ("b a", "007"), ("b b", None), ("z", "8")], "route string, who string"
    )
    options = {"separator": " ", "user": "who", "max_words_per_user": 1}
    with pytest.raises(pv.PathVeilError, match=r"the user is missing|not one of the public system's"):
        on_spark.count_transitions(rows, "ab", "route", **options)
    found = on_spark.count_transitions(rows, "ab", "route", **options, on_bad_row="skip")
    assert found.counts.tolist() == [[0, 1], [1, 0]]
    assert (found.rows_skipped, found.words_over_limit) == (2, 1)
    with pytest.raises(pv.InvalidParameterError, match="may come out differently"):
        on_spark.count_transitions(rows.limit(2), "ab", "route", **options)
    with pytest.raises(pv.InvalidParameterError, match="belong together"):
        on_spark.count_transitions(rows, "ab", "route", separator=" ", user="who")
    with pytest.raises(pv.InvalidParameterError, match="pairs do not say"):
        on_spark.count_transitions(rows, "ab", pairs=data.PairColumns("route", "who"), user="who", max_words_per_user=1)
