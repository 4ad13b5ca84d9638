"""Drawing Dirichlet vectors from a `RandomSource`.

A Dirichlet vector is a vector of gamma variates divided by their sum. Gamma variates of small shape underflow, so they
are kept as logarithms throughout.

**Sampling is in floating point**: uniforms have 53 bits, logarithms and square roots are rounded. The privacy profile
is that of the real-valued law; a δ far below 1e-16 is a statement about that law, not about its last bits. Releases
say so in their guarantee.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pathveil.randomness.source import RandomSource

Floats = npt.NDArray[np.float64]

FLOATING_POINT = "sampled in floating point from a cryptographic keystream"


def draw_dirichlet(source: RandomSource, parameters: Floats) -> Floats:
    """One Dirichlet vector for each row of `parameters` (kp, all of them positive or 0).

    Entries with parameter 0 are off the support and come out as exactly 0; all others come out strictly positive.
    """
    inside = parameters > 0
    logs = np.full(parameters.shape, -np.inf)
    logs[inside] = log_gamma_variates(source, parameters[inside])
    logs -= logs.max(axis=-1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(axis=-1, keepdims=True))
    # A value below the smallest float is a positive number all the same.
    return np.where(inside, np.maximum(np.exp(logs), np.finfo(float).tiny), 0.0)


def log_gamma_variates(source: RandomSource, shapes: Floats) -> Floats:
    """The logarithm of one standard gamma variate for each positive shape (Marsaglia and Tsang, 2000).

    Shapes below 1 are drawn one higher and multiplied by U^(1/shape), which is a subtraction in logarithms.
    """
    small = shapes < 1
    d = np.where(small, shapes + 1, shapes) - 1 / 3
    logs = np.empty(shapes.shape)
    waiting = np.arange(len(shapes))
    while len(waiting):
        scale = 1 / np.sqrt(9 * d[waiting])
        x = _normals(source, len(waiting))
        y = scale * x
        possible = y > -1
        y = np.where(possible, y, 0.0)
        # Accept when log U < x²/2 + d(1 - v + log v), v = (1+y)³. The square cancels against the logarithm's
        # second-order term; what is left stays exact for shapes of any size.
        accepted = possible & (-source.exponential(len(waiting)) < d[waiting] * (3 * _log1p_beyond_square(y) - y**3))
        taken = waiting[accepted]
        logs[taken] = np.log(d[taken]) + 3 * np.log1p(y[accepted])
        waiting = waiting[~accepted]
    logs[small] -= source.exponential(int(small.sum())) / shapes[small]
    return logs


def _log1p_beyond_square(y: Floats) -> Floats:
    """log(1+y) - y + y²/2."""
    near = np.abs(y) < 0.05
    e = np.where(near, y, 0.0)
    series = np.full_like(e, 1 / 13)
    for r in range(12, 2, -1):  # Horner's rule for Σ (-1)^(r+1) y^r / r, r ≥ 3, without a new array at every step
        series *= e
        series += (-1) ** (r + 1) / r
    series *= e**3
    result: Floats = series if near.all() else np.where(near, series, np.log1p(y) - y + y * y / 2)
    return result


def _normals(source: RandomSource, count: int) -> Floats:
    """Standard normal variates by Box and Muller's transform, in pairs."""
    pairs = (count + 1) // 2
    radius = np.sqrt(2 * source.exponential(pairs))
    angle = 2 * math.pi * source.uniform(pairs)
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count]
