"""How often each state follows each other one, counted in a file: the exact table, for a private model to be made of.

The counts are sensitive. They are for `fit_private_chain`, not for release.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pathveil.data.database import Column, Database
from pathveil.data.formats import Extra, Layout, column_type
from pathveil.data.reading.checking import SKIP_BAD_ROWS, Checker, OnBadRow, Skipped
from pathveil.data.reading.opening import opened
from pathveil.data.sources import DataFile, Format, Source, Watch
from pathveil.data.symbols import SymbolTable
from pathveil.errors import DataFileError, FileItselfError, InvalidParameterError, UnknownSymbolError
from pathveil.models.counting import Counts, WordCounts
from pathveil.systems.alphabet import Alphabet
from pathveil.systems.system import Symbol
from pathveil.words.base import Progress, flat_words


@dataclass(frozen=True)
class PairColumns:
    """One transition a row: it leaves the state in the column `origin` and enters the one in `destination`."""

    origin: str
    destination: str


@dataclass(frozen=True)
class CuratorCounts:
    """Exact counts, row by row in the order of the states, and what was left out. Not for release.

    `words` has the same table and, besides, first symbols and lengths; None where the data were pairs.
    """

    counts: Counts
    words: WordCounts | None
    rows_skipped: int
    skipped_examples: tuple[str, ...]

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
    on_bad_row: OnBadRow = "fail",
    format: Format | None = None,
    progress: Progress | None = None,
) -> CuratorCounts:
    """Count transitions inside words, or (origin, destination) pairs, over public states.

    `max_length` cuts words after so many symbols. The table has a row and a column for each state, in their order.
    """
    checker = Checker(Alphabet(states), on_bad_row)
    report = progress or (lambda _stage, _words: None)
    if isinstance(layout, PairColumns):
        if max_length is not None:
            raise InvalidParameterError("`max_length` is for words: pairs have no length")
        return _count_pairs(source, layout, checker.symbols, on_bad_row, format, report)
    tally = WordTally(len(checker.symbols.names), max_length)
    with opened(source, layout, Extra(), format) as (database, files, _):
        watch = Watch(files)
        for batch in checker.checked(layout.read(database, files, Extra(), keep_order=False)):
            tally.add(batch.column(0))
            report("counting", tally.words)
        watch.require_unchanged()
    counted = tally.counts()
    return CuratorCounts(counted.transitions, counted, checker.skipped.count, tuple(checker.skipped.examples))


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

    def add(self, words: pa.ListArray) -> None:
        """Count words that are given as lists of codes."""
        codes, offsets = flat_words(words)
        lengths = np.diff(offsets)
        entered = np.ones(len(codes), dtype=bool)  # does a transition enter this cell?
        entered[offsets[:-1]] = False
        if self._max_length is not None:
            entered &= np.arange(len(codes)) - np.repeat(offsets[:-1], lengths) < self._max_length
            lengths = np.minimum(lengths, self._max_length)
        cells = np.flatnonzero(entered)
        pairs = codes[cells - 1].astype(np.int64) * self._size + codes[cells]
        self._table += np.bincount(pairs, minlength=len(self._table))
        self._first += np.bincount(codes[offsets[:-1]], minlength=self._size)
        found = np.bincount(lengths - 1, minlength=len(self._lengths))
        found[: len(self._lengths)] += self._lengths
        self._lengths = found

    @property
    def words(self) -> int:
        """How many words were counted so far."""
        return int(self._lengths.sum())

    def counts(self) -> WordCounts:
        """Everything that was counted so far."""
        return WordCounts(self._table.reshape(self._size, self._size), self._first, self._lengths)


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
    skipped = Skipped()
    with opened(source, None, Extra(), format) as (database, files, _):
        watch = Watch(files)
        for file in files:
            if file.format not in ("csv", "parquet", "jsonl"):
                raise FileItselfError(f"{file.name}: columns of pairs are for csv, jsonl and parquet files")
            for name in (layout.origin, layout.destination):
                column_type([file], name, symbols_are_listed=False)
            scan = database.scan(file, {"a": Column(layout.origin, "text"), "b": Column(layout.destination, "text")})
            for batch in database.stream(f"SELECT a, b, count(*) AS n FROM ({scan}) GROUP BY ALL"):
                origins, destinations = symbols.encode(batch.column("a")), symbols.encode(batch.column("b"))
                counts = batch.column("n").to_numpy()
                good = (origins < size) & (destinations < size)
                np.add.at(table, (origins[good], destinations[good]), counts[good])
                report("counting", int(table.sum()))
                for i in np.flatnonzero(~good)[: 1 if on_bad_row == "fail" else None]:
                    pair = batch.column("a")[i].as_py(), batch.column("b")[i].as_py()
                    problem = _bad_pair(database, file, scan, layout, pair, origins[i] >= size)
                    if on_bad_row == "fail":
                        raise problem
                    skipped.add(int(counts[i]), str(problem))
        watch.require_unchanged()
    if not table.any():
        what = f"{files[0].name}: there is no transition to count"
        raise DataFileError(what, without_content=what)
    return CuratorCounts(table, None, skipped.count, tuple(skipped.examples))


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
