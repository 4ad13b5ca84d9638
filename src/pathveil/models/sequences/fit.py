"""Fit a private model of sequences: check, charge, and only then measure, one step after another.

1. The lengths of all words. They say how many words there are, where that is private.
2. With a δ: whole words that many have. What they leave is modelled in the next step, or, where that is too little to
   be told from noise, the rest of the budget is spent on a second look for whole words.
   Or, where ends are asked for: first symbols, last symbols, and pairs of both.
3. What follows what, a depth of the tree of contexts at a time. Which contexts get a row is decided from what was
   measured before. What is left over where no longer context is common enough goes to the last depth once more.
4. Where words have times: in which hour of the week they begin, and how long it takes from a symbol to the next.

Every step spends its own share of ε on counts of which one word changes a bounded number, so the shares add up to the
promise (adaptive composition). For any set of kept words the other words are a set of words of which neighbouring data
change no more than of all, so that step 3 may leave the kept ones out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidCountsError, InvalidParameterError
from pathveil.models.counting import States
from pathveil.models.laplace import exactly
from pathveil.models.people import WholeWords, chosen_words, person_codes
from pathveil.models.sequences import budget
from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.contexts import Grammar
from pathveil.models.sequences.ends import require_room
from pathveil.models.sequences.measuring import Fitted, Measuring
from pathveil.models.sequences.private_sequences import PrivateSequences
from pathveil.models.sequences.request import Order, Request, Unit, checked_request
from pathveil.models.sequences.times import TimesKind, WordTimes, learn_times
from pathveil.numerics.arrays import BoolArray, IntArray
from pathveil.privacy.guarantee import Guarantee
from pathveil.privacy.units import Neighbours
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.system import Symbol, System, Word


def fit_private_sequences(
    words: Iterable[Word] | CodedWords,
    *,
    states: Iterable[Symbol],
    epsilon: float,
    delta: float | None = None,
    max_length: int,
    order: Order = "auto",
    unit: Unit = "word",
    users: Iterable[Hashable] | npt.NDArray[Any] | None = None,
    max_words_per_user: int | None = None,
    neighbours: Neighbours = "replace",
    support: npt.ArrayLike | System | None = None,
    times: Iterable[Any] | npt.NDArray[Any] | WordTimes | None = None,
    ends: bool = False,
    rng: RandomSource | None = None,
    before_drawing: Callable[[Guarantee], object] | None = None,
) -> PrivateSequences:
    """A private model of whole words: how they begin, what follows what, how they end, how long they are.

    The next symbol depends on up to `order` symbols before it ("auto": as many as the budget can tell apart). Contexts
    that are too rare for that share what shorter ones say. With a `delta`, words that many have are found and kept
    whole. Words are cut after `max_length` symbols.

    `unit="word"` protects a word, `unit="user"` all words of a person: `users` says whose each word is, and at most
    `max_words_per_user` of a person are used, chosen at random. (`CodedWords` without `users` must be limited to so
    many already, by whoever made them.) With `neighbours="add-remove"` the promise compares the data with and without
    the word (or person), with "replace" the data as they are and with any other in its place.

    `states` and `support` (a table of transitions that can occur, or a system) are public and must not be taken from
    the data. Synthetic words never do what `support` does not allow.

    `times` has for each word when it began, or a list with the time of each of its symbols, as `datetime`,
    `numpy.datetime64` or seconds. A share of the budget then goes to the hour of the week in which words begin, and to
    how long it takes from a symbol to the next, both in public bins; `synthesize_events` gives words with times.

    With `ends`, a fifth of the budget goes to how words begin and end, each by itself and together: for trips, of which
    one wants to know from where to where they lead. Not together with a `delta`.

    `before_drawing` is called with the guarantee when everything is checked and nothing is drawn: the moment to charge
    a ledger.

    >>> import pathveil as pv
    >>> visits = ["abc", "abd", "aab"] * 300
    >>> model = pv.fit_private_sequences(
    ...     visits, states="abcd", epsilon=2.0, delta=1e-6, max_length=5, rng=pv.insecure_seed(7)
    ... )
    >>> sorted(word for word, _ in model.frequent)
    ['aab', 'abc', 'abd']
    """
    asked = checked_request(epsilon, delta, max_length, order, unit, max_words_per_user, neighbours, ends=ends)
    known = States(states, None)
    if ends:
        require_room(len(known.given), max_length)
    grammar = Grammar.of(known.given, support)
    source = checked_source(rng)
    data = read_data(words, times, users, known, grammar, asked)
    if not data.count:
        raise InvalidCountsError("there is no word: a model needs at least one")
    asked = replace(asked, times=data.times_kind)
    guarantee = asked.guarantee(seeded=source.is_seeded)
    if before_drawing is not None:
        before_drawing(guarantee)
    chosen = data.limited(asked.whole, source)
    fitted = measure(chosen, asked, grammar, exactly(epsilon), source)
    return PrivateSequences(known.given, grammar, asked, guarantee, fitted)


@dataclass(frozen=True, eq=False)
class Data:
    """Checked words, cut, with what is known of each of them."""

    words: CodedWords
    times: WordTimes | None = None
    persons: IntArray | None = None
    """A number for the person of each word, where at most so many of a person are to be used."""
    groups: IntArray | None = None
    """A number for the group of each word, where there are groups."""

    @property
    def count(self) -> int:
        """How many words there are."""
        return int(self.words.times.sum())

    @property
    def times_kind(self) -> TimesKind | None:
        """What has a time."""
        return None if self.times is None else self.times.kind

    def limited(self, whole: WholeWords, source: RandomSource) -> Data:
        """At most so many words of each person, chosen at random."""
        if self.persons is None or whole.max_words is None:
            return self
        return self.select(chosen_words(self.persons, whole.max_words, source))

    def select(self, chosen: BoolArray) -> Data:
        """The words for which `chosen` is true."""
        return Data(
            self.words.select(chosen),
            None if self.times is None else self.times.select(self.words, chosen),
            None if self.persons is None else self.persons[chosen],
            None if self.groups is None else self.groups[chosen],
        )


def read_data(
    words: Iterable[Word] | CodedWords,
    times: Iterable[Any] | npt.NDArray[Any] | WordTimes | None,
    users: Iterable[Hashable] | npt.NDArray[Any] | None,
    states: States,
    grammar: Grammar,
    asked: Request,
) -> Data:
    """All words, checked, also those of persons with more than are used: what is refused must not depend on a draw."""
    longest = asked.max_length
    given = words if isinstance(words, CodedWords) or times is None else list(words)
    coded = given.cut(longest) if isinstance(given, CodedWords) else CodedWords.from_words(given, states, longest)
    persons = _persons(given, users, len(coded), asked)
    moments = None
    if times is not None:
        if (coded.times != 1).any():
            raise InvalidParameterError("`times` needs each word by itself, not counted: equal words have other times")
        whole = given.lengths if isinstance(given, CodedWords) else np.array([len(word) for word in given], dtype=int)
        given_times = times if isinstance(times, WordTimes) else WordTimes.read(times, whole)
        moments = given_times.cut(whole, longest)
    if isinstance(given, CodedWords):
        _require_codes(coded, grammar.symbols)
    _require_possible(coded, grammar, longest, states)
    return Data(coded, moments, persons)


def measure(data: Data, asked: Request, grammar: Grammar, epsilon: Fraction, source: RandomSource) -> Fitted:
    """Everything that is learned from the data, for ε in all."""
    share = budget.share_of_times(data.times_kind)
    fitted = Measuring(asked, grammar, data.words, epsilon * (1 - share), source).fit()
    learned = None
    if data.times is not None:
        learned = learn_times(data.words, data.times, grammar.symbols, epsilon, asked.whole, fitted.all_words, source)
    # Of the frequent words only the noisy counts stay: the model is for release.
    kept = CodedWords.from_arrays(fitted.frequent.values, fitted.frequent.offsets)
    return replace(fitted, frequent=kept, times=learned)


def _persons(
    words: Iterable[Word] | CodedWords,
    users: Iterable[Hashable] | npt.NDArray[Any] | None,
    count: int,
    asked: Request,
) -> IntArray | None:
    """A number for the person of each word; None where no person's words are left to choose from."""
    most = asked.whole.max_words
    if most is None:
        if users is not None:
            raise InvalidParameterError('`users` says whose words these are, whom only `unit="user"` protects')
        return None
    if users is not None:
        if isinstance(words, CodedWords) and (words.times != 1).any():
            raise InvalidParameterError("`users` needs each word by itself, not counted: a person's words are chosen")
        return person_codes(users, count)
    limited = words.max_words_per_user if isinstance(words, CodedWords) else None
    if limited is None or limited > most:
        raise InvalidParameterError('`unit="user"` needs `users`: one for each word')
    return None


def _require_codes(words: CodedWords, symbols: int) -> None:
    """Refuse arrays that are no words over so many symbols: the compiled loops trust what they read."""
    good = (words.lengths >= 1) & (words.times >= 1)
    if not good.all() or words.offsets[0] != 0 or words.offsets[-1] != len(words.values):
        raise InvalidCountsError("coded words have at least one symbol each, and stand for at least one word each")
    if ((words.values < 0) | (words.values >= symbols)).any():
        raise InvalidCountsError(f"the codes of words must be those of the {symbols} states: 0 to {symbols - 1}")


def _require_possible(words: CodedWords, grammar: Grammar, max_length: int, states: States) -> None:
    """Refuse words that the public support does not allow."""
    lengths = words.lengths
    size = grammar.symbols
    before = np.empty(len(words.values), dtype=np.int64)
    before[1:] = words.values[:-1]
    before[words.offsets[:-1]] = size
    wrong = ~grammar.allows(before, words.values)
    ended = lengths < max_length
    last = words.values[words.offsets[1:] - 1]
    endings = ended & ~grammar.allows(last, np.full(len(words), size))
    for i in np.flatnonzero(wrong):
        word = int(np.searchsorted(words.offsets, i, side="right"))
        what = "begin a word" if before[i] == size else f"follow {states.given[before[i]]!r}"
        raise _impossible(word, f"{states.given[words.values[i]]!r} cannot {what}")
    for odd in np.flatnonzero(endings).tolist():
        raise _impossible(odd + 1, f"no word can end with {states.given[last[odd]]!r}")


def _impossible(word: int, why: str) -> InvalidCountsError:
    return InvalidCountsError(
        f"word number {word}: {why}, as the public support says. Correct the data, or the support if it is wrong for "
        "reasons that have nothing to do with the data.",
        without_content=f"word number {word} cannot occur, as the public support says",
    )
