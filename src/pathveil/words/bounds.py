"""PF's accuracy bounds as functions, for alphabets of m symbols and words of length n."""

from __future__ import annotations

from math import exp

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.systems.system import checked_length
from pathveil.words.base import (
    checked_adjacency,
    checked_epsilon,
    exponential_log_law,
    log_counts,
    log_sum,
    permute_and_flip_log_law,
)
from pathveil.words.classes import free_counts


def permute_and_flip_bounds(length: int, symbol_count: int, epsilon: float, adjacency: int = 1) -> tuple[float, float]:
    """Lower and upper bound on permute-and-flip's expected number of errors over a free alphabet (PF, Theorem 2).

    The upper bound is the published exponential mechanism's expected error, nC/(1+C) with C = (m-1)e^(-ε/2b). The
    lower one subtracts n(Φ(0) - Φ(n)) / (4 E[Φ]); it is right but can be negative. Φ(ℓ) = P(ℓ) / (N(ℓ) e^(-θℓ)) comes
    from the same integral as the law itself. `PermuteAndFlip.error_law` gives the exact expectation.

    >>> import pathveil as pv
    >>> low, high = pv.permute_and_flip_bounds(length=5, symbol_count=2, epsilon=5.0)
    >>> round(low, 4), round(high, 4)
    (-0.2913, 0.3793)
    """
    n, epsilon, b = checked_length(length), checked_epsilon(epsilon), checked_adjacency(adjacency)
    counts = free_counts(checked_length(symbol_count), n)
    scores = -epsilon / (2 * b) * np.arange(n + 1.0)
    odds = (symbol_count - 1) * exp(-epsilon / (2 * b))
    upper = n * odds / (1 + odds)
    if symbol_count == 1:
        return upper, upper
    log_phi = permute_and_flip_log_law(counts, scores) - (log_counts(counts) + scores)
    log_mean = log_sum(exponential_log_law(counts, scores) + log_phi)
    spread = exp(log_phi[0] - log_mean) - exp(log_phi[n] - log_mean)
    return upper - n * spread / 4, upper


def permute_and_flip_tail_bound(length: int, deviation: float) -> float:
    """PF, Theorem 2: the number of errors is at least `deviation` away from its expectation at most this often."""
    n = checked_length(length)
    if not deviation > 0:
        raise InvalidParameterError(f"the deviation must be positive, not {deviation!r}")
    return min(1.0, 2 * exp(-2 * deviation**2 / n**2))
