"""The model that a fit gives: synthetic words, how well it predicts, and what was promised."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.markup import Html, card, table
from pathveil.models.counting import States
from pathveil.models.sequences.budget import DURATIONS, STARTS
from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.contexts import Grammar
from pathveil.models.sequences.kernel_arrays import KernelArrays
from pathveil.models.sequences.measuring import Fitted, Spent
from pathveil.models.sequences.request import Request
from pathveil.models.sequences.sequence_file import sequence_parts, sequences_json
from pathveil.models.sequences.synthesis import Condition, WordLaw
from pathveil.models.sequences.times import A_MONDAY, LearnedTimes, TimedWords, Times, checked_monday
from pathveil.numerics.arrays import AnyIntArray, IntArray
from pathveil.privacy.guarantee import Guarantee
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.system import Symbol, Word


class PrivateSequences:
    """A fitted model of whole words. Nothing in it depends on the data except through the mechanism."""

    def __init__(
        self, states: tuple[Symbol, ...], grammar: Grammar, asked: Request, guarantee: Guarantee, fitted: Fitted
    ) -> None:
        self.states, self.grammar, self.asked, self.guarantee = states, grammar, asked, guarantee
        self._fitted = fitted

    def __repr__(self) -> str:
        return (
            f"PrivateSequences({len(self.states)} states, order {self.order}, {len(self.frequent)} frequent words, "
            f"ε = {self.guarantee.epsilon:g})"
        )

    def _repr_html_(self) -> Html:
        own = ", ".join(f"{mine:,} of {all_of_them:,}" for mine, all_of_them in self.contexts)
        facts = [
            ("states", f"{len(self.states):,}"),
            ("order", str(self.order)),
            ("contexts of 1, 2, … symbols that stand on their own", own),
            ("frequent words", f"{len(self.frequent):,}, {self.frequent_share:.1%} of all"),
        ]
        rows = [[one.what, one.epsilon, one.scale] for one in self.spent]
        bought = table("What the budget was spent on", ["part", "ε", "noise of a count"], rows)
        return card("Private model of sequences", facts, bought, Html(self.guarantee._repr_html_()))

    @property
    def order(self) -> int:
        """How many symbols the longest contexts of the model have."""
        return self._fitted.tree.depth

    @property
    def own_contexts(self) -> tuple[int, int]:
        """How many contexts mostly believe their own counts, not shorter ones; and how many contexts there are."""
        return int(self._fitted.estimate.own.sum()), self._fitted.tree.row_count

    @property
    def contexts(self) -> list[tuple[int, int]]:
        """For contexts of 1, 2, … symbols: how many mostly believe their own counts, and how many there are."""
        tree, own = self._fitted.tree, self._fitted.estimate.own
        rows = [tree.rows_at(depth) for depth in range(1, tree.depth + 1)]
        return [(int(own[row].sum()), row.stop - row.start) for row in rows]

    @property
    def spent(self) -> list[Spent]:
        """What the budget was spent on, in the order of spending: all of ε."""
        fitted, sides = self._fitted, self.asked.whole.sensitivity(1)[0]
        listed = list(fitted.spent)
        if fitted.times is not None:
            starts, durations = (float(share) * self.asked.epsilon for share in (STARTS, DURATIONS))
            listed.append(Spent("hours in which words begin", starts, sides / starts))
            if fitted.times.durations is not None:
                scale = sides * fitted.times.counted / durations
                listed.append(Spent("durations by symbol", durations, scale))
        return listed

    @cached_property
    def frequent(self) -> list[tuple[Word, float]]:
        """The words that were kept whole, with their noisy counts, the commonest first."""
        kept, counts = self._fitted.frequent, self._fitted.frequent_counts
        words = self._decoded(np.split(kept.values, kept.offsets[1:-1]) if len(kept) else [])
        return sorted(zip(words, counts.tolist(), strict=True), key=lambda pair: -pair[1])

    @cached_property
    def _arrays(self) -> KernelArrays:
        return KernelArrays.of(self._fitted.tree, self._fitted.estimate.probabilities)

    @property
    def frequent_share(self) -> float:
        """Which part of all words the frequent ones are."""
        kept = float(self._fitted.frequent_counts.sum())
        return kept / max(kept + self._fitted.words, 1e-300) if kept else 0.0

    @property
    def word_count(self) -> float:
        """How many words the data had: with noise, unless their number is public."""
        return self._fitted.all_words[0]

    @cached_property
    def law(self) -> WordLaw:
        """How likely each word is."""
        fitted = self._fitted
        return WordLaw.of(self._arrays, fitted.corrections, fitted.frequent, fitted.frequent_counts, fitted.words)

    def synthesize(
        self,
        count: int,
        rng: RandomSource | None = None,
        *,
        prefix: Word | None = None,
        first: Symbol | None = None,
        last: Symbol | None = None,
    ) -> list[Word]:
        """`count` synthetic words. Costs no further privacy.

        With a `prefix`, or a `first` symbol, words that begin so; with a `last` symbol words that end with it. Their
        law is that of all words of the model, given that they are like that. Words with a wanted end are found by
        drawing and looking, so that there is an error where they are too rare: it says how rare.

        >>> import pathveil as pv
        >>> model = pv.fit_private_sequences(
        ...     ["abc", "abd", "cab"] * 300, states="abcd", epsilon=2.0, max_length=4, rng=pv.insecure_seed(7)
        ... )
        >>> words = model.synthesize(100, pv.insecure_seed(1), prefix="ab", last="d")
        >>> all(word.startswith("ab") and word.endswith("d") for word in words)
        True

        Raises InvalidParameterError where the public support allows no such word, and NoFeasibleWordError where the
        model (nearly) never gives one.
        """
        words, lengths = self.synthetic_codes(count, rng, prefix=prefix, first=first, last=last)
        return self._decoded(word[:length] for word, length in zip(words, lengths.tolist(), strict=True))

    def synthesize_events(
        self,
        count: int,
        rng: RandomSource | None = None,
        *,
        week: str | date | np.datetime64 = A_MONDAY,
        prefix: Word | None = None,
        first: Symbol | None = None,
        last: Symbol | None = None,
    ) -> TimedWords:
        """Synthetic words with times, of a model that was fitted with `times`. Costs no further privacy.

        Words begin in the declared `week` (the date of a Monday), in hours as likely as those of the data. `times` has
        for each word the times of its symbols, in whole seconds and never decreasing; None where only starts had times
        in the data. `pv.words_to_events(found.words, found.times)` is a data frame for pm4py.

        >>> import pathveil as pv
        >>> visits, hour = ["abc", "ab"] * 500, 3600
        >>> times = [[9 * hour + 60 * i for i in range(len(word))] for word in visits]
        >>> model = pv.fit_private_sequences(
        ...     visits, times=times, states="abc", epsilon=5.0, max_length=4, rng=pv.insecure_seed(7)
        ... )
        >>> found = model.synthesize_events(100, pv.insecure_seed(1))
        >>> all(len(word) == len(times) for word, times in zip(found.words, found.times))
        True
        """
        if self.times is None:
            raise InvalidParameterError("this model has no times: fit it with `times`, or use `synthesize`")
        checked_monday(week)
        source = checked_source(rng)
        words, lengths = self.synthetic_codes(count, source, prefix=prefix, first=first, last=last)
        starts, at = self.synthetic_times(words, lengths, source, week=week)
        spelled = self._decoded(word[:length] for word, length in zip(words, lengths.tolist(), strict=True))
        return TimedWords(spelled, starts, None if at is None else np.split(at, np.cumsum(lengths)[:-1]))

    def synthetic_times(
        self,
        words: AnyIntArray,
        lengths: IntArray,
        rng: RandomSource | None = None,
        *,
        week: str | date | np.datetime64 = A_MONDAY,
    ) -> tuple[Times, Times | None]:
        """The starts of words that `synthetic_codes` gave, and the times of all their symbols, a word after another."""
        if self.times is None:
            raise InvalidParameterError("this model has no times: fit it with `times`")
        return self.times.draw(words, lengths, checked_monday(week), checked_source(rng))

    @property
    def times(self) -> LearnedTimes | None:
        """What the model knows about times: how likely hours and durations are; None where the data had none."""
        return self._fitted.times

    def synthetic_codes(
        self,
        count: int,
        rng: RandomSource | None = None,
        *,
        prefix: Word | None = None,
        first: Symbol | None = None,
        last: Symbol | None = None,
    ) -> tuple[AnyIntArray, IntArray]:
        """The codes of synthetic words, one a line, and their lengths."""
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
            raise InvalidParameterError(f"count is a number of words of at least 1, not {count!r}")
        longest = self.asked.max_length
        condition = Condition.of(self.states, self.grammar, longest, prefix=prefix, first=first, last=last)
        return self.law.draw(count, checked_source(rng), condition)

    def log_loss(self, words: Iterable[Word] | CodedWords) -> float:
        """Minus the mean logarithm of the probability of an event (each symbol, and that the word ends), in nats.

        Infinite where there are words that the model never gives.
        """
        states, longest = States(self.states, None), self.asked.max_length
        coded = words.cut(longest) if isinstance(words, CodedWords) else CodedWords.from_words(words, states, longest)
        logs = self.law.log_probabilities(coded)
        events = coded.lengths + (coded.lengths < longest)
        return float(-(logs * coded.times).sum() / (events * coded.times).sum())

    def to_json(self, promise: Guarantee | None = None) -> str:
        """The model as text; `promise` is what was promised about the file, if that is more than the guarantee."""
        return sequences_json(self, self._fitted, promise or self.guarantee)

    @classmethod
    def from_json(cls, text: str | dict[str, Any]) -> PrivateSequences:
        """The model from what `to_json` wrote, or from the object that JSON made of it.

        Raises `InvalidSystemError` where it is something else, or damaged.
        """
        return cls(*sequence_parts(text))

    def save(self, path: str | Path) -> None:
        """Write the model to a file that `pv.load_model` and `pathveil synthesize` read."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def _decoded(self, words: Iterable[np.ndarray]) -> list[Word]:
        as_string = all(isinstance(state, str) and len(state) == 1 for state in self.states)
        spelled = [[self.states[code] for code in word.tolist()] for word in words]
        return ["".join(word) if as_string else tuple(word) for word in spelled]
