"""Permute-and-flip for words."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import numpy as np

from pathveil.errors import TooLargeError
from pathveil.numerics.arrays import AnyIntArray, FloatArray, IntArray
from pathveil.randomness.blocks import cuts, run_blocks
from pathveil.randomness.source import RandomSource
from pathveil.words.base import Batch, ErrorLaw, SameLength, SameLengthMechanism, largest_part, linear_scores
from pathveil.words.classes import (
    LONGEST_LAW,
    PERMUTE_AND_FLIP,
    Block,
    classes_of_codes,
    draw_by_class,
    free_blocks,
    is_small,
)
from pathveil.words.laws import classes_are_cheap, permute_and_flip_law
from pathveil.words.tilted import LARGEST_EXACT_FLIP, FlipByRejection, block_size, sampling


class PermuteAndFlip(SameLengthMechanism):
    """PF's Mechanism 1 (alphabets) and Mechanism 2 (Markov chains), on any system, at θ = ε/(2b).

    Never more expected errors than the published exponential mechanism, and never less than half of them: PF's
    figure of 55.7% less cannot be an exact expectation.

    A word is drawn by rejection from the exponential mechanism; on free alphabets, and in small batches, by its class
    (its number of errors, and then a word of that class). Both have exactly this law, and which of them it is does not
    depend on what the words are. `error_law` evaluates the closed form.

    Private for every pair of words within `adjacency` substitutions, feasible or not.

    >>> import pathveil as pv
    >>> m = pv.PermuteAndFlip(pv.Alphabet("01"), epsilon=5.0, adjacency=1)
    >>> m.error_law("00000")
    ErrorLaw(0 to 5 errors, mean 0.2451)
    """

    name = "permute-and-flip"

    def theta(self, length: int) -> float:  # noqa: ARG002 - the same for every length
        return largest_part(self.epsilon, 2 * self.adjacency)

    def _scores(self, length: int) -> FloatArray:
        return linear_scores(self.theta(length), length)

    def _draw(self, words: Batch, source: RandomSource) -> AnyIntArray:
        compiled = self.world.compiled
        if is_small(compiled, words):
            return draw_by_class(compiled, words, PERMUTE_AND_FLIP, self._scores, source)
        private = np.empty_like(words.values)
        run_blocks([block for part in words.by_length for block in self._blocks(words.values, part, private)], source)
        return private

    def _blocks(self, values: AnyIntArray, part: SameLength, private: AnyIntArray) -> list[Block]:
        """The words of one length, in blocks: by class on a free alphabet, by rejection elsewhere."""
        compiled, length = self.world.compiled, part.length
        if compiled.is_free and length <= LONGEST_LAW:
            return free_blocks(compiled.symbol_count, values, part, self._scores(length), private, PERMUTE_AND_FLIP)
        flip = FlipByRejection(compiled, length, self.theta(length), feasible=self.on_infeasible == "refuse")

        def draw(begins: IntArray, branch: RandomSource) -> None:
            flip.draw(values, begins, private, branch)

        return [partial(draw, part.begins[begin:end]) for begin, end in cuts(len(part.begins), block_size(length))]

    @property
    def _sampling(self) -> str:
        return sampling(self.world.compiled, LARGEST_EXACT_FLIP)

    def _law(self, codes: IntArray) -> ErrorLaw:
        compiled = self.world.compiled
        if not classes_are_cheap(compiled, len(codes)) and compiled.feasible_rows(codes[None, :])[0]:
            with suppress(TooLargeError):  # few words, at a small ε: they can be counted
                return permute_and_flip_law(compiled, codes, self.theta(len(codes)))
        counts = classes_of_codes(compiled, codes).counts
        return ErrorLaw(PERMUTE_AND_FLIP.log_law(counts, self._scores(len(codes))))

    def _log_probabilities(self, codes: IntArray, outputs: IntArray) -> FloatArray:
        classes = classes_of_codes(self.world.compiled, codes)
        return PERMUTE_AND_FLIP.log_probabilities(classes, self._scores(len(codes)), outputs)
