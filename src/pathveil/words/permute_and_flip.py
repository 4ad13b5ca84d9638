"""Permute-and-flip for words."""

from __future__ import annotations

import numpy as np

from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import AnyIntArray, IntArray
from pathveil.words.classes import classes_of_codes, draw_by_class
from pathveil.words.law import (
    ErrorLaw,
    FloatArray,
    draw_noisy_maximum,
    log_counts,
    permute_and_flip_log_law,
)
from pathveil.words.mechanism import WordMechanism, hamming_distances
from pathveil.words.ragged import Words


class PermuteAndFlip(WordMechanism):
    """PF's Mechanism 1 (alphabets) and Mechanism 2 (Markov chains), on any system, at θ = ε/(2b).

    Never more expected errors than the published exponential mechanism, and never less than half of them: PF's
    figure of 55.7% less cannot be an exact expectation.

    Drawing takes one exponential variate for each error class and no integral: the class of the noisy maximum first,
    then a word of that class, uniformly and exactly. `error_law` evaluates the closed form.

    Private for every pair of words within `adjacency` substitutions, feasible or not.

    >>> import pathveil as pv
    >>> m = pv.PermuteAndFlip(pv.Alphabet("01"), epsilon=5.0, adjacency=1)
    >>> m.error_law("00000")
    ErrorLaw(0 to 5 errors, mean 0.2451)
    """

    name = "permute-and-flip"
    sampling = "number of errors drawn in floating point, the word with that many errors exactly"

    def theta(self, length: int) -> float:  # noqa: ARG002 - the same for every length
        return self.epsilon / (2 * self.adjacency)

    def _scores(self, length: int) -> FloatArray:
        scores: FloatArray = -self.theta(length) * np.arange(length + 1.0)
        return scores

    def _draw(self, words: Words, source: RandomSource) -> AnyIntArray:
        def choose(counts: tuple[int, ...], size: int) -> IntArray:
            noise = source.exponential(size * len(counts)).reshape(size, len(counts))
            return draw_noisy_maximum(log_counts(counts), self._scores(len(counts) - 1), noise)

        return draw_by_class(self.world.compiled, words, choose, source)

    def _law(self, codes: IntArray) -> ErrorLaw:
        counts = classes_of_codes(self.world.compiled, codes).counts
        return ErrorLaw(permute_and_flip_log_law(counts, self._scores(len(codes))))

    def _log_probabilities(self, codes: IntArray, outputs: IntArray) -> FloatArray:
        counts = classes_of_codes(self.world.compiled, codes).counts
        law = permute_and_flip_log_law(counts, self._scores(len(codes)))
        errors = hamming_distances(codes, outputs)
        values: FloatArray = law[errors] - log_counts(counts)[errors]
        return values
