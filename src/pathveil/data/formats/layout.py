"""What every layout of words in files can do: read raw words, and put private words in their place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import pyarrow as pa

from pathveil.data.database import Column, Database, parquet_schema, require_columns
from pathveil.data.formats.users import Users, users_of
from pathveil.data.sources import DataFile, Format
from pathveil.data.symbols import SymbolTable, holds_symbols
from pathveil.errors import DataFileError, FileItselfError, InvalidParameterError


@dataclass(frozen=True)
class Extra:
    """Columns that are read beside the words: who a word belongs to, what is released as it is, how many equal words a
    row stands for, and, for models, when it happened and which group it is in.
    """

    user: str | None = None
    keep: tuple[str, ...] = ()
    count: str | None = None
    time: str | None = None
    group: str | None = None

    @property
    def beside(self) -> tuple[Column, ...]:
        """What `RawWords.kept` holds: the kept columns, then the times, then the groups."""
        kept = [Column(name, "as it is") for name in self.keep]
        times = [] if self.time is None else [Column(self.time, "text")]  # as the order of a long table is read
        groups = [] if self.group is None else [Column(self.group, "as it is")]
        return (*kept, *times, *groups)


@dataclass(frozen=True)
class RawWords:
    """A batch as it was read.

    `words` is a list array of texts or whole numbers. `user` (names as in users.py) and `kept` have one entry for each
    word; `kept` is what `Extra.beside` lists, with a list for each word where symbols have values. `spoiled` says what
    else is wrong with some of the words. `place(i, position)` finds a word, or a symbol in it (both from 0), in the
    files; it is only asked about words that are refused. `bare_place` says the same without quoting anything, where
    `place` does quote. `tied` words have symbols that stand in the order of the file because nothing else says which
    comes first. `times` says how often each word counts.
    """

    words: pa.ListArray
    user: pa.Array | None
    kept: tuple[pa.Array, ...]
    place: Callable[[int, int | None], str]
    spoiled: dict[int, str] = field(default_factory=dict)
    bare_place: Callable[[int, int | None], str] | None = None
    tied: int = 0
    times: pa.Array | None = None


class Layout(ABC):
    """One way to keep words in a file."""

    formats: ClassVar[frozenset[Format]]
    default_format: ClassVar[Format | None] = None
    """The format of files whatever their names say."""
    header: bool = True
    """Whether a CSV file begins with the names of its columns; otherwise they are called 1, 2, 3, …"""
    symbols_at_a_time: ClassVar[int | None] = None
    """About so many are rendered at a time, where a symbol takes much more room in the file than in memory."""
    counts_rows: ClassVar[bool] = False
    """Whether a row is a word, so that it may stand for several."""

    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns that this layout itself needs."""

    @abstractmethod
    def read(self, database: Database, files: Sequence[DataFile], extra: Extra, keep_order: bool) -> Iterator[RawWords]:
        """All words. With `keep_order` they come in the order of the file; most layouts do that anyway."""

    @abstractmethod
    def render(self, words: pa.ListArray, kept: Sequence[pa.Array], first: int, style: Style) -> pa.Table:
        """Private words, given as lists of codes, as a table of this layout. The first word is number `first`."""

    def around(self, style: Style) -> tuple[bytes, bytes]:
        """What stands in a file before the first word, and what after the last."""
        return b"", b""

    def value_type(self, files: Sequence[DataFile]) -> pa.DataType:
        """The type that the symbols have in the files."""
        return pa.string()

    def require_writable(self, symbols: SymbolTable) -> None:  # noqa: B027 - not every layout has such symbols
        """An error if some symbol of the public system could not be told apart in the output."""

    def require_symbols(self, symbols: SymbolTable) -> None:  # noqa: B027 - most layouts can hold any
        """An error if some symbol of the public system could not be told apart in the input."""

    def check(self, files: Sequence[DataFile], extra: Extra) -> None:
        """An error if the files cannot have this layout or a column is asked for twice."""
        self.require_format(files[0].format, files[0].name)
        if extra.count is not None and not self.counts_rows:
            raise InvalidParameterError(f"`count` is for one word a row, in a column; {type(self).__name__} has none")
        self.require_kept(extra.keep)

    def require_kept(self, keep: tuple[str, ...]) -> None:
        """An error if these columns cannot stand beside the words of this layout."""
        for name in keep:
            if name in self.columns():
                raise InvalidParameterError(f"`keep`: {name!r} is a column of the words themselves, and is replaced")
        if len(set(keep)) < len(keep):
            raise InvalidParameterError(f"`keep`: a column is named twice in {', '.join(keep)}")

    def require_format(self, format: Format, name: str) -> None:
        """An error if this layout is not possible in files of this format."""
        if format not in self.formats:
            possible = ", ".join(sorted(self.formats))
            raise FileItselfError(f"{name}: {type(self).__name__} is for {possible} files, not for {format}")


@dataclass(frozen=True)
class Style:
    """How private words are written: which symbols, of which type, and the names of the kept columns."""

    symbols: SymbolTable
    value_type: pa.DataType
    keep: tuple[str, ...]


def column_type(files: Sequence[DataFile], name: str, symbols_are_listed: bool) -> pa.DataType:
    """The declared type of the symbols in a column. Files without types hold text."""
    if files[0].format != "parquet":
        return pa.string()
    schema = parquet_schema(files[0])
    require_columns(files[0], schema.names, [name])
    kind = schema.field(name).type
    listed = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    if listed != symbols_are_listed or not holds_symbols(kind.value_type if listed else kind):
        wanted = "lists of texts or whole numbers" if symbols_are_listed else "texts or whole numbers"
        what = f"{files[0].name}, column {name!r}: {wanted} are needed"
        raise DataFileError(f"{what}, not {kind}", without_content=what)
    return kind.value_type if listed else kind


def extra_columns(extra: Extra) -> dict[str, Column]:
    """The aliases under which the extra columns are read: u, n, and k0, k1, ..."""
    chosen = {} if extra.user is None else {"u": Column(extra.user, "as it is")}
    if extra.count is not None:
        chosen["n"] = Column(extra.count, "text")
    return chosen | {f"k{i}": column for i, column in enumerate(extra.beside)}


def taken_users(rows: pa.RecordBatch, extra: Extra, file: DataFile) -> Users | None:
    """Whose rows they are, from a batch that was read with `extra_columns`."""
    if extra.user is None:
        return None
    return users_of(rows.column("u"), f"{file.name}, column {extra.user!r}", are_json=file.format == "jsonl")


def taken_kept(rows: pa.RecordBatch, extra: Extra) -> tuple[pa.Array, ...]:
    """What stands beside the words of a batch that was read with `extra_columns`."""
    return tuple(rows.column(f"k{i}") for i in range(len(extra.beside)))


def place_in_rows(file: DataFile, column: str, before: int) -> Callable[[int, int | None], str]:
    """Where words are that stand in one row each, if `before` rows came before this batch."""

    def place(i: int, position: int | None) -> str:
        at = "" if position is None else f", position {position + 1}"
        return f"{file.name}, row {before + i + 1}, column {column!r}{at}"

    return place
