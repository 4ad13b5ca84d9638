"""Permute-and-flip for words."""

from __future__ import annotations

import numpy as np

from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import IntArray
from pathveil.words.classes import classes_of_codes, draw_by_class
from pathveil.words.law import ErrorLaw, FloatArray
from pathveil.words.mechanism import SameLengthMechanism
from pathveil.words.selection import PERMUTE_AND_FLIP


class PermuteAndFlip(SameLengthMechanism):
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

    def _draw(self, codes: IntArray, source: RandomSource) -> IntArray:
        scores = self._scores(codes.shape[1])

        def choose(counts: tuple[int, ...], size: int) -> IntArray:
            return PERMUTE_AND_FLIP.choose(counts, scores, size, source)

        return draw_by_class(self.world.compiled, codes, choose, source)

    def _law(self, codes: IntArray) -> ErrorLaw:
        counts = classes_of_codes(self.world.compiled, codes).counts
        return ErrorLaw(PERMUTE_AND_FLIP.log_law(counts, self._scores(len(codes))))

    def _log_probabilities(self, codes: IntArray, outputs: IntArray) -> FloatArray:
        classes = classes_of_codes(self.world.compiled, codes)
        return PERMUTE_AND_FLIP.log_probabilities(classes, self._scores(len(codes)), outputs)
