"""Units about all words of one person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pathveil.privacy.units.records import Episode, Step, Transition
from pathveil.privacy.units.unit import (
    Known,
    Neighbours,
    Person,
    Route,
    Unit,
    added_or_removed,
    count_of,
    require_neighbours,
    require_number,
)
from pathveil.privacy.units.words import SameLength, Symbols, Word


@dataclass(frozen=True)
class User(Person):
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
                require_number(name, getattr(self, name))
        require_neighbours(self.neighbours)

    @property
    def short(self) -> str:
        words = "" if self.max_words is None else f", at most {self.max_words}"
        lengths = "" if self.max_length is None else f", each of at most {self.max_length} symbols"
        return f"all words of a person{words}{lengths}{added_or_removed(self.neighbours)}"

    @property
    def one_word(self) -> Word:
        """What becomes of each of the words."""
        return Word(self.max_length, self.neighbours)

    def _route_to(self, wider: Unit, known: Known) -> Route | None:
        """A word belongs to one person: whoever protects all words of a person protects each of them.

        With add-remove it takes two steps: somebody with one word more or less, or with another one, is that person
        removed, and added again. (One step would do only for persons of whom this is the only word.)
        """
        word: Unit = self.one_word
        if isinstance(wider, Episode | Step | Transition):
            # The words of a person are the episodes, where it is a decision process that is learned.
            if self.max_length is not None:
                return None  # an episode may be longer
            word = Episode(self.neighbours)
        route = word._route_to(wider, known)
        return route if route is None or self.neighbours == "replace" else Route(2)

    def _route_to_person(self, person: Person, known: Known) -> Route | None:
        enough = self.max_words is None or (person.max_words is not None and person.max_words <= self.max_words)
        return self.one_word._route_to(person.one_word, known) if enough else None


@dataclass(frozen=True)
class UserSymbols(Person):
    """Up to `adjacency` symbols (None: all) in each word of one person, of whom at most `max_words` words are used.

    How many words of a person are used and their lengths are public. A person with more words in the input is not
    compared by this unit: the release has to leave the surplus out, or nobody may have more.
    """

    max_words: int
    adjacency: int | None = None
    kind: ClassVar[str] = "user-symbols"

    def __post_init__(self) -> None:
        require_number("max_words", self.max_words)
        if self.adjacency is not None:
            require_number("adjacency", self.adjacency)

    @property
    def short(self) -> str:
        symbols = "all symbols" if self.adjacency is None else count_of(self.adjacency, "symbol")
        used = "is" if self.max_words == 1 else "are"
        return f"{symbols} in each word of a person, of whom at most {count_of(self.max_words, 'word')} {used} used"

    @property
    def one_word(self) -> Symbols | SameLength:
        """What becomes of each of the words."""
        return SameLength() if self.adjacency is None else Symbols(self.adjacency)

    def _route_to(self, wider: Unit, known: Known) -> Route | None:
        """A word is one of a person's words, and only words that are used can tell anything."""
        return self.one_word._route_to(wider, known)

    def _route_to_person(self, person: Person, known: Known) -> Route | None:
        enough = person.max_words is not None and person.max_words <= self.max_words
        return self._route_to(person.one_word, known) if enough else None
