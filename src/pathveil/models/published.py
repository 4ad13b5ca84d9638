"""The papers' own numbers, kept so that anyone can compare: MCM (3), (4), ε*, Corollary 1, Lemmas 5 and 6, Theorems 4
and 5; MDM Theorems 1 and 3.

Functions without a suffix are exactly as printed. Each docstring begins with a verdict:

- RIGHT: the statement holds;
- LOOSE: it holds, but the exact profile (`pv.DirichletProfile`) is far better;
- WRONG: there are inputs that violate it; the docstring names what to use instead.

Releases never use this file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pathveil.models.accuracy import worst_absolute_error, worst_kl, worst_squared_error
from pathveil.numerics.arrays import FloatArray

if TYPE_CHECKING:
    from pathveil.systems.markov_chain import MarkovChain


def mcm_epsilon(k: float, eta: float, N: int, n: int, gamma: float) -> float:
    """LOOSE. MCM (3), for n categories and N records, every frequency ≥ η.

    WRONG where η + 1/N exceeds (1-η)/2, half of what the two entries can have, *and* γ is so large that a smaller shift
    has the larger loss: see `mcm_epsilon_corrected`.
    """
    return _log_beta_ratio(k, eta, 1 / N, 1 - eta) + k / N * math.log((1 - (n - 1) * gamma) / gamma)


def mcm_epsilon_corrected(k: float, eta: float, N: int, n: int, gamma: float) -> float:
    """LOOSE. MCM (3) with the first term's shift stopped where it is worst: where both entries are equal."""
    shift = min(1 / N, (1 - eta) / 2 - eta)
    return _log_beta_ratio(k, eta, shift, 1 - eta) + k / N * math.log((1 - (n - 1) * gamma) / gamma)


def mcm_delta(k: float, eta: float, n: int, gamma: float) -> float:
    """LOOSE. MCM (4): the largest probability, over inputs with entries ≥ η, that some entry of the draw is below γ.

    It is attained at the corners: n-1 entries at η, one with the rest. The union bound over entries is used, which
    exceeds the exact value by a factor of at most 1 + δ (the entries are negatively associated).
    """
    from scipy import special

    rest = 1 - (n - 1) * eta
    low = (n - 1) * special.betainc(k * eta, k * (1 - eta), gamma)
    return min(1.0, float(low + special.betainc(k * rest, k * (1 - rest), gamma)))


def mcm_strongest_epsilon(eta: float, N: int, n: int, gamma: float) -> float:
    """LOOSE. ε*: MCM (3) at k = 3/(2η), the least concentration that MCM's Assumption 4 allows.

    The exact profile needs no such assumption.
    """
    return mcm_epsilon(3 / (2 * eta), eta, N, n, gamma)


def mcm_kl_bound(k: float, N: int, n: int) -> float:
    """RIGHT. MCM Corollary 1: E KL(C‖C̃) for any counts of N records in which each of n categories occurs.

    (The proof says that the trigamma function is negative; it is positive, and the result holds all the same.)
    """
    return worst_kl(k, n, 1 / N)


def mcm_lemma_5_bound(chain: MarkovChain, other: MarkovChain) -> float:
    """WRONG. MCM Lemma 5 and MDM (22): ‖π - π̃‖₁ ≤ ‖Z‖₁ ‖P - P̃‖₁ with column sums.

    π is a row vector, so the norms must be largest *row* sums: `accuracy.stationary_error_bound`.
    """
    return _column_sum(_printed_fundamental_matrix(chain)) * _column_sum(_difference(chain, other))


def mcm_lemma_6_bound(chain: MarkovChain, other: MarkovChain) -> float:
    """WRONG. The step of MCM Lemma 6 that takes ‖P - P̃‖₁ ≤ √(2 KL(P‖P̃)) from Pinsker's inequality.

    Pinsker bounds the π-weighted row sums only: `accuracy.stationary_error_from_kl`.
    """
    return math.sqrt(2 * chain.kl_rate(other))


def mcm_lemma_8_bound(k: float, N: int, n: int) -> float:
    """RIGHT, and next to nothing. MCM Lemma 8: E|C_i - C̃_i| is at least this if each category occurs."""
    numerator = k * (1 - (n - 1) / N) * -math.log(N) + k * (1 - 1 / N) * math.log((n - 1) / N)
    return 2 * math.exp(numerator - math.log(k) - _log_beta(k / N, k * (n - 1) / N))


def mcm_theorem_4_bound(chain: MarkovChain, k: Sequence[float], N: Sequence[int]) -> float:
    """WRONG in its derivation (Lemmas 5 and 6). MCM Theorem 4: E‖π - π̃‖_TV ≤ ½‖Z‖₁ √(2L)."""
    return 0.5 * _column_sum(_printed_fundamental_matrix(chain)) * mcm_theorem_5_bound(chain, k, N)


def mcm_theorem_5_bound(chain: MarkovChain, k: Sequence[float], N: Sequence[int]) -> float:
    """WRONG. MCM Theorem 5: E|τ_∞(P) - τ_∞(P̃)| ≤ √(2L), L the π-weighted bound on the divergence of the rows.

    A noisy row of a state that is rarely visited hardly counts in L and fully in τ_∞. Use
    `accuracy.expected_ergodicity_error`.
    """
    n = len(chain.symbols)
    bounds = [mcm_kl_bound(k_i, N_i, n) for k_i, N_i in zip(k, N, strict=True)]
    return math.sqrt(2 * float(np.dot(chain.stationary_distribution, bounds)))


def mdm_epsilon(k: float, eta: float, eta_bar: float, b: float, w: int, gamma: float) -> float:
    """WRONG for MDM's own adjacency (Definition 4), under which every row may change; LOOSE where one row changes.

    MDM Theorem 1, for |W| = w protected entries of at least η in a row and at least η̄ outside them. Where every row may
    change, the rows' losses add up: `pv.ComposedProfile`. Where η + b/2 passes (1-η̄)/2 and γ is large, it is too small
    even for one row: `mdm_epsilon_corrected`.
    """
    return _log_beta_ratio(k, eta, b / 2, 1 - eta_bar) + k * b / 2 * math.log((1 - (w - 1) * gamma) / gamma)


def mdm_epsilon_corrected(k: float, eta: float, eta_bar: float, b: float, w: int, gamma: float) -> float:
    """LOOSE, for one changing row. MDM Theorem 1 with the shift stopped where both entries are equal."""
    shift = min(b / 2, (1 - eta_bar) / 2 - eta)
    return _log_beta_ratio(k, eta, shift, 1 - eta_bar) + k * b / 2 * math.log((1 - (w - 1) * gamma) / gamma)


def mdm_delta(k: float, eta: float, w: Sequence[int], gamma: float) -> float:
    """WRONG where rows differ. MDM Theorem 1's δ = 1 - max_i min P(Ω₁): that is the *smallest* δ among the rows.

    `w[i]` is the number of protected entries of row i. Use `mdm_delta_corrected`, as the theorem's proof does.
    """
    return min(_row_delta(k, eta, size, gamma) for size in w)


def mdm_delta_corrected(k: float, eta: float, w: Sequence[int], gamma: float) -> float:
    """LOOSE, for one changing row. The largest δ among the rows."""
    return max(_row_delta(k, eta, size, gamma) for size in w)


def mdm_theorem_2_bounds(k: float) -> tuple[float, float]:
    """RIGHT. MDM Theorem 2: bounds on E|P_ij - P̃_ij| and E|P_ij - P̃_ij|²."""
    return worst_absolute_error(k), worst_squared_error(k)


def mdm_theorem_3_bound(chain: MarkovChain, k: float, eta: float, eta_bar: float, w: Sequence[int]) -> float:
    """WRONG in its derivation (column sums). MDM Theorem 3: a bound on E‖π - π̃‖₁.

    Use `accuracy.expected_stationary_error`, which bounds row sums.
    """
    n = len(chain.symbols)

    def least(size: int) -> float:
        other = eta_bar + (size - 1) * eta
        log_top = 2 * k * ((1 - other) * math.log(eta) + (1 - eta) * math.log(other))
        return 4 * math.exp(log_top - 2 * (math.log(k) + _log_beta(k * eta, k * other)))

    variance = n * n * worst_squared_error(k) - max(least(size) for size in w)
    norm = n * worst_absolute_error(k) + math.sqrt((n - 1) / n * variance)
    return _column_sum(_printed_fundamental_matrix(chain)) * norm


def _row_delta(k: float, eta: float, w: int, gamma: float) -> float:
    """P(some protected entry < γ), by the union bound, at the worst input: all w protected entries at η."""
    from scipy import special

    return min(1.0, w * float(special.betainc(k * eta, k * (1 - eta), gamma)))


def _log_beta_ratio(k: float, eta: float, shift: float, mass: float) -> float:
    """log B(kη, k(mass-η)) - log B(k(η+shift), k(mass-η-shift))."""
    return _log_beta(k * eta, k * (mass - eta)) - _log_beta(k * (eta + shift), k * (mass - eta - shift))


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _printed_fundamental_matrix(chain: MarkovChain) -> FloatArray:
    """(I - P - 1πᵀ)⁻¹, with the papers' sign."""
    n = len(chain.symbols)
    return np.linalg.inv(np.eye(n) - chain.matrix.toarray() - np.outer(np.ones(n), chain.stationary_distribution))


def _difference(chain: MarkovChain, other: MarkovChain) -> FloatArray:
    return np.asarray(chain.matrix.toarray() - other.matrix.toarray(), dtype=float)


def _column_sum(matrix: FloatArray) -> float:
    """The largest column sum of absolute values, ‖·‖₁ of a matrix that acts on column vectors."""
    return float(np.abs(matrix).sum(axis=0).max())
