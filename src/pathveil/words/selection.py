"""The two ways to select a class: the exponential mechanism and permute-and-flip.

Both are the word with the largest score + noise, the noise being Gumbel for one and exponential for the other. Since
all words of a class have the same score, a class needs a single draw: the largest of its N noises. That, and the law
which follows, are all that a mechanism must know; what the classes are is the business of a `ClassCounter`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import IntArray
from pathveil.words.class_counter import ClassCounter
from pathveil.words.law import (
    FloatArray,
    draw_noisy_maximum,
    exponential_log_law,
    log_counts,
    permute_and_flip_log_law,
)


@dataclass(frozen=True)
class Selection:
    """How the class of the output is selected, given the scores of the classes."""

    log_law: Callable[[Sequence[int], FloatArray], FloatArray]
    """log P(class) from the counts and the scores."""

    largest: Callable[[FloatArray, FloatArray, FloatArray], IntArray]
    """The class of the noisy maximum, from log counts, scores and one row of exponential variates for each draw."""

    def choose(self, counts: tuple[int, ...], scores: FloatArray, size: int, source: RandomSource) -> IntArray:
        """The classes of `size` private words."""
        noise = source.exponential(size * len(counts)).reshape(size, len(counts))
        return self.largest(log_counts(counts), scores, noise)

    def log_shares(self, counts: Sequence[int], scores: FloatArray) -> FloatArray:
        """log P of a single word of each class: all words of the class share its probability. -inf for no words."""
        shares: FloatArray = np.full(len(counts), -np.inf)
        there = np.array([count > 0 for count in counts])
        shares[there] = self.log_law(counts, scores)[there] - log_counts(counts)[there]
        return shares

    def log_probabilities(self, counter: ClassCounter, scores: FloatArray, outputs: Iterable[IntArray]) -> FloatArray:
        """log P(output | word) for each output."""
        values: FloatArray = self.log_shares(counter.counts, scores)[counter.distances(outputs)]
        return values


def _draw_gumbel_maximum(log_n: FloatArray, scores: FloatArray, exponentials: FloatArray) -> IntArray:
    """The exponential mechanism's class: the largest of N Gumbel noises is log N plus a single one, -log E."""
    chosen: IntArray = np.argmax(log_n + scores - np.log(exponentials), axis=1)
    return chosen


EXPONENTIAL = Selection(exponential_log_law, _draw_gumbel_maximum)
PERMUTE_AND_FLIP = Selection(permute_and_flip_log_law, draw_noisy_maximum)
