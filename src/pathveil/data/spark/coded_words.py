"""All different words of a column and how often each occurs, grouped where the rows are: one aggregation.

They are as sensitive as the rows. They are for `fit_private_sequences`, not for release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import pathveil
from pathveil.data.formats import RawWords, split
from pathveil.data.reading import Checker, CuratorWords, DistinctWords, OnBadRow, limit_for
from pathveil.data.spark.columns import checked_dataframe, quoted, require_column, require_repeatable, word_type
from pathveil.data.spark.failures import checked, plain_errors, require_same_version
from pathveil.data.spark.people import CODED_IN_SPARK, OWNER, PeopleInOrder, by_person, coding_words
from pathveil.data.spark.piles import WORD
from pathveil.data.spark.places import place_columns, place_in_batch
from pathveil.errors import DataFileError, InvalidParameterError
from pathveil.models.sequences import CodedWords
from pathveil.randomness.derived import DerivingKey
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.alphabet import Alphabet
from pathveil.words.base import flat_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pathveil.systems.system import Symbol

Batches = Iterable[pa.RecordBatch]
_GROUPED = pa.schema(
    [("codes", pa.list_(pa.int32())), ("times", pa.int64()), ("note", pa.string()), ("example", pa.string())]
)
_GROUPED_IN_SPARK = "codes array<int>, times bigint, note string, example string"
"""A word and how often it occurs; or a `note` for the curator: how many rows were skipped or words dropped, or how many
the person with most of them has."""
_SKIPPED, _DROPPED, _LARGEST = "skipped", "dropped", "largest"
_EXAMPLES = 10


def read_coded_words(
    dataframe: DataFrame,
    states: Iterable[Symbol],
    column: str,
    *,
    max_length: int,
    separator: str | None = None,
    user: str | None = None,
    max_words_per_user: int | None = None,
    on_bad_row: OnBadRow = "fail",
    rng: RandomSource | None = None,
) -> CuratorWords:
    """The words of a column over public states, cut after `max_length` symbols.

    The same as `data.read_coded_words` says of files with these rows, in the same order: with the same seed the same
    model is fitted. (Which words of a person are chosen is another matter: people.py says how; `rng` is for tests.)
    Words are lists, or texts with a `separator`. All different words must fit into the driver's memory.
    """
    from pyspark.sql import functions as sql

    checked_dataframe(dataframe)
    names, limit = tuple(states), limit_for(user, max_words_per_user)
    Checker(Alphabet(names), on_bad_row)
    DistinctWords(max_length)  # wrong options are errors here, not in a task
    listed = word_type(dataframe, column, separator) is not None
    chosen = [sql.col(quoted(column)).alias(WORD)]
    try:
        places = place_columns(dataframe, None)
    except InvalidParameterError:
        places = []  # then messages do without
    version = pathveil.__version__
    if limit is None or user is None:
        rows = dataframe.select(*chosen, *places)
        grouping = _grouping(names, column, listed, separator, max_length, on_bad_row, version)
    else:
        require_repeatable(dataframe)
        chosen.append(sql.col(quoted(require_column(dataframe, user))).alias(OWNER))
        coding = coding_words(names, column, user, listed, separator, on_bad_row, version)
        rows = by_person(dataframe.select(*chosen, *places).mapInArrow(coding, CODED_IN_SPARK))
        grouping = _grouping_people(max_length, limit.most, DerivingKey(checked_source(rng)), version)
    with plain_errors():
        summed = (
            rows.mapInArrow(grouping, _GROUPED_IN_SPARK)
            .groupBy("note", "codes")
            .agg(
                sql.sum("times").alias("times"),
                sql.max("times").alias("largest"),
                sql.slice(sql.sort_array(sql.collect_list("example")), 1, _EXAMPLES).alias("examples"),
            )
            .toArrow()
        )
    return _collected(summed, max_words_per_user)


def _collected(summed: pa.Table, max_words_per_user: int | None) -> CuratorWords:
    """The words in their order, and what the notes say."""
    noted = summed.filter(pc.is_valid(summed["note"])).to_pylist()
    notes = {row["note"]: row for row in noted}
    words = summed.filter(pc.is_null(summed["note"]))
    if not words.num_rows:
        raise DataFileError("the DataFrame has no word to count", without_content="the DataFrame has no word to count")
    parts = []
    for batch in words.combine_chunks().to_batches():
        codes, offsets = flat_words(batch.column("codes"))
        parts.append(CodedWords.from_arrays(codes, offsets, batch.column("times").to_numpy()))
    found = CodedWords.joined(parts).distinct()
    skipped = notes.get(_SKIPPED, {"times": 0, "examples": []})
    return CuratorWords(
        replace(found, max_words_per_user=max_words_per_user),
        skipped["times"],
        tuple(skipped["examples"]),
        words_over_limit=notes[_DROPPED]["times"] if _DROPPED in notes else 0,
        largest_words_per_user=notes[_LARGEST]["largest"] if _LARGEST in notes else None,
    )


def _grouping(
    states: tuple[Symbol, ...],
    column: str,
    listed: bool,
    separator: str | None,
    max_length: int,
    on_bad_row: OnBadRow,
    version: str,
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """What makes of the rows of a partition its different words."""

    def group(batches: Batches) -> Iterator[pa.RecordBatch]:
        require_same_version(version)
        checker, found = Checker(Alphabet(states), on_bad_row), DistinctWords(max_length)
        for batch in batches:
            words = batch.column(WORD) if listed else split(batch.column(WORD), separator)
            raw = RawWords(words, None, (), place_in_batch(batch, None, column))
            for good in checked(checker, raw):
                found.add(good.column(0))
        yield from _words(found)
        if checker.skipped.count:
            examples = checker.skipped.examples
            yield _noted(_SKIPPED, [checker.skipped.count, *[0] * (len(examples) - 1)], examples)

    return group


def _grouping_people(
    max_length: int, most: int, key: DerivingKey, version: str
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The same for checked words that `by_person` has sorted, of which some are left out."""

    def group(batches: Batches) -> Iterator[pa.RecordBatch]:
        require_same_version(version)
        found, people = DistinctWords(max_length), PeopleInOrder(most, key)
        for words in people.words(batches):
            found.add(words)
        yield from _words(found)
        for times, example in people.skipped:
            yield _noted(_SKIPPED, [times], [example])
        if people.largest:
            yield _noted(_DROPPED, [people.dropped], [None])
            yield _noted(_LARGEST, [people.largest], [None])

    return group


def _words(found: DistinctWords) -> Iterator[pa.RecordBatch]:
    """The different words of a partition, some thousands at a time."""
    words, size = found.words(), 2**14
    for begin in range(0, len(words), size):
        offsets = words.offsets[begin : begin + size + 1]
        values = words.values[offsets[0] : offsets[-1]].astype(np.int32)
        lists = pa.ListArray.from_arrays(pa.array((offsets - offsets[0]).astype(np.int32)), pa.array(values))
        nothing = pa.nulls(len(lists), pa.string())
        times = pa.array(words.times[begin : begin + size])
        yield pa.RecordBatch.from_arrays([lists, times, nothing, nothing], schema=_GROUPED)


def _noted(note: str, times: list[int], examples: list[str] | list[None]) -> pa.RecordBatch:
    columns = [[None] * len(times), times, [note] * len(times), examples]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, _GROUPED, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_GROUPED)
