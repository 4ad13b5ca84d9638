"""Doubly stochastic matrices by the letter: permutations listed one by one, and Dykstra's projection."""

from __future__ import annotations

from itertools import combinations, permutations
from math import factorial

import numpy as np


def possible_by_permutations(support: np.ndarray) -> np.ndarray:
    """The entries that some permutation inside the support uses."""
    n = len(support)
    possible = np.zeros_like(support, dtype=bool)
    for columns in permutations(range(n)):
        if all(support[i, j] for i, j in enumerate(columns)):
            possible[range(n), columns] = True
    return possible


def shortest_cycle_by_listing(support: np.ndarray) -> int | None:
    """The least t for which t different rows and t different columns lie on a cycle of the support."""
    n = len(support)
    for t in range(2, n + 1):
        assert factorial(n) <= 720
        for rows in combinations(range(n), t):
            for order in permutations(rows[1:]):
                ring = (rows[0], *order)
                for columns in permutations(range(n), t):
                    if all(support[ring[k], columns[k]] and support[ring[k], columns[k - 1]] for k in range(t)):
                        return t
    return None


def dykstra(matrix: np.ndarray, support: np.ndarray, rounds: int = 20_000) -> np.ndarray:
    """The nearest doubly stochastic matrix on a support, by turns: rows and columns sum to 1, entries are not negative.

    The sums are an affine set, which needs no correction; the sign does (Boyle and Dykstra, 1986).
    """
    n = len(matrix)
    X, correction = np.where(support, matrix, 0.0), np.zeros_like(matrix)
    for _ in range(rounds):
        for axis in (1, 0):
            size = support.sum(axis=axis, keepdims=True)
            lack = (1 - X.sum(axis=axis, keepdims=True)) / np.maximum(size, 1)
            X = np.where(support, X + lack, 0.0)
        before = X + correction
        X = np.maximum(before, 0.0)
        correction = before - X
    assert np.abs(X.sum(axis=0) - 1).max() < 1e-6 * n
    return X
