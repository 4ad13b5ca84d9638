"""How often each state follows each other one, counted in a file: the exact table, for a private model to be made of.

The counts are sensitive. They are for `fit_private_chain`, not for release.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from pathveil.data.counted_rows import MOST, NO_COUNT, require_countable, whole_count
from pathveil.data.database import Column, Database
from pathveil.data.formats import Extra, Layout, column_type
from pathveil.data.reading.checking import SKIP_BAD_ROWS, Checker, OnBadRow, Skipped
from pathveil.data.reading.opening import opened
from pathveil.data.reading.user_limit import limit_for
from pathveil.data.reading.words import checked_words
from pathveil.data.sources import DataFile, Format, Source, Watch, without_header
from pathveil.data.symbols import SymbolTable
from pathveil.errors import DataFileError, FileItselfError, InvalidParameterError, UnknownSymbolError
from pathveil.models.counting import Counts, WordCounts
from pathveil.numerics.arrays import AnyIntArray, IntArray
from pathveil.randomness.source import RandomSource
from pathveil.systems.alphabet import Alphabet
from pathveil.systems.system import Symbol
from pathveil.words.base import Progress, flat_words


@dataclass(frozen=True)
class PairColumns:
    """One transition a row: it leaves the state in the column `origin` and enters the one in `destination`.

    With `count` a row stands for as many transitions as that column says. With `header=False` a CSV file has no names
    of columns, and they are called 1, 2, 3, …
    """

    origin: str
    destination: str
    count: str | None = None
    header: bool = True

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are used."""
        return self.origin, self.destination, *(() if self.count is None else (self.count,))


@dataclass(frozen=True)
class CuratorCounts:
    """Exact counts, row by row in the order of the states, and what was left out. Not for release.

    `words` has the same table and, besides, first symbols and lengths; None where the data were pairs. `words_tied`
    of the words have symbols that stand in the order of the file, because nothing else says which comes first. Where
    users were limited, `words_over_limit` is how many words were left out for that, and `largest_words_per_user` how
    many the user with most of them has.
    """

    counts: Counts
    words: WordCounts | None
    rows_skipped: int
    skipped_examples: tuple[str, ...]
    words_tied: int = 0
    words_over_limit: int = 0
    largest_words_per_user: int | None = None

    @property
    def longest(self) -> int | None:
        """How many symbols the longest word has; None where the data were pairs."""
        return None if self.words is None else int(np.flatnonzero(self.words.lengths).max(initial=-1)) + 1


def count_transitions(
    source: Source,
    layout: Layout | PairColumns,
    states: Iterable[Symbol],
    *,
    max_length: int | None = None,
    count: str | None = None,
    user: str | None = None,
    max_words_per_user: int | None = None,
    on_bad_row: OnBadRow = "fail",
    format: Format | None = None,
    progress: Progress | None = None,
    rng: RandomSource | None = None,
) -> CuratorCounts:
    """Count transitions inside words, or (origin, destination) pairs, over public states.

    `max_length` cuts words after so many symbols. Where words stand one in a row, `count` names a column that says for
    how many equal words a row stands. (`PairColumns` has its own.) With `user` and `max_words_per_user`, at most so
    many words of each user are counted, chosen at random. The table has a row and a column for each state, in their
    order.
    """
    checker, limit = Checker(Alphabet(states), on_bad_row), limit_for(user, max_words_per_user)
    report = progress or (lambda _stage, _words: None)
    if isinstance(layout, PairColumns):
        if max_length is not None:
            raise InvalidParameterError("`max_length` is for words: pairs have no length")
        if limit is not None:
            raise InvalidParameterError("`user` is for words: pairs do not say which of them belong together")
        if count is not None:
            layout = replace(layout, count=count)
        return _count_pairs(source, layout, checker.symbols, on_bad_row, format, report)
    tally = WordTally(len(checker.symbols.names), max_length)
    with checked_words(source, layout, checker, Extra(user, (), count), limit, format=format, rng=rng) as (
        words,
        files,
    ):
        for batch in words:
            tally.add(batch.column(0), None if count is None else batch.column(1).to_numpy())
            require_countable(tally.symbols, files[0])
            report("counting", tally.words)
    counted = replace(tally.counts(), max_words_per_user=max_words_per_user)
    return CuratorCounts(
        counted.transitions,
        counted,
        checker.skipped.count,
        tuple(checker.skipped.examples),
        words_tied=checker.words_tied,
        words_over_limit=0 if limit is None else limit.dropped,
        largest_words_per_user=None if limit is None else limit.measured,
    )


class WordTally:
    """Counts what is in words, batch by batch; words are cut after `max_length` symbols."""

    def __init__(self, size: int, max_length: int | None = None) -> None:
        whole = isinstance(max_length, int) and not isinstance(max_length, bool)
        if max_length is not None and not (whole and max_length >= 1):
            raise InvalidParameterError(f"`max_length` is a whole number of at least 1, not {max_length!r}")
        # No word in a file is longer than 32-bit numbers can count.
        self._size, self._max_length = size, None if max_length is None else min(max_length, np.iinfo(np.int32).max)
        self._table = np.zeros(size * size, dtype=np.int64)
        self._first = np.zeros(size, dtype=np.int64)
        self._lengths = np.zeros(1, dtype=np.int64)
        self.symbols = 0
        """How many symbols were counted so far."""

    def add(self, words: pa.ListArray, times: IntArray | None = None) -> None:
        """Count words that are given as lists of codes, each of them `times` times."""
        codes, offsets = flat_words(words)
        lengths = np.diff(offsets)
        self.symbols += len(codes) if times is None else sum(map(int.__mul__, times.tolist(), lengths.tolist()))
        if self.symbols > MOST:
            return  # more than can be counted: the caller refuses them
        entered = np.ones(len(codes), dtype=bool)  # does a transition enter this cell?
        entered[offsets[:-1]] = False
        if self._max_length is not None:
            entered &= np.arange(len(codes)) - np.repeat(offsets[:-1], lengths) < self._max_length
            lengths = np.minimum(lengths, self._max_length)
        cells = np.flatnonzero(entered)
        pairs = codes[cells - 1].astype(np.int64) * self._size + codes[cells]
        inside = None if times is None else np.repeat(times, np.diff(offsets))[cells]
        self._table += _tallied(pairs, len(self._table), inside)
        self._first += _tallied(codes[offsets[:-1]], self._size, times)
        found = _tallied(lengths - 1, len(self._lengths), times)
        found[: len(self._lengths)] += self._lengths
        self._lengths = found

    @property
    def words(self) -> int:
        """How many words were counted so far."""
        return int(self._lengths.sum())

    def counts(self) -> WordCounts:
        """Everything that was counted so far."""
        return WordCounts(self._table.reshape(self._size, self._size), self._first, self._lengths)


def _tallied(values: AnyIntArray, size: int, times: IntArray | None) -> Counts:
    """How often each of 0, 1, … occurs. Sums in floating point are exact: they are no larger than `MOST`."""
    if times is None:
        return np.bincount(values, minlength=size)
    return np.bincount(values, weights=times, minlength=size).astype(np.int64)


def _count_pairs(
    source: Source,
    layout: PairColumns,
    symbols: SymbolTable,
    on_bad_row: OnBadRow,
    format: Format | None,
    report: Progress,
) -> CuratorCounts:
    size = len(symbols.names)
    table = np.zeros((size, size), dtype=np.int64)
    total = 0
    wanted = {"a": Column(layout.origin, "text"), "b": Column(layout.destination, "text")}
    once = "1"
    if layout.count is not None:
        wanted["n"], once = Column(layout.count, "text"), whole_count("n")
    skipped = Skipped()
    with opened(source, None, Extra(), format) as (database, found, _):
        files = found if layout.header else without_header(found)
        watch = Watch(files)
        for file in files:
            if file.format not in ("csv", "parquet", "jsonl"):
                raise FileItselfError(f"{file.name}: columns of pairs are for csv, jsonl and parquet files")
            for name in (layout.origin, layout.destination):
                column_type([file], name, symbols_are_listed=False)
            scan = database.scan(file, wanted)
            # Rows whose count is none make groups of their own. No sum is larger than what is refused.
            query = (
                f"SELECT a, b, n IS NULL AS uncounted, count(*) AS rows, "
                f"coalesce(least(sum(n), {MOST + 1}), 0)::BIGINT AS n "
                f"FROM (SELECT a, b, {once} AS n FROM ({scan})) GROUP BY ALL"
            )
            for batch in database.stream(query):
                origins, destinations = symbols.encode(batch.column("a")), symbols.encode(batch.column("b"))
                counts, rows = batch.column("n").to_numpy(), batch.column("rows").to_numpy()
                good = (origins < size) & (destinations < size)
                good &= ~batch.column("uncounted").to_numpy(zero_copy_only=False)
                total += sum(counts[good].tolist())
                require_countable(total, file)
                np.add.at(table, (origins[good], destinations[good]), counts[good])
                report("counting", int(table.sum()))
                for i in np.flatnonzero(~good)[: 1 if on_bad_row == "fail" else None]:
                    pair = batch.column("a")[i].as_py(), batch.column("b")[i].as_py()
                    if origins[i] < size and destinations[i] < size:
                        problem = _bad_count(database, file, scan, layout, pair, once)
                    else:
                        problem = _bad_pair(database, file, scan, layout, pair, origins[i] >= size)
                    if on_bad_row == "fail":
                        raise problem
                    skipped.add(int(rows[i]), str(problem))
        watch.require_unchanged()
    if not table.any():
        what = f"{files[0].name}: there is no transition to count"
        raise DataFileError(what, without_content=what)
    return CuratorCounts(table, None, skipped.count, tuple(skipped.examples))


def _bad_count(
    database: Database, file: DataFile, scan: str, layout: PairColumns, pair: Sequence[object], once: str
) -> UnknownSymbolError | DataFileError:
    [(row, value)] = database.rows(
        f"SELECT min(r), arg_min(n, r) FROM (SELECT *, row_number() OVER () AS r FROM ({scan})) "
        f"WHERE a IS NOT DISTINCT FROM ? AND b IS NOT DISTINCT FROM ? AND {once} IS NULL",
        pair,
    )
    place = f"{file.name}, row {row}, column {layout.count!r}"
    quoted = "" if value is None else f" (it is {str(value)!r})"
    return DataFileError(
        f"{place}: {NO_COUNT}{quoted}. Correct the file, or {SKIP_BAD_ROWS}.",
        without_content=f"{place}: {NO_COUNT}. Correct the data, or {SKIP_BAD_ROWS}.",
    )


def _bad_pair(
    database: Database, file: DataFile, scan: str, layout: PairColumns, pair: Sequence[object], origin_is_bad: bool
) -> UnknownSymbolError | DataFileError:
    [(row,)] = database.rows(
        f"SELECT min(n) FROM (SELECT *, row_number() OVER () AS n FROM ({scan})) "
        "WHERE a IS NOT DISTINCT FROM ? AND b IS NOT DISTINCT FROM ?",
        pair,
    )
    column, value = (layout.origin, pair[0]) if origin_is_bad else (layout.destination, pair[1])
    place = f"{file.name}, row {row}, column {column!r}"
    if value is None:
        what = f"{place}: the state is missing. Correct the file, or {SKIP_BAD_ROWS}."
        return DataFileError(what, without_content=what)
    return UnknownSymbolError(
        f"{place}: unknown state {str(value)!r}. Correct the file, {SKIP_BAD_ROWS}, or correct the public states.",
        without_content=f"{place}: the state is not one of the public ones. Correct the data, or {SKIP_BAD_ROWS}.",
    )
