"""Fit a model to each group, so that one promise holds for all models together.

*One word more or less* (add-remove) is in one group: the models of all others do not change, and the promise for that
group's model is the promise for all. *All words of a person* may be in several groups. At most k of them are used, over
all groups together. If k_g of these are in group g, each of its tables changes by at most k_g/k of what its noise is
made for, and so does the loss; the k_g sum to at most k, and the losses to at most ε. The probability that a word which
only this person has is kept whole is at most δ·k_g/k in group g: it is the larger of the one for k_g equal words and
that for k_g different ones, and either divided by k_g grows with k_g where it is the larger. These sum to at most δ.

*Replaced* words may change their group: one group has a word less, another one more. How many words a group has is
therefore private, although their number in all groups is not. So groups are always fitted with add-remove. Replacing is
removing and adding, two steps: each gets ε/2 and δ/(1 + e^(ε/2)), which composes to (ε, δ) also where both are in the
same group. The noise is no larger than that for replacing a word inside one group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidParameterError
from pathveil.models.counting import States
from pathveil.models.laplace import exactly
from pathveil.models.people import WholeWords
from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.contexts import Grammar
from pathveil.models.sequences.fit import measure, read_data
from pathveil.models.sequences.groups.grouped_model import PrivateSequencesByGroup
from pathveil.models.sequences.private_sequences import PrivateSequences
from pathveil.models.sequences.request import Order, Request, Unit, checked_request
from pathveil.models.sequences.times import WordTimes
from pathveil.numerics.arrays import IntArray
from pathveil.privacy.guarantee import Guarantee
from pathveil.privacy.units import Neighbours
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.system import Symbol, System, Word, unique_symbols


def fit_private_sequences_by_group(
    words: Iterable[Word] | CodedWords,
    *,
    groups: Iterable[Hashable] | npt.NDArray[Any],
    group_values: Iterable[Hashable],
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
    rng: RandomSource | None = None,
    before_drawing: Callable[[Guarantee], object] | None = None,
) -> PrivateSequencesByGroup:
    """A private model of sequences for each group of words, with one promise for all models together.

    `groups` has the group of each word, `group_values` all groups that there can be: a public list that is not taken
    from the data. Each of them gets a model, also one that has no words, because that is private. The group of a word
    is protected with the word: the promise compares with data in which the word, or all words of the person, are any
    others in any groups. Of a person at most `max_words_per_user` words of all groups together are used.

    All other arguments are those of `fit_private_sequences`.

    >>> import pathveil as pv
    >>> found = pv.fit_private_sequences_by_group(
    ...     ["abc", "cab"] * 300, groups=["east", "west"] * 300, group_values=["east", "north", "west"],
    ...     states="abc", epsilon=2.0, max_length=5, rng=pv.insecure_seed(7),
    ... )
    >>> {group: len(words) for group, words in found.synthesize({"east": 3, "west": 5}).items()}
    {'east': 3, 'west': 5}
    >>> found.guarantee.epsilon
    2.0
    """
    asked = checked_request(epsilon, delta, max_length, order, unit, max_words_per_user, neighbours)
    known, values = States(states, None), unique_symbols(group_values, "group_values")
    grammar = Grammar.of(known.given, support)
    source = checked_source(rng)
    data = read_data(words, times, users, known, grammar, asked)
    data = replace(data, groups=_codes(groups, values, len(data.words)))
    asked = replace(asked, times=data.times_kind)
    guarantee = _guarantee(asked, seeded=source.is_seeded)
    if before_drawing is not None:
        before_drawing(guarantee)
    inner, whole_epsilon = within_a_group(asked)
    chosen = data.limited(asked.whole, source)
    models: dict[Hashable, PrivateSequences] = {}
    for code, value in enumerate(values):
        assert chosen.groups is not None
        fitted = measure(chosen.select(chosen.groups == code), inner, grammar, whole_epsilon, source)
        models[value] = PrivateSequences(known.given, grammar, inner, guarantee, fitted)
    return PrivateSequencesByGroup(models, guarantee)


def within_a_group(asked: Request) -> tuple[Request, Fraction]:
    """What each group's model is fitted with, so that all together keep what was asked for; and its exact ε."""
    whole, epsilon = WholeWords("add-remove", asked.whole.max_words), exactly(asked.epsilon)
    if asked.whole.neighbours == "add-remove":
        return asked, epsilon
    half, delta = epsilon / 2, asked.delta
    if delta is not None:
        delta = delta / (1 + math.exp(half)) * (1 - 1e-12)  # rounded down
    return replace(asked, epsilon=float(half), delta=delta, whole=whole), half


def _codes(groups: Iterable[Hashable] | npt.NDArray[Any], values: tuple[Hashable, ...], words: int) -> IntArray:
    """The place of each word's group among all groups."""
    if isinstance(groups, str | bytes):
        raise InvalidParameterError("`groups` is one text: give the group of each word, in a list or an array")
    listed = groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
    if len(listed) != words:
        raise InvalidParameterError(
            f"`groups` has {len(listed)} entries, but there are {words} words: give the group of each word",
            without_content="`groups` must have one entry for each word",
        )
    code = {value: place for place, value in enumerate(values)}
    found = np.empty(words, dtype=np.int64)
    for place, group in enumerate(listed):
        try:
            found[place] = code[group]
        except (KeyError, TypeError):
            raise InvalidParameterError(
                f"the group of word number {place + 1} is {group!r}, which is not among the {len(values)} of "
                "`group_values`. Correct the data, or the list if it is wrong for reasons that have nothing to do with "
                "the data.",
                without_content=f"the group of word number {place + 1} is not among `group_values`",
            ) from None
    return found


def _guarantee(asked: Request, *, seeded: bool) -> Guarantee:
    """The promise about all models together."""
    one = asked.guarantee(seeded=seeded)
    together = "" if asked.whole.max_words is None else "s, and words of all groups counted together"
    return replace(
        one,
        unit=f"{one.unit}, in any group{together}",
        public=(*one.public, "which groups there are"),
        mechanism=f"{one.mechanism}, in each group, under one promise for the models of all groups",
    )
