"""The two ways to select a class: the exponential mechanism and permute-and-flip.

Both are the word with the largest score + noise, the noise being Gumbel for one and exponential for the other. Since
all words of a class have the same score, a class needs a single draw: the largest of its N noises. That, and the law
which follows, are all that a mechanism must know; what the classes are is the business of a `ClassCounter`.

The largest is looked for in floating point. Where two classes come closer to each other than rounding can be trusted,
the same random numbers are compared again in ball arithmetic, with more of their bits: the class then has exactly the
law that the scores, taken as the floating-point numbers they are, stand for. (docs/exact-sampling.md)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray, UintArray
from pathveil.randomness.decisions import InDoubtError, with_enough_digits
from pathveil.randomness.lazy import LazyUniform
from pathveil.randomness.source import RandomSource, as_uniform
from pathveil.words.base import exponential_log_law, log_counts, permute_and_flip_log_law, rounding_margin
from pathveil.words.classes.counter import ClassCounter
from pathveil.words.classes.law_balls import exponential_balls, permute_and_flip_balls

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True)
class Selection:
    """How the class of the output is selected, given the scores of the classes."""

    log_law: Callable[[Sequence[int], FloatArray], FloatArray]
    """log P(class) from the counts and the scores."""

    noise: Callable[[FloatArray], FloatArray]
    """The largest noise among the N words of a class, from log(E/N), E being a standard exponential variate."""

    noise_ball: Callable[[arb], arb]
    """The same from E/N, in ball arithmetic."""

    law_balls: Callable[[Sequence[int], Sequence[float]], list[arb]]
    """P(class) from the counts and the scores, in ball arithmetic."""

    def choose(
        self,
        counts: Sequence[Sequence[int]] | IntArray,
        scores: FloatArray,
        keystream: UintArray,
        source: RandomSource,
    ) -> IntArray:
        """A class for each row of the keystream, which holds one for each class.

        `counts` has the sizes of the classes for each row, or once for all of them.
        """
        if isinstance(counts, np.ndarray):
            with np.errstate(divide="ignore"):
                log_n = np.log(counts)
        else:
            log_n = np.array([log_counts(row) for row in counts])
        chosen, in_doubt = self._largest(log_n, scores, keystream)
        for row in np.flatnonzero(in_doubt):
            sizes = [int(count) for count in counts[int(row) if len(counts) > 1 else 0]]
            chosen[row] = self.choose_exactly(sizes, scores, keystream[row], source)
        return chosen

    def _largest(self, log_n: FloatArray, scores: FloatArray, keystream: UintArray) -> tuple[IntArray, BoolArray]:
        """The class of the noisy maximum of each row, and whether rounding may have decided it."""
        uniform = as_uniform(keystream)
        present = log_n > -np.inf
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            log_ratio = np.log(-np.log(uniform)) - log_n
            values = np.where(present, scores + self.noise(log_ratio), -np.inf)
            # The uniform number is known to 2^-53, which moves log E by at most 2^-52/(u(1-u)); and everything is
            # rounded. `exp` and `log` are taken to be right to 16 units in the last place.
            size = 4 + np.abs(log_n) + np.abs(log_ratio) + np.abs(scores) + np.abs(values)
            margin = np.where(present, 2.0**-51 / (uniform * (1 - uniform)) + rounding_margin(16) * size, 0.0)
        margin[margin > 2.0**-12] = np.inf  # too near to 0 or 1 for that bound
        chosen: IntArray = np.argmax(values, axis=1)
        rows = np.arange(len(values))
        floor = values[rows, chosen] - margin[rows, chosen]
        above = values + margin
        above[rows, chosen] = -np.inf
        above[np.broadcast_to(~present, above.shape)] = -np.inf
        return chosen, np.any(above >= floor[:, None], axis=1)

    def choose_exactly(
        self, counts: Sequence[int], scores: FloatArray, keystream: UintArray, source: RandomSource
    ) -> int:
        """The class for one row of the keystream, whatever rounding would say."""
        from flint import arb

        uniforms = {k: LazyUniform(bits, source) for k, bits in enumerate(keystream.tolist()) if counts[k]}
        exact_scores = scores.tolist()

        def largest(bits: int) -> int:
            while True:
                values = {
                    k: arb(exact_scores[k]) + self.noise_ball(-uniform.ball().log() / counts[k])
                    for k, uniform in uniforms.items()
                }
                for k, value in values.items():
                    if all(other < value for j, other in values.items() if j != k):
                        return k
                if all(uniform.bits >= bits for uniform in uniforms.values()):
                    raise InDoubtError
                for uniform in uniforms.values():
                    uniform.refine()

        return with_enough_digits(largest)

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


def _largest_gumbel(log_ratio: FloatArray) -> FloatArray:
    """The largest of N Gumbel noises is log N plus a single one, -log E."""
    return -log_ratio


def _largest_exponential(log_ratio: FloatArray) -> FloatArray:
    """The largest of N exponential noises is -log(1 - e^(-E/N)); that is -log(E/N) where E/N vanishes."""
    noise: FloatArray = np.where(log_ratio < -40, -log_ratio, -np.log(-np.expm1(-np.exp(log_ratio))))
    return noise


EXPONENTIAL = Selection(exponential_log_law, _largest_gumbel, lambda ratio: -ratio.log(), exponential_balls)
PERMUTE_AND_FLIP = Selection(
    permute_and_flip_log_law, _largest_exponential, lambda ratio: -(-(-ratio).expm1()).log(), permute_and_flip_balls
)
