"""Markov chain quantities computed the literal way: exact fractions, enumeration, plain loops."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf, log

import numpy as np


def stationary_distribution(matrix: np.ndarray) -> list[Fraction]:
    """π of an irreducible chain by elimination in exact fractions.

    The diagonal is taken to be what the other entries of a row leave of 1, as rows of rounded numbers never sum to 1.
    """
    n = len(matrix)
    P = [[Fraction(float(x)) for x in row] for row in matrix]
    for i in range(n):
        P[i][i] = 1 - sum(P[i][j] for j in range(n) if j != i)
    # Unknowns π_1..π_{n-1} with π_0 = 1: the equations Σ_i π_i (P_ij - [i = j]) = 0 for j = 1..n-1.
    rows = [[P[i][j] - (i == j) for i in range(1, n)] + [-P[0][j]] for j in range(1, n)]
    for c in range(n - 1):
        pivot = next(r for r in range(c, n - 1) if rows[r][c] != 0)
        rows[c], rows[pivot] = rows[pivot], rows[c]
        rows[c] = [x / rows[c][c] for x in rows[c]]
        for r in range(n - 1):
            if r != c and rows[r][c] != 0:
                rows[r] = [x - rows[r][c] * y for x, y in zip(rows[r], rows[c], strict=True)]
    weights = [Fraction(1)] + [row[-1] for row in rows]
    return [w / sum(weights) for w in weights]


def ergodicity_coefficient(matrix: np.ndarray) -> float:
    """τ_∞ by trying every vector of -1, 0, 1 that sums to zero; the best one is always of this kind."""
    vectors = (z for z in product((-1, 0, 1), repeat=len(matrix)) if sum(z) == 0)
    return max(float(np.abs(matrix.T @ np.array(z)).max()) for z in vectors)


def kl_rate(P: np.ndarray, Q: np.ndarray, π: np.ndarray) -> float:
    total = 0.0
    for i in range(len(P)):
        for j in range(len(P)):
            if π[i] > 0 and P[i, j] > 0:
                total += π[i] * P[i, j] * log(P[i, j] / Q[i, j]) if Q[i, j] > 0 else inf
    return total


def is_aperiodic(matrix: np.ndarray) -> bool:
    """For an irreducible chain: some power of the matrix, up to (n-1)² + 1, has no zero (Wielandt)."""
    n = len(matrix)
    support = matrix > 0
    power = support.copy()
    for _ in range((n - 1) ** 2):
        power = (power.astype(int) @ support.astype(int)) > 0
    return bool(power.all())


def alias_step(own: list[int], other: list[int], cuts: list[float], u: float) -> int:
    """The state that a uniform number leads to in one row of an alias table."""
    place = u * len(own)
    cell = int(place)
    return own[cell] if place - cell < cuts[cell] else other[cell]
