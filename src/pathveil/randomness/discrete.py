"""Integer noise whose distribution is exact: discrete Laplace and discrete Gaussian.

Floating-point noise leaks through its rounding, so every decision here compares uniform random integers with ratios of
integers. The samplers are Algorithms 1 to 3 of Canonne, Kamath and Steinke, "The Discrete Gaussian for
Differential Privacy" (2020); the only change is that a whole batch of candidates is tried at a time. Candidates are
independent and kept in order, so a batch has the same law as one draw after another.

How long a draw takes depends on its outcome, so keep the time of a release from those it must be hidden from.

A *coin* is a Boolean draw; it shows heads (True) with the stated probability. Where numbers may outgrow 64 bits they
are Python integers in object arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from numbers import Rational

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import BigIntArray, BoolArray, IntArray
from pathveil.randomness.exact import draw_below, draw_below_each
from pathveil.randomness.source import RandomSource

# Up to this scale a draw outside the 64-bit integers has a probability below exp(-2**15).
LARGEST_SCALE = 2**48
# Candidates tried at a time. Each takes about 180 bytes on the way: 190 MB, however many draws are wanted.
LARGEST_BATCH = 2**20


def discrete_laplace(source: RandomSource, scale: Fraction, count: int) -> IntArray:
    """`count` independent integers with P(x) ∝ exp(-|x|/scale), exactly.

    Added to an integer that changes by at most 1 between neighbours, the noise gives ε = 1/scale.

    >>> import pathveil as pv
    >>> discrete_laplace(pv.insecure_seed(7), Fraction(3, 2), 8).dtype
    dtype('int64')
    """
    scale = _positive("scale", scale, LARGEST_SCALE)
    t, s = scale.numerator, scale.denominator
    return _collect(lambda tries: _laplace_candidates(source, t, s, tries), count, acceptance=0.5)


def discrete_gaussian(source: RandomSource, variance: Fraction, count: int) -> IntArray:
    """`count` independent integers with P(x) ∝ exp(-x²/(2·variance)), exactly.

    The parameter is the variance σ² of the continuous Gaussian of the same shape; the variance of the draws is never
    larger than it.
    """
    variance = _positive("variance", variance, LARGEST_SCALE**2)
    return _collect(lambda tries: _gaussian_candidates(source, variance, tries), count, acceptance=0.4)


def _collect(candidates: Callable[[int], IntArray], count: int, acceptance: float) -> IntArray:
    """Accepted candidates, the first `count` of them; `acceptance` only sets the size of a batch, within limits."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
        raise InvalidParameterError(f"count is a whole number of draws, not {count!r}")
    found = [np.empty(0, dtype=np.int64)]
    missing = int(count)
    while missing > 0:
        found.append(candidates(min(int(missing / acceptance) + 16, LARGEST_BATCH))[:missing])
        missing -= len(found[-1])
    return np.concatenate(found)


def _laplace_candidates(source: RandomSource, t: int, s: int, tries: int) -> IntArray:
    """Algorithm 2: the accepted ones among `tries` candidates of scale t/s."""
    # X = U + tV is geometric with ratio exp(-1/t): its remainder U is kept with exp(-U/t), its quotient V counts heads.
    remainders = _below(source, t, tries)
    remainders = remainders[_exp_coins(source, remainders, t)]
    quotients = _geometric(source, len(remainders))
    magnitudes = ((remainders + t * quotients.astype(object)) // s).astype(np.int64)
    negative = _coins_one_in(source, 2, len(magnitudes))
    # Zero has one sign only: "minus zero" is thrown away, or zero would come twice as often as it should.
    kept = ~(negative & (magnitudes == 0))
    accepted: IntArray = np.where(negative, -magnitudes, magnitudes)[kept]
    return accepted


def _gaussian_candidates(source: RandomSource, variance: Fraction, tries: int) -> IntArray:
    """Algorithm 3: discrete Laplace of scale t ≈ σ, kept with exp(-(|y| - σ²/t)²/(2σ²))."""
    p, q = variance.numerator, variance.denominator
    t = isqrt(p // q) + 1
    proposals = _laplace_candidates(source, t, 1, tries)
    # With σ² = p/q the exponent is (|y|·qt - p)² / (2pqt²), a ratio of integers.
    numerators = (np.abs(proposals).astype(object) * (q * t) - p) ** 2
    return proposals[_exp_coins(source, numerators, 2 * p * q * t * t)]


def _exp_coins(source: RandomSource, numerators: BigIntArray, denominator: int) -> BoolArray:
    """Algorithm 1: for each numerator a coin with P(heads) = exp(-numerator/denominator), numerator ≥ 0."""
    # exp(-γ) = exp(-1) · exp(-1) ··· exp(-fraction): all of these coins must show heads.
    whole = numerators // denominator
    heads = np.ones(len(numerators), dtype=bool)
    flipping = np.flatnonzero(whole > 0)
    flips = 0
    while len(flipping):
        shown = _exp_minus_one_coins(source, len(flipping))
        heads[flipping[~shown]] = False
        flips += 1
        flipping = flipping[shown]
        flipping = flipping[(whole[flipping] > flips).astype(bool)]
    alive = np.flatnonzero(heads)
    heads[alive] = _fraction_exp_coins(source, numerators[alive] % denominator, denominator)
    return heads


def _fraction_exp_coins(source: RandomSource, numerators: BigIntArray, denominator: int) -> BoolArray:
    """The case γ = numerator/denominator ≤ 1: flip coins of γ/1, γ/2, γ/3, ... until the first tails.

    The k-th flip is the first tails with probability γ^(k-1)/(k-1)! - γ^k/k!, so "k is odd" has probability
    1 - γ + γ²/2 - ... = exp(-γ).
    """
    heads = np.zeros(len(numerators), dtype=bool)
    flipping = np.arange(len(numerators))
    k = 1
    while len(flipping):
        shown = _coins(source, numerators[flipping], denominator * k)
        heads[flipping[~shown]] = k % 2 == 1
        flipping = flipping[shown]
        k += 1
    return heads


def _exp_minus_one_coins(source: RandomSource, count: int) -> BoolArray:
    """The case γ = 1, where every flip fits into 64 bits. The flip k = 1 always shows heads."""
    heads = np.zeros(count, dtype=bool)
    flipping = np.arange(count)
    k = 2
    while len(flipping):
        shown = _coins_one_in(source, k, len(flipping))
        heads[flipping[~shown]] = k % 2 == 1
        flipping = flipping[shown]
        k += 1
    return heads


def _geometric(source: RandomSource, count: int) -> IntArray:
    """How often a coin of exp(-1) shows heads before its first tails."""
    successes = np.zeros(count, dtype=np.int64)
    flipping = np.arange(count)
    while len(flipping):
        flipping = flipping[_exp_minus_one_coins(source, len(flipping))]
        successes[flipping] += 1
    return successes


def _coins(source: RandomSource, numerators: BigIntArray, denominator: int) -> BoolArray:
    """For each numerator a coin with P(heads) = numerator/denominator, which is in [0, 1]."""
    # A uniform number below 1 is compared with the ratio, its first 64 bits first. Only if these agree (once in
    # 2**64) do the remaining bits matter; they are uniform again and face what is left of the ratio.
    scaled = numerators << 64
    bits = source.keystream(len(numerators)).astype(object)
    threshold = scaled // denominator
    heads = (bits < threshold).astype(bool)
    for i in np.flatnonzero(bits == threshold):
        heads[i] = draw_below(source, denominator) < scaled[i] % denominator
    return heads


def _coins_one_in(source: RandomSource, k: int, count: int) -> BoolArray:
    """Coins with P(heads) = 1/k."""
    return np.equal(draw_below_each(source, np.full(count, k, dtype=np.uint64)), 0)


def _below(source: RandomSource, bound: int, count: int) -> BigIntArray:
    """Uniform integers in [0, bound)."""
    if bound < 2**63:
        return draw_below_each(source, np.full(count, bound, dtype=np.uint64)).astype(object)
    return np.array([draw_below(source, bound) for _ in range(count)], dtype=object)


def _positive(name: str, value: Fraction, largest: int) -> Fraction:
    if not isinstance(value, Rational) or isinstance(value, bool):
        raise InvalidParameterError(f"{name} is a Fraction, not {value!r}: exact noise needs an exact {name}")
    if not 0 < value <= largest:
        raise InvalidParameterError(f"{name} is {value}: it must be positive and at most {largest}")
    return Fraction(value)
