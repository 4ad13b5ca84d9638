"""What counts prove about a privacy loss.

An event E was seen x times among draws for one input and y times among draws for its neighbour. A mechanism that is
(ε, δ)-differentially private has P(E|word) ≤ e^ε P(E|neighbour) + δ, so a lower bound on the first probability
and an upper bound on the second refute every ε that is too small. Both bounds here hold for every number of draws, not
in the limit. (docs/audits.md has the proofs)

**δ = 0.** The numbers of draws are Poisson variables with the same mean λ. Then x and y are independent Poisson
variables with means λp and λq, and given x + y the count x is binomial with success probability p/(p+q). One
Clopper–Pearson bound on that ratio is a bound on p/q: no level is divided between two intervals.

**δ > 0.** Clopper–Pearson bounds on p from below and on q from above, each at half the level.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

from pathveil.numerics.arrays import FloatArray


def lower_probability(hits: npt.ArrayLike, draws: npt.ArrayLike, risk: float) -> FloatArray:
    """Clopper–Pearson: exceeds the true probability with a probability of at most `risk`."""
    x, n = np.asarray(hits, dtype=float), np.asarray(draws, dtype=float)
    return np.where(x > 0, special.betaincinv(np.maximum(x, 1), n - x + 1, risk), 0.0)


def upper_probability(hits: npt.ArrayLike, draws: npt.ArrayLike, risk: float) -> FloatArray:
    """Clopper–Pearson: falls below the true probability with a probability of at most `risk`."""
    x, n = np.asarray(hits, dtype=float), np.asarray(draws, dtype=float)
    return np.where(x < n, special.betaincinv(x + 1, np.maximum(n - x, 1), 1 - risk), 1.0)


def loss_lower_bounds(
    x: npt.ArrayLike, y: npt.ArrayLike, draws: tuple[int, int], risk: float, delta: float
) -> FloatArray:
    """A lower bound on ε for each pair of counts of an event that was fixed before these draws; never below 0.

    Each bound exceeds the true ε with a probability of at most `risk`. For δ = 0 both numbers of draws must be Poisson
    variables with one mean, and do not enter.
    """
    x, y = np.asarray(x), np.asarray(y)
    if delta == 0:
        share = lower_probability(x, x + y, risk)
        with np.errstate(divide="ignore"):
            bounds = np.log(share) - np.log1p(-share)
    else:
        p, q = lower_probability(x, draws[0], risk / 2), upper_probability(y, draws[1], risk / 2)
        with np.errstate(divide="ignore"):
            bounds = np.log(np.maximum(p - delta, 0.0)) - np.log(q)
    result: FloatArray = np.maximum(bounds, 0.0)
    return result
