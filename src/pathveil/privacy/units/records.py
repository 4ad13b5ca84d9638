"""Units about records: transitions, steps and episodes of a decision process, categories, and mass within a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pathveil.errors import InvalidParameterError
from pathveil.privacy.units.unit import (
    Known,
    Neighbours,
    Route,
    Unit,
    added_or_removed,
    by_neighbours,
    each_word,
    require_neighbours,
    require_number,
)
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
class Step(Unit):
    """One step of a decision process: the state, the action, what followed, and the reward.

    With neighbours "replace" one step becomes another, and how many there are is public; with "add-remove" there is
    one more or one less.
    """

    neighbours: Neighbours = "replace"
    kind: ClassVar[str] = "step"

    def __post_init__(self) -> None:
        require_neighbours(self.neighbours)

    @property
    def short(self) -> str:
        return f"a step of a decision process{added_or_removed(self.neighbours)}"

    def _route_to(self, wider: Unit, known: Known) -> Route | None:  # noqa: ARG002 - nothing else is needed
        if isinstance(wider, Step):
            return by_neighbours(self.neighbours, wider.neighbours)
        # A transition with another destination is a step that became another.
        return by_neighbours(self.neighbours, "replace") if isinstance(wider, Transition) else None


@dataclass(frozen=True)
class Episode(Unit):
    """One episode of a decision process, of any number of steps; neighbours as of a step."""

    neighbours: Neighbours = "replace"
    kind: ClassVar[str] = "episode"

    def __post_init__(self) -> None:
        require_neighbours(self.neighbours)

    @property
    def short(self) -> str:
        return f"an episode of a decision process{added_or_removed(self.neighbours)}"

    def _route_to(self, wider: Unit, known: Known) -> Route | None:  # noqa: ARG002 - nothing else is needed
        if isinstance(wider, Episode):
            return by_neighbours(self.neighbours, wider.neighbours)
        # An episode in which one step is another, or is missing, has become another episode. (A step that is an
        # episode of its own may be missing, too: where the number of episodes is public, that is not covered.)
        if isinstance(wider, Transition) or (isinstance(wider, Step) and wider.neighbours == "replace"):
            return by_neighbours(self.neighbours, "replace")
        return Route(2) if isinstance(wider, Step) and self.neighbours == "add-remove" else None


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


@dataclass(frozen=True)
class Exchange(Unit):
    """Mass of at most `amount` that goes round a cycle through at most `rows` rows of a doubly stochastic matrix.

    `symmetric`: of a symmetric one, the weight of an edge against the two self-weights at its ends.
    """

    amount: float
    rows: int = 2
    symmetric: bool = False
    kind: ClassVar[str] = "exchange"

    def __post_init__(self) -> None:
        Mass(self.amount)  # says what is wrong with it
        require_number("rows", self.rows)

    @property
    def short(self) -> str:
        if self.symmetric:
            return f"a change of {self.amount:g} in one edge of a symmetric doubly stochastic matrix"
        return f"an exchange of {self.amount:g} between {self.rows} rows of a doubly stochastic matrix"

    def _route_to(self, wider: Unit, known: Known) -> Route | None:  # noqa: ARG002 - covers or does not
        covers = (
            isinstance(wider, Exchange)
            and self.symmetric == wider.symmetric
            and self.amount >= wider.amount
            and self.rows >= wider.rows
        )
        return Route(1) if covers else None
