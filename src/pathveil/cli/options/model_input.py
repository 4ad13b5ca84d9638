"""The input of `pathveil model`, where --order has two meanings."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli.options.input import WHERE_WORDS_ARE, Columns, Input

if TYPE_CHECKING:
    from pathveil.models.sequences import Order

_LONGEST_CONTEXTS = 8


@dataclass(frozen=True)
class ModelColumns(Columns):
    """Where the words are. --order has two meanings here, which `ModelInput.split` tells apart."""

    order: Annotated[
        list[str] | None,
        typer.Option(
            help="How many symbols before it the next one depends on: 1, 2, 3, … or auto, for a model of whole words "
            "instead of a chain. One symbol a row (--case): first the column that says where in the word, a number or "
            "a time, as in other commands.",
            rich_help_panel=WHERE_WORDS_ARE,
        ),
    ] = None


@dataclass(frozen=True)
class ModelInput(Input):
    """The sensitive words, and the order of the model among the options of their columns."""

    columns: ModelColumns

    def split(self) -> tuple[Order | None, Input]:
        """The order of the model (None: a chain), and the input with the columns alone.

        Of a long table (--case) the first --order is a column, unless it is `auto` and others follow. Columns without
        names are numbers: there, numbers are columns.
        """
        given = list(self.columns.order or [])
        place = next((i for i, value in enumerate(given) if self._is_order(value, i, len(given))), None)
        order: Order | None = None
        if place is not None:
            told = given.pop(place)
            order = "auto" if told == "auto" else int(told)
        kept = {field.name: getattr(self.columns, field.name) for field in fields(Columns)}
        columns = Columns(**{**kept, "order": given or None})
        return order, Input(self.sources, columns, self.format, self.on_bad_row)

    def _is_order(self, value: str, place: int, of: int) -> bool:
        if self.columns.case is None:
            return value == "auto" or value.lstrip("+-").isdecimal()
        if value == "auto":
            return of > 1
        return place > 0 and not self.columns.no_header and value.isdecimal() and 1 <= int(value) <= _LONGEST_CONTEXTS
