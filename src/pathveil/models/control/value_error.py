"""How much a private decision process may cost: from the noise to the value of its policy, by public quantities only.

Let P, r be the process that the data have without noise, P̃, r̃ the private one, Ṽ the value of its best policy, and
span(Ṽ) its largest minus its smallest entry. For a pair of state and action let

    e(s, a) = |r - r̃| + γ ‖P(·|s,a) - P̃(·|s,a)‖₁ · span(Ṽ)/2.

One step of either process applied to Ṽ differs by at most max e, so the value of any policy differs by at most
max e/(1-γ), and the policy that is best in the private process loses at most 2 max e/(1-γ) in the true one
(docs/control.md has the proof). Only the two distances are not public. Their laws are:

- *Noise on counts.* Let Z be the noise of a row's n cells and T its size (public) or noisy sum. Projected to the
  simplex, the row is wrong by at most (‖Z‖₁ + |ΣZ|)/T in the 1-norm. That is 2 max(ΣZ⁺, ΣZ⁻)/T.
- *Dirichlet.* A draw with concentration k has E‖x - p‖₁ ≤ √((n-1)/(k+1)), and each of its 2ⁿ partial sums is
  sub-Gaussian with variance 1/(4(k+1)); undoing the mixing divides by what was kept.
- *Rewards.* A sum with noise Y, divided by T, is wrong by |Y|/T, and by |ΣZ|/T times half the range more where T itself
  is noisy.

Rows that no step tried have no truth to be compared with: they are left out where row sizes are public.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.models.accuracy import expected_largest_sum
from pathveil.models.chain import Mechanism
from pathveil.models.control.steps import GRID
from pathveil.models.laplace import CountNoise
from pathveil.numerics.arrays import FloatArray, IntArray

LEAST_RECORDS = 4.0
"""A mean reward is worth reading from so many records on, times the noise on their sum in units of the range."""


@dataclass(frozen=True, eq=False)
class RowNoise:
    """What the noise of each row (a possible pair of state and action) was; public.

    `totals` are the sizes of the rows where these are public, otherwise their noisy sums. `count_scale` is the
    parameter of noise on counts; `dirichlet_spread` is 1/((1 - mixing)²(k + 1)), 0 for rows without noise.
    """

    mechanism: Mechanism
    sizes_are_public: bool
    totals: FloatArray
    successors: IntArray
    count_scale: float | None = None
    dirichlet_spread: FloatArray | None = None

    @property
    def count_noise(self) -> CountNoise | None:
        return None if self.count_scale is None else CountNoise(self.mechanism, Fraction(self.count_scale))

    def with_a_truth(self) -> RowNoise:
        """Only the rows that the data say something about; where that is protected all of them, and those without a
        positive sum are so small that their error is the largest that there is."""
        if not self.sizes_are_public:
            return replace(self, totals=np.maximum(self.totals, 1e-9))
        tried, spread = self.totals > 0, self.dirichlet_spread
        kept = None if spread is None else spread[tried]
        return replace(self, totals=self.totals[tried], successors=self.successors[tried], dirichlet_spread=kept)


@dataclass(frozen=True)
class ValueErrorBound:
    """How much value the private policy may lose in the process of the data, in its worst state.

    `bound` holds with the stated `probability` over the noise. `expected` is the same bound with the expected largest
    errors of rows and rewards in place of those that are exceeded rarely. `transitions` and `rewards` are the errors
    behind `bound`: the largest 1-norm distance of a row, and the largest error of a mean reward. `span` is that of the
    private values. Nothing here depends on the data except through the release.
    """

    bound: float
    expected: float
    probability: float
    transitions: float
    rewards: float
    span: float


def value_error(
    noise: RowNoise,
    reward_scale: float | None,
    reward_range: tuple[float, float] | None,
    span: float,
    discount: float,
    probability: float,
) -> ValueErrorBound:
    """The bounds of the module's text; each of the two kinds of error may fail with half of what is left to 1."""
    if not 0 < probability < 1:
        raise InvalidParameterError(f"probability is {probability}: it lies between 0 and 1, both excluded")
    noise = noise.with_a_truth()
    rare = (1 - probability) / (2 * max(1, len(noise.totals)))
    moved = _row_errors(noise, rare)
    paid = _Errors.none(len(noise.totals))
    if reward_scale is not None and reward_range is not None:
        paid = _reward_errors(noise, reward_scale, reward_range[1] - reward_range[0], moved, rare)
    scale = 2 / (1 - discount)
    return ValueErrorBound(
        bound=float(scale * (paid.rarely + discount * moved.rarely * span / 2).max(initial=0.0)),
        expected=float(scale * (paid.expected_largest + discount * moved.expected_largest * span / 2)),
        probability=probability,
        transitions=float(moved.rarely.max(initial=0.0)),
        rewards=float(paid.rarely.max(initial=0.0)),
        span=span,
    )


@dataclass(frozen=True, eq=False)
class _Errors:
    """An error of each row: bounds on its mean and standard deviation, what it exceeds rarely, and what never."""

    mean: FloatArray
    deviation: FloatArray
    rarely: FloatArray
    never: float

    @classmethod
    def none(cls, rows: int) -> _Errors:
        return cls(np.zeros(rows), np.zeros(rows), np.zeros(rows), 0.0)

    @classmethod
    def of(cls, mean: FloatArray, deviation: FloatArray, rarely: FloatArray, never: float) -> _Errors:
        return cls(mean, deviation, np.minimum(rarely, never), never)

    @property
    def expected_largest(self) -> float:
        if not len(self.mean):
            return 0.0
        return min(self.never, expected_largest_sum(self.mean, self.deviation**2))


def _row_errors(noise: RowNoise, rare: float) -> _Errors:
    """How far each row is from the truth in the 1-norm."""
    n, counts = noise.successors, noise.count_noise
    if counts is None:
        assert noise.dirichlet_spread is not None
        spread = noise.dirichlet_spread
        mean = np.sqrt((n - 1) * spread)
        return _Errors.of(mean, mean, np.sqrt(2 * spread * (n * math.log(2) + math.log(1 / rare))), 2.0)
    size, square = counts.mean_size, counts.variance
    mean = n * size + np.sqrt(n * square)
    deviation = np.sqrt(n * max(0.0, square - size**2)) + np.sqrt(n * square)
    # Of noise on a single possible successor nothing is left in the row.
    left = (n > 1) / noise.totals
    return _Errors.of(mean * left, deviation * left, 2 * _positive_sum(counts, n, rare / 2) * left, 2.0)


def _reward_errors(noise: RowNoise, scale: float, width: float, moved: _Errors, rare: float) -> _Errors:
    """How far each mean reward is from the truth."""
    laplace = CountNoise("laplace", Fraction(scale / width * GRID))
    unit = width / GRID / noise.totals
    mean, rarely = laplace.mean_size * unit, laplace_tail(laplace, rare) * unit
    deviation = mean
    if not noise.sizes_are_public:
        # |ΣZ|/T is at most what a row is wrong by; a row with one successor has noise, too.
        n, counts = noise.successors, noise.count_noise
        assert counts is not None
        total = np.sqrt(n * counts.variance) / noise.totals
        high = np.maximum(moved.rarely, 2 * _positive_sum(counts, n, rare / 2) / noise.totals)
        mean, deviation, rarely = (x + y * width / 2 for x, y in ((mean, total), (deviation, total), (rarely, high)))
    unknown = noise.totals < LEAST_RECORDS * scale / width
    mean, rarely = (np.where(unknown, width, x) for x in (mean, rarely))
    return _Errors.of(mean, deviation, rarely, width)


def _positive_sum(noise: CountNoise, n: IntArray, rare: float) -> FloatArray:
    """What ΣZ⁺ over n cells exceeds with at most this probability (Chernoff)."""
    scale = float(noise.scale)
    if noise.kind == "gaussian":  # the largest of 2ⁿ partial sums, each sub-Gaussian with variance nσ² at most
        result: FloatArray = np.sqrt(2 * n * scale * (n * math.log(2) + math.log(1 / rare)))
        return result
    q = math.exp(-1 / scale)
    # E e^(tZ⁺) = 1/(1+q) + (1-q)/(1+q)·qe^t/(1-qe^t); any t below 1/scale is sound, the best of some is taken.
    t = np.linspace(0.002, 0.998, 250) / scale
    grown = q * np.exp(t)
    log_moment = np.log(1 / (1 + q) + (1 - q) / (1 + q) * grown / (1 - grown))
    best: FloatArray = ((n[:, None] * log_moment + math.log(1 / rare)) / t).min(axis=1)
    return best


def laplace_tail(noise: CountNoise, rare: float) -> int:
    """A whole number that |Z| exceeds with at most this probability, P(|Z| > x) = 2q^(x+1)/(1+q): one above the least
    one, so that rounding makes no difference."""
    q = math.exp(-1 / float(noise.scale))
    return max(0, math.ceil(float(noise.scale) * math.log(2 / (1 + q) / rare)))
