"""From files to a folder on Spark: one release, complete or not at all, and the key nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import pathveil as pv
from pathveil import data
from pathveil.data import spark as on_spark
from tests.data.files import faithful
from tests.data.spark.frames import needs_java, write_words
from tests.worlds import FOUR_PLACES

pytestmark = [pytest.mark.spark, needs_java]

SOURCE = pv.insecure_seed(1)
WORDS = [list(FOUR_PLACES.random_word(2 + i % 5, SOURCE)) for i in range(300)]
LISTS = data.ListColumn("word")


@pytest.fixture
def words(tmp_path: Path) -> Path:
    folder = tmp_path / "odd[name]50%20{x}*"
    folder.mkdir()
    return write_words(folder / "words.parquet", WORDS)


def released(folder: Path) -> list[tuple[int, list[str]]]:
    table = pq.read_table(folder)
    return list(zip(table["id"].to_pylist(), table["word"].to_pylist(), strict=True))


def test_words_stay_with_their_rows_and_come_in_another_order(spark: SparkSession, words: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    on_spark.privatize_files(spark, words, LISTS, faithful(FOUR_PLACES), output, keep=["id"])
    found = released(output)
    assert sorted(found) == list(enumerate(WORDS))
    assert found != list(enumerate(WORDS))  # one of 300! orders
    on_spark.privatize_files(
        spark, words, LISTS, faithful(FOUR_PLACES), output, keep=["id"], keep_order=True, overwrite=True
    )
    assert released(output) == list(enumerate(WORDS))
    assert spark.read.parquet(str(output)).count() == 300


def test_a_folder_appears_with_its_manifest_or_not_at_all(spark: SparkSession, words: Path, tmp_path: Path) -> None:
    mechanism = pv.CertifiedExponential(FOUR_PLACES, epsilon=1.0)
    assert on_spark.check_files(spark, words, LISTS, mechanism).count == 300
    output = tmp_path / "private"
    seen: list[list[Path]] = []
    summary = on_spark.privatize_files(
        spark,
        words,
        LISTS,
        mechanism,
        output,
        rng=pv.insecure_seed(1),
        before_drawing=lambda: seen.append([path for path in tmp_path.glob(".pathveil-*/*/*") if path.is_file()]),
    )
    assert seen == [[]]
    assert (summary.words_released, summary.symbols_released) == (300, sum(map(len, WORDS)))
    manifest = json.loads((tmp_path / "private.manifest.json").read_text())
    assert (manifest["epsilon"], manifest["seeded"], manifest["file"]) == (1.0, True, "private")
    before = {path.name: path.read_bytes() for path in output.iterdir()}
    with pytest.raises(pv.DataFileError, match="exists already"):
        on_spark.privatize_files(spark, words, LISTS, mechanism, output)

    def refuse() -> None:
        raise pv.LedgerError("someone else has the charge")

    fresh = pv.CertifiedExponential(FOUR_PLACES, epsilon=2.0)
    with pytest.raises(pv.LedgerError):
        on_spark.privatize_files(spark, words, LISTS, fresh, output, overwrite=True, before_drawing=refuse)
    assert {path.name: path.read_bytes() for path in output.iterdir()} == before
    assert not on_spark.privatize_files(spark, words, LISTS, fresh, output, overwrite=True).guarantee.seeded
    assert {path.name: path.read_bytes() for path in output.iterdir()} != before
    assert json.loads((tmp_path / "private.manifest.json").read_text())["epsilon"] == 2.0
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry != words.parent) == [
        "private",
        "private.manifest.json",
    ]


def test_a_bad_row_is_one_line_without_content_and_can_be_left_out(
    spark: SparkSession, words: Path, tmp_path: Path
) -> None:
    write_words(words, [*WORDS[:20], ["a", "Elsewhere"], *WORDS[20:]])
    mechanism = pv.CertifiedExponential(FOUR_PLACES, epsilon=1.0)
    for work in (
        lambda: on_spark.check_files(spark, words, LISTS, mechanism),
        lambda: on_spark.privatize_files(spark, words, LISTS, mechanism, tmp_path / "never"),
    ):
        with pytest.raises(pv.UnknownSymbolError) as problem:
            work()
        text = str(problem.value)
        assert "words.parquet, row 21, column 'word', position 2" in text
        assert "Elsewhere" not in text
        assert len(text.splitlines()) == 1
    assert list(tmp_path.iterdir()) == [words.parent]
    summary = on_spark.privatize_files(spark, words, LISTS, mechanism, tmp_path / "out", on_bad_row="skip")
    assert (summary.words_released, summary.words_skipped) == (300, 1)
    assert any("left out" in item for item in summary.guarantee.public)


def test_without_a_word_there_is_no_release(spark: SparkSession, words: Path, tmp_path: Path) -> None:
    mechanism = pv.CertifiedExponential(FOUR_PLACES, epsilon=1.0)
    write_words(words, [["x"], []])
    for wrong in ("skip", "none"):
        if wrong == "none":
            pq.write_table(pq.read_table(words).slice(0, 0), words)
        with pytest.raises(pv.DataFileError, match="no word to release"):
            on_spark.check_files(spark, words, LISTS, mechanism, on_bad_row="skip")
        with pytest.raises(pv.DataFileError, match="no word to release"):
            on_spark.privatize_files(spark, words, LISTS, mechanism, tmp_path / "never", on_bad_row="skip")
    assert list(tmp_path.iterdir()) == [words.parent]
