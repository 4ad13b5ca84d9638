"""Numbers with proven error bounds, an array at a time.

A `Balls` array holds, for every entry, a floating-point number `mid` and a radius `rad`; the true number lies within
`rad` of `mid`. Every operation enlarges the radius by what it may lose. The proofs use one fact only, IEEE 754: that
+, -, ×, ÷ and √ return the exact result within half a unit in the last place. Mathematical libraries promise nothing of
the kind for logarithms and exponentials, so these are series here, evaluated with those five operations.

With u = 2⁻⁵³: a result m of one operation is within u|m| of the exact one (or within the smallest float). Radii are
themselves computed in floating point, a handful of additions and products of positive numbers, each within u; the
factor `_UP` makes up for that many times over. A radius that is infinite, or not a number, says that nothing is known;
comparisons with the ends of such a ball are all false.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.numerics.arrays import BoolArray, FloatArray

_ROUNDING = 2.0**-52  # twice the relative error of one operation
_UNDERFLOW = 1e-300  # far above the absolute error of an operation that underflows
_UP = 1 + 2.0**-46
# What the series lose, relative to their result: at most 20u, see there; 128u are allowed for.
_SERIES_ERROR = 2.0**-46

# ln 2 in two parts; the first has 40 bits, so that its product with an exponent is exact.
_LN2_HIGH = float.fromhex("0x1.62e42fefa2p-1")
_LN2_LOW = 0.8104503028768718 * 2.0**-40
_ATANH = 1 / (2 * np.arange(20.0) + 1)
_EXP = 1 / np.cumprod(np.concatenate([[1.0], np.arange(1.0, 17.0)]))


@dataclass(frozen=True, eq=False)
class Balls:
    """An array of enclosures. Binary operations take `Balls`, or floats that are exact."""

    mid: FloatArray
    rad: FloatArray

    @staticmethod
    def exact(numbers: npt.ArrayLike) -> Balls:
        mid = np.asarray(numbers, dtype=float)
        return Balls(mid, np.zeros_like(mid))

    @staticmethod
    def constant(number: float) -> Balls:
        """A constant that was rounded to the nearest float."""
        return Balls(np.array(number), np.array(abs(number) * _ROUNDING))

    @property
    def lower(self) -> FloatArray:
        return self.mid - (self.rad * _UP + _ROUNDING * np.abs(self.mid))

    @property
    def upper(self) -> FloatArray:
        return self.mid + (self.rad * _UP + _ROUNDING * np.abs(self.mid))

    def __getitem__(self, index: Any) -> Balls:
        return Balls(self.mid[index], self.rad[index])

    def __neg__(self) -> Balls:
        return Balls(-self.mid, self.rad)

    def __add__(self, other: Balls | FloatArray | float) -> Balls:
        if not isinstance(other, Balls):
            mid = self.mid + other
            return Balls(mid, (self.rad + _ROUNDING * np.abs(mid)) * _UP)
        mid = self.mid + other.mid
        return Balls(mid, (self.rad + other.rad + _ROUNDING * np.abs(mid)) * _UP)

    def __sub__(self, other: Balls | FloatArray | float) -> Balls:
        return self + (-other)

    def __mul__(self, other: Balls | FloatArray | float) -> Balls:
        if not isinstance(other, Balls):
            mid = self.mid * other
            return Balls(mid, (np.abs(other) * self.rad + _ROUNDING * np.abs(mid) + _UNDERFLOW) * _UP)
        mid = self.mid * other.mid
        spread = np.abs(self.mid) * other.rad + (np.abs(other.mid) + other.rad) * self.rad
        return Balls(mid, (spread + _ROUNDING * np.abs(mid) + _UNDERFLOW) * _UP)

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: Balls | FloatArray | float) -> Balls:
        """Infinite radius where the divisor may be 0."""
        by = other if isinstance(other, Balls) else Balls.exact(other)
        least = np.abs(by.mid) - by.rad * _UP
        with np.errstate(divide="ignore", invalid="ignore"):
            mid = self.mid / by.mid
            spread = (self.rad + np.abs(mid) * by.rad) / (least * (1 - 2.0**-50))
            rad = np.where(least > 0, (spread + _ROUNDING * np.abs(mid) + _UNDERFLOW) * _UP, np.inf)
        return Balls(np.where(np.isfinite(mid), mid, 0.0), rad)

    def widened(self, factor: float) -> Balls:
        """The same centres with larger radii."""
        return Balls(self.mid, self.rad * factor)

    def square(self) -> Balls:
        return self * self

    def sqrt(self) -> Balls:
        """For entries that are positive."""
        mid = np.sqrt(self.mid)
        # |√x - √y| = |x - y| / (√x + √y) ≤ |x - y| / √mid
        return Balls(mid, (self.rad / mid + _ROUNDING * mid) * _UP)

    def log(self) -> Balls:
        """Infinite radius where the entry may be 0 or negative."""
        least = self.mid - self.rad * _UP
        safe = np.where(least > 0, self.mid, 1.0)
        fraction, exponent = np.frexp(safe)
        low = fraction < np.sqrt(0.5)
        fraction, exponent = np.where(low, 2 * fraction, fraction), exponent - low
        # The subtraction is exact, sum and quotient are rounded once each: the argument is within 3u, relatively.
        part = _log_ratio((fraction - 1) / (fraction + 1))
        # Where exponent ≠ 0 the result is no smaller than `part`, so that relative errors stay what they are.
        mid = exponent * _LN2_HIGH + (part + exponent * _LN2_LOW)
        with np.errstate(divide="ignore", invalid="ignore"):
            rad = (self.rad / (least * (1 - 2.0**-50)) + _SERIES_ERROR * np.abs(mid)) * _UP
        return Balls(mid, np.where(least > 0, rad, np.inf))

    def log1p(self) -> Balls:
        """log(1 + x) for entries in [-1/2, 1]."""
        mid = _log_ratio(self.mid / (2 + self.mid))
        least = 1 + self.mid - self.rad * _UP
        rad = np.where(least > 0.25, (self.rad / np.maximum(least, 0.25) + _SERIES_ERROR * np.abs(mid)) * _UP, np.inf)
        return Balls(mid, rad)

    def exp(self) -> Balls:
        """For entries below 700; infinite radius beyond. Entries below -700 are enclosed by a ball around 0."""
        x = np.clip(self.mid, -700.0, 700.0)
        mid = _exp(x)
        # |e^(x+r) - e^x| ≤ e^x (e^r - 1), and e^r - 1 ≤ 2r for r ≤ 1.
        rad = np.where(self.rad <= 1, (2 * self.rad + _SERIES_ERROR) * mid * _UP, np.inf)
        rad = np.where(self.mid > 700, np.inf, rad)
        tiny = self.mid < -700
        return Balls(np.where(tiny, 0.0, mid), np.where(tiny & (self.rad <= 1), 1e-303, rad))

    def one_minus_exp(self) -> Balls:
        """1 - e^(-x) for entries of at least 0, to full relative accuracy near 0."""
        x = np.minimum(self.mid, 700.0)
        near = x < 0.5
        # x(1 - x/2 + x²/6 - …): the first term dominates, the terms that are left out are below 2⁻⁶⁰ of it.
        inside = np.where(near, x, 0.0)
        series = np.full_like(inside, _EXP[16])
        for coefficient in _EXP[15:0:-1]:
            series = coefficient - inside * series
        mid = np.where(near, inside * series, 1 - _exp(-np.where(near, 1.0, x)))
        # The slope is e^(-x), and less than twice that within a radius of ½.
        moved = np.where(self.rad < 0.5, 2 * _exp(-x) * self.rad, np.inf)
        return Balls(mid, (moved + _SERIES_ERROR * mid) * _UP)


def where(condition: BoolArray, first: Balls, second: Balls) -> Balls:
    return Balls(np.where(condition, first.mid, second.mid), np.where(condition, first.rad, second.rad))


def _log_ratio(z: FloatArray) -> FloatArray:
    """log((1+z)/(1-z)) = 2 atanh z for |z| ≤ 1/3, from a z within 3u: within 20u, relatively.

    2z(1 + z²/3 + z⁴/5 + …): twenty terms leave out less than 2⁻⁶³ of the first. Horner's rule loses at most 2u in its
    last step and a ninth of what it lost before; z² brings in 7u of something below 1/26 of the result.
    """
    square = z * z
    series = np.full_like(z, _ATANH[-1])
    for coefficient in _ATANH[-2::-1]:
        series *= square
        series += coefficient
    result: FloatArray = 2 * z * series
    return result


def _exp(x: FloatArray) -> FloatArray:
    """e^x for |x| ≤ 700, within 20u, relatively: e^x = 2^n e^r with |r| < 0.35, and 17 terms of Taylor's series."""
    n = np.rint(x * (1 / np.log(2.0)))
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW  # first product exact; two roundings of numbers below 0.36
    series = np.full_like(r, _EXP[16])
    for coefficient in _EXP[15::-1]:
        series *= r
        series += coefficient
    result: FloatArray = np.ldexp(series, n.astype(np.int64))
    return result


def sum_last(balls: Balls) -> Balls:
    """The sum along the last axis, by halves: the error grows with the number of halvings, not of terms."""
    mid, rad = balls.mid, balls.rad
    while mid.shape[-1] > 1:
        if mid.shape[-1] % 2:
            zero = np.zeros((*mid.shape[:-1], 1))
            mid, rad = np.concatenate([mid, zero], axis=-1), np.concatenate([rad, zero], axis=-1)
        mid = mid[..., ::2] + mid[..., 1::2]
        rad = (rad[..., ::2] + rad[..., 1::2] + _ROUNDING * np.abs(mid)) * _UP
    return Balls(mid[..., 0], rad[..., 0])
