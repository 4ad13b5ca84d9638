"""Units about a single record: the destination of a transition, a category, or mass within a row of a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pathveil.errors import InvalidParameterError
from pathveil.privacy.units.unit import Known, Route, Unit, each_word
from pathveil.privacy.units.words import Edits, SameLength, Symbols, Word


@dataclass(frozen=True)
class Transition(Unit):
    """The destination of one transition; where each transition starts is public."""

    kind: ClassVar[str] = "transition"

    @property
    def short(self) -> str:
        return "the destination of one transition"

    def _route_to(self, wider: Unit, known: Known) -> Route | None:  # noqa: ARG002 - covers itself and nothing else
        return Route(1) if isinstance(wider, Transition) else None

    def _why_not(self, wider: Unit) -> str:
        if isinstance(each_word(wider), Symbols | SameLength | Edits | Word):
            return (
                "it publishes where each transition starts. Fit the model with --unit symbol or --unit word, or open "
                "a budget with --unit transition."
            )
        return super()._why_not(wider)


@dataclass(frozen=True)
class Record(Unit):
    """The category of one record; how many records there are is public."""

    kind: ClassVar[str] = "record"

    @property
    def short(self) -> str:
        return "the category of one record"

    def _route_to(self, wider: Unit, known: Known) -> Route | None:  # noqa: ARG002 - covers itself and nothing else
        return Route(1) if isinstance(wider, Record) else None


@dataclass(frozen=True)
class Mass(Unit):
    """Mass of at most `amount` between two entries of one row of a matrix, or of every row (`every_row`)."""

    amount: float
    every_row: bool = False
    kind: ClassVar[str] = "mass"

    def __post_init__(self) -> None:
        if isinstance(self.amount, bool) or not isinstance(self.amount, int | float) or not 0 < self.amount <= 1:
            raise InvalidParameterError(f"amount is {self.amount!r}: mass is above 0 and at most 1")

    @property
    def short(self) -> str:
        return f"mass of {self.amount:g} moved within {'every row' if self.every_row else 'one row'} of a matrix"

    def _route_to(self, wider: Unit, known: Known) -> Route | None:  # noqa: ARG002 - covers or does not
        covers = isinstance(wider, Mass) and self.amount >= wider.amount and self.every_row >= wider.every_row
        return Route(1) if covers else None
