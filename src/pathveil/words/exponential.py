"""The exponential mechanism for words, calibrated as published."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import AnyIntArray, FloatArray, IntArray
from pathveil.randomness.blocks import run_blocks
from pathveil.randomness.source import RandomSource
from pathveil.systems.symbol_distance import SymbolDistance
from pathveil.systems.system import System
from pathveil.words.base import (
    Batch,
    ErrorLaw,
    HammingUtility,
    OnInfeasible,
    SameLength,
    Utility,
    hamming_distances,
    largest_part,
    linear_scores,
)
from pathveil.words.classes import (
    EXPONENTIAL,
    LONGEST_LAW,
    Block,
    class_blocks,
    classes_of_codes,
    draw_by_class,
    equal_together,
    free_blocks,
    is_small,
    table_fits,
)
from pathveil.words.distances import TiltedDistances
from pathveil.words.laws import classes_are_cheap, exponential_law
from pathveil.words.tilted import LARGEST_EXACT_DRAW, draw_tilted, log_normaliser, may_be_local, sampling


class Exponential(TiltedDistances):
    """P(w'|w) ∝ exp(θ u(d(w, w'))) over the feasible words, θ = ε/(2Δu) with Δu the utility's sensitivity.

    With the Hamming utility this is the baseline of PF (θ = ε/2b). With `InverseUtility(alpha)` it is LEV's mechanism
    (16), drawn by first drawing the number of errors. LEV's equation (18) for that first draw forgets how many words
    each distance has, which breaks the promise; here the class sizes are in it.

    With a `distance` between symbols, P(w'|w) ∝ e^(-θ Σ c(w_i, w'_i)) at θ = ε/(2bρ); `within` narrows the unit to
    symbols that are moved by at most that, and ρ to the largest cost of such a move.

    Private for every pair of words within `adjacency` substitutions, feasible or not.

    >>> import pathveil as pv
    >>> m = pv.Exponential(pv.Alphabet("01"), epsilon=5.0, adjacency=1)
    >>> round(m.error_law("00000").mean, 6)
    0.379291
    """

    name = "exponential mechanism (published calibration)"

    def __init__(
        self,
        world: System,
        epsilon: float,
        adjacency: int = 1,
        utility: Utility | None = None,
        *,
        on_infeasible: OnInfeasible = "refuse",
        distance: SymbolDistance | None = None,
        within: float | None = None,
    ) -> None:
        super().__init__(
            world, epsilon, adjacency, on_infeasible=on_infeasible, distance=distance, within=within
        )  # fmt: skip
        self._utility = HammingUtility() if utility is None else utility
        if not isinstance(self._utility, Utility):
            raise InvalidParameterError(f"utility is pv.HammingUtility() or pv.InverseUtility(alpha), not {utility!r}")
        if distance is not None and not self._is_linear:
            raise InvalidParameterError("distances go with the Hamming utility only: leave `utility` out")

    @property
    def utility(self) -> Utility:
        """How good a word with so many errors is."""
        return self._utility

    def theta(self, length: int) -> float:  # noqa: ARG002 - the published calibration is the same for every length
        """The factor in front of the utility; with the Hamming utility one more error costs a factor e^θ."""
        if self._prices is not None:
            return self._prices.theta(self.epsilon, 2 * self.adjacency)
        if self._is_linear:
            return largest_part(self.epsilon, 2 * self.adjacency)
        # A little less than asked for, so that `_scores` hardly ever has to give way to rounding.
        return self.epsilon / (2 * self.utility.sensitivity(self.adjacency)) * (1 - 2.0**-48)

    def _scores(self, length: int) -> FloatArray:
        if self._is_linear:
            return linear_scores(self.theta(length), length)
        # Relative to no error: where α is large, utilities differ in their last digits only. What counts is how far the
        # rounded scores of two numbers of errors lie apart, as exact numbers: twice that is the loss.
        utility = self.utility.score(np.arange(length + 1.0))
        scores: FloatArray = self.theta(length) * (utility - utility[0])
        if not np.isfinite(scores).all():
            raise InvalidParameterError(f"the utility of a word of {length} symbols is not finite: {self.utility!r}")
        epsilon, less = Fraction(self.epsilon), 2.0**-48
        while 2 * (change := _largest_change(scores, self.adjacency)) > epsilon:
            scores = scores * float(epsilon / (2 * change)) * (1 - less)
            less = min(2 * less, 0.5)
        return scores

    @property
    def _is_linear(self) -> bool:
        return type(self.utility) is HammingUtility  # a subclass may score differently

    def _draw(self, words: Batch, source: RandomSource) -> AnyIntArray:
        if self._prices is not None:
            return self._draw_priced(self._prices, words, source)
        if self._is_linear:
            return draw_tilted(self.world.compiled, words, self.theta, source)

        compiled = self.world.compiled
        fits = all(
            part.length <= LONGEST_LAW if compiled.is_free else table_fits(compiled, part.length)
            for part in words.by_length
        )
        if not fits or is_small(compiled, words):
            return draw_by_class(compiled, words, EXPONENTIAL, self._scores, source)
        private = np.empty_like(words.values)
        run_blocks([block for part in words.by_length for block in self._blocks(words.values, part, private)], source)
        return private

    def _blocks(self, values: AnyIntArray, part: SameLength, private: AnyIntArray) -> list[Block]:
        compiled, scores = self.world.compiled, self._scores(part.length)
        if compiled.is_free:
            return free_blocks(compiled.symbol_count, values, part, scores, private, EXPONENTIAL)
        return class_blocks(compiled, values, equal_together(values, part), scores, private)

    @property
    def _sampling(self) -> str:
        if self._prices is not None:
            return self._sampling_priced()
        compiled = self.world.compiled
        return (
            super()._sampling
            if compiled.is_free or not self._is_linear
            else sampling(compiled, LARGEST_EXACT_DRAW, local=may_be_local(compiled))
        )

    def _law(self, codes: IntArray) -> ErrorLaw:
        if self._prices is not None:
            return self._law_priced(self._prices, codes)
        compiled = self.world.compiled
        if self._is_linear and not classes_are_cheap(compiled, len(codes)):
            return exponential_law(compiled, codes, self.theta(len(codes)))
        return ErrorLaw(EXPONENTIAL.log_law(classes_of_codes(compiled, codes).counts, self._scores(len(codes))))

    def _log_probabilities(self, codes: IntArray, outputs: IntArray) -> FloatArray:
        if self._prices is not None:
            return self._log_probabilities_priced(self._prices, codes, outputs)
        scores = self._scores(len(codes))
        if not self._is_linear:
            return EXPONENTIAL.log_probabilities(classes_of_codes(self.world.compiled, codes), scores, outputs)
        normaliser = log_normaliser(self.world.compiled, codes, self.theta(len(codes)))
        values: FloatArray = scores[hamming_distances(codes, outputs)] - normaliser
        return values


def _largest_change(scores: FloatArray, adjacency: int) -> Fraction:
    """How far two scores lie apart at most, of numbers of errors that differ by at most `adjacency`; exact."""
    near = np.lib.stride_tricks.sliding_window_view(scores, min(adjacency + 1, len(scores)))
    highest, lowest = near.max(axis=1), near.min(axis=1)
    # Subtraction is rounded, so all that come out nearly largest are subtracted again, without rounding.
    candidates = np.flatnonzero(highest - lowest >= (highest - lowest).max() * (1 - 2.0**-50))
    return max(Fraction(highest[i]) - Fraction(lowest[i]) for i in candidates.tolist())
