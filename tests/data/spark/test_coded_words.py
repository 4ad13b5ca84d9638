"""Different words and their counts on Spark: the same as from files, and the same model for the same seed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from pathveil import data
from pathveil.data import spark as on_spark
from tests.data.people_files import as_counter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PERSONS = 100


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every person has words of 2, 3 and 4 symbols, in one letter of four."""
    path = tmp_path_factory.mktemp("words") / "words.parquet"
    made = [["abcd"[who % 4]] * length for length in (2, 3, 4) for who in range(PERSONS)]
    owners = [who for _ in range(3) for who in range(PERSONS)]
    pq.write_table(pa.table({"word": made, "who": owners}), path, row_group_size=100)
    return path


@pytest.mark.parametrize("delta", [None, 1e-3])
def test_spark_and_files_give_the_same_model_for_the_same_seed(
    spark: SparkSession,
    words: Path,
    delta: float | None,
) -> None:
    rows = spark.read.parquet(str(words)).repartition(5)
    here = on_spark.read_coded_words(rows, "abcd", "word", max_length=3)
    there = data.read_coded_words(words, data.ListColumn("word"), "abcd", max_length=3)
    for name in ("values", "offsets", "times"):
        np.testing.assert_array_equal(getattr(here.words, name), getattr(there.words, name))
    models = [
        pv.fit_private_sequences(
            found.words, states="abcd", epsilon=2.0, delta=delta, max_length=3, rng=pv.insecure_seed(8)
        ).to_json()
        for found in (here, there)
    ]
    assert models[0] == models[1]


def test_persons_are_limited_before_words_are_counted(spark: SparkSession, words: Path) -> None:
    rows = spark.read.parquet(str(words))
    asked = {"max_length": 9, "user": "who", "max_words_per_user": 2}
    found = on_spark.read_coded_words(rows, "abcd", "word", **asked, rng=pv.insecure_seed(4))
    assert found.words.times.sum() == 2 * PERSONS
    assert found.words.max_words_per_user == 2
    assert (found.words_over_limit, found.largest_words_per_user) == (PERSONS, 3)
    spread = rows.repartition(7, "word")
    again = on_spark.read_coded_words(spread, "abcd", "word", **asked, rng=pv.insecure_seed(4))
    assert as_counter(again.words) == as_counter(found.words)


def test_bad_rows_and_options_are_refused_or_counted(spark: SparkSession) -> None:
    rows = spark.createDataFrame([("a b", "x"), ("z", "y"), ("", "y"), ("b", None)], "route string, who string")
    with pytest.raises(pv.PathVeilError, match=r"not one of the public system's|empty"):
        on_spark.read_coded_words(rows, "ab", "route", separator=" ", max_length=3)
    skipped = on_spark.read_coded_words(rows, "ab", "route", separator=" ", max_length=3, on_bad_row="skip")
    assert as_counter(skipped.words) == {(0, 1): 1, (1,): 1}
    assert skipped.rows_skipped == 2
    with pytest.raises(pv.PathVeilError, match="user is missing"):
        on_spark.read_coded_words(
            rows.filter("route in ('a b', 'b')"), "ab", "route", separator=" ", max_length=3, user="who",
            max_words_per_user=1,
        )  # fmt: skip
    with pytest.raises(pv.InvalidParameterError, match="max_length"):
        on_spark.read_coded_words(rows, "ab", "route", separator=" ", max_length=0)
    with pytest.raises(pv.DataFileError, match="no word"):
        on_spark.read_coded_words(rows.filter("who = 'nobody'"), "ab", "route", separator=" ", max_length=3)
