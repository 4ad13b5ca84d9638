"""Plain text, one word a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pathveil.data.database import Database
from pathveil.data.formats.layout import Extra, Layout, RawWords, Style
from pathveil.data.formats.splitting import checked_separator, join, require_separable, split
from pathveil.data.sources import DataFile
from pathveil.data.symbols import SymbolTable
from pathveil.errors import DataFileError, InvalidParameterError, InvalidSystemError

_BLOCK = 1 << 22
_NO_COLUMNS = "plain text has no columns: leave out `keep` and `user`, or use another layout"


@dataclass(frozen=True)
class TextLines(Layout):
    """One word a line. `separator` as in `DelimitedColumn`: white space, a text, or `""` for single characters."""

    separator: str | None = None

    formats = frozenset({"text"})
    default_format = "text"

    def __post_init__(self) -> None:
        checked_separator(self.separator)

    def columns(self) -> tuple[str, ...]:
        return ()

    def check(self, files: Sequence[DataFile], extra: Extra) -> None:
        if extra.user is not None or extra.beside:
            raise InvalidParameterError(_NO_COLUMNS)
        super().check(files, extra)

    def require_kept(self, keep: tuple[str, ...]) -> None:
        if keep:
            raise InvalidParameterError(_NO_COLUMNS)

    def require_writable(self, symbols: SymbolTable) -> None:
        require_separable(symbols, self.separator)
        for name in symbols.names:
            if "\n" in name or "\r" in name:
                raise InvalidSystemError(f"the symbol {name!r} has a line break in it. Choose another layout.")

    def read(self, database: Database, files: Sequence[DataFile], extra: Extra, keep_order: bool) -> Iterator[RawWords]:
        for file in files:
            before = 0
            for lines in read_lines(file):
                yield RawWords(split(lines, self.separator), None, (), _place_in_lines(file, before))
                before += len(lines)

    def render(self, words: pa.ListArray, kept: Sequence[pa.Array], first: int, style: Style) -> pa.Table:
        lines = pc.binary_join_element_wise(join(words, style.symbols.names, self.separator), "\n", "")
        return pa.Table.from_arrays([lines], names=["text"])


def read_lines(file: DataFile) -> Iterator[pa.StringArray]:
    """The lines of a UTF-8 text in batches, without their ends (`\\n` or `\\r\\n`)."""
    rest, before = b"", 0
    try:
        with pa.input_stream(str(file.path), compression=file.compression) as stream:
            while block := stream.read(_BLOCK):
                whole, newline, rest = (rest + block).rpartition(b"\n")
                if newline:
                    lines = _lines(whole, file, before)
                    yield lines
                    before += len(lines)
    except (pa.ArrowException, OSError) as problem:
        what = f"{file.name}: cannot be read to its end"
        raise DataFileError(f"{what} ({problem})", without_content=what) from None
    if rest:
        yield _lines(rest, file, before)


def _lines(text: bytes, file: DataFile, before: int) -> pa.StringArray:
    try:
        decoded = text.decode("utf-8" if before else "utf-8-sig")
    except UnicodeDecodeError as problem:
        line = before + text[: problem.start].count(b"\n") + 1
        what = f"{file.name}, line {line}: this is not UTF-8. Save the file as UTF-8."
        raise DataFileError(what, without_content=what) from None
    lines = pc.split_pattern(pa.array([decoded]), pattern="\n").flatten()
    return pc.utf8_rtrim(lines, characters="\r")


def _place_in_lines(file: DataFile, before: int) -> Callable[[int, int | None], str]:
    def place(i: int, position: int | None) -> str:
        return f"{file.name}, line {before + i + 1}" + ("" if position is None else f", position {position + 1}")

    return place
