"""A long table, one row a symbol: a case column says which word, an order column says where in it.

The rows are sorted by case and order (outside memory, if they do not fit), and each run of equal cases is a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathveil.data.database import Column, Database
from pathveil.data.formats.layout import Extra, Layout, RawWords, Style, column_type, extra_columns, taken_users
from pathveil.data.formats.users import Users
from pathveil.data.sources import DataFile

_ROWS = 1 << 17

# How an order column of texts is read, the first that fits all of it. DuckDB 2.0 hands a bare TRY_CAST of a CSV column
# to the reader, which fails instead of giving null (duckdb/duckdb#23818); a trimmed column it leaves alone.
_READINGS = {
    "a number": "TRY_CAST(trim(o) AS DECIMAL(38, 10))",
    "a number, large or small": "TRY_CAST(trim(o) AS DOUBLE)",
    "a time": "epoch_us(TRY_CAST(trim(o) AS TIMESTAMPTZ))",
}


@dataclass(frozen=True)
class LongTable(Layout):
    """One row a symbol, in the columns `case`, `order` and `symbol`.

    An order column of texts is read as numbers if all of it are numbers, as times if all of it are times, and
    alphabetically if none of it is either. In the output, cases are numbered afresh and orders count from 1. Kept
    columns keep their value in each row; a `user` column must be the same in all rows of a case.
    """

    case: str
    order: str
    symbol: str

    formats = frozenset({"csv", "parquet", "jsonl"})

    def columns(self) -> tuple[str, ...]:
        return self.case, self.order, self.symbol

    def value_type(self, files: Sequence[DataFile]) -> pa.DataType:
        return column_type(files, self.symbol, symbols_are_listed=False)

    def read(self, database: Database, files: Sequence[DataFile], extra: Extra, keep_order: bool) -> Iterator[RawWords]:
        wanted = {
            "c": Column(self.case, "text"),
            "o": Column(self.order, "text"),
            "s": Column(self.symbol, "text"),
            **extra_columns(extra),
        }
        for file in files:
            column_type([file], self.symbol, symbols_are_listed=False)
        scans = [database.scan(file, wanted) for file in files]
        source = " UNION ALL ".join(f"({scan})" for scan in scans)
        reading, meaning = _reading_of_order(database, source)
        others = "".join(f", {alias}" for alias in wanted if alias not in "cos")
        rows = f"SELECT c, {reading} AS o, s{others} FROM ({source})"
        if keep_order:
            rows = (
                f"SELECT *, min(n) OVER (PARTITION BY c) AS f FROM "
                f"(SELECT c, {reading} AS o, s{others}, row_number() OVER () AS n FROM ({source}))"
            )
        query = f"SELECT c, o, s{others} FROM ({rows}) ORDER BY {'f' if keep_order else 'c'}, o"
        place = _Places(database, files, scans, reading, self)
        rest: list[pa.RecordBatch] = []
        for batch in database.stream(query, _ROWS):
            # Only the last case of a batch may go on in the next one.
            last = _last_start(batch)
            if last:
                yield self._words(pa.Table.from_batches([*rest, batch.slice(0, last)]), extra, place, meaning)
                rest = []
            elif rest and not _same_case(rest[-1], batch):
                yield self._words(pa.Table.from_batches(rest), extra, place, meaning)
                rest = []
            rest.append(batch.slice(last))
        if rest:
            yield self._words(pa.Table.from_batches(rest), extra, place, meaning)

    def _words(self, rows: pa.Table, extra: Extra, place: _Places, meaning: str | None) -> RawWords:
        batch = rows.combine_chunks().to_batches()[0]
        starts = np.flatnonzero(np.append(True, _changes(batch.column("c"))))
        offsets = pa.array(np.append(starts, batch.num_rows), pa.int32())
        cases = batch.column("c").take(starts)
        users = taken_users(batch, extra, place.files[0])
        spoiled = self._spoiled(batch, starts, users, extra, meaning)
        kept = tuple(pa.ListArray.from_arrays(offsets, batch.column(f"k{i}")) for i in range(len(extra.keep)))
        return RawWords(
            words=pa.ListArray.from_arrays(offsets, batch.column("s")),
            user=None if users is None else users.names.take(starts),
            kept=kept,
            place=lambda i, position: place(cases[i].as_py(), position),
            spoiled=spoiled,
            bare_place=lambda i, position: place(cases[i].as_py(), position, quote=False),
        )

    def _spoiled(
        self, batch: pa.RecordBatch, starts: np.ndarray, users: Users | None, extra: Extra, meaning: str | None
    ) -> dict[int, str]:
        """What is wrong with rows, by word."""
        cases, orders = batch.column("c"), batch.column("o")
        inside = ~_changes(cases)  # row i + 1 belongs to the same word as row i
        wrong = "missing" if meaning is None else f"missing or not {meaning} like the others"
        problems = [
            (np.append(False, inside & ~_changes(orders)), f"two rows have the same {self.order!r}"),
            (_nulls(orders), f"a value of {self.order!r} is {wrong}"),
            (_nulls(cases), f"rows without a value of {self.case!r} belong to no word"),
        ]
        found: dict[int, str] = {}
        if users is not None:
            changed = np.append(False, inside & _changes(users.names))
            problems.append((changed, f"its rows have different values of {extra.user!r}"))
            for row, reason in users.problems.items():
                found[int(np.searchsorted(starts, row, side="right")) - 1] = reason
        for rows, reason in problems:
            for word in np.unique(np.searchsorted(starts, np.flatnonzero(rows), side="right") - 1):
                found[int(word)] = reason
        return found

    def render(self, words: pa.ListArray, kept: Sequence[pa.Array], first: int, style: Style) -> pa.Table:
        lengths = np.diff(words.offsets.to_numpy())
        cases = np.repeat(np.arange(first, first + len(words)), lengths)
        starts = np.repeat(words.offsets.to_numpy()[:-1], lengths)
        orders = np.arange(len(cases)) - (starts - words.offsets[0].as_py()) + 1
        symbols = style.symbols.decode(words.flatten(), style.value_type)
        return pa.Table.from_arrays(
            [pa.array(cases, pa.int64()), pa.array(orders, pa.int64()), symbols, *(one.flatten() for one in kept)],
            names=[self.case, self.order, self.symbol, *style.keep],
        )


def _reading_of_order(database: Database, source: str) -> tuple[str, str | None]:
    """The expression to sort by, and what its values are called (None for a column that had a type already)."""
    kinds = database.types(f"SELECT o FROM ({source})")
    if kinds != ["VARCHAR"]:
        return "o", None
    [(present,)] = database.rows(f"SELECT count(o) FROM ({source})")
    fitting = {}
    for meaning, reading in _READINGS.items():
        [(fitting[meaning],)] = database.rows(f"SELECT count({reading}) FROM ({source})")
        if fitting[meaning] == present:
            return reading, None
    if not any(fitting.values()):
        return "o", None
    # The reading that fits best: what does not fit then makes bad rows.
    best = max(fitting, key=fitting.__getitem__)
    return _READINGS[best], best


class _Places:
    """Finds the rows of a case in the files; only needed to say where something is wrong."""

    def __init__(
        self, database: Database, files: Sequence[DataFile], scans: Sequence[str], reading: str, layout: LongTable
    ) -> None:
        self._database, self.files, self._scans, self._reading, self._layout = database, files, scans, reading, layout

    def __call__(self, case: object, position: int | None, quote: bool = True) -> str:
        rows = " UNION ALL ".join(
            f"(SELECT {i} AS f, row_number() OVER () AS n, c, {self._reading} AS o FROM ({scan}))"
            for i, scan in enumerate(self._scans)
        )
        query = f"SELECT f, n FROM ({rows}) WHERE c IS NOT DISTINCT FROM ? ORDER BY o, f, n LIMIT 1 OFFSET ?"
        [(file, row)] = self._database.rows(query, [case, position or 0])
        layout = self._layout
        word = f"{self.files[file].name}, row {row}" + (f", {layout.case} {case!r}" if quote else "")
        return word if position is None else f"{word}, column {layout.symbol!r}, position {position + 1}"


def _changes(values: pa.Array) -> np.ndarray:
    """True at i where value i + 1 differs from value i; nulls are like each other and unlike the rest."""
    before, after = values.slice(0, len(values) - 1), values.slice(1)
    differs = pc.not_equal(before, after).fill_null(False).to_numpy(zero_copy_only=False)
    changed: np.ndarray = differs | (_nulls(before) != _nulls(after))
    return changed


def _nulls(values: pa.Array) -> np.ndarray:
    return np.asarray(values.is_null().to_numpy(zero_copy_only=False))


def _last_start(batch: pa.RecordBatch) -> int:
    """The row where the last case of a batch begins."""
    changes = np.flatnonzero(_changes(batch.column("c")))
    return int(changes[-1]) + 1 if len(changes) else 0


def _same_case(earlier: pa.RecordBatch, later: pa.RecordBatch) -> bool:
    pair = pa.concat_arrays([earlier.column("c").slice(earlier.num_rows - 1), later.column("c").slice(0, 1)])
    return not _changes(pair)[0]
