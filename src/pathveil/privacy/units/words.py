"""Units about one word: some of its symbols, some edits, or the whole word."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from pathveil.errors import InvalidParameterError, UnitMismatchError
from pathveil.privacy.units.unit import (
    Known,
    Neighbours,
    Route,
    Unit,
    added_or_removed,
    by_neighbours,
    count_of,
    each_word,
    neighbours_of,
    require_neighbours,
    require_number,
)


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
        require_number("adjacency", self.adjacency)

    @property
    def short(self) -> str:
        return count_of(self.adjacency, "symbol")

    def _route_to(self, wider: Unit, known: Known) -> Route | None:
        if isinstance(wider, Symbols | MovedSymbols):  # however far includes any smaller distance
            distance = wider.adjacency if known.longest is None else min(wider.adjacency, known.longest)
        elif isinstance(wider, SameLength):
            if known.longest is None:
                raise UnitMismatchError(
                    f"a promise for {self.short} reaches {wider.short} in as many steps as the longest word has "
                    "symbols, and nothing says how many that are. Release a file instead of a stream, or charge "
                    "with the greatest length."
                )
            distance = known.longest
        else:
            return None
        return _by_distance(distance, self.adjacency, self.feasible)

    def _why_not(self, wider: Unit) -> str:
        if isinstance(each_word(wider), Word) and neighbours_of(wider) == "replace":
            return (
                "it publishes the length of each word, which this budget protects. Release with --distance edit, or "
                "fit a model with --unit word; or open a budget with --unit symbols, same-length or user-symbols."
            )
        return super()._why_not(wider)


@dataclass(frozen=True)
class MovedSymbols(Unit):
    """Up to `adjacency` symbols of one word, each moved by at most `within`; its length is public.

    `metric` names the distances (`SymbolDistance.fingerprint`): the same number means something else in others.
    """

    adjacency: int
    within: float
    metric: str
    feasible: bool = False
    kind: ClassVar[str] = "moved-symbols"

    def __post_init__(self) -> None:
        require_number("adjacency", self.adjacency)
        if isinstance(self.within, bool) or not isinstance(self.within, int | float) or not 0 < self.within < inf:
            raise InvalidParameterError(f"`within` is {self.within!r}: how far a symbol may be moved is above 0")
        if not isinstance(self.metric, str) or not self.metric:
            raise InvalidParameterError(f"`metric` is {self.metric!r}: it names the distances, as their fingerprint")

    @property
    def short(self) -> str:
        moved = "each " if self.adjacency > 1 else ""
        return f"{count_of(self.adjacency, 'symbol')} {moved}moved by at most {self.within:g}"

    def _route_to(self, wider: Unit, known: Known) -> Route | None:
        if not isinstance(wider, MovedSymbols) or wider.metric != self.metric or wider.within > self.within:
            return None
        distance = wider.adjacency if known.longest is None else min(wider.adjacency, known.longest)
        return _by_distance(distance, self.adjacency, self.feasible)

    def _why_not(self, wider: Unit) -> str:
        if isinstance(wider, MovedSymbols) and wider.metric != self.metric:
            return "the two measure by different distances. Release with the distances that the budget was opened for."
        if isinstance(wider, MovedSymbols | Symbols | SameLength):
            return (
                "a symbol farther away may be out of reach, however many moves are made. Release with a wider "
                "`within`, or with none; or open a budget for the smaller unit."
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
        return Route(1) if isinstance(wider, Symbols | MovedSymbols | SameLength) else None


@dataclass(frozen=True)
class Edits(Unit):
    """Up to `adjacency` insertions, deletions and substitutions in one word of `shortest` to `longest` symbols."""

    adjacency: int
    shortest: int
    longest: int
    feasible: bool = False
    kind: ClassVar[str] = "edits"

    def __post_init__(self) -> None:
        require_number("adjacency", self.adjacency)
        require_number("longest", self.longest)
        whole = isinstance(self.shortest, int) and not isinstance(self.shortest, bool)
        if not whole or not 0 <= self.shortest <= self.longest:
            raise InvalidParameterError(f"shortest is {self.shortest!r}: a length from 0 to {self.longest}")

    @property
    def short(self) -> str:
        return f"{count_of(self.adjacency, 'edit')} in a word of {self.shortest} to {self.longest} symbols"

    def _route_to(self, wider: Unit, known: Known) -> Route | None:  # noqa: ARG002 - the longest word is private here
        if isinstance(wider, Symbols | MovedSymbols):
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
        word = each_word(wider)
        if isinstance(word, Word) and word.max_length is None:
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
            require_number("max_length", self.max_length)
        require_neighbours(self.neighbours)

    @property
    def short(self) -> str:
        lengths = "" if self.max_length is None else f" of at most {self.max_length} symbols"
        return f"a word{lengths}{added_or_removed(self.neighbours)}"

    def _route_to(self, wider: Unit, known: Known) -> Route | None:
        needed = _length_needed(wider, known)
        if needed is None or not _reaches(self.max_length, needed):
            return None
        return by_neighbours(self.neighbours, neighbours_of(wider))


_ANY = 0  # a word of any length is asked for


def _length_needed(wider: Unit, known: Known) -> int | None:
    """The greatest length of the words that `wider` compares; _ANY without a limit, None if it is not about words."""
    if isinstance(wider, Symbols | MovedSymbols | SameLength):
        return _ANY if known.longest is None else known.longest
    if isinstance(wider, Edits):
        return wider.longest
    if isinstance(wider, Word):
        return _ANY if wider.max_length is None else wider.max_length
    return None


def _reaches(max_length: int | None, needed: int) -> bool:
    """Does a promise about words of up to `max_length` symbols speak of all words of the length that is needed?"""
    return max_length is None or (needed != _ANY and needed <= max_length)


def _by_distance(distance: int, adjacency: int, feasible: bool) -> Route:
    """The way over `distance` symbols or edits in steps of `adjacency`.

    A promise that speaks of feasible words only (`feasible`) says nothing about a chain of steps, for the words between
    them may be infeasible: there it takes a single step, or only the mechanism knows.
    """
    steps = -(-distance // adjacency)
    if steps == 1:
        return Route(1)
    return Route(None if feasible else steps, distance)
