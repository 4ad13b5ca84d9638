"""The privacy profile of the Dirichlet mechanism by integrating the density difference in arbitrary precision.

δ(ε) = ∫ max(0, p(u) - e^ε q(u)) du over the log-odds u, with the densities written down as they stand: gamma functions
of up to 1e9 are subtracted in 40 digits, so that 30 are left.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from mpmath import mp, mpf

_NODES = [(mpf(float(x)), mpf(float(w))) for x, w in zip(*np.polynomial.legendre.leggauss(16), strict=True)]


def log_delta(epsilon: float, floor: float, concentration: float, shift: float) -> float:
    """log δ(ε), for ε ≥ 0."""
    with mp.workdps(40):
        a, h = mpf(concentration) * mpf(floor), mpf(concentration) * mpf(shift)
        constant = mp.loggamma(2 * a + h) - mp.loggamma(a) - mp.loggamma(a + h)
        start = mpf(epsilon) / h

        def log_difference(y: mpf) -> mpf:
            u = start + y
            log_p = constant - a * u - (2 * a + h) * mp.log1p(mp.exp(-u))
            return log_p + mp.log(-mp.expm1(-h * y))

        peak = _peak(log_difference)
        top = log_difference(peak)
        edges = sorted({mpf(0), peak, *_outwards(log_difference, peak, -1), *_outwards(log_difference, peak, 1)})
        total = mpf(0)
        for left, right in pairwise(edges):
            half = (right - left) / 2
            total += half * sum(w * mp.exp(log_difference(left + half * (1 + x)) - top) for x, w in _NODES)
        return float(top + mp.log(total))


def _peak(f: Callable[[mpf], mpf]) -> mpf:
    """Where a log-concave function on (0, ∞) is largest, by ternary search on a logarithmic scale."""
    low, high = mpf(-60), mpf(60)
    while high - low > mpf("0.01"):
        x, y = low + (high - low) / 3, high - (high - low) / 3
        if f(mp.exp(x)) < f(mp.exp(y)):
            low = x
        else:
            high = y
    return mp.exp((low + high) / 2)


def _outwards(f: Callable[[mpf], mpf], peak: mpf, direction: int) -> list[mpf]:
    """Edges of panels that double away from the peak until 30 nats below it, or halve towards 0."""
    top, width = f(peak), peak / 2
    while f(peak + direction * width) < top - 1:
        width /= 2
    edges = []
    while width < peak / 2 if direction < 0 else f(peak + width) > top - 30:
        edges.append(peak + direction * width)
        width *= 2
    return edges + ([peak + width] if direction > 0 else [peak * mpf(2) ** -j for j in range(1, 8)])
