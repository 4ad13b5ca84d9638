"""What a promise protects, as values that can be compared.

A *unit* is a set of pairs: two inputs that a release must make hard to tell apart. Promises about different units can
be compared in two ways (docs/ledger.md, "One budget, one unit").

- A unit *covers* another if it compares every pair that the other compares: its promise is then a promise about the
  other, too. Three symbols cover one symbol; a whole word covers any number of its symbols.
- A unit is *within j steps* of a wider one if any pair of the wider one is joined by a chain of j of its own pairs. The
  loss at the end of the chain is at most the sum of the losses along it. A word of three symbols is three steps of one
  symbol.

`Unit.route_to` says how far it is. The family is open: a new kind of release brings a class of its own, which knows the
units that it reaches. Whatever a class does not know is refused, never guessed.

All units compare only inputs that agree in what the releases take as public. In particular, a release that is made on a
public system compares words that this system allows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import isfinite
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
                _require_number(name, getattr(self, name))


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
        if _neighbours_of(wider) == "add-remove":
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


@dataclass(frozen=True)
class Symbols(Unit):
    """Up to `adjacency` symbols of one word; its length is public.

    `feasible`: the promise speaks only of words that the public system allows, so that steps through other words are
    not covered by it.
    """

    adjacency: int = 1
    feasible: bool = False
    kind: ClassVar[str] = "symbols"

    def __post_init__(self) -> None:
        _require_number("adjacency", self.adjacency)

    @property
    def short(self) -> str:
        return _count(self.adjacency, "symbol")

    def _route_to(self, wider: Unit, known: Known) -> Route | None:
        if isinstance(wider, Symbols):
            distance = wider.adjacency if known.longest is None else min(wider.adjacency, known.longest)
        elif isinstance(wider, SameLength):
            if known.longest is None:
                raise UnitMismatchError(
                    f"a promise for {self.short} reaches {wider.short} in as many steps as the longest word has "
                    "symbols, and nothing says how many that are. Release a file instead of a stream, or, in Python, "
                    "give longest=."
                )
            distance = known.longest
        else:
            return None
        return _by_distance(distance, self.adjacency, self.feasible)

    def _why_not(self, wider: Unit) -> str:
        if isinstance(wider, Word | User) and wider.neighbours == "replace":
            return (
                "it publishes the length of each word, which this budget protects. Release with --distance edit, or "
                "fit a model with --unit word; or open a budget with --unit symbols, same-length or user-symbols."
            )
        return super()._why_not(wider)


@dataclass(frozen=True)
class SameLength(Unit):
    """All symbols of one word; its length is public."""

    kind: ClassVar[str] = "same-length"

    @property
    def short(self) -> str:
        return "a word of the same length"

    def _route_to(self, wider: Unit, known: Known) -> Route | None:  # noqa: ARG002 - covers or does not
        return Route(1) if isinstance(wider, Symbols | SameLength) else None


@dataclass(frozen=True)
class Edits(Unit):
    """Up to `adjacency` insertions, deletions and substitutions in one word of `shortest` to `longest` symbols."""

    adjacency: int
    shortest: int
    longest: int
    feasible: bool = False
    kind: ClassVar[str] = "edits"

    def __post_init__(self) -> None:
        _require_number("adjacency", self.adjacency)
        _require_number("longest", self.longest)
        whole = isinstance(self.shortest, int) and not isinstance(self.shortest, bool)
        if not whole or not 0 <= self.shortest <= self.longest:
            raise InvalidParameterError(f"shortest is {self.shortest!r}: a length from 0 to {self.longest}")

    @property
    def short(self) -> str:
        return f"{_count(self.adjacency, 'edit')} in a word of {self.shortest} to {self.longest} symbols"

    def _route_to(self, wider: Unit, known: Known) -> Route | None:  # noqa: ARG002 - the longest word is private here
        if isinstance(wider, Symbols):
            distance = min(wider.adjacency, self.longest)  # no more edits than symbols apart
        elif isinstance(wider, SameLength):
            distance = self.longest
        elif isinstance(wider, Edits) and self._has(wider.shortest, wider.longest):
            distance = min(wider.adjacency, wider.longest)
        elif isinstance(wider, Word) and wider.neighbours == "replace" and wider.max_length is not None:
            if not self._has(1, wider.max_length):
                raise UnitMismatchError(
                    f"the release takes words of {self.shortest} to {self.longest} symbols and refuses all others, "
                    f"while this budget protects words of 1 to {wider.max_length} symbols: who sees the release would "
                    f"know that the word was in that range. Use --lengths 1:{wider.max_length}."
                )
            distance = wider.max_length
        else:
            return None
        return _by_distance(distance, self.adjacency, self.feasible)

    def _has(self, shortest: int, longest: int) -> bool:
        return self.shortest <= shortest and longest <= self.longest

    def _why_not(self, wider: Unit) -> str:
        if isinstance(wider, Word | User) and wider.max_length is None:
            return "this budget names no greatest length. Open one that does (--max-length)."
        return super()._why_not(wider)


@dataclass(frozen=True)
class Word(Unit):
    """One whole word, its length included: words of up to `max_length` symbols, or of any length (None).

    With neighbours "replace" one word becomes another, and how many words there are is public; with "add-remove" there
    is one word more or one less.
    """

    max_length: int | None = None
    neighbours: Neighbours = "replace"
    kind: ClassVar[str] = "word"

    def __post_init__(self) -> None:
        if self.max_length is not None:
            _require_number("max_length", self.max_length)
        _require_neighbours(self.neighbours)

    @property
    def short(self) -> str:
        lengths = "" if self.max_length is None else f" of at most {self.max_length} symbols"
        return f"a word{lengths}{_added(self.neighbours)}"

    def _route_to(self, wider: Unit, known: Known) -> Route | None:
        needed = _length_needed(wider, known)
        if needed is None or not _reaches(self.max_length, needed):
            return None
        return _by_neighbours(self.neighbours, _neighbours_of(wider))


@dataclass(frozen=True)
class User(Unit):
    """All words of one person: up to `max_words` of them, each of up to `max_length` symbols (None: any number, any
    length). With neighbours "add-remove" there is one person more or one less.
    """

    max_words: int | None = None
    max_length: int | None = None
    neighbours: Neighbours = "replace"
    kind: ClassVar[str] = "user"

    def __post_init__(self) -> None:
        for name in ("max_words", "max_length"):
            if getattr(self, name) is not None:
                _require_number(name, getattr(self, name))
        _require_neighbours(self.neighbours)

    @property
    def short(self) -> str:
        words = "" if self.max_words is None else f", at most {self.max_words}"
        lengths = "" if self.max_length is None else f", each of at most {self.max_length} symbols"
        return f"all words of a person{words}{lengths}{_added(self.neighbours)}"

    @property
    def one_word(self) -> Word:
        """What becomes of each of the words."""
        return Word(self.max_length, self.neighbours)

    def _route_to(self, wider: Unit, known: Known) -> Route | None:
        """A word belongs to one person: whoever protects all words of a person protects each of them."""
        return self.one_word._route_to(wider, known)

    def _route_to_person(self, person: Person, known: Known) -> Route | None:
        enough = self.max_words is None or (person.max_words is not None and person.max_words <= self.max_words)
        return self._route_to(person.one_word, known) if enough else None


@dataclass(frozen=True)
class UserSymbols(Unit):
    """Up to `adjacency` symbols (None: all) in each word of one person, up to `max_words` words.

    How many words a person has and their lengths are public.
    """

    max_words: int
    adjacency: int | None = None
    kind: ClassVar[str] = "user-symbols"

    def __post_init__(self) -> None:
        _require_number("max_words", self.max_words)
        if self.adjacency is not None:
            _require_number("adjacency", self.adjacency)

    @property
    def short(self) -> str:
        symbols = "all symbols" if self.adjacency is None else _count(self.adjacency, "symbol")
        return f"{symbols} in each word of a person, at most {_count(self.max_words, 'word')}"

    @property
    def one_word(self) -> Symbols | SameLength:
        """What becomes of each of the words."""
        return SameLength() if self.adjacency is None else Symbols(self.adjacency)

    def _route_to(self, wider: Unit, known: Known) -> Route | None:
        return self.one_word._route_to(wider, known)

    def _route_to_person(self, person: Person, known: Known) -> Route | None:
        enough = person.max_words is not None and person.max_words <= self.max_words
        return self._route_to(person.one_word, known) if enough else None


Person = User | UserSymbols


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
        if isinstance(wider, Symbols | SameLength | Edits | Word | Person):
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


_KINDS: dict[str, type[Unit]] = {
    kind.kind: kind for kind in (Symbols, SameLength, Edits, Word, User, UserSymbols, Transition, Record, Mass)
}


def unit_from_dict(content: Mapping[str, Any]) -> Unit:
    """A unit from what `Unit.to_dict` wrote; KeyError, TypeError or ValueError for anything else."""
    kind = _KINDS[content["kind"]]
    values = {name: value for name, value in content.items() if name != "kind"}
    if set(values) != {field.name for field in fields(kind)}:
        raise ValueError(f"these are not the fields of the unit {kind.kind!r}")
    for value in values.values():
        if not isinstance(value, bool | int | str | float | None) or (isinstance(value, float) and not isfinite(value)):
            raise TypeError(f"{value!r} is no part of a unit")
    unit = kind(**values)
    if isinstance(unit, Symbols | Edits) and not isinstance(unit.feasible, bool):
        raise TypeError("feasible")
    return unit


# What lengths a wider unit asks for: a number of symbols, any length at all, or nothing that words could answer.
_ANY = 0


def _length_needed(wider: Unit, known: Known) -> int | None:
    """The greatest length of the words that `wider` compares; _ANY without a limit, None if it is not about words."""
    if isinstance(wider, Symbols | SameLength):
        return _ANY if known.longest is None else known.longest
    if isinstance(wider, Edits):
        return wider.longest
    if isinstance(wider, Word):
        return _ANY if wider.max_length is None else wider.max_length
    return None


def _reaches(max_length: int | None, needed: int) -> bool:
    return max_length is None or (needed != _ANY and needed <= max_length)


def _by_distance(distance: int, adjacency: int, feasible: bool) -> Route:
    """So many symbols or edits at a time; where words on the way may be infeasible, in one go or not at all."""
    steps = -(-distance // adjacency)
    if steps == 1:
        return Route(1)
    return Route(None if feasible else steps, distance)


def _neighbours_of(unit: Unit) -> Neighbours:
    return unit.neighbours if isinstance(unit, Word | User) else "replace"


def _by_neighbours(own: Neighbours, wanted: Neighbours) -> Route | None:
    """To replace something is to remove it and to add something else; the reverse is not true."""
    if own == wanted:
        return Route(1)
    return Route(2) if own == "add-remove" else None


def _require_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST_NUMBER:
        raise InvalidParameterError(f"{name} is {value!r}: it must be a whole number from 1 to 10^9")


def _require_neighbours(value: object) -> None:
    if value not in ("replace", "add-remove"):
        raise InvalidParameterError(f"neighbours is {value!r}: it must be 'replace' or 'add-remove'")


def _count(number: int, what: str) -> str:
    return f"one {what}" if number == 1 else f"{number} {what}s"


def _added(neighbours: Neighbours) -> str:
    return "" if neighbours == "replace" else ", added or removed"
