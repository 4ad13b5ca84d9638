"""The privacy profile of the Dirichlet mechanism by integrating the density difference in arbitrary precision.

δ(ε) = ∫ max(0, p(u) - e^ε q(u)) du over the log-odds u, with the densities written down as they stand: gamma functions
of up to 1e9 are subtracted in 40 digits, so that 30 are left.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from flint import arb, ctx

_NODES = [(arb(float(x)), arb(float(w))) for x, w in zip(*np.polynomial.legendre.leggauss(16), strict=True)]


def log_delta(epsilon: float, floor: float, concentration: float, shift: float) -> float:
    """log δ(ε), for ε ≥ 0."""
    with ctx.workdps(40):
        a, h = arb(concentration) * arb(floor), arb(concentration) * arb(shift)
        constant = (2 * a + h).lgamma() - a.lgamma() - (a + h).lgamma()
        start = arb(epsilon) / h

        def log_difference(y: arb) -> arb:
            u = start + y
            log_p = constant - a * u - (2 * a + h) * (-u).exp().log1p()
            return log_p + (-(-h * y).expm1()).log()

        peak = _peak(log_difference)
        top = log_difference(peak)
        edges = sorted(
            [arb(0), peak, *_outwards(log_difference, peak, -1), *_outwards(log_difference, peak, 1)], key=float
        )
        total = arb(0)
        for left, right in pairwise(edges):
            half = (right - left) / 2
            total += half * sum((w * (log_difference(left + half * (1 + x)) - top).exp() for x, w in _NODES), arb(0))
        return float(top + total.log())


def _peak(f: Callable[[arb], arb]) -> arb:
    """Where a log-concave function on (0, ∞) is largest, by ternary search on a logarithmic scale."""
    low, high = arb(-60), arb(60)
    while high - low > 0.01:
        x, y = low + (high - low) / 3, high - (high - low) / 3
        if f(x.exp()) < f(y.exp()):
            low = x
        else:
            high = y
    return ((low + high) / 2).exp()


def _outwards(f: Callable[[arb], arb], peak: arb, direction: int) -> list[arb]:
    """Edges of panels that double away from the peak until 30 nats below it, or halve towards 0."""
    top, width = f(peak), peak / 2
    while f(peak + direction * width) < top - 1:
        width /= 2
    edges = []
    while width < peak / 2 if direction < 0 else f(peak + width) > top - 30:
        edges.append(peak + direction * width)
        width *= 2
    return edges + ([peak + width] if direction > 0 else [peak * arb(2) ** -j for j in range(1, 8)])
