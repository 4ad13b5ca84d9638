"""The baselines to beat: add integer noise to counts, divide, and project each row to the simplex.

Discrete Laplace noise gives (ε, 0), discrete Gaussian noise (ε, δ). Both are sampled exactly. They need no floor and no
assumption on the data, other units than a transition can be protected with them, and for large rows Laplace noise has
the smallest error of all mechanisms here; but the result may have zeros, and its law has no closed form.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pathveil.errors import InvalidParameterError, UnreachablePrivacyError
from pathveil.models.frequencies import project_to_simplex
from pathveil.models.people import ONE_WORD, WholeWords
from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.numerics.balls import Balls, sum_last
from pathveil.privacy.profile import largest_passing, require_promise
from pathveil.randomness.discrete import LARGEST_SCALE, discrete_gaussian, discrete_laplace
from pathveil.randomness.source import RandomSource

EXACT = "sampled exactly, in integers"

_LARGEST_EXACT_VARIANCE = 1e8  # above it, zero-concentrated accounting: the exact sums get long
_CONTINUOUS = 1e3  # above this standard deviation, discrete Gaussian noise is as large as continuous noise to 7 digits
_GRID = 2**20  # scales are rounded up to multiples of 1/_GRID, so that the sampler's fractions stay small
_CELLS_AT_A_TIME = 2**20  # of a table that is made into probabilities: ten arrays of this size, not of the whole table


@dataclass(frozen=True)
class CountNoise:
    """Noise for counts: `kind` "laplace" with `scale` b, P(x) ∝ e^(-|x|/b), or "gaussian" with variance `scale`."""

    kind: str
    scale: Fraction

    def __post_init__(self) -> None:
        if self.scale > (LARGEST_SCALE if self.kind == "laplace" else LARGEST_SCALE**2):
            told = (
                "so little privacy budget needs noise beyond 64-bit integers, far above any count. Choose a larger "
                "`epsilon` or `delta`."
            )
            raise UnreachablePrivacyError(told, without_content=told)

    def draw(self, source: RandomSource, count: int) -> IntArray:
        sampler = discrete_laplace if self.kind == "laplace" else discrete_gaussian
        return sampler(source, self.scale, count)

    @property
    def variance(self) -> float:
        """Exact for Laplace noise; for Gaussian noise the parameter, which the variance never exceeds."""
        if self.kind == "gaussian":
            return float(self.scale)
        q = math.exp(-1 / float(self.scale))
        return 2 * q / (1 - q) ** 2

    @property
    def mean_size(self) -> float:
        """E|x|: by how much a count with this noise is wrong on average."""
        if self.kind == "laplace":
            q = math.exp(-1 / float(self.scale))
            return 2 * q / (1 - q) / (1 + q)
        deviation = math.sqrt(self.scale)
        if deviation > _CONTINUOUS:
            return deviation * math.sqrt(2 / math.pi)
        x = np.arange(1, math.ceil(40 * deviation) + 2)
        weights = np.exp(-(x**2) / (2 * float(self.scale)))
        return float(2 * (x * weights).sum() / (1 + 2 * weights.sum()))


def sensitivities(unit: str, max_length: int | None, whole: WholeWords) -> dict[str, tuple[int, int]]:
    """How much each table of counts can change: (1-norm, squared 2-norm).

    A transition: one count falls, another rises. A symbol: two fall and two rise, where the two that fall (or rise) may
    be the same count, hence 4 + 1 + 1. A word has at most L-1 transitions, one first symbol and one length, and `whole`
    says how many words change, and how.
    """
    if unit in ("word", "user"):
        most = {"transitions": (max_length or 2) - 1, "first": 1, "lengths": 1}
        return {part: whole.sensitivity(number) for part, number in most.items()}
    return {"transitions": {"transition": (2, 2), "symbol": (4, 6)}[unit]}


def count_noises(
    kind: str,
    epsilon: float,
    delta: float,
    unit: str,
    max_length: int | None,
    shares: Mapping[str, float],
    whole: WholeWords = ONE_WORD,
) -> dict[str, CountNoise]:
    """The noise for each part of a release: the table of transitions, and histograms of first symbols and of lengths.

    Shares of ε add up (Laplace), and so do shares of ρ (Gaussian, zero-concentrated). One transition alone has an exact
    answer that is some 7% better than ρ.
    """
    changes = sensitivities(unit, max_length, whole)
    # Exact shares of an exact whole: floats would sum to a little more than it.
    total = sum(Fraction(share) for share in shares.values())
    parts = {part: Fraction(share) / total for part, share in shares.items()}
    if kind == "laplace":
        whole_epsilon = exactly(epsilon)
        return {part: laplace_noise(share * whole_epsilon, changes[part][0]) for part, share in parts.items()}
    if unit == "transition":
        return {"transitions": pair_gaussian_noise(epsilon, delta)}
    rho = concentrated_budget(epsilon, delta)
    return {part: gaussian_noise(share * Fraction(rho), changes[part][1]) for part, share in parts.items()}


def exactly(epsilon: float | Fraction) -> Fraction:
    """ε without rounding: the smaller of the binary number and of the decimal that it is printed (and charged) as."""
    if not 0 < epsilon < math.inf:
        raise InvalidParameterError(f"epsilon is {epsilon}: it must be a positive, finite number")
    return epsilon if isinstance(epsilon, Fraction) else min(Fraction(epsilon), Fraction(repr(float(epsilon))))


def laplace_noise(epsilon: float | Fraction, l1: int) -> CountNoise:
    """For counts that change by at most `l1` in all between neighbours: the scale is l1/ε, rounded up."""
    return CountNoise("laplace", _rounded_up(Fraction(l1) / exactly(epsilon)))


def gaussian_noise(rho: float | Fraction, l2_squared: int) -> CountNoise:
    """For counts that change by at most `l2_squared` in the squared Euclidean norm: variance Δ²/(2ρ) is ρ-zCDP."""
    return CountNoise("gaussian", _rounded_up(Fraction(l2_squared) / (2 * Fraction(rho))))


def pair_gaussian_noise(epsilon: float, delta: float) -> CountNoise:
    """The least Gaussian noise for counts of which one falls by 1 and another rises by 1, exactly accounted for."""
    rho = concentrated_budget(epsilon, delta)
    safe = gaussian_noise(rho, 2)
    if safe.scale > _LARGEST_EXACT_VARIANCE:
        return safe

    def room(variance: float) -> float:
        return delta * (1 - 1e-9) - _near_pair_gaussian_delta(variance, epsilon)

    failing = float(safe.scale)
    while room(failing) >= 0:
        failing /= 2
    found = largest_passing(room, failing=failing, passing=float(safe.scale), tolerance=1e-9)
    exact = CountNoise("gaussian", _rounded_up(Fraction(found)))
    proven = pair_gaussian_delta(exact.scale, epsilon) <= delta
    return exact if proven and exact.scale < safe.scale else safe


def pair_gaussian_delta(variance: Fraction | float, epsilon: float) -> float:
    """The exact δ(ε) of discrete Gaussian noise on two counts that change by +1 and -1, rounded up.

    The loss is (S + 1)/σ² with S the sum of two noises. Completing the square, P(S = t) ∝ e^(-t²/4σ²) times a sum that
    depends only on whether t is even.
    """
    σ2 = Balls.constant(float(variance))
    deviation = math.sqrt(float(variance))
    z = np.arange(-math.ceil(40 * deviation) - 1, math.ceil(40 * deviation) + 2)
    halves = [sum_last((-(Balls.exact((2 * z + odd) ** 2) / (σ2 * 4.0))).exp()) for odd in (0, 1)]
    t = np.arange(-math.ceil(60 * deviation) - 2, math.ceil(60 * deviation) + 3)
    by_parity = Balls(*(np.array([getattr(half, name) for half in halves])[t % 2] for name in ("mid", "rad")))
    mass = (-(Balls.exact(t**2) / (σ2 * 4.0))).exp() * by_parity
    excess = Balls.exact(t + 1) / σ2 - epsilon
    # A loss that may be above ε counts as far as it may be.
    above = excess.upper > 0
    gain = Balls(np.maximum(excess.mid, 0.0), excess.rad)[above].one_minus_exp()
    found = sum_last(mass[above] * gain) / sum_last(mass) if above.any() else Balls.exact(0.0)
    # Beyond 60σ there is less than e^-800; a tail that is left out of both sums makes no difference above that.
    return min(1.0, float(found.upper) * (1 + 1e-15) + 1e-300)


def _near_pair_gaussian_delta(variance: float, epsilon: float) -> float:
    """The same in plain floating point, for searches."""
    deviation = math.sqrt(variance)
    z = np.arange(-math.ceil(40 * deviation) - 1, math.ceil(40 * deviation) + 2)
    by_parity = np.array([np.exp(-((z + shift) ** 2) / variance).sum() for shift in (0.0, 0.5)])
    t = np.arange(-math.ceil(60 * deviation) - 2, math.ceil(60 * deviation) + 3)
    mass = np.exp(-(t**2) / (4 * variance)) * by_parity[t % 2]
    loss = (t + 1) / variance
    above = loss > epsilon
    return float((mass[above] * -np.expm1(epsilon - loss[above])).sum() / mass.sum())


def concentrated_budget(epsilon: float, delta: float) -> float:
    """The largest ρ for which ρ-zCDP implies (ε, δ), rounded down (Canonne, Kamath, Steinke 2020, Proposition 12).

    What the search finds is lowered until ball arithmetic confirms it.
    """
    require_promise(epsilon, delta)
    target = math.log(delta) - 1e-9
    high = epsilon
    while _log_delta(high, epsilon) < target:
        high *= 2
    log_rho = largest_passing(
        lambda x: target - _log_delta(math.exp(x), epsilon), failing=math.log(high), passing=2 * math.log(epsilon) - 12
    )
    rho, step = math.exp(log_rho), 1e-12
    while not _implies(rho, epsilon, delta):
        rho, step = rho * (1 - min(step, 0.5)), 2 * step
    return rho


def _implies(rho: float, epsilon: float, delta: float) -> bool:
    """Is δ proven for this ρ at the α that the search found?"""
    from flint import arb, ctx

    with ctx.workprec(256):
        α = arb(_best_order(rho, epsilon)[0])
        bound = (α - 1) * (α * arb(rho) - arb(epsilon)) - (α - 1).log() + α * (-1 / α).log1p()
        return bool(bound < arb(delta).log())


def _log_delta(rho: float, epsilon: float) -> float:
    return _best_order(rho, epsilon)[1]


def _best_order(rho: float, epsilon: float) -> tuple[float, float]:
    """(α, least value) of log[ e^((α-1)(αρ-ε)) / (α-1) · (1-1/α)^α ]; any α is sound, so the search may be rough."""
    from scipy import optimize

    def bound(x: float) -> float:
        alpha = 1 + math.exp(x)
        return (alpha - 1) * (alpha * rho - epsilon) - x + alpha * math.log1p(-1 / alpha)

    centre = math.log(max(1e-3, (epsilon + rho) / (2 * rho)))
    found = optimize.minimize_scalar(bound, bounds=(centre - 8, centre + 8), method="bounded", options={"xatol": 1e-9})
    return 1 + math.exp(float(found.x)), float(found.fun)


def _rounded_up(scale: Fraction) -> Fraction:
    return Fraction(math.ceil(scale * _GRID), _GRID)


def noisy_rows(
    source: RandomSource,
    counts: IntArray,
    inside: BoolArray,
    noise: CountNoise,
    sizes: IntArray | None,
) -> FloatArray:
    """Probabilities from counts with noise on every entry of the support.

    `sizes` are the row sizes where those are public; rows of size 0 get no noise. Otherwise the noisy counts are
    summed. A row without any (noisy) record is uniform on its support.
    """
    return rows_of(noisy_counts(source, counts, inside, noise, sizes), inside, sizes)


def noisy_counts(
    source: RandomSource, counts: IntArray, inside: BoolArray, noise: CountNoise, sizes: IntArray | None
) -> IntArray:
    """Counts with noise on every entry of the support; none in rows whose public size is 0."""
    noisy = np.zeros(counts.shape, dtype=np.int64)
    touched = inside if sizes is None else inside & (sizes > 0)[:, None]
    noisy[touched] = counts[touched] + noise.draw(source, int(touched.sum()))
    return noisy


def rows_of(noisy: IntArray, inside: BoolArray, sizes: IntArray | None) -> FloatArray:
    """The probabilities of each row, from noisy counts and the public sizes of rows, or their noisy sums."""
    values = np.empty(noisy.shape)
    step = max(1, _CELLS_AT_A_TIME // noisy.shape[1])
    for first in range(0, len(noisy), step):
        rows = slice(first, first + step)
        totals = noisy[rows].sum(axis=1) if sizes is None else sizes[rows]
        values[rows] = _probabilities(noisy[rows], inside[rows], totals[:, None])
    return values


def _probabilities(noisy: IntArray, inside: BoolArray, totals: IntArray) -> FloatArray:
    """The rows of a chain from noisy counts and the size that each row has."""
    uniform = inside / np.maximum(inside.sum(axis=1, keepdims=True), 1)
    values: FloatArray = np.where(totals > 0, noisy / np.maximum(totals, 1), uniform)
    open_rows = inside.any(axis=1)
    values[open_rows] = project_to_simplex(values[open_rows], inside[open_rows])
    return values
