"""A long table, one row a symbol: a case column says which word, an order column says where in it.

The rows are sorted by case and order (outside memory, if they do not fit), and each run of equal cases is a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathveil.data.database import Column, Database
from pathveil.data.formats.joining import JOINER, checked_joiner, joined, require_joined
from pathveil.data.formats.layout import (
    Extra,
    Layout,
    RawWords,
    Style,
    column_type,
    extra_columns,
    taken_kept,
    taken_users,
)
from pathveil.data.formats.order import Order, checked_formats, read_order
from pathveil.data.formats.table_rows import TableRows
from pathveil.data.formats.users import Users
from pathveil.data.sources import DataFile
from pathveil.data.symbols import SymbolTable
from pathveil.errors import InvalidParameterError

Ties = Literal["file-order", "refuse", "columns"]

_ROWS = 1 << 17


@dataclass(frozen=True)
class LongTable(Layout):
    """One row a symbol, in the columns `case`, `order` and `symbol`.

    Of several `order` columns the later ones decide between rows that are equal in the earlier ones. What is equal in
    all of them is a tie: with `ties="file-order"` such rows stay in the order of the files (by name) and their rows,
    with `"refuse"` their words are bad; `"columns"` is the same with a second order column, which must be there.

    An order column of texts is read as numbers if all of it are numbers, as times if all of it are times in one of many
    forms, and alphabetically if it has no digits; what is ambiguous is refused (order.py). `time_format` says how the
    first one is written (as strptime takes it; of several formats the first that fits; "text" sorts alphabetically).

    The values of several `symbol` columns make one symbol, with `joiner` between them: "start+complete". The output has
    the same columns again. With `header=False` a CSV file has no names of columns, and they are called 1, 2, 3, …

    In the output, cases are numbered afresh and orders count from 1. Kept columns keep their value in each row; a
    `user` column must be the same in all rows of a case.
    """

    case: str
    order: str | Sequence[str]
    symbol: str | Sequence[str]
    time_format: str | Sequence[str] | None = None
    ties: Ties = "file-order"
    joiner: str = JOINER
    header: bool = True

    formats = frozenset({"csv", "parquet", "jsonl"})

    def __post_init__(self) -> None:
        checked_formats(self.time_format)
        checked_joiner(self.joiner, self.symbol_columns)
        if self.ties not in get_args(Ties):
            raise InvalidParameterError(f"`ties` is file-order, refuse or columns, not {self.ties!r}")
        if not self.order_columns or len(set(self.order_columns)) < len(self.order_columns):
            raise InvalidParameterError("`order`: name at least one column, and none of them twice")
        if self.ties == "columns" and len(self.order_columns) < 2:
            raise InvalidParameterError(
                '`ties="columns"`: name a second `order` column, which decides where the first is equal'
            )

    @property
    def order_columns(self) -> tuple[str, ...]:
        """The order column, or all of them."""
        return (self.order,) if isinstance(self.order, str) else tuple(self.order)

    def columns(self) -> tuple[str, ...]:
        return self.case, *self.order_columns, *self.symbol_columns

    @property
    def symbol_columns(self) -> tuple[str, ...]:
        """The symbol column, or all of them."""
        return (self.symbol,) if isinstance(self.symbol, str) else tuple(self.symbol)

    def require_symbols(self, symbols: SymbolTable) -> None:
        require_joined(symbols, self.joiner, len(self.symbol_columns))

    def require_writable(self, symbols: SymbolTable) -> None:
        self.require_symbols(symbols)

    def value_type(self, files: Sequence[DataFile]) -> pa.DataType:
        kinds = [column_type(files, name, symbols_are_listed=False) for name in self.symbol_columns]
        return kinds[0] if len(kinds) == 1 else pa.string()

    def read(self, database: Database, files: Sequence[DataFile], extra: Extra, keep_order: bool) -> Iterator[RawWords]:
        for file in files:
            self.value_type([file])
        orders = {f"o{i}": Column(name, "text") for i, name in enumerate(self.order_columns)}
        symbols = {f"s{i}": Column(name, "text") for i, name in enumerate(self.symbol_columns)}
        others = extra_columns(extra)
        rows = TableRows(database, files, {"c": Column(self.case, "text"), **orders, **symbols, **others})
        readings = self._readings(rows)
        sorted_rows = _Sorted(self, rows, readings, extra)
        moments = (f"{one.expression} AS {alias}" for alias, one in readings.items())
        read = ", ".join(["c", *moments, f"{joined(list(symbols), self.joiner)} AS s", *others])
        # Only where rows may be equal, or cases come in the order of their first row, does it matter where a row is.
        is_numbered = keep_order or self.ties == "file-order"
        query = f"SELECT {read}, r FROM ({rows.numbered})" if is_numbered else f"SELECT {read} FROM ({rows.all})"
        if keep_order:
            query = f"SELECT *, min(r) OVER (PARTITION BY c) AS f FROM ({query})"
        by = ["f" if keep_order else "c", *orders, *(["r"] if is_numbered else [])]
        query = f"SELECT {', '.join(['c', *orders, 's', *others])} FROM ({query}) ORDER BY {', '.join(by)}"
        yield from map(sorted_rows.words, whole_cases(database.stream(query, _ROWS)))

    def _readings(self, rows: TableRows) -> dict[str, Order]:
        """How each order column is read, by its alias. A declared format is that of the first."""
        formats = checked_formats(self.time_format)
        return {
            f"o{i}": read_order(rows, f"o{i}", name, () if i else formats) for i, name in enumerate(self.order_columns)
        }

    def render(self, words: pa.ListArray, kept: Sequence[pa.Array], first: int, style: Style) -> pa.Table:
        lengths = np.diff(words.offsets.to_numpy())
        cases = np.repeat(np.arange(first, first + len(words)), lengths)
        starts = np.repeat(words.offsets.to_numpy()[:-1], lengths)
        orders = np.arange(len(cases)) - (starts - words.offsets[0].as_py()) + 1
        codes = words.flatten()
        symbols = [style.symbols.decode(codes, style.value_type)]
        if len(self.symbol_columns) > 1:
            parts = zip(*(name.split(self.joiner) for name in style.symbols.names), strict=True)
            symbols = [style.symbols.take(list(part), codes) for part in parts]
        return pa.Table.from_arrays(
            [pa.array(cases, pa.int64()), pa.array(orders, pa.int64()), *symbols, *(one.flatten() for one in kept)],
            names=[self.case, self.order_columns[0], *self.symbol_columns, *style.keep],
        )


class _Sorted:
    """Makes words of rows that are sorted, and finds the rows of a word where something is wrong with it."""

    def __init__(self, layout: LongTable, rows: TableRows, readings: dict[str, Order], extra: Extra) -> None:
        self._layout, self._rows, self._readings, self._extra = layout, rows, readings, extra
        self._columns = " and ".join(map(repr, layout.symbol_columns))

    def words(self, rows: pa.Table) -> RawWords:
        batch = rows.combine_chunks().to_batches()[0]
        starts = np.flatnonzero(np.append(True, _changes(batch.column("c"))))
        offsets = pa.array(np.append(starts, batch.num_rows), pa.int32())
        cases = batch.column("c").take(starts)
        users = taken_users(batch, self._extra, self._rows.files[0])
        tied = self._tied(batch)
        kept = taken_kept(batch, self._extra)
        return RawWords(
            words=pa.ListArray.from_arrays(offsets, batch.column("s")),
            user=None if users is None else users.names.take(starts),
            kept=tuple(pa.ListArray.from_arrays(offsets, one) for one in kept),
            place=lambda i, position: self._place(cases[i].as_py(), position),
            spoiled=self._spoiled(batch, starts, users, tied),
            bare_place=lambda i, position: self._place(cases[i].as_py(), position, quote=False),
            tied=len(np.unique(_words_of(starts, tied))),
        )

    def _tied(self, batch: pa.RecordBatch) -> np.ndarray:
        """The rows that are equal to the row before in everything that they are sorted by."""
        tied = ~_changes(batch.column("c"))
        for alias in self._readings:
            tied &= ~_changes(batch.column(alias)) & ~_nulls(batch.column(alias))[1:]
        return np.append(False, tied)

    def _spoiled(
        self, batch: pa.RecordBatch, starts: np.ndarray, users: Users | None, tied: np.ndarray
    ) -> dict[int, str]:
        """What is wrong with rows, by word."""
        layout, cases = self._layout, batch.column("c")
        problems = []
        if layout.ties != "file-order":
            by = " and ".join(map(repr, layout.order_columns))
            problems.append((tied, f'two rows have the same {by} (`ties="file-order"` leaves them as they stand)'))
        for name, (alias, order) in zip(layout.order_columns, self._readings.items(), strict=True):
            problems.append((_nulls(batch.column(alias)), f"a value of {name!r} {order.wrong}"))
        problems.append((_nulls(cases), f"rows without a value of {layout.case!r} belong to no word"))
        found: dict[int, str] = {}
        if users is not None:
            changed = np.append(False, ~_changes(cases) & _changes(users.names))
            problems.append((changed, f"its rows have different values of {self._extra.user!r}"))
            for row, reason in users.problems.items():
                found[int(np.searchsorted(starts, row, side="right")) - 1] = reason
        for rows, reason in problems:
            for word in np.unique(_words_of(starts, rows)):
                found[int(word)] = reason
        return found

    def _place(self, case: object, position: int | None, quote: bool = True) -> str:
        read = ", ".join(f"{one.expression} AS {alias}" for alias, one in self._readings.items())
        query = (
            f"SELECT r FROM (SELECT c, {read}, r FROM ({self._rows.numbered})) WHERE c IS NOT DISTINCT FROM ? "
            f"ORDER BY {', '.join(self._readings)}, r LIMIT 1 OFFSET ?"
        )
        [(number,)] = self._rows.database.rows(query, [case, position or 0])
        file, row = self._rows.place(number)
        word = f"{file}, row {row}" + (f", {self._layout.case} {case!r}" if quote else "")
        return word if position is None else f"{word}, column {self._columns}, position {position + 1}"


def whole_cases(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows of sorted batches again, cut where a case `c` ends: only the last of a batch may go on in the next."""
    rest: list[pa.RecordBatch] = []
    for batch in batches:
        last = _last_start(batch)
        if last:
            yield pa.Table.from_batches([*rest, batch.slice(0, last)])
            rest = []
        elif rest and not _same_case(rest[-1], batch):
            yield pa.Table.from_batches(rest)
            rest = []
        rest.append(batch.slice(last))
    if rest:
        yield pa.Table.from_batches(rest)


def _words_of(starts: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The word of each row that is marked, for words that begin at `starts`."""
    return np.searchsorted(starts, np.flatnonzero(rows), side="right") - 1


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
