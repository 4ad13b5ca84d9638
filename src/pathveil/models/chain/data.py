"""The data of a fit: transitions counted in the model's states, and which of them can occur."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidCountsError, InvalidParameterError
from pathveil.models.chain.request import Request
from pathveil.models.counting import Counts, States, WordCounts, count_pairs, count_words, encode_words
from pathveil.models.frequencies import checked_counts, checked_support, require_floor
from pathveil.models.people import chosen_words, person_codes
from pathveil.numerics.arrays import BoolArray, IntArray
from pathveil.randomness.source import RandomSource
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import Symbol, Word


@dataclass(frozen=True)
class WordsOfPeople:
    """All words, in the model's codes, and a number for the person that each of them belongs to."""

    words: list[list[int]]
    persons: IntArray


@dataclass(frozen=True)
class ChainData:
    """What was counted, in the model's states, and which transitions can occur (public).

    Where persons are protected, `people` has all words and whose they are: which of them count is drawn later.
    """

    found: Counts | WordCounts
    states: States
    inside: BoolArray
    asked: Request
    people: WordsOfPeople | None = None

    @property
    def table(self) -> Counts:
        """How often each state (row) was followed by each other."""
        return self.found.transitions if isinstance(self.found, WordCounts) else self.found

    @property
    def records(self) -> Counts:
        """The number of transitions out of each state."""
        records: Counts = self.table.sum(axis=1)
        return records

    @property
    def public_records(self) -> list[int] | None:
        """The size of each row where the unit leaves it public; None where it is protected."""
        return self.records.tolist() if self.asked.unit == "transition" else None

    @property
    def public_words(self) -> int | None:
        """How many words there are, where that is public: not if persons, or one word more or less, are protected."""
        if not self.asked.number_of_words_is_public or not isinstance(self.found, WordCounts):
            return None
        return int(self.found.first.sum())

    def drawn(self, source: RandomSource) -> Counts | WordCounts:
        """What noise is added to: all that was counted or, where persons are protected, some words of each."""
        if self.people is None or self.asked.max_words_per_user is None:
            return self.found
        kept = chosen_words(self.people.persons, self.asked.max_words_per_user, source)
        words = [word for word, stays in zip(self.people.words, kept.tolist(), strict=True) if stays]
        return _with_all_lengths(count_words(words, len(self.states.merged)), self.asked.max_length)

    @property
    def successors(self) -> Counts:
        """How many states can follow each state."""
        successors: Counts = self.inside.sum(axis=1)
        return successors

    @property
    def to_protect(self) -> BoolArray:
        """The rows that need noise: there are records, and more than one state that may follow."""
        rows: BoolArray = (self.records > 0) & (self.successors > 1)
        return rows

    def require_possible(self) -> None:
        """Refuse data with transitions that cannot occur."""
        states, table = self.states, self.table
        for i, j in np.argwhere(~self.inside & (table > 0)):
            raise InvalidCountsError(
                f"the data have {states.merged[j]!r} after {states.merged[i]!r} ({table[i, j]} times), but the public "
                "support says that this cannot occur. Correct the data, or the support if it is wrong for reasons that "
                "have nothing to do with the data.",
                without_content="the data have a transition that cannot occur, as the public support says",
            )

    def require_floor(self, floor: float) -> None:
        """Refuse data that break the public floor of the papers' mode, in rows that have something to protect."""
        frequencies = self.table / np.maximum(self.records, 1)[:, None]
        require_floor(frequencies, self.inside & self.to_protect[:, None], floor, "transition frequencies")


def read_data(
    counts: npt.ArrayLike | WordCounts | None,
    pairs: Iterable[tuple[Symbol, Symbol]] | npt.NDArray[Any] | None,
    pair_counts: Iterable[int] | npt.NDArray[Any] | None,
    words: Iterable[Word] | None,
    users: Iterable[Hashable] | npt.NDArray[Any] | None,
    states: States,
    support: npt.ArrayLike | MarkovChain | None,
    asked: Request,
) -> ChainData:
    """Count the data, which come in one of three ways, and check them against the public support.

    All words are checked, also those of persons with more words than are used: what is refused must not depend on a
    draw.
    """
    if pair_counts is not None and pairs is None:
        raise InvalidParameterError("`pair_counts` says how often each of the pairs occurred: it needs `pairs`")
    times = None if pair_counts is None else checked_counts(_listed(pair_counts), "`pair_counts`", dimensions=1)
    _require_users(counts, words, users, asked)
    encoded = None if words is None else encode_words(words, states, asked.max_length)
    found = _counted(counts, pairs, times, encoded, states, asked.max_length)
    people = None
    if users is not None and encoded is not None:
        people = WordsOfPeople(encoded, person_codes(users, len(encoded)))
    data = ChainData(found, states, _support_table(support, states), asked, people)
    data.require_possible()
    if asked.unit == "transition" and not data.table.any():
        raise InvalidCountsError("all counts are zero: a chain needs at least one transition")
    return data


def _require_users(
    counts: npt.ArrayLike | WordCounts | None,
    words: Iterable[Word] | None,
    users: Iterable[Hashable] | npt.NDArray[Any] | None,
    asked: Request,
) -> None:
    """Persons are known if they are to be protected, and only then."""
    if users is not None and (asked.unit != "user" or words is None):
        raise InvalidParameterError(
            '`users` says whose words they are, for `words=…` and `unit="user"`: nothing else depends on it'
        )
    if asked.unit != "user" or asked.max_words_per_user is None:
        return
    if words is not None and users is None:
        raise InvalidParameterError("unit 'user' needs `users`: whose word each of the words is")
    kept = counts.max_words_per_user if isinstance(counts, WordCounts) else None
    if words is None and (kept is None or kept > asked.max_words_per_user):
        what = "does not say that any were left out" if kept is None else f"has up to {kept} words of a person"
        raise InvalidParameterError(
            f"unit 'user' with `max_words_per_user={asked.max_words_per_user}`: `WordCounts` {what}. Count at most so "
            "many words of each person, chosen at random, and say so: `WordCounts(…, max_words_per_user=…)`."
        )


def _counted(
    counts: npt.ArrayLike | WordCounts | None,
    pairs: Iterable[tuple[Symbol, Symbol]] | npt.NDArray[Any] | None,
    times: Counts | None,
    words: list[list[int]] | None,
    states: States,
    cut: int | None,
) -> Counts | WordCounts:
    """The data in the model's states: a table of transitions or, where they come from words, all that is counted."""
    if sum(given is not None for given in (counts, pairs, words)) != 1:
        raise InvalidParameterError("give the data in one way: counts, or `pairs=…`, or `words=…`")
    if words is not None:
        found = count_words(words, len(states.merged))
    elif isinstance(counts, WordCounts):
        found = WordCounts(
            states.merge_table(checked_counts(counts.transitions, "counts", dimensions=2)),
            states.merge_first(checked_counts(counts.first, "the counts of first symbols")),
            checked_counts(counts.lengths, "the counts of lengths"),
            counts.max_words_per_user,
        )
    elif counts is not None:
        return states.merge_table(checked_counts(counts, "counts", dimensions=2))
    else:
        return count_pairs([] if pairs is None else pairs, states, times)
    return _with_all_lengths(found, cut)


def _listed(values: Iterable[int] | npt.NDArray[Any]) -> npt.ArrayLike:
    return values if isinstance(values, np.ndarray) else list(values)


def _with_all_lengths(found: WordCounts, cut: int | None) -> WordCounts:
    """Lengths that do not occur are possible, too: the shape of the release must not depend on the data."""
    if cut is None:
        return found
    if found.lengths[cut:].any():
        raise InvalidCountsError(f"some words have more than {cut} symbols: cut them before they are counted")
    lengths = np.zeros(cut, dtype=np.int64)
    lengths[: len(found.lengths)] = found.lengths[:cut]
    return replace(found, lengths=lengths)


def _support_table(support: npt.ArrayLike | MarkovChain | None, states: States) -> BoolArray:
    """[i, j]: can state j follow state i? Everything can, where no support is given."""
    if not isinstance(support, MarkovChain):
        return checked_support(support, (len(states.merged),) * 2, "support")
    position = {symbol: i for i, symbol in enumerate(support.symbols)}
    for state in states.merged:
        if state not in position:
            raise InvalidParameterError(f"support: the chain does not have the state {state!r}")
    order = [position[state] for state in states.merged]
    inside: BoolArray = (support.matrix[order][:, order] > 0).toarray()
    return inside
