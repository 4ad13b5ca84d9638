"""The composed profile bracketed by the plainest method: losses rounded down and up, sums by direct convolution."""

from __future__ import annotations

import numpy as np
from scipy import special

from pathveil.privacy.profile import DirichletProfile


def delta_bracket(rows: list[DirichletProfile], epsilon: float, spacing: float, reach: float) -> tuple[float, float]:
    """(lower, upper) bounds on δ(ε); losses beyond ±reach go to the grid's ends (down) or to infinity (up)."""
    points = int(reach / spacing)
    grid = np.arange(-points, points + 1) * spacing
    down = up = np.ones(1)
    infinite = 0.0
    for row in rows:
        below = special.betainc(row.a + row.h, row.a, special.expit(grid / row.h))  # P(loss ≤ grid point)
        inside = np.diff(below)
        down = np.convolve(down, np.concatenate([[0.0], inside[1:], [1 - below[-1]]]))  # from (x, x+spacing] to x
        up = np.convolve(up, np.concatenate([[below[0]], inside]))
        infinite += 1 - below[-1]
    loss = np.arange(-points * len(rows), points * len(rows) + 1) * spacing
    gain = -np.expm1(np.minimum(0.0, epsilon - loss))
    return float(down @ gain), float(up @ gain) + infinite
