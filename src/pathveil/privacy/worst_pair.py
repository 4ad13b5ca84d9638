"""The two laws that decide how private a Dirichlet draw is, evaluated without cancellation.

Where mass moves from entry j to entry i, everything that a Dirichlet draw x tells about the move sits in the log-odds
u = log(x_i / x_j). In the worst case both entries stand at the floor, and then with a = kη and h = ks

    u ~ logit Beta(a + h, a)  before the move,   u ~ logit Beta(a, a + h) = -(the former)  after it,

and the privacy loss is h·u. This file has the logarithm of the first density and the pieces that it is made of. The
parameters run from 1e-12 to 1e12, so that gamma functions cannot simply be subtracted: Stirling's main terms are
cancelled on paper, and what is left is computed from small differences.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pathveil.numerics.arrays import FloatArray

# (1+e)·log(1+e) - e = Σ (-1)^r e^r / (r (r-1)), r ≥ 2: ten terms are exact to the last bits for |e| ≤ 0.03.
_NEAR = 0.03
_SERIES = np.array([0.0, 0.0] + [(-1.0) ** r / (r * (r - 1)) for r in range(2, 12)])


def stirling_remainder(x: float) -> float:
    """log Γ(x) less Stirling's main terms (x - ½) log x - x + ½ log 2π."""
    return float(stirling_remainders(x))


def stirling_remainders(x: npt.ArrayLike) -> FloatArray:
    """`stirling_remainder` of every entry."""
    from scipy import special

    x = np.asarray(x, dtype=float)
    small = x < 10
    near, far = np.where(small, x, 1.0), np.where(small, 10.0, x)
    direct = special.gammaln(near) - ((near - 0.5) * np.log(near) - near + 0.5 * math.log(2 * math.pi))
    square = 1 / (far * far)
    series = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / far
    result: FloatArray = np.where(small, direct, series)
    return result


def _near(gap: FloatArray, mean: FloatArray) -> FloatArray:
    """The deviance of mean + gap from mean, by its series; meaningless (but finite) where the gap is not small."""
    e = np.divide(gap, mean, out=np.zeros_like(gap), where=np.abs(gap) <= _NEAR * mean)
    result: FloatArray = np.full_like(e, _SERIES[-1])
    for coefficient in _SERIES[-2:1:-1]:  # Horner's rule, without a new array at every step
        result *= e
        result += coefficient
    result *= e
    result *= e
    result *= mean
    return result


def log_density(u: FloatArray, a: FloatArray | float, h: FloatArray | float) -> FloatArray:
    """log of the density of u = logit Beta(a + h, a), to some 1e-10 absolute wherever it exceeds -1000.

    `a` and `h` are numbers, or columns with one number for each row of u.
    """
    result: FloatArray = log_peak_density(a, h) + log_relative_density(u, a, h)
    return result


def log_peak_density(a: FloatArray | float, h: FloatArray | float) -> FloatArray:
    """log of the density where it is largest, at u = log((a+h)/a)."""
    m = 2 * a + h
    result: FloatArray = 0.5 * (np.log(a) + np.log(a + h) - np.log(2 * math.pi * m))
    return result + stirling_remainders(m) - stirling_remainders(a) - stirling_remainders(a + h)


def log_relative_density(u: FloatArray, a: FloatArray | float, h: FloatArray | float) -> FloatArray:
    """log of the density relative to its largest value."""
    size = np.abs(u)
    m = 2 * a + h
    # The exponent is m·KL(a/m ‖ σ(-u)), as two deviances: of a from m·σ(-u) and of a+h from m·σ(u).
    shrunk = np.exp(-size)
    fold = np.log1p(shrunk)
    low, high = m * shrunk / (1 + shrunk), m / (1 + shrunk)
    gap = (-a * np.expm1(-size) - h * shrunk) / (1 + shrunk)  # a - low, but exact for small u
    first = np.where(np.abs(gap) <= _NEAR * low, _near(gap, low), a * (np.log(a / m) + size + fold) - gap)
    second = np.where(np.abs(gap) <= _NEAR * high, _near(-gap, high), (a + h) * (fold - np.log1p(a / (a + h))) + gap)
    result: FloatArray = np.where(u < 0, h * u, 0.0) - first - second
    return result
