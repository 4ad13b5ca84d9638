"""Permute-and-flip for words."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import numpy as np

from pathveil.errors import InvalidParameterError, TooLargeError
from pathveil.numerics.arrays import AnyIntArray, FloatArray, IntArray
from pathveil.randomness.blocks import cuts, run_blocks
from pathveil.randomness.source import RandomSource
from pathveil.systems.symbol_distance import SymbolDistance
from pathveil.systems.system import System
from pathveil.words.base import Batch, ErrorLaw, OnInfeasible, SameLength, largest_part, linear_scores
from pathveil.words.classes import (
    LONGEST_LAW,
    PERMUTE_AND_FLIP,
    Block,
    classes_of_codes,
    draw_by_class,
    free_blocks,
    is_small,
)
from pathveil.words.distances import DistanceMechanism, FlipMixture, flip_log_probabilities, flip_priced
from pathveil.words.laws import classes_are_cheap, permute_and_flip_law
from pathveil.words.tilted import LARGEST_EXACT_FLIP, FlipByRejection, block_size, sampling


class PermuteAndFlip(DistanceMechanism):
    """PF's Mechanism 1 (alphabets) and Mechanism 2 (Markov chains), on any system, at θ = ε/(2b).

    Never more expected errors than the published exponential mechanism, and never less than half of them: PF's
    figure of 55.7% less cannot be an exact expectation.

    A word is drawn by rejection from the exponential mechanism; on free alphabets, and in small batches, by its class
    (its number of errors, and then a word of that class). Both have exactly this law, and which of them it is does not
    depend on what the words are. `error_law` evaluates the closed form.

    With a `distance` between symbols its utility is the cost Σ c(w_i, w'_i), at θ = ε/(2bρ); `within` as elsewhere.

    Private for every pair of words within `adjacency` substitutions, feasible or not.

    >>> import pathveil as pv
    >>> m = pv.PermuteAndFlip(pv.Alphabet("01"), epsilon=5.0, adjacency=1)
    >>> m.error_law("00000")
    ErrorLaw(0 to 5 errors, mean 0.2451)
    """

    name = "permute-and-flip"

    def __init__(
        self,
        world: System,
        epsilon: float,
        adjacency: int = 1,
        *,
        on_infeasible: OnInfeasible = "refuse",
        distance: SymbolDistance | None = None,
        within: float | None = None,
    ) -> None:
        super().__init__(
            world, epsilon, adjacency, on_infeasible=on_infeasible, distance=distance, within=within
        )  # fmt: skip
        if distance is not None and on_infeasible == "nearest":
            raise InvalidParameterError(
                "permute-and-flip with distances takes feasible words only; the exponential and the online mechanism "
                "take others, too"
            )

    def theta(self, length: int) -> float:  # noqa: ARG002 - the same for every length
        if self._prices is not None:
            return self._prices.theta(self.epsilon, 2 * self.adjacency)
        return largest_part(self.epsilon, 2 * self.adjacency)

    def _scores(self, length: int) -> FloatArray:
        return linear_scores(self.theta(length), length)

    def _draw(self, words: Batch, source: RandomSource) -> AnyIntArray:
        compiled = self.world.compiled
        if self._prices is not None:
            return flip_priced(compiled, self._prices, words, self.theta(1), source)
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
        if self._prices is not None:
            return FlipMixture(compiled, self._prices, codes, self.theta(1)).wrong_symbols()
        if not classes_are_cheap(compiled, len(codes)) and compiled.feasible_rows(codes[None, :])[0]:
            with suppress(TooLargeError):  # few words, at a small ε: they can be counted
                return permute_and_flip_law(compiled, codes, self.theta(len(codes)))
        counts = classes_of_codes(compiled, codes).counts
        return ErrorLaw(PERMUTE_AND_FLIP.log_law(counts, self._scores(len(codes))))

    def _marginals(self, codes: IntArray) -> FloatArray:
        assert self._prices is not None
        return FlipMixture(self.world.compiled, self._prices, codes, self.theta(1)).marginals()

    def _log_probabilities(self, codes: IntArray, outputs: IntArray) -> FloatArray:
        if self._prices is not None:
            return flip_log_probabilities(self.world.compiled, self._prices, codes, outputs, self.theta(1))
        classes = classes_of_codes(self.world.compiled, codes)
        return PERMUTE_AND_FLIP.log_probabilities(classes, self._scores(len(codes)), outputs)
