"""Whole words and the people they belong to: what a model of words protects, and which words of a person it uses.

*Neighbours.* With "replace" one word (or all words of one person) becomes another, and how many words (persons) there
are is public. With "add-remove" there is one more or one less, and their number is private. Adding is half of
replacing, so the noise at ε is that of "replace" at 2ε: another promise, not a better mechanism.

*A person* may have any number of words. A model uses at most `max_words` of them, chosen uniformly at random; each
person's words are chosen without a look at anybody else's. So whatever the others chose, neighbouring data differ in at
most `max_words` words that are used, and every sensitivity of one word is multiplied by that number.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import BoolArray, IntArray, UintArray
from pathveil.privacy import units
from pathveil.privacy.units import LARGEST_NUMBER, Neighbours
from pathveil.randomness.source import RandomSource


@dataclass(frozen=True)
class WholeWords:
    """What may change unnoticed: one word, or all words of a person, of which at most `max_words` are used."""

    neighbours: Neighbours = "replace"
    max_words: int | None = None
    """None where the unit is a single word."""

    def __post_init__(self) -> None:
        if self.neighbours not in ("replace", "add-remove"):
            raise InvalidParameterError(f"`neighbours` is {self.neighbours!r}: it must be 'replace' or 'add-remove'")
        if self.max_words is not None:
            require_max_words(self.max_words)

    def sensitivity(self, most: int) -> tuple[int, int]:
        """How much a table can change to which one word adds at most `most` in all: (1-norm, squared 2-norm).

        The k words of a person add a vector u ≥ 0 with ‖u‖₁ ≤ k·most, and so ‖u‖₂ ≤ k·most: at worst all of it in one
        place. Removed, that is the change. Replaced by v it is v - u, and ‖v - u‖₁ ≤ ‖u‖₁ + ‖v‖₁, while
        ‖v - u‖₂² = ‖u‖₂² + ‖v‖₂² - 2u·v ≤ 2(k·most)², because no entry is negative.
        """
        added = most * (self.max_words or 1)
        sides = 2 if self.neighbours == "replace" else 1
        return sides * added, sides * added**2

    @property
    def number_is_public(self) -> bool:
        """Is it public how many words there are? Of persons it is, at most, how many persons there are."""
        return self.max_words is None and self.neighbours == "replace"

    @property
    def protects(self) -> units.Unit:
        """The unit as a value. A model limits and cuts words itself: it protects persons and words of any size."""
        if self.max_words is None:
            return units.Word(neighbours=self.neighbours)
        return units.User(neighbours=self.neighbours)

    def difference(self, max_length: int) -> str:
        """How neighbouring data differ, to go on after "any other set of words"."""
        lengths = f"at most {max_length} symbols"
        if self.max_words is None:
            replaced = f"in which one is replaced by any word of {lengths}"
            return (
                replaced if self.neighbours == "replace" else f"in which there is one word more or less, of {lengths}"
            )
        what = "are replaced by any others" if self.neighbours == "replace" else "are added or removed"
        used = "word of a person is" if self.max_words == 1 else "words of a person are"
        return f"in which all words of one person {what} (at most {self.max_words} {used} used, each of {lengths})"

    @property
    def public(self) -> list[str]:
        """What is taken as public about the number of words and of persons."""
        if self.max_words is None:
            return ["the number of words"] if self.neighbours == "replace" else []
        persons = ["the number of persons"] if self.neighbours == "replace" else []
        return [*persons, "the most words of a person that are used"]


ONE_WORD = WholeWords()
"""One word becomes another."""


def require_max_words(value: object) -> None:
    """An error unless this can be the most words of a person that are used."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST_NUMBER:
        raise InvalidParameterError(
            f"`max_words_per_user` is {value!r}: it must be a whole number from 1 to 10^9, declared and not measured"
        )


def person_codes(users: Iterable[Hashable] | npt.NDArray[Any], words: int) -> IntArray:
    """A number for each word, the same for words of the same person: users that are equal are one person.

    `users` has one entry for each of so many `words`. None, not-a-number and empty texts are gaps, which are refused.
    """
    if isinstance(users, str | bytes):
        raise InvalidParameterError("`users` is one text: give one user for each word, in a list or an array")
    if isinstance(users, np.ndarray):
        if users.ndim != 1:
            raise InvalidParameterError(f"`users` is an array of {users.ndim} dimensions: give one user for each word")
        if users.dtype.kind not in "biuf":  # texts are compared faster one by one than sorted
            users = list(users) if users.dtype.kind in "Mm" else users.tolist()
    elif hasattr(users, "to_pylist"):  # of Arrow
        users = users.to_pylist()
    if isinstance(users, np.ndarray):
        values, first, codes = np.unique(users, return_index=True, return_inverse=True)
        found = {value: int(place) for value, place in zip(values.tolist(), first, strict=True)}
    else:
        found, listed = {}, []
        for place, user in enumerate(users):
            try:
                listed.append(found.setdefault(user, place))
            except TypeError:
                raise _no_user(place, f"{type(user).__name__} cannot be compared") from None
        codes = np.array(listed, dtype=np.int64)
    if len(codes) != words:
        raise InvalidParameterError(
            f"`users` has {len(codes)} entries, but there are {words} words: give one user for each word",
            without_content="`users` must have one entry for each word",
        )
    gaps = [place for user, place in found.items() if _is_gap(user)]
    if gaps:
        raise _no_user(min(gaps), "it is missing")
    return codes.astype(np.int64)


def _is_gap(user: Any) -> bool:
    """None, an empty text, and what is not equal to itself (not-a-number) or cannot say so (missing, for pandas)."""
    try:
        return user is None or user in ("", b"") or bool(user != user)
    except (TypeError, ValueError):
        return True


def _no_user(place: int, why: str) -> InvalidParameterError:
    told = (
        f"the user of word number {place + 1} does not say whose word it is: {why}. Correct it, or leave out the word."
    )
    return InvalidParameterError(told, without_content=told)


def words_of_people(
    users: Iterable[Hashable] | npt.NDArray[Any], words: int, max_words: int, source: RandomSource
) -> BoolArray:
    """True for each word that stays: of each person at most `max_words`, chosen uniformly at random.

    `users` has one entry for each of so many `words`; who is who see `person_codes`. The same seed makes the same
    choice for the same words in the same order, whatever the persons are called.
    """
    require_max_words(max_words)
    return chosen_words(person_codes(users, words), max_words, source)


def chosen_words(persons: IntArray, max_words: int, source: RandomSource) -> BoolArray:
    """`words_of_people` for persons that are numbers already.

    Every word gets a random key, and of each person the words with the smallest keys stay. Keys are as long as it takes
    to tell all words of a person apart (64 bits nearly always), so that every choice has exactly the same probability.
    """
    keys: list[UintArray] = []
    while True:
        keys.append(source.keystream(len(persons)))
        kept, is_settled = smallest_keys(persons, keys, max_words)
        if is_settled:
            return kept


def smallest_keys(persons: IntArray, keys: Sequence[UintArray], max_words: int) -> tuple[BoolArray, bool]:
    """Of each person the words with the smallest keys; and do the keys tell all words of a person apart?

    Later keys decide where all earlier ones are equal.
    """
    order = np.lexsort((*reversed(keys), persons))
    persons = persons[order]
    same = persons[1:] == persons[:-1]
    starts = np.flatnonzero(np.append(True, ~same)) if len(order) else np.empty(0, dtype=np.int64)
    places = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    kept: BoolArray = np.empty(len(order), dtype=bool)
    kept[order] = places < max_words
    for key in keys:
        same &= key[order][1:] == key[order][:-1]
    return kept, not same.any()
