"""The sensitive input: which files, how words stand in them, and what becomes of rows that cannot be used."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pathveil.errors import FileItselfError, InvalidParameterError

if TYPE_CHECKING:
    from pathveil.data.formats import Layout
    from pathveil.data.sources import Format

WHERE_WORDS_ARE = "Where the words are in your file"
_BLOCK = 1 << 20

OnBadRow = Annotated[
    Literal["fail", "skip"],
    typer.Option(
        help="Rows that cannot be used end the work, or are left out. Leaving out is a decision about the release: "
        "what is missing from it can be seen.",
    ),
]


@dataclass(frozen=True)
class Columns:
    """Where the words are: in one column, in three of a long table, or in the attribute of an event log."""

    column: Annotated[
        str | None,
        typer.Option(help="One word a row: its column, with lists or texts in it.", rich_help_panel=WHERE_WORDS_ARE),
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(
            help="What stands between symbols in a text; white space if not given, '' for single characters.",
            rich_help_panel=WHERE_WORDS_ARE,
        ),
    ] = None
    case: Annotated[
        str | None,
        typer.Option(
            help="One symbol a row: the column that says which word it belongs to.", rich_help_panel=WHERE_WORDS_ARE
        ),
    ] = None
    order: Annotated[
        list[str] | None,
        typer.Option(
            "--order",
            "--position",
            help="One symbol a row: the column that says where in the word, a number or a time. May be repeated: a "
            "later one decides where an earlier one is equal.",
            rich_help_panel=WHERE_WORDS_ARE,
        ),
    ] = None
    time_format: Annotated[
        list[str] | None,
        typer.Option(
            help="One symbol a row: how times are written, such as '%d/%m/%Y %H:%M', where the column does not show "
            "it; 'text' sorts alphabetically. Of several the first that fits counts.",
            rich_help_panel=WHERE_WORDS_ARE,
        ),
    ] = None
    ties: Annotated[
        Literal["file-order", "refuse", "columns"] | None,
        typer.Option(
            help="One symbol a row: rows of a word that are equal in all --order columns stay in the order of the file "
            "(if not given), or make a bad row. columns: a second --order decides, and what is still equal is bad.",
            rich_help_panel=WHERE_WORDS_ARE,
        ),
    ] = None
    symbol: Annotated[
        list[str] | None,
        typer.Option(
            help="One symbol a row: the column of the symbols; may be repeated: values of several columns make one "
            "symbol. Event log (.xes): the attribute; concept:name if not given.",
            rich_help_panel=WHERE_WORDS_ARE,
        ),
    ] = None
    joiner: Annotated[
        str | None,
        typer.Option(
            help="What stands between the values of several --symbol columns in a public symbol; + if not given.",
            rich_help_panel=WHERE_WORDS_ARE,
        ),
    ] = None
    no_header: Annotated[
        bool,
        typer.Option(
            "--no-header",
            help="The CSV file has no line with the names of its columns: they are called 1, 2, 3 …, and the output "
            "has none, too.",
            rich_help_panel=WHERE_WORDS_ARE,
        ),
    ] = False

    def layout(self, files: Sequence[str], format: Format | None = None) -> Layout:
        """The layout that the options describe; wrong use where they describe none or contradict each other."""
        from pathveil import data
        from pathveil.data.database import holds_lists, named_columns
        from pathveil.data.sources import find_files

        first = find_files(files, Path(), format)[0]
        if self.no_header and first.format != "csv":
            raise InvalidParameterError(f"{first.name}: only CSV files may have --no-header")
        if self.case is not None or self.order:
            return self._long_table()
        if self.time_format or self.ties is not None:
            raise InvalidParameterError(
                "--time-format and --ties are for long tables, with --case, --order and --symbol"
            )
        if first.format == "xes":
            if self.column is not None or self.separator is not None:
                raise InvalidParameterError("an event log has no columns: leave out --column and --separator")
            return data.EventLog(_one_or_all(self.symbol), **self._joined) if self.symbol else data.EventLog()
        if self.symbol or self.joiner is not None:
            raise InvalidParameterError(
                "--symbol and --joiner are for event logs, or for long tables, with --case and --order"
            )
        if first.format == "text":
            if self.column is not None:
                raise InvalidParameterError("plain text has no columns: leave out --column")
            return data.TextLines(self.separator)
        if self.column is None:
            what = (
                f"{first.name}: where are the words? Give --column for one word a row, or --case, --order and --symbol "
                "for one symbol a row"
            )
            listed = "" if self.no_header else ", ".join(map(repr, named_columns(first)))
            # Where a file has no header, what stands for the names of columns is its first row.
            raise InvalidParameterError(f"{what}. Its columns: {listed}." if listed else what, without_content=what)
        if self.separator is None and holds_lists(first, self.column):
            return data.ListColumn(self.column)
        return data.DelimitedColumn(self.column, self.separator, header=not self.no_header)

    @property
    def _joined(self) -> dict[str, str]:
        return {} if self.joiner is None else {"joiner": self.joiner}

    def _long_table(self) -> Layout:
        from pathveil import data

        if self.case is None or not self.order or not self.symbol:
            raise InvalidParameterError("a long table needs all three: --case, --order and --symbol")
        if self.column is not None or self.separator is not None:
            raise InvalidParameterError("--column and --separator do not go with --case, --order and --symbol")
        return data.LongTable(
            self.case,
            _one_or_all(self.order),
            _one_or_all(self.symbol),
            time_format=tuple(self.time_format) if self.time_format else None,
            ties=self.ties or "file-order",
            **self._joined,
            header=not self.no_header,
        )


def _one_or_all(names: list[str]) -> str | tuple[str, ...]:
    return names[0] if len(names) == 1 else tuple(names)


@dataclass(frozen=True)
class Input:
    """The sensitive words."""

    sources: Annotated[
        list[str],
        typer.Argument(metavar="INPUT...", help="The sensitive files, folders or patterns; - is standard input."),
    ]
    columns: Columns
    format: Annotated[
        Literal["csv", "parquet", "jsonl", "text", "xes"] | None,
        typer.Option(
            help="What the input is, where its name does not say (standard input).", rich_help_panel=WHERE_WORDS_ARE
        ),
    ] = None
    on_bad_row: OnBadRow = "fail"

    def __str__(self) -> str:
        return " ".join(self.sources)

    @contextlib.contextmanager
    def files(self) -> Iterator[list[str]]:
        """The sources, with standard input (`-`) kept in a private folder for so long: it is read more than once."""
        from pathveil.data.workspace import private_workspace

        if "-" not in self.sources:
            yield list(self.sources)
            return
        if self.sources != ["-"]:
            raise InvalidParameterError("standard input (-) does not go together with files")
        if self.format is None:
            raise InvalidParameterError("standard input has no name that tells its format: give --format")
        if sys.stdin is None:
            raise FileItselfError("standard input is closed: there is nothing to read. Connect it, or name a file.")
        with private_workspace() as workspace:
            path = workspace / "standard input"
            with open(path, "wb") as spool:
                shutil.copyfileobj(sys.stdin.buffer, spool, _BLOCK)
            yield [str(path)]

    def words_declared(self, files: Sequence[str]) -> int | None:
        """How many words (or pairs) the files say they have, for a progress bar; None where only reading would tell."""
        from pathveil.data.database import rows_declared
        from pathveil.data.sources import find_files

        return rows_declared(find_files(files, Path(), self.format)) if self.columns.case is None else None
