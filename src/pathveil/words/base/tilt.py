"""What stands between a tilt θ and a draw: the number that is really used.

A word with one more error is z times as likely, z = e^-θ. Drawing needs a z that a computer can hold, and the guarantee
must be that of the number used: z is the floating-point number a little *above* e^-θ, which protects a little more.
Being a fraction over a power of two, it is exact in any arithmetic. (docs/exact-sampling.md)
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, floor, frexp, inf, ldexp, nextafter

import numpy as np

from pathveil.numerics.arrays import FloatArray

LARGEST_TILT = 690.0
"""Mechanisms use no larger one: e^-690 is the last that floating point holds with all its digits, and no draw of ours
would ever see the difference."""


def largest_part(epsilon: float, parts: int) -> float:
    """The largest floating-point number of which `parts` make at most ε, but no more than the largest tilt."""
    part = epsilon / parts
    if Fraction(part) * parts > Fraction(epsilon):
        part = nextafter(part, 0.0)
    return min(part, LARGEST_TILT)


def tilt_factor(theta: float) -> float:
    """z, from e^-θ to two floating-point numbers above: the exponential function is right to less than one."""
    return min(1.0, nextafter(nextafter(exp(-theta), inf), inf))


def linear_scores(theta: float, largest: int) -> FloatArray:
    """-θℓ for ℓ = 0..largest, without rounding: θ loses as many of its last bits as the products need.

    So two scores differ by *exactly* a multiple of what is used for θ, which is not above it.
    """
    mantissa, exponent = frexp(theta)
    bits = 53 - largest.bit_length()
    step = ldexp(floor(ldexp(mantissa, bits)), exponent - bits)
    scores: FloatArray = -step * np.arange(largest + 1.0)
    return scores
