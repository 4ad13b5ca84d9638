"""How often each state follows each other one, counted where the rows are and added up.

The counts are sensitive. They are for `fit_private_chain`, not for release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import pathveil
from pathveil.data.formats import RawWords, split
from pathveil.data.reading import Checker, CuratorCounts, OnBadRow, PairColumns, WordTally, limit_for
from pathveil.data.spark.columns import checked_dataframe, quoted, require_column, require_repeatable, word_type
from pathveil.data.spark.failures import checked, plain_errors, require_same_version
from pathveil.data.spark.people import CODED_IN_SPARK, OWNER, PeopleInOrder, by_person, coding_words
from pathveil.data.spark.piles import WORD
from pathveil.data.spark.places import place_columns, place_in_batch
from pathveil.errors import DataFileError, InvalidParameterError
from pathveil.models.counting import Counts, WordCounts
from pathveil.randomness.derived import DerivingKey
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.alphabet import Alphabet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from pathveil.systems.system import Symbol

Batches = Iterable[pa.RecordBatch]
_COUNTED = pa.schema([("kind", pa.int32()), ("entry", pa.int64()), ("count", pa.int64()), ("example", pa.string())])
_COUNTED_IN_SPARK = "kind int, entry bigint, count bigint, example string"
_TRANSITIONS, _FIRST, _LENGTHS, _SKIPPED, _DROPPED, _LARGEST = range(6)
_EXAMPLES = 10


def count_transitions(
    dataframe: DataFrame,
    states: Iterable[Symbol],
    column: str | None = None,
    *,
    separator: str | None = None,
    pairs: PairColumns | None = None,
    max_length: int | None = None,
    user: str | None = None,
    max_words_per_user: int | None = None,
    on_bad_row: OnBadRow = "fail",
    rng: RandomSource | None = None,
) -> CuratorCounts:
    """Count transitions inside the words of a column, or (origin, destination) pairs, over public states.

    The same as `data.count_transitions` says of files with these rows. Words are lists, or texts with a `separator`;
    `max_length` cuts them after so many symbols. With `user` and `max_words_per_user`, at most so many words of each
    user are counted, chosen at random (people.py says how; `rng` is for tests). The count is made now, and exact,
    however many tasks fail on the way.
    """
    from pyspark.sql import functions as sql

    checked_dataframe(dataframe)
    if (column is None) == (pairs is None):
        raise InvalidParameterError("where are the transitions? Give `column=…` for words, or `pairs=PairColumns(…)`")
    if pairs is not None and pairs.count is not None:
        raise InvalidParameterError("a column of counts is for data.count_transitions; on Spark every row counts once")
    names, limit = tuple(states), limit_for(user, max_words_per_user)
    if pairs is not None and limit is not None:
        raise InvalidParameterError("`user` is for words: pairs do not say which of them belong together")
    Checker(Alphabet(names), on_bad_row)
    WordTally(1, max_length)  # wrong options are errors here, not in a task
    if pairs is None:
        assert column is not None
        listed = word_type(dataframe, column, separator) is not None
        chosen = [sql.col(quoted(column)).alias(WORD)]
    else:
        if max_length is not None or separator is not None:
            raise InvalidParameterError("`max_length` and `separator` are for words: pairs have none")
        listed = True
        both = (require_column(dataframe, pairs.origin), require_column(dataframe, pairs.destination))
        chosen = [sql.array(*(sql.col(quoted(name)).cast("string") for name in both)).alias(WORD)]
    try:
        places = place_columns(dataframe, None)
    except InvalidParameterError:
        places = []  # then messages do without
    version = pathveil.__version__
    if limit is None or user is None:
        rows = dataframe.select(*chosen, *places)
        counting = _counting(names, column or pairs, listed, separator, max_length, on_bad_row, version)
    else:
        require_repeatable(dataframe)
        chosen.append(sql.col(quoted(require_column(dataframe, user))).alias(OWNER))
        coding = coding_words(names, str(column), user, listed, separator, on_bad_row, version)
        rows = by_person(dataframe.select(*chosen, *places).mapInArrow(coding, CODED_IN_SPARK))
        counting = _counting_people(len(names), max_length, limit.most, DerivingKey(checked_source(rng)), version)
    with plain_errors():
        summed = (
            rows.mapInArrow(counting, _COUNTED_IN_SPARK)
            .groupBy("kind", "entry")
            .agg(sql.sum("count").alias("count"), sql.slice(sql.sort_array(sql.collect_list("example")), 1, _EXAMPLES))
            .toArrow()
        )
    found = {kind: summed.filter(pc.equal(summed["kind"], kind)) for kind in range(6)}
    table = _filled(found[_TRANSITIONS], len(names) ** 2).reshape(len(names), len(names))
    skipped = found[_SKIPPED]
    examples = tuple(skipped.column(3)[0].as_py()) if skipped.num_rows else ()
    count = skipped["count"][0].as_py() if skipped.num_rows else 0
    if pairs is not None:
        if not table.any():
            raise DataFileError("the DataFrame has no transition to count")
        return CuratorCounts(table, None, count, examples)
    longest = pc.max(found[_LENGTHS]["entry"]).as_py() or 0
    first, lengths = _filled(found[_FIRST], len(names)), _filled(found[_LENGTHS], longest + 1)
    words = WordCounts(table, first, lengths, max_words_per_user)
    return CuratorCounts(
        table,
        words,
        count,
        examples,
        words_over_limit=pc.sum(found[_DROPPED]["count"]).as_py() or 0,
        largest_words_per_user=pc.max(found[_LARGEST]["entry"]).as_py(),
    )


def _filled(rows: pa.Table, size: int) -> Counts:
    filled = np.zeros(size, dtype=np.int64)
    filled[rows["entry"].to_numpy()] = rows["count"].to_numpy()
    return filled


def _counting(
    states: tuple[Symbol, ...],
    where: str | PairColumns | None,
    listed: bool,
    separator: str | None,
    max_length: int | None,
    on_bad_row: OnBadRow,
    version: str,
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def count(batches: Batches) -> Iterator[pa.RecordBatch]:
        require_same_version(version)
        checker = Checker(Alphabet(states), on_bad_row)
        tally = WordTally(len(states), max_length)
        for batch in batches:
            words = batch.column(WORD) if listed else split(batch.column(WORD), separator)
            raw = RawWords(words, None, (), place_in_batch(batch, None, _column_of(where)))
            for good in checked(checker, raw):
                tally.add(good.column(0))
        yield from _tables(tally)
        skipped = checker.skipped
        if skipped.count:
            counts = np.zeros(len(skipped.examples), dtype=np.int64)
            counts[0] = skipped.count
            yield _batch(_SKIPPED, np.zeros_like(counts), counts, skipped.examples)

    return count


def _counting_people(
    size: int, max_length: int | None, most: int, key: DerivingKey, version: str
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The same for checked words that `by_person` has sorted, of which some are left out."""

    def count(batches: Batches) -> Iterator[pa.RecordBatch]:
        require_same_version(version)
        tally, people = WordTally(size, max_length), PeopleInOrder(most, key)
        for words in people.words(batches):
            tally.add(words)
        yield from _tables(tally)
        for times, example in people.skipped:
            yield _batch(_SKIPPED, np.array([0]), np.array([times]), [example])
        if people.largest:
            yield _batch(_DROPPED, np.array([0]), np.array([people.dropped]), [None])
            yield _batch(_LARGEST, np.array([people.largest]), np.array([1]), [None])

    return count


def _tables(tally: WordTally) -> Iterator[pa.RecordBatch]:
    counted = tally.counts()
    tables = {_TRANSITIONS: counted.transitions.ravel(), _FIRST: counted.first, _LENGTHS: counted.lengths}
    for kind, table in tables.items():
        entries = np.flatnonzero(table)
        yield _batch(kind, entries, table[entries], [None] * len(entries))


def _batch(kind: int, entries: Counts, counts: Counts, examples: list[str] | list[None]) -> pa.RecordBatch:
    arrays = [pa.array(np.full(len(entries), kind)).cast(pa.int32()), pa.array(entries), pa.array(counts)]
    return pa.RecordBatch.from_arrays([*arrays, pa.array(examples, pa.string())], schema=_COUNTED)


def _column_of(where: str | PairColumns | None) -> str | Callable[[int | None], str]:
    """How messages call the column that a symbol is in: of a pair, the one or the other."""
    if not isinstance(where, PairColumns):
        return str(where)
    names = {0: f", column {where.origin!r}", 1: f", column {where.destination!r}", None: ""}
    return lambda position: names[position]
