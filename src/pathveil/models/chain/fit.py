"""Fit a private Markov chain: check, count, settle the noise, charge, and only then draw."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy.typing as npt

from pathveil.models.chain.data import read_data
from pathveil.models.chain.forecast import chosen_mechanism
from pathveil.models.chain.noise import noise_for
from pathveil.models.chain.private_chain import PrivateChain
from pathveil.models.chain.request import Mechanism, Unit, checked_request
from pathveil.models.counting import States, WordCounts
from pathveil.privacy.guarantee import Guarantee
from pathveil.privacy.units import Neighbours
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import Symbol, Word


def fit_private_chain(
    counts: npt.ArrayLike | WordCounts | None = None,
    *,
    pairs: Iterable[tuple[Symbol, Symbol]] | npt.NDArray[Any] | None = None,
    pair_counts: Iterable[int] | npt.NDArray[Any] | None = None,
    words: Iterable[Word] | None = None,
    users: Iterable[Hashable] | npt.NDArray[Any] | None = None,
    states: Iterable[Symbol],
    epsilon: float,
    delta: float | None = None,
    mechanism: Mechanism | None = None,
    support: npt.ArrayLike | MarkovChain | None = None,
    unit: Unit | None = None,
    max_length: int | None = None,
    max_words_per_user: int | None = None,
    neighbours: Neighbours = "replace",
    merge: Mapping[Symbol, Symbol] | None = None,
    split: Mapping[str, float] | None = None,
    floor: float | None = None,
    mix: bool = True,
    rng: RandomSource | None = None,
    before_drawing: Callable[[Guarantee], object] | None = None,
) -> PrivateChain:
    """A Markov chain from transition counts, from (from, to) `pairs`, or from `words`.

    `pairs` is a list of pairs or, much faster for millions of them, a numpy array with two columns. `pair_counts` says
    how often each of them occurred, where that is not once; the unit stays one transition.

    `unit` names what is protected: "transition", "symbol", "word" or "user" for words, always "transition" for counts
    and pairs. With "user" it is all words of a person: `users` says whose word each of them is, and of each person at
    most `max_words_per_user` words are used, chosen at random. For whole words and users `neighbours` says whether one
    of them becomes another ("replace"), or is there or not ("add-remove": then their number is private, too).

    `states` and `support` (which transitions can occur: a Boolean table over the model's states, or a
    `MarkovChain` on them) are public and must not be taken from the data. `merge` is a public map from states to merged
    states; all of it then speaks of the merged ones. A state without records gets the uniform row on its support.

    Counts that were made from words elsewhere come as `WordCounts`: then every unit has a meaning for them, "user" if
    they say that they were limited (`WordCounts.max_words_per_user`).

    `mechanism="dirichlet"` and `"gaussian"` need a `delta`; `"laplace"` has δ = 0. Where none is named, the one with
    the smallest error to expect is taken, by a forecast from what the guarantee lists as public; so a `delta` may be
    offered and not spent (`model.reason` says why). `floor` and `mix=False` are the papers' mode of the Dirichlet
    mechanism. With `unit="word"` or "user", `split={"transitions": 0.8, "first": 0.1,
    "lengths": 0.1}` learns first symbols and lengths too, each for its share of the budget.

    `before_drawing` is called with the guarantee when everything is checked and nothing is drawn yet: the moment to
    charge a ledger. If it raises, nothing is released. With `mix=False` the floor is checked after it: that the data
    keep the floor, or not, is learned from the data.

    >>> import pathveil as pv
    >>> model = pv.fit_private_chain(
    ...     [[800, 200], [450, 550]], states=["sun", "rain"], epsilon=1.0, delta=1e-6, rng=pv.insecure_seed(7)
    ... )
    >>> model.chain.matrix.toarray().round(2)
    array([[0.8 , 0.2 ],
           [0.45, 0.55]])
    """
    known = States(states, merge)
    from_words = words is not None or isinstance(counts, WordCounts)
    asked = checked_request(
        mechanism, unit, epsilon, delta, max_length, split, floor, mix, from_words,
        max_words_per_user=max_words_per_user, neighbours=neighbours,
    )  # fmt: skip
    source = checked_source(rng)
    data = read_data(counts, pairs, pair_counts, words, users, known, support, asked)
    # All noise is settled from public numbers before any draw, so that an impossible promise releases nothing.
    chosen = chosen_mechanism(asked, data.successors.tolist(), data.public_records)
    noise = noise_for(data, asked, chosen)
    guarantee = asked.guarantee(chosen, seeded=source.is_seeded)
    if before_drawing is not None:
        before_drawing(guarantee)
    if not mix and floor is not None:
        # Whether the data keep the floor is an answer about them, so it has to be paid for first.
        data.require_floor(floor)
    rows, first, lengths = noise.draw(source)
    chain = MarkovChain.from_counts(known.merged, rows)
    chain.guarantee = guarantee.to_dict()
    return PrivateChain(chain, guarantee, chosen, tuple(noise.forecasts()), first, lengths, asked, data.public_words)
