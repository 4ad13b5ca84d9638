"""Words that many have: kept whole, with a noisy count. Needs a δ, since whether a word occurs at all is private.

Every word that occurs gets discrete Laplace noise on its count, and is kept where the noisy count reaches a threshold.
A word that only the changed part of the data has (one word, or up to k words of a person) is the only trace that noise
alone does not hide: it must be kept with a probability of at most δ. The noise X has P(X ≥ t) = q^t/(1+q) for t ≥ 1,
q = e^(-1/scale). A person's k words are worst when they are all equal (one count of k) or all different (k counts of
1): for p new words with counts that sum to k, the sum of q^(-count) is largest at p = 1 or p = k, because it is convex
in the counts and, with one count of k-p+1 and others of 1, in p.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pathveil.models.laplace import CountNoise, laplace_noise
from pathveil.models.people import WholeWords
from pathveil.models.sequences.coded_words import CodedWords
from pathveil.numerics.arrays import BoolArray, FloatArray
from pathveil.randomness.source import RandomSource


@dataclass(frozen=True, eq=False)
class FrequentWords:
    """Kept words and their noisy counts, by the places that they have among the distinct words."""

    kept: BoolArray
    counts: FloatArray
    """Of all distinct words; only those of kept ones may be looked at."""
    variance: FloatArray

    def joined(self, other: FrequentWords) -> FrequentWords:
        """What two independent looks have kept; where both have, the counts are averaged by their variances."""
        own = np.where(self.kept, 1 / self.variance, 0.0)
        others = np.where(other.kept, 1 / other.variance, 0.0)
        total = np.maximum(own + others, 1e-300)
        counts = (
            own * np.where(self.kept, self.counts, 0.0) + others * np.where(other.kept, other.counts, 0.0)
        ) / total
        return FrequentWords(self.kept | other.kept, counts, 1 / total)


def find_frequent(
    words: CodedWords, epsilon: Fraction, delta: float, unit: WholeWords, source: RandomSource
) -> FrequentWords:
    """The words among `words` (each once, with its count) whose noisy count reaches the threshold."""
    noise = laplace_noise(epsilon, unit.sensitivity(1)[0])
    counts = words.times + noise.draw(source, len(words))
    kept: BoolArray = counts >= threshold(noise, delta, unit.max_words or 1)
    return FrequentWords(kept, counts.astype(float), np.full(len(words), noise.variance))


def threshold(noise: CountNoise, delta: float, words: int) -> int:
    """The least noisy count to keep, so that up to so many words of one person show up with probability ≤ δ.

    >>> from fractions import Fraction
    >>> threshold(CountNoise("laplace", Fraction(2)), delta=1e-6, words=1)
    28
    """
    from flint import arb, ctx

    with ctx.workprec(128):
        exponent = arb(noise.scale.denominator) / noise.scale.numerator
        base = -(arb(delta) * (1 + (-exponent).exp())).log()  # q^t/(1+q) ≤ δ where t·exponent ≥ this
        equal = words + _rounded_up(base / exponent)
        different = 1 + _rounded_up((base + arb(words).log()) / exponent)
    return max(equal, different, words + 1)


def _rounded_up(value: object) -> int:
    """A whole number that is no smaller; `value` is a number with an error bound."""
    upper = float(value.upper())  # type: ignore[attr-defined]
    return math.ceil(upper * (1 + 1e-12) + 1e-9) if upper > 0 else math.ceil(upper)
