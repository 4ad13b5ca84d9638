"""The exponential mechanism with a certified tilt: PathVeil's own calibration."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import AnyIntArray, FloatArray, IntArray
from pathveil.numerics.long_work import LongWork
from pathveil.privacy.units import Symbols, Unit
from pathveil.randomness.source import RandomSource
from pathveil.systems.symbol_distance import SymbolDistance
from pathveil.systems.system import System, checked_length
from pathveil.words.base import (
    Batch,
    ErrorLaw,
    OnInfeasible,
    Progress,
    checked_positive_integer,
    exponential_log_law,
    hamming_distances,
    largest_part,
    linear_scores,
)
from pathveil.words.certificate import (
    Certificate,
    ChainCertifier,
    free_certificate,
    published_certificate,
    published_theta,
)
from pathveil.words.classes import classes_of_codes
from pathveil.words.distances import DistanceCertificate, TiltedDistances, distance_certificate
from pathveil.words.laws import classes_are_cheap, exponential_law
from pathveil.words.tilted import LARGEST_EXACT_DRAW, draw_tilted, log_normaliser, may_be_local, sampling


class CertifiedExponential(TiltedDistances):
    """The exponential mechanism at the largest tilt whose loss among *feasible* words is certified to be at most ε.

    The same draw as `Exponential`, with fewer errors: free alphabets get θ = ε/b, Markov chains a θ between ε/2b and
    ε/b that `certificate(length)` justifies, and systems where nothing better is proved the published ε/2b.

    The unit differs from the other mechanisms': another *feasible* word that differs in at most b symbols. A symbol
    that cannot change alone has no such neighbour at b = 1 (`world.neighbour_positions(word)`); feasible words farther
    apart are covered at the larger loss that `certificate(length).loss_at(distance)` states. An infeasible sensitive
    word is outside the promise and is refused. With `on_infeasible="nearest"` such words are accepted, and every word
    gets θ = ε/2b.

    With a `distance` between symbols, P(w'|w) ∝ e^(-θ Σ c(w_i, w'_i)); `within` narrows the unit to symbols that are
    moved by at most that. Free alphabets get the largest θ whose exact loss is within ε, chains one with a certificate.

    `max_length` makes one certificate serve all words of up to that length (and refuses longer ones); otherwise each
    length gets its own. `contexts` is the budget for the bounds behind it, and twice as many nodes that of a
    search: more contexts, tighter bounds, more time.

    >>> import pathveil as pv
    >>> m = pv.CertifiedExponential(pv.Alphabet("01"), epsilon=5.0, adjacency=1)
    >>> round(m.error_law("00000").mean, 4), m.certificate(5).loss <= 5
    (0.0335, True)
    """

    name = "exponential mechanism (certified calibration)"
    is_certified = True

    def __init__(
        self,
        world: System,
        epsilon: float,
        adjacency: int = 1,
        *,
        on_infeasible: OnInfeasible = "refuse",
        max_length: int | None = None,
        contexts: int = 40_000,
        distance: SymbolDistance | None = None,
        within: float | None = None,
    ) -> None:
        super().__init__(
            world, epsilon, adjacency, on_infeasible=on_infeasible, distance=distance, within=within
        )  # fmt: skip
        self._max_length = None if max_length is None else checked_length(max_length)
        self._contexts = checked_positive_integer(contexts, "contexts")
        self._certificates: dict[int, Certificate | DistanceCertificate] = {}

    @property
    def max_length(self) -> int | None:
        """The greatest length that the one certificate covers; None where each length has its own."""
        return self._max_length

    @property
    def contexts(self) -> int:
        """The budget of contexts for the bounds behind a certificate."""
        return self._contexts

    @property
    def _covers(self) -> str:
        return "any other feasible word of the same length" if self._among_feasible else super()._covers

    @property
    def _among_feasible(self) -> bool:
        """Does the promise speak of feasible words only?"""
        return self.on_infeasible == "refuse" and not self.world.compiled.is_free

    @property
    def _protects(self) -> Unit:
        if self._prices is not None:
            return super()._protects
        return Symbols(self.adjacency, feasible=self._among_feasible)

    def loss_at(self, distance: int, lengths: Iterable[int] | None = None) -> float:
        """The largest loss that the certificates of these lengths state (`Certificate.loss_at`)."""
        if self.max_length is not None:
            lengths = [self.max_length]
        if lengths is None:
            raise InvalidParameterError(
                "which lengths do the words have? Each has a certificate of its own: `lengths=…`"
            )
        return max(self.certificate(length).loss_at(distance) for length in lengths)

    def certificate(self, length: int) -> Certificate | DistanceCertificate:
        """The proof, in numbers, that words of this length are released within ε."""
        length = checked_length(length)
        if self.max_length is not None:
            if length > self.max_length:
                limit = f"`max_length={self.max_length}`, which the certificate covers"
                raise InvalidParameterError(
                    f"a word of {length} symbols is longer than {limit}. Take a larger `max_length`, or none.",
                    without_content=f"a word is longer than {limit}",
                )
            length = self.max_length
        else:
            self.world.require_words(length)
        if length not in self._certificates:
            self._certificates[length] = self._certify(length)
        return self._certificates[length]

    def _certify(self, length: int) -> Certificate | DistanceCertificate:
        compiled, b, up_to = self.world.compiled, self.adjacency, self.max_length is not None
        epsilon = self.epsilon
        if self._prices is not None and self._prices.distance.radius > 0:
            return distance_certificate(
                compiled, self._prices, length, self.epsilon, b, up_to=up_to, feasible=self.on_infeasible == "refuse"
            )
        if self._prices is not None:
            # A radius of 0 is Hamming distance, whose certificates are tighter. z may be another by the last digit.
            epsilon *= 1 - 1e-9
        published = published_theta(epsilon, b)
        if self.on_infeasible == "nearest":
            return published_certificate(length, up_to, b, published, "infeasible words are accepted")
        if compiled.is_free:
            return free_certificate(compiled.symbol_count, length, up_to, b, largest_part(epsilon, b))
        certifier = ChainCertifier.of(compiled, length, b, up_to=up_to, budget=self.contexts)
        if isinstance(certifier, str):
            return published_certificate(length, up_to, b, published, certifier)
        return certifier.largest(epsilon)

    def prepare(self, lengths: Iterable[int], progress: Progress | None = None) -> None:
        wanted = sorted(set(lengths))
        advice = f"`max_length={max(wanted, default=1)}` takes one proof for all of them"
        work = LongWork("a proof for each length of words", len(wanted), advice="" if self.max_length else advice)
        for done, length in enumerate(wanted, start=1):
            self.certificate(length)
            work.part_done()
            if progress is not None:
                progress("proving", done)

    def theta(self, length: int) -> float:
        return self.certificate(length).theta

    def _scores(self, length: int) -> FloatArray:
        return linear_scores(self.theta(length), length)

    def _draw(self, words: Batch, source: RandomSource) -> AnyIntArray:
        self.prepare(words.lengths)
        if self._prices is not None:
            return self._draw_priced(self._prices, words, source)
        return draw_tilted(self.world.compiled, words, self.theta, source)

    @property
    def _sampling(self) -> str:
        if self._prices is not None:
            return self._sampling_priced()
        compiled = self.world.compiled
        return (
            super()._sampling
            if compiled.is_free
            else sampling(compiled, LARGEST_EXACT_DRAW, local=may_be_local(compiled))
        )

    def _law(self, codes: IntArray) -> ErrorLaw:
        if self._prices is not None:
            return self._law_priced(self._prices, codes)
        compiled = self.world.compiled
        if not classes_are_cheap(compiled, len(codes)):
            return exponential_law(compiled, codes, self.theta(len(codes)))
        counts = classes_of_codes(compiled, codes).counts
        return ErrorLaw(exponential_log_law(counts, self._scores(len(codes))))

    def _log_probabilities(self, codes: IntArray, outputs: IntArray) -> FloatArray:
        if self._prices is not None:
            return self._log_probabilities_priced(self._prices, codes, outputs)
        theta = self.theta(len(codes))
        errors = hamming_distances(codes, outputs).astype(np.float64)
        return -theta * errors - log_normaliser(self.world.compiled, codes, theta)
