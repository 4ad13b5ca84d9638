"""The input of `pathveil model`: its words, where --order has two meanings, and what is learned beside them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli.options.input import WHERE_WORDS_ARE, Columns, Input
from pathveil.cli.options.system import WHAT_IS_PUBLIC, file_of, read_alphabet
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.data.reading import Beside
    from pathveil.models.sequences import Order

_LONGEST_CONTEXTS = 8


@dataclass(frozen=True)
class ModelColumns(Columns):
    """Where the words are. --order has two meanings here, which `ModelInput.split` tells apart."""

    order: Annotated[
        list[str] | None,
        typer.Option(
            help="How many symbols before it the next one depends on: 1, 2, 3, … or auto, for a model of whole words "
            "instead of a chain. (One symbol a row, without --position: a column, as in other commands.)",
            rich_help_panel=WHERE_WORDS_ARE,
        ),
    ] = None
    position: Annotated[
        list[str] | None,
        typer.Option(
            help="One symbol a row: the column that says where in the word, a number or a time; other commands call it "
            "--order, too. May be repeated.",
            rich_help_panel=WHERE_WORDS_ARE,
        ),
    ] = None


@dataclass(frozen=True)
class ModelInput(Input):
    """The sensitive words, and the order of the model among the options of their columns."""

    columns: ModelColumns

    def split(self) -> tuple[Order | None, Input]:
        """The order of the model (None: a chain), and the input with the columns alone.

        With --position every --order is that of the model. Without it, the first --order of a long table (--case) is a
        column, because there must be one, unless it is `auto` and others follow. Columns without names are numbers:
        there, numbers are columns.
        """
        given, columns = list(self.columns.order or []), list(self.columns.position or [])
        if columns:
            orders = given
        else:
            place = next((i for i, value in enumerate(given) if self._is_order(value, i, len(given))), None)
            orders = [] if place is None else [given.pop(place)]
            columns = given
        kept = {field.name: getattr(self.columns, field.name) for field in fields(Columns)}
        words = Input(self.sources, Columns(**{**kept, "order": columns or None}), self.format, self.on_bad_row)
        return _order(orders), words

    def _is_order(self, value: str, place: int, of: int) -> bool:
        if self.columns.case is None:
            return value == "auto" or value.lstrip("+-").isdecimal()
        if value == "auto":
            return of > 1
        return place > 0 and not self.columns.no_header and value.isdecimal() and 1 <= int(value) <= _LONGEST_CONTEXTS


def _order(given: list[str]) -> Order | None:
    """The one order of a model, None for a chain."""
    if not given:
        return None
    if len(given) > 1 or (given[0] != "auto" and not given[0].lstrip("+-").isdecimal()):
        raise InvalidParameterError(
            f"--order {' --order '.join(given)}: with --position, --order is the order of the model, once: auto, or a "
            "number of symbols"
        )
    return "auto" if given[0] == "auto" else int(given[0])


@dataclass(frozen=True)
class Learned:
    """What a model of whole words learns beside them."""

    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --order: learn times, too, from the time of each symbol (one symbol a row, event logs) or of "
            "the start of each word (one word a row). Synthetic words then have times.",
            rich_help_panel=WHERE_WORDS_ARE,
        ),
    ] = None
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --order: a model for each group of words, all under one promise; this column says which group.",
            rich_help_panel=WHERE_WORDS_ARE,
        ),
    ] = None
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="FILE[:COLUMN]",
            help="All groups that there can be: text, one a line, or a column of a CSV file. Not read off the data.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None
    ends: Annotated[
        bool,
        typer.Option(
            "--ends",
            help="With --order: for trips. A fifth of the budget goes to how words begin and end together.",
        ),
    ] = False

    def __post_init__(self) -> None:
        if self.ends and self.group is not None:
            raise InvalidParameterError("--ends does not go with --group: leave out one")
        if (self.group is None) != (self.groups is None):
            raise InvalidParameterError("--group, the column, and --groups, the public list of all groups, go together")

    @property
    def files(self) -> dict[str, Path]:
        """The public file of groups, under its option."""
        return {} if self.groups is None else {"--groups": file_of(self.groups, 1)}

    def beside(self, order: Order | None, columns: Columns) -> tuple[Beside | None, Columns]:
        """What is read beside words, None for nothing; and their columns without what is said about times only."""
        from pathveil.data.reading import Beside

        if order is None and self != Learned():
            odd = "--ends" if self.ends else "--time" if self.time is not None else "--group"
            raise InvalidParameterError(f"{odd} is for models of whole words: it needs --order, auto or a number")
        if replace(self, ends=False) == Learned():
            return None, columns
        formats = tuple(form for form in columns.time_format or () if "%" in form)
        if self.time is None or (columns.case is not None and self.time not in (columns.order or ())[:1]):
            formats = ()  # said of another column
        if columns.case is None and self.time is not None:
            columns = replace(columns, time_format=None)
        names = () if self.groups is None else tuple(map(str, read_alphabet(self.groups).symbols))
        return Beside(self.time, formats, self.group, names), columns
