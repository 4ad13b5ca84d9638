"""For the curator only: the original words beside those of a private model, of the same without privacy, of chance.

*Chance* draws as many words again from the original ones. What differs there differs for no other reason than that
words are drawn: nothing can be expected to come nearer to the original.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.private_sequences import PrivateSequences
from pathveil.models.sequences.utility.comparison import Comparison, WordStatistics, compare
from pathveil.models.sequences.utility.without_privacy import as_coded, fit_without_privacy
from pathveil.randomness.source import RandomSource, checked_source

MOST_WORDS = 1_000_000
TOPS = (20, 50, 100, 200)


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Statistics of four sets of words; all but those of the private model are sensitive."""

    model: PrivateSequences
    original: WordStatistics
    private: WordStatistics
    unprotected: WordStatistics
    chance: WordStatistics
    drawn: int

    @cached_property
    def comparisons(self) -> dict[str, Comparison]:
        """How far each is from the original."""
        return {
            "private": compare(self.original, self.private, TOPS),
            "unprotected": compare(self.original, self.unprotected, TOPS),
            "chance": compare(self.original, self.chance, TOPS),
        }


def side_by_side(words: CodedWords, model: PrivateSequences, rng: RandomSource | None = None) -> SideBySide:
    """For the curator only. `words` are the original ones, with the codes of the model's states."""
    source, symbols = checked_source(rng), len(model.states)
    original = words.cut(model.asked.max_length)
    drawn = min(int(original.times.sum()), MOST_WORDS)
    unprotected = fit_without_privacy(original, model).curator_words(drawn, source)
    return SideBySide(
        model,
        WordStatistics(original, symbols),
        WordStatistics(as_coded(*model.synthetic_codes(drawn, source)), symbols),
        WordStatistics(unprotected, symbols),
        WordStatistics(_drawn_again(original, drawn, source), symbols),
        drawn,
    )


def _drawn_again(words: CodedWords, count: int, source: RandomSource) -> CodedWords:
    """So many words, each one of the given ones, with replacement."""
    shares = np.cumsum(words.times / words.times.sum())
    which = np.searchsorted(shares, source.uniform(count), side="right")
    times = np.bincount(np.minimum(which, len(words) - 1), minlength=len(words))
    return CodedWords(words.values, words.offsets, times).select(times > 0)
