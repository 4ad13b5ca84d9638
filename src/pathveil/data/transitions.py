"""How often each state follows each other one, counted in a file: the exact table, for a private model to be made of.

The counts are sensitive. They are for `fit_private_chain`, not for release.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pathveil.data.checking import Checker, OnBadRow, Skipped
from pathveil.data.embedded import Column, Engine
from pathveil.data.formats.layout import Extra, Layout, column_type
from pathveil.data.sources import DataFile, Format, Source
from pathveil.data.symbols import SymbolTable
from pathveil.data.words import opened
from pathveil.errors import DataFileError, InvalidParameterError, UnknownSymbolError
from pathveil.models.counting import Counts, WordCounts
from pathveil.systems.alphabet import Alphabet
from pathveil.systems.system import Symbol
from pathveil.words.ragged import AnyIntArray, flat_words


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


def count_transitions(
    source: Source,
    layout: Layout | PairColumns,
    states: Iterable[Symbol],
    *,
    max_length: int | None = None,
    on_bad_row: OnBadRow = "fail",
    format: Format | None = None,
) -> CuratorCounts:
    """Count transitions inside words, or (origin, destination) pairs, over public states.

    `max_length` cuts words after so many symbols. The table has a row and a column for each state, in their order.
    """
    if max_length is not None and (isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < 1):
        raise InvalidParameterError(f"max_length is a whole number of at least 1, not {max_length!r}")
    checker = Checker(Alphabet(states), on_bad_row)
    if isinstance(layout, PairColumns):
        if max_length is not None:
            raise InvalidParameterError("max_length is for words: pairs have no length")
        return _count_pairs(source, layout, checker.symbols, on_bad_row, format)
    size = len(checker.symbols.names)
    table = np.zeros(size * size, dtype=np.int64)
    first, lengths = np.zeros(size, dtype=np.int64), np.zeros(1, dtype=np.int64)
    with opened(source, layout, Extra(), format) as (engine, files, _):
        for batch in checker.checked(layout.read(engine, files, Extra(), keep_order=False)):
            codes, offsets = flat_words(batch.column(0))
            _add_transitions(table, codes, offsets, size, max_length)
            first += np.bincount(codes[offsets[:-1]], minlength=size)
            lengths = _with_lengths(lengths, np.minimum(np.diff(offsets), max_length or np.iinfo(np.int32).max))
    counted = WordCounts(table.reshape(size, size), first, lengths)
    return CuratorCounts(counted.transitions, counted, checker.skipped.count, tuple(checker.skipped.examples))


def _with_lengths(lengths: Counts, more: AnyIntArray) -> Counts:
    """Entry k: how many words have k + 1 symbols."""
    found = np.bincount(more - 1, minlength=len(lengths))
    found[: len(lengths)] += lengths
    return found


def _add_transitions(
    table: Counts, codes: AnyIntArray, offsets: AnyIntArray, size: int, max_length: int | None
) -> None:
    counted = np.ones(len(codes), dtype=bool)  # does a transition enter this cell?
    counted[offsets[:-1]] = False
    if max_length is not None:
        positions = np.arange(len(codes)) - np.repeat(offsets[:-1], np.diff(offsets))
        counted &= positions < max_length
    entered = np.flatnonzero(counted)
    pairs = codes[entered - 1].astype(np.int64) * size + codes[entered]
    table += np.bincount(pairs, minlength=len(table))


def _count_pairs(
    source: Source, layout: PairColumns, symbols: SymbolTable, on_bad_row: OnBadRow, format: Format | None
) -> CuratorCounts:
    size = len(symbols.names)
    table = np.zeros((size, size), dtype=np.int64)
    skipped = Skipped()
    with opened(source, None, Extra(), format) as (engine, files, _):
        for file in files:
            if file.format not in ("csv", "parquet", "jsonl"):
                raise DataFileError(f"{file.name}: columns of pairs are for csv, jsonl and parquet files")
            for name in (layout.origin, layout.destination):
                column_type([file], name, symbols_are_listed=False)
            scan = engine.scan(file, {"a": Column(layout.origin, "text"), "b": Column(layout.destination, "text")})
            for batch in engine.stream(f"SELECT a, b, count(*) AS n FROM ({scan}) GROUP BY ALL"):
                origins, destinations = symbols.encode(batch.column("a")), symbols.encode(batch.column("b"))
                counts = batch.column("n").to_numpy()
                good = (origins < size) & (destinations < size)
                np.add.at(table, (origins[good], destinations[good]), counts[good])
                for i in np.flatnonzero(~good)[: 1 if on_bad_row == "fail" else None]:
                    pair = batch.column("a")[i].as_py(), batch.column("b")[i].as_py()
                    problem = _bad_pair(engine, file, scan, layout, pair, origins[i] >= size)
                    if on_bad_row == "fail":
                        raise problem
                    skipped.add(int(counts[i]), str(problem))
    if not table.any():
        raise DataFileError(f"{files[0].name}: there is no transition to count")
    return CuratorCounts(table, None, skipped.count, tuple(skipped.examples))


def _bad_pair(
    engine: Engine, file: DataFile, scan: str, layout: PairColumns, pair: Sequence[object], origin_is_bad: bool
) -> UnknownSymbolError | DataFileError:
    [(row,)] = engine.rows(
        f"SELECT min(n) FROM (SELECT *, row_number() OVER () AS n FROM ({scan})) "
        "WHERE a IS NOT DISTINCT FROM ? AND b IS NOT DISTINCT FROM ?",
        pair,
    )
    column, value = (layout.origin, pair[0]) if origin_is_bad else (layout.destination, pair[1])
    place = f"{file.name}, row {row}, column {column!r}"
    if value is None:
        return DataFileError(f"{place}: the state is missing. Correct the file, or skip bad rows.")
    return UnknownSymbolError(
        f"{place}: unknown state {str(value)!r}. Correct the file, skip bad rows, or correct the public states."
    )
