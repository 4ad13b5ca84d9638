"""How far a Dirichlet draw x ~ Dirichlet(k p) is from p, exactly, and what that does to a Markov chain.

The exact moments depend on p: where p is sensitive they are for the curator. Bounds that hold for every p with entries
of at least η (`worst_*`) are public. For chains, π and π̃ are the stationary distributions of P and P̃.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pathveil.numerics.arrays import FloatArray
from pathveil.privacy.worst_pair import stirling_remainder, stirling_remainders

if TYPE_CHECKING:
    from pathveil.systems.markov_chain import MarkovChain


def expected_absolute_error(p: npt.ArrayLike, k: float) -> FloatArray:
    """E|p_i - x_i| = 2 p^(kp) (1-p)^(k(1-p)) / (k B(kp, k(1-p))) for each entry (MDM (20), MCM Lemma 7).

    With Stirling's main terms cancelled on paper: √(2p(1-p)/(πk)) times a correction close to 1.
    """
    p = np.asarray(p, dtype=float)
    inside = (p > 0) & (p < 1)
    q = np.where(inside, p, 0.5)
    correction = stirling_remainder(k) - stirling_remainders(k * q) - stirling_remainders(k * (1 - q))
    result: FloatArray = np.where(inside, np.sqrt(2 * q * (1 - q) / (math.pi * k)) * np.exp(correction), 0.0)
    return result


def expected_squared_error(p: npt.ArrayLike, k: float) -> FloatArray:
    """E(p_i - x_i)² = p(1-p)/(k+1) for each entry (MDM (21), MCM Lemma 7)."""
    p = np.asarray(p, dtype=float)
    result: FloatArray = p * (1 - p) / (k + 1)
    return result


def expected_kl(p: npt.ArrayLike, k: float) -> float:
    """E KL(p‖x) = Σ p_i (log p_i + ψ(k) - ψ(k p_i)) (MCM Theorem 2); entries of 0 add nothing."""
    p = np.asarray(p, dtype=float)
    p = p[p > 0]
    return float((p * (_log_less_digamma(k * p) - _log_less_digamma(np.array([k])))).sum())


def _log_less_digamma(x: FloatArray) -> FloatArray:
    """log x - ψ(x), which is about 1/(2x) and would drown in the two logarithms where x is large."""
    from scipy import special

    far = x > 1e3
    result: FloatArray = np.where(far, 1 / (2 * x) + 1 / (12 * x**2) - 1 / (120 * x**4), np.log(x) - special.digamma(x))
    return result


def worst_absolute_error(k: float) -> float:
    """The largest E|p_i - x_i| over all p, reached at p_i = ½: Γ(k) 2^(1-k) / (Γ(k/2)² k) (MDM Theorem 2, (15))."""
    return float(expected_absolute_error(0.5, k))


def worst_squared_error(k: float) -> float:
    """The largest E(p_i - x_i)² over all p, reached at p_i = ½: 1/(4(k+1)) (MDM Theorem 2, (16))."""
    return 1 / (4 * (k + 1))


def worst_kl(k: float, size: int, least: float) -> float:
    """The largest E KL(p‖x) over all p with entries of at least `least` (MCM Corollary 1 has least = 1/N).

    x(log x - ψ(x)) is completely monotone, so the expectation is convex in p and largest at a corner: all entries but
    one at their least.
    """
    corner = np.full(size, least)
    corner[-1] = 1 - (size - 1) * least
    return expected_kl(corner, k)


def expected_largest_sum(means: FloatArray, variances: FloatArray) -> float:
    """A bound on E max_i X_i from means and variances alone: max mean + √((n-1)/n · Σ variances) (Aven, 1985)."""
    n = len(means)
    return float(means.max() + math.sqrt((n - 1) / n * variances.sum()))


def expected_row_norm(P: FloatArray, k: FloatArray) -> float:
    """A bound on E‖P - P̃‖_∞, the largest row sum of |P - P̃|, where row i is drawn with concentration k_i.

    The entries of one row depend on each other; the variance of their sum is bounded by Cauchy–Schwarz.
    """
    first, deviation = _absolute_moments(P, k)
    return expected_largest_sum(first.sum(axis=1), deviation.sum(axis=1) ** 2)


def expected_column_norm(P: FloatArray, k: FloatArray) -> float:
    """A bound on E‖P - P̃‖₁, the largest column sum of |P - P̃|; its terms are independent rows, so variances add."""
    first, deviation = _absolute_moments(P, k)
    return expected_largest_sum(first.sum(axis=0), (deviation**2).sum(axis=0))


def _absolute_moments(P: FloatArray, k: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations of |P_ij - P̃_ij|."""
    first = np.stack([expected_absolute_error(row, c) for row, c in zip(P, k, strict=True)])
    second = np.stack([expected_squared_error(row, c) for row, c in zip(P, k, strict=True)])
    return first, np.sqrt(np.maximum(0.0, second - first**2))


def tau_1(Z: FloatArray) -> float:
    """½ max_ij Σ_l |Z_il - Z_jl|: how much Z can stretch, in the 1-norm, a row vector whose entries sum to zero."""
    return max(float(np.abs(Z - row).sum(axis=1).max()) for row in Z) / 2


def stationary_error_bound(chain: MarkovChain, row_norm: float) -> float:
    """‖π - π̃‖₁ ≤ τ₁(Z)·‖P - P̃‖_∞ with ‖·‖_∞ the largest row sum and Z the fundamental matrix of `chain`.

    MDM (22) and MCM Lemma 5 print column sums for both norms, which some chains violate. Because the rows of P - P̃ sum
    to zero, τ₁(Z) may stand for ‖Z‖_∞, which is never smaller.
    """
    return tau_1(np.asarray(chain.fundamental_matrix)) * row_norm


def expected_stationary_error(chain: MarkovChain, k: float | FloatArray) -> float:
    """A bound on E‖π - π̃‖₁ when every row i is drawn with concentration k_i: MDM Theorem 3 with its norms put right.

    The theorem bounds column sums, which do not bound the change of π; this one bounds row sums, from the exact moments
    of each entry. It depends on P: for the curator.
    """
    P = chain.matrix.toarray()
    return stationary_error_bound(chain, expected_row_norm(P, np.broadcast_to(np.asarray(k, dtype=float), len(P))))


def stationary_error_from_kl(chain: MarkovChain, private: MarkovChain) -> float:
    """‖π - π̃‖₁ ≤ τ₁(Z̃)·√(2 Σ π_i KL(P_i‖P̃_i)), Z̃ of the *private* chain: MCM Lemma 6 in the form that holds.

    What Pinsker's inequality yields is a bound on the row sums weighted by π, and such a weighted sum needs Z̃. True of
    each single draw; Z̃ and the divergence are dependent, so the expectation of the product is not a product.
    """
    return tau_1(np.asarray(private.fundamental_matrix)) * math.sqrt(2 * chain.kl_rate(private))


def expected_ergodicity_error(P: FloatArray, k: FloatArray) -> float:
    """A bound on E|τ_∞(P) - τ_∞(P̃)|: here the largest column sum is the right norm (MCM Theorem 5, repaired)."""
    return expected_column_norm(P, k)
