"""What every unit can do: say what it is, and find its way to a wider unit.

`Known` and `Route` are what goes into that question and what comes out of it. `Person` is the common part of the units
that protect all words of one person; `people` has the two that there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

from pathveil.errors import InvalidParameterError, UnitMismatchError

Neighbours = Literal["replace", "add-remove"]

LARGEST_NUMBER = 10**9  # of symbols, edits, words of a person


@dataclass(frozen=True)
class Known:
    """What is publicly known about a release beside its unit, where a conversion needs it.

    `longest` is the length of the longest word, where lengths are public anyway. `words_per_user` is the limit to which
    the release itself holds every user.
    """

    longest: int | None = None
    words_per_user: int | None = None

    def __post_init__(self) -> None:
        for name in ("longest", "words_per_user"):
            if getattr(self, name) is not None:
                require_number(name, getattr(self, name))


@dataclass(frozen=True)
class Route:
    """How the pairs of one unit lead to the pairs of a wider one.

    `words` words of a person change, each by `steps` steps. `steps` is None where a step may lead through words that
    the promise does not speak of: then only the mechanism itself knows its loss at `distance` (symbols or edits).
    """

    steps: int | None
    distance: int | None = None
    words: int = 1


@dataclass(frozen=True)
class Unit(ABC):
    """Which pairs of inputs a promise compares."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def short(self) -> str:
        """A few words for tables and messages: "one symbol"."""

    @abstractmethod
    def _route_to(self, wider: Unit, known: Known) -> Route | None:
        """The way to a wider unit that is not about persons; None where there is none."""

    def route_to(self, wider: Unit, known: Known | None = None) -> Route:
        """The way from this unit to the pairs that `wider` compares, or a `UnitMismatchError` that says why not.

        >>> from pathveil.privacy.units import Symbols, Word
        >>> Symbols(adjacency=2).route_to(Symbols(adjacency=5)).steps
        3
        >>> Word().route_to(Symbols(adjacency=5)).steps
        1
        """
        known = known or Known()
        route = self._route_to_person(wider, known) if isinstance(wider, Person) else self._route_to(wider, known)
        if route is None:
            raise UnitMismatchError(
                f"a promise for {self.short} says nothing about {wider.short}, which is the unit of this budget: "
                f"{self._why_not(wider)}"
            )
        return route

    def _route_to_person(self, person: Person, known: Known) -> Route | None:
        """One word of the person after the other; how many words a person has is then public."""
        route = self._route_to(person.one_word, known)
        if route is None:
            return None
        limits = [limit for limit in (person.max_words, known.words_per_user) if limit is not None]
        return replace(route, words=min(limits)) if limits else None

    def _why_not(self, wider: Unit) -> str:
        """The reason, and what to do, where there is no way."""
        if neighbours_of(wider) == "add-remove":
            return (
                "it takes the number of words as public, which this budget protects (add-remove). Release something "
                "whose neighbours are add-remove, or open a budget with --neighbours replace."
            )
        return (
            f"the two speak of different things. Choose a release that protects {wider.short}, or open a budget for "
            f"{self.short} and decide how much of the total it gets."
        )

    def to_dict(self) -> dict[str, Any]:
        """The unit as JSON has it."""
        return {"kind": self.kind, **asdict(self)}

    def __str__(self) -> str:
        return self.short


class Person(Unit):
    """All words of one person, up to `max_words` of them (None: any number)."""

    max_words: int | None

    @property
    @abstractmethod
    def one_word(self) -> Unit:
        """What becomes of each of the words."""


def each_word(unit: Unit) -> Unit:
    """What the unit says of one word: of each of them, where it is about all words of a person."""
    return unit.one_word if isinstance(unit, Person) else unit


def neighbours_of(unit: Unit) -> Neighbours:
    """Only units of whole words leave a choice; all others replace one thing by another."""
    neighbours: Neighbours = getattr(unit, "neighbours", "replace")
    return neighbours


def require_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST_NUMBER:
        raise InvalidParameterError(f"`{name}` is {value!r}: it must be a whole number from 1 to 10^9")


def require_neighbours(value: object) -> None:
    if value not in ("replace", "add-remove"):
        raise InvalidParameterError(f"neighbours is {value!r}: it must be 'replace' or 'add-remove'")


def count_of(number: int, what: str) -> str:
    """A number and a noun: "one symbol", "3 symbols"."""
    return f"one {what}" if number == 1 else f"{number} {what}s"


def added_or_removed(neighbours: Neighbours) -> str:
    return "" if neighbours == "replace" else ", added or removed"


def by_neighbours(own: Neighbours, wanted: Neighbours) -> Route | None:
    """To replace something is to remove it and to add something else; the reverse is not true."""
    if own == wanted:
        return Route(1)
    return Route(2) if own == "add-remove" else None
