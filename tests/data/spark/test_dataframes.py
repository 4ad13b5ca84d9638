"""Private words on Spark: one for each row, by the law of the mechanism, the same at every attempt."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

import pathveil as pv
from pathveil import data
from pathveil.data import spark as on_spark
from tests.data.files import faithful
from tests.data.spark.frames import by_number, needs_java, write_words
from tests.statistics import FALSE_ALARM, chi_square_p_value
from tests.worlds import FOUR_PLACES

pytestmark = [pytest.mark.spark, needs_java]

SOURCE = pv.insecure_seed(1)
WORDS = [list(FOUR_PLACES.random_word(2 + i % 5, SOURCE)) for i in range(300)]


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_words(tmp_path_factory.mktemp("words") / "words.parquet", WORDS)


def test_every_row_gets_a_feasible_word_of_its_length(spark: SparkSession, words: Path) -> None:
    mechanism = pv.CertifiedExponential(FOUR_PLACES, epsilon=1.0)
    private = on_spark.privatize(spark.read.parquet(str(words)), mechanism, column="word", keep=["id"])
    assert private.columns == ["word", "id"]
    found = by_number(private)
    assert {i: len(word) for i, word in found.items()} == {i: len(word) for i, word in enumerate(WORDS)}
    assert all(FOUR_PLACES.is_feasible(word) for word in found.values())
    assert sum(list(found[i]) != word for i, word in enumerate(WORDS)) > 100  # there is noise


def test_without_noise_words_stay_with_their_rows_and_come_in_another_order(spark: SparkSession, words: Path) -> None:
    private = on_spark.privatize(spark.read.parquet(str(words)), faithful(FOUR_PLACES), "word", keep=["id"]).collect()
    assert all(list(row["word"]) == WORDS[row["id"]] for row in private)
    assert sorted(row["id"] for row in private) == list(range(300))
    assert [row["id"] for row in private] != list(range(300))  # one of 300! orders
    kept = on_spark.privatize(
        spark.read.parquet(str(words)), faithful(FOUR_PLACES), "word", keep=["id"], keep_order=True
    )
    assert [row["id"] for row in kept.collect()] == list(range(300))


def test_one_key_gives_one_answer_however_the_rows_are_cut_and_ordered(spark: SparkSession, words: Path) -> None:
    mechanism = pv.CertifiedExponential(FOUR_PLACES, epsilon=1.0)

    def run(seed: int = 5, *, shuffled: bool = False) -> dict[int, tuple[str, ...]]:
        rows = spark.read.parquet(str(words))
        if shuffled:
            rows = rows.repartition(5, "id").sortWithinPartitions(sql.col("id").desc())
        return by_number(on_spark.privatize(rows, mechanism, "word", keep=["id"], rng=pv.insecure_seed(seed)))

    first = run()
    settings = {
        "spark.sql.execution.arrow.maxRecordsPerBatch": "11",
        "spark.sql.files.maxPartitionBytes": "2000",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.adaptive.enabled": "false",
    }
    before = {name: spark.conf.get(name) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        assert spark.read.parquet(str(words)).rdd.getNumPartitions() > 3
        assert run() == first
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    assert run(shuffled=True) == first
    assert run(6) != first  # the comparison can fail


def test_a_result_that_is_computed_twice_is_the_same_release(spark: SparkSession, words: Path) -> None:
    mechanism = pv.CertifiedExponential(FOUR_PLACES, epsilon=1.0)
    rows = spark.read.parquet(str(words))
    private = on_spark.privatize(rows, mechanism, "word", keep=["id"])
    again = on_spark.privatize(rows, mechanism, "word", keep=["id"])
    assert by_number(private) == by_number(private)
    assert by_number(private.filter("id < 9")) == {i: word for i, word in by_number(private).items() if i < 9}
    assert by_number(again) != by_number(private)  # another release


@pytest.mark.parametrize("kind", ["list", "text", "numbers"])
def test_words_keep_their_form(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    world = pv.Alphabet([1, 2, 3])
    lists = [[1, 2], [3], [2, 2, 1]]
    column = {"list": [[str(x) for x in w] for w in lists], "text": [">".join(map(str, w)) for w in lists]}
    pq.write_table(pa.table({"w.x": column.get(kind, lists), "zone": [7, None, 9]}), tmp_path / "in.parquet")
    rows = spark.read.parquet(str(tmp_path / "in.parquet"))
    separator = ">" if kind == "text" else None
    private = on_spark.privatize(rows, faithful(world), "w.x", separator=separator, keep=["zone"])
    assert private.schema["w.x"].dataType.simpleString() == rows.schema["w.x"].dataType.simpleString()
    assert sorted(map(str, private.collect())) == sorted(map(str, rows.select("`w.x`", "zone").collect()))


def test_rows_without_files_need_a_column_that_tells_them_apart(spark: SparkSession) -> None:
    mechanism = pv.CertifiedExponential(FOUR_PLACES, epsilon=1.0)
    rows = spark.createDataFrame(
        [(i, f"row {i}", word) for i, word in enumerate(WORDS)], "id int, name string, word array<string>"
    )
    for place in ("id", "name"):

        def run(parts: int, place: str = place) -> dict[int, tuple[str, ...]]:
            seed = pv.insecure_seed(2)
            return by_number(
                on_spark.privatize(rows.repartition(parts), mechanism, "word", place=place, keep=["id"], rng=seed)
            )

        assert run(1) == run(5)
    with pytest.raises(pv.InvalidParameterError, match="place of its rows"):
        on_spark.privatize(rows, mechanism, "word")
    twice = rows.withColumn("name", sql.lit("row 1"))
    with pytest.raises(pv.InvalidParameterError, match="two rows have the same place"), on_spark.plain_errors():
        on_spark.privatize(twice, mechanism, "word", place="name").collect()
    missing = rows.withColumn("name", sql.when(sql.col("id") != 17, sql.col("name")))
    with pytest.raises(pv.DataFileError, match="has no place"), on_spark.plain_errors():
        on_spark.privatize(missing, mechanism, "word", place="name").collect()


def test_a_row_may_not_come_twice(spark: SparkSession, words: Path) -> None:
    mechanism = pv.CertifiedExponential(FOUR_PLACES, epsilon=1.0)
    rows = spark.read.parquet(str(words))
    exploded = rows.withColumn("copy", sql.explode(sql.array(sql.lit(1), sql.lit(2))))
    for twice in (exploded, spark.read.parquet(str(words), str(words))):
        assert twice.count() == 600
        with pytest.raises(pv.InvalidParameterError, match="two rows have the same place"), on_spark.plain_errors():
            on_spark.privatize(twice, mechanism, "word").collect()


def test_wrong_input_is_refused_before_anything_runs(spark: SparkSession, words: Path) -> None:
    mechanism = pv.CertifiedExponential(FOUR_PLACES, epsilon=1.0)
    rows = spark.read.parquet(str(words))
    wrong = [
        (pv.InvalidParameterError, "differently each time", rows.filter(sql.rand() < 0.5), {}),
        (pv.InvalidParameterError, "differently each time", rows.limit(9), {}),
        (pv.InvalidParameterError, "differently each time", rows.sample(0.5).select("word"), {}),
        (pv.InvalidParameterError, "differently each time", rows.dropDuplicates(["word"]).filter("id > 3"), {}),
        (pv.InvalidParameterError, "place of its rows", rows.groupBy("id").agg(sql.first("word").alias("word")), {}),
        (pv.DataFileError, "no column 'wrod'", rows, {"column": "wrod"}),
        (pv.DataFileError, "lists or texts", rows, {"column": "id"}),
        (pv.InvalidParameterError, "replaced", rows, {"keep": ["word"]}),
        (pv.InvalidParameterError, "on_bad_row", rows, {"on_bad_row": "ignore"}),
        (pv.InvalidParameterError, "DataFrame is needed", [["a", "b"]], {}),
    ]
    for kind, message, rows_given, options in wrong:
        with pytest.raises(kind, match=message):
            on_spark.privatize(rows_given, mechanism, **{"column": "word", **options})


def test_a_bad_row_is_named_by_file_and_row_and_its_content_is_not(spark: SparkSession, tmp_path: Path) -> None:
    bad = [*WORDS[:20], ["a", "Elsewhere"], *WORDS[20:]]
    path = write_words(tmp_path / "bad.parquet", bad)
    rows = spark.read.parquet(str(path))
    mechanism = pv.CertifiedExponential(FOUR_PLACES, epsilon=1.0)
    with pytest.raises(pv.UnknownSymbolError) as problem:
        on_spark.privatize_to(rows, mechanism, tmp_path / "never", "word")
    text = str(problem.value)
    assert "bad.parquet, row 21, column 'word', position 2" in text
    assert "Elsewhere" not in text
    assert len(text.splitlines()) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["bad.parquet"]
    write_words(path, [*WORDS[:20], ["a", "a"], *WORDS[20:]])
    private = on_spark.privatize(spark.read.parquet(str(path)), mechanism, "word")
    with pytest.raises(pv.InfeasibleWordError, match="row 21"), on_spark.plain_errors():
        private.collect()


def test_bad_rows_can_be_left_out(spark: SparkSession, tmp_path: Path) -> None:
    path = write_words(tmp_path / "bad.parquet", [["a", "x"], ["a", "b"], [], ["c", "d"], ["c", "c"]])
    summary = on_spark.privatize_to(
        spark.read.parquet(str(path)), faithful(FOUR_PLACES), tmp_path / "out", "word", keep=["id"], on_bad_row="skip"
    )
    assert by_number(spark.read.parquet(str(tmp_path / "out"))) == {1: ("a", "b"), 3: ("c", "d")}
    assert (summary.words_released, summary.symbols_released, summary.words_skipped) == (2, 4, 3)
    assert any("left out" in item for item in summary.guarantee.public)


def test_a_folder_appears_with_its_manifest_or_not_at_all(spark: SparkSession, words: Path, tmp_path: Path) -> None:
    mechanism = pv.CertifiedExponential(FOUR_PLACES, epsilon=1.0)
    rows, output = spark.read.parquet(str(words)), tmp_path / "private"
    seen: list[int] = []

    def look() -> None:
        seen.append(len(list(tmp_path.glob("**/*.parquet"))))

    summary = on_spark.privatize_to(rows, mechanism, output, "word", rng=pv.insecure_seed(1), before_drawing=look)
    assert seen == [0]
    assert summary.words_released == 300
    assert summary.symbols_released == sum(map(len, WORDS))
    manifest = json.loads((tmp_path / "private.manifest.json").read_text())
    assert (manifest["epsilon"], manifest["seeded"], manifest["file"]) == (1.0, True, "private")
    assert pq.read_table(output).num_rows == 300
    with pytest.raises(pv.DataFileError, match="exists already"):
        on_spark.privatize_to(rows, mechanism, output, "word")

    def refuse() -> None:
        raise pv.LedgerError("someone else has the charge")

    fresh = pv.CertifiedExponential(FOUR_PLACES, epsilon=2.0)
    with pytest.raises(pv.LedgerError):
        on_spark.privatize_to(rows, fresh, output, "word", overwrite=True, before_drawing=refuse)
    assert json.loads((tmp_path / "private.manifest.json").read_text())["epsilon"] == 1.0
    assert not on_spark.privatize_to(rows, fresh, output, "word", overwrite=True).guarantee.seeded
    assert json.loads((tmp_path / "private.manifest.json").read_text())["epsilon"] == 2.0
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["private", "private.manifest.json"]


def test_a_result_that_is_computed_again_from_a_rewritten_file_does_not_reuse_noise(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Independent noise agrees on all of 1,600 symbols with probability below 2**-1000."""
    path = write_words(tmp_path / "words.parquet", [["0"] * 4] * 400)
    mechanism = pv.CertifiedExponential(pv.Alphabet("01"), epsilon=1.0)
    private = on_spark.privatize(spark.read.parquet(str(path)), mechanism, "word", keep=["id"])
    first = by_number(private)
    # Spark reuses what it has computed for one DataFrame, but not for one that is derived from it.
    assert by_number(private.select("id", "word")) == first
    write_words(path, [["1"] * 4] * 400)
    second = by_number(private.select("word", "id"))
    assert set(first) == set(second) == set(range(400))
    assert sum(word.count("1") for word in second.values()) > 900  # of 1,600: these are the new words
    agree = [a == b for row in first for a, b in zip(first[row], second[row], strict=True)]
    assert any(agree)  # with the same noise for opposite words there would be no such place


@pytest.mark.parametrize("kind", [pv.CertifiedExponential, pv.PermuteAndFlip])
def test_words_have_the_law_of_the_mechanism(spark: SparkSession, tmp_path: Path, kind: type[pv.WordMechanism]) -> None:
    # A false alarm has probability 1e-6. tests/data/spark/test_piles.py has the negative control.
    mechanism = kind(FOUR_PLACES, 1.5)
    word = ("a", "b", "a")
    path = write_words(tmp_path / "same.parquet", [list(word)] * 4000, row_group_size=500)
    private = on_spark.privatize(spark.read.parquet(str(path)), mechanism, "word")
    outputs = [tuple(row[0]) for row in private.collect()]
    symbols = FOUR_PLACES.symbols
    everything = [(x, y, z) for x in symbols for y in symbols for z in symbols if x != y != z]
    law = {output: 2.718281828459045 ** mechanism.log_probability(word, output) for output in everything}
    assert chi_square_p_value(outputs, law) > FALSE_ALARM


def test_transitions_are_counted_as_in_files(spark: SparkSession, words: Path) -> None:
    rows = spark.read.parquet(str(words))
    for cut in (None, 3):
        here = on_spark.count_transitions(rows, FOUR_PLACES.symbols, "word", max_length=cut)
        there = data.count_transitions(words, data.ListColumn("word"), FOUR_PLACES.symbols, max_length=cut)
        assert here.words is not None
        assert there.words is not None
        assert (here.counts == there.counts).all()
        assert (here.words.first == there.words.first).all()
        assert here.words.lengths.tolist() == there.words.lengths.tolist()
    short = on_spark.count_transitions(rows, ["a", "b"], "word", on_bad_row="skip")
    embedded = data.count_transitions(words, data.ListColumn("word"), ["a", "b"], on_bad_row="skip")
    assert short.counts.tolist() == embedded.counts.tolist()
    assert short.rows_skipped == embedded.rows_skipped
    assert "row " in short.skipped_examples[0]
    with pytest.raises(pv.UnknownSymbolError, match=r"words\.parquet, row \d+, column 'word', position \d"):
        on_spark.count_transitions(rows, ["a", "b"], "word")


def test_pairs_are_counted_as_in_files(spark: SparkSession, tmp_path: Path) -> None:
    table = pa.table({"o": [1, 2, 1, 3, 9], "d": ["2", "1", "2", "3", "1"]})
    pq.write_table(table, tmp_path / "trips.parquet")
    pairs, rows = data.PairColumns("o", "d"), spark.read.parquet(str(tmp_path / "trips.parquet"))
    here = on_spark.count_transitions(rows, [1, 2, 3], pairs=pairs, on_bad_row="skip")
    there = data.count_transitions(tmp_path / "trips.parquet", pairs, [1, 2, 3], on_bad_row="skip")
    assert here.counts.tolist() == there.counts.tolist() == [[0, 2, 0], [1, 0, 0], [0, 0, 1]]
    assert here.rows_skipped == 1
    with pytest.raises(pv.UnknownSymbolError, match=r"trips\.parquet, row 5, column 'o'"):
        on_spark.count_transitions(rows, [1, 2, 3], pairs=pairs)


def test_the_key_is_not_in_what_spark_shows(
    spark: SparkSession, words: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = pv.insecure_seed(77).bytes(32)
    mechanism = pv.CertifiedExponential(FOUR_PLACES, epsilon=1.0)
    private = on_spark.privatize(spark.read.parquet(str(words)), mechanism, "word", rng=pv.insecure_seed(77))
    private.count()
    private.explain(extended=True)
    plan = capsys.readouterr().out
    shown = plan + repr(private) + str(spark.sparkContext.getConf().getAll())
    assert "deal" in plan
    for form in (secret.hex(), repr(secret)[2:-1]):
        assert form not in shown
    assert Counter(map(len, WORDS)) == Counter(len(row[0]) for row in private.collect())
