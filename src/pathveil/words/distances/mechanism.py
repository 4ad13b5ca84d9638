"""What mechanisms that may know distances share: the options, the unit, laws in metres, and the exponential draw."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from math import inf, nextafter

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import AnyIntArray, BoolArray, FloatArray, IntArray
from pathveil.privacy.units import Unit
from pathveil.randomness.lazy import EXACT
from pathveil.randomness.source import RandomSource
from pathveil.systems.symbol_distance import SymbolDistance
from pathveil.systems.system import System, Word
from pathveil.words.base import (
    Batch,
    ErrorLaw,
    OnInfeasible,
    SameLengthMechanism,
    checked_positive_integer,
    hamming_distances,
)
from pathveil.words.distances.engine import draw_priced
from pathveil.words.distances.free import draw_free, free_log_normaliser, symbol_laws
from pathveil.words.distances.laws import DistanceLaw, independent_errors, marginals, wrong_symbols
from pathveil.words.distances.prices import Prices
from pathveil.words.distances.word_passes import WordPasses
from pathveil.words.tilted import LARGEST_EXACT_DRAW, sampling

DISTANCES_ARE_PUBLIC = "the distances between symbols"


class DistanceMechanism(SameLengthMechanism):
    """A mechanism that takes `distance` and `within`; without them it counts wrong symbols."""

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
        super().__init__(world, epsilon, adjacency, on_infeasible=on_infeasible)
        self._prices = Prices.of(world, distance, within)

    @property
    def distance(self) -> SymbolDistance | None:
        """How far apart symbols are, in the order of the system's symbols; None for Hamming distance."""
        return None if self._prices is None else self._prices.distance

    @property
    def within(self) -> float | None:
        """How far a symbol may be moved for the promise to hold; None for however far."""
        return None if self._prices is None else self._prices.within

    @property
    def unprotected_symbols(self) -> int:
        """How many symbols have no other symbol within `within`: the unit says nothing about them."""
        return 0 if self._prices is None else self._prices.alone

    # The unit.

    @property
    def _protects(self) -> Unit:
        if self._prices is None:
            return super()._protects
        return self._prices.unit(self.adjacency, feasible=self._among_feasible)

    @property
    def _among_feasible(self) -> bool:
        """Does the promise speak of feasible words only?"""
        return False

    @property
    def _unit(self) -> str:
        return super()._unit if self._prices is None else self._prices.sentence(self._covers, self.adjacency)

    def _public(self) -> Iterable[str]:
        yield from super()._public()
        if self._prices is not None:
            yield f"{DISTANCES_ARE_PUBLIC} (radius {self._prices.distance.radius:g})"

    def loss_at(self, distance: int, lengths: Iterable[int] | None = None) -> float:
        """With distances: twice the largest cost of so many symbols, however far they are moved."""
        if self._prices is None:
            return super().loss_at(distance, lengths)
        count = checked_positive_integer(distance, "distance")
        theta = max(self.theta(length) for length in (lengths or [1]))
        everywhere = 2 * count * theta * int(self._prices.costs.max(initial=0)) / self._prices.steps * (1 + 1e-12)
        if self.within is not None or self._among_feasible:
            return everywhere
        return min(everywhere, nextafter(-(-count // self.adjacency) * self.epsilon, inf))

    @property
    def is_uniform_within_class(self) -> bool:
        """With distances, words with as many wrong symbols are not equally likely."""
        return self._prices is None

    def adjacent(self, codes: IntArray, words: IntArray) -> BoolArray:
        """Which of the words does the promise compare with this one?"""
        errors = hamming_distances(codes, words)
        found: BoolArray = (errors > 0) & (errors <= self.adjacency)
        if self._prices is not None and self._prices.near is not None:
            found &= np.all((words == codes) | self._prices.near[codes, words], axis=1)
        return found

    # Knowing.

    def expected_distance(self, word: Word) -> float:
        """The mean distance of a private symbol from the true one, in the units of the coordinates.

        Not the cost, which the radius cuts off. For the curator's eyes, like `error_law`.
        """
        return self.distance_law(word).mean

    def distance_law(self, word: Word) -> DistanceLaw:
        """How far a private symbol is from the true one: `.mean`, `.quantile(q)`; for the curator's eyes."""
        if self._prices is None:
            raise InvalidParameterError(
                "no distances are known: build the mechanism with `distance=…` (a radius of 0 is Hamming distance)"
            )
        codes = self._checked(word)
        return DistanceLaw.of(self._prices, codes, self._marginals(codes))

    def wrong_at(self, codes: IntArray) -> FloatArray:
        """For each position of a word the probability that another symbol comes out; only with distances."""
        wrong: FloatArray = 1 - self._marginals(codes)[np.arange(len(codes)), codes]
        return np.clip(wrong, 0.0, 1.0)

    @abstractmethod
    def _marginals(self, codes: IntArray) -> FloatArray:
        """P(private symbol) at each position; only with distances."""


class TiltedDistances(DistanceMechanism):
    """The exponential mechanism with distances, whatever its calibration."""

    def _draw_priced(self, prices: Prices, words: Batch, source: RandomSource) -> AnyIntArray:
        compiled, theta = self.world.compiled, self.theta
        if not compiled.is_free:
            return draw_priced(
                compiled, prices, words, theta, source, feasible=self.on_infeasible == "refuse"
            )  # fmt: skip
        private = np.empty_like(words.values)
        _by_tilt(words, theta, lambda values, tilt, drawn: draw_free(prices, values, tilt, source, drawn), private)
        return private

    def _sampling_priced(self) -> str:
        return EXACT if self.world.compiled.is_free else sampling(self.world.compiled, LARGEST_EXACT_DRAW)

    def _law_priced(self, prices: Prices, codes: IntArray) -> ErrorLaw:
        compiled, theta = self.world.compiled, self.theta(len(codes))
        if compiled.is_free:
            laws = symbol_laws(prices, codes, theta)
            return independent_errors(1 - laws[np.arange(len(codes)), codes])
        passes = WordPasses(compiled, prices, codes, prices.z(theta))
        return wrong_symbols(compiled, passes.transitions(), codes)

    def _log_probabilities_priced(self, prices: Prices, codes: IntArray, outputs: IntArray) -> FloatArray:
        compiled, z = self.world.compiled, prices.z(self.theta(len(codes)))
        normaliser = (
            free_log_normaliser(prices, codes, z)
            if compiled.is_free
            else WordPasses(compiled, prices, codes, z).log_normaliser
        )
        return np.log(z) * prices.word_costs(codes, outputs) - normaliser  # type: ignore[no-any-return]

    def _marginals(self, codes: IntArray) -> FloatArray:
        assert self._prices is not None
        compiled, theta = self.world.compiled, self.theta(len(codes))
        if compiled.is_free:
            return symbol_laws(self._prices, codes, theta)
        passes = WordPasses(compiled, self._prices, codes, self._prices.z(theta))
        return marginals(compiled, passes.transitions(), len(codes))


def _by_tilt(
    words: Batch,
    theta: Callable[[int], float],
    draw: Callable[[AnyIntArray, float, AnyIntArray], None],
    private: AnyIntArray,
) -> None:
    """Draw all symbols at once where words of all lengths have one tilt, otherwise length by length."""
    tilts = [theta(length) for length in words.lengths]
    if len(set(tilts)) == 1:
        draw(words.values, tilts[0], private)
        return
    for part, tilt in zip(words.by_length, tilts, strict=True):
        drawn = np.empty(part.cells.size, dtype=private.dtype)
        draw(words.values[part.cells].reshape(-1), tilt, drawn)
        private[part.cells] = drawn.reshape(part.cells.shape)
