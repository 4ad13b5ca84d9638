"""Make a matrix doubly stochastic: the nearest one, or by scaling rows and columns.

*The nearest one* (in the Frobenius norm) to Y among the doubly stochastic matrices on a support is
X = max(0, Y + u1ᵀ + 1vᵀ) on the support, for one number u_i a row and v_j a column. These maximise the concave function

    g(u, v) = Σu + Σv - ½ Σ max(0, Y_ij + u_i + v_j)²        (sums over the support),

whose gradient is what rows and columns lack to 1, and whose curvature counts the positive entries. Newton's method with
that curvature needs some ten steps of two matrix products each. The set is convex and contains the truth, so the
nearest point of it is never farther from the truth than Y was.

*Scaling* (Sinkhorn and Knopp) multiplies rows and columns until all sums are 1. It keeps positive entries positive,
and has no such promise.
"""

from __future__ import annotations

import numpy as np

from pathveil.numerics.arrays import BoolArray, FloatArray

_ENOUGH = 1e-13  # by how much a row or column may miss 1 when Newton's method stops
_MOST_STEPS = 500
_LEAST_ENTRY = 1e-9  # entries that noise has made 0 are raised to this share of 1/n before they are scaled
_MOST_SCALINGS = 20_000


def nearest_doubly_stochastic(matrix: FloatArray, support: BoolArray) -> FloatArray:
    """The doubly stochastic matrix on the support with the least squared distance to `matrix`.

    `support` has no entries that are 0 in every doubly stochastic matrix (`birkhoff.possible_entries`).
    """
    Y = np.where(support, matrix, 0.0)
    n = len(Y)
    u, v = np.zeros(n), np.zeros(n)
    value = -np.inf
    for _ in range(_MOST_STEPS):
        X = _positive_part(Y, support, u, v)
        if value == -np.inf:
            value = _dual(X, u, v)
        lack_u, lack_v = 1 - X.sum(axis=1), 1 - X.sum(axis=0)
        lack = max(np.abs(lack_u).max(), np.abs(lack_v).max())
        if lack <= _ENOUGH:
            break
        du, dv = _newton_step((X > 0).astype(float), lack_u, lack_v, lack)
        slope = float(lack_u @ du + lack_v @ dv)
        step, better = 1.0, False
        while step > 1e-12:
            attempt = _dual(_positive_part(Y, support, u + step * du, v + step * dv), u + step * du, v + step * dv)
            if attempt >= value + 1e-4 * step * slope - 1e-15 * n:
                better = True
                break
            step /= 2
        if not better:
            break
        u, v, value = u + step * du, v + step * dv, attempt
    return _evened(_positive_part(Y, support, u, v), support)


def _positive_part(Y: FloatArray, support: BoolArray, u: FloatArray, v: FloatArray) -> FloatArray:
    X: FloatArray = np.add.outer(u, v)
    X += Y
    np.maximum(X, 0.0, out=X)
    X *= support
    return X


def _dual(X: FloatArray, u: FloatArray, v: FloatArray) -> float:
    return float(u.sum() + v.sum() - 0.5 * np.einsum("ij,ij->", X, X))


def _newton_step(
    active: FloatArray, lack_u: FloatArray, lack_v: FloatArray, lack: float
) -> tuple[FloatArray, FloatArray]:
    """Solve [R A; Aᵀ C](du, dv) = lack, where A marks positive entries and R, C count them, by conjugate gradients.

    The system is singular: one number may pass from all u to all v, and lines without a positive entry have no
    curvature. A small number on the diagonal settles both; it falls with what is lacking, so that the last steps are
    Newton's own.
    """
    ridge = min(1e-3, 1e-2 * lack) + 1e-14
    rows, columns = active.sum(axis=1) + ridge, active.sum(axis=0) + ridge
    n = len(rows)
    x, r = np.zeros(2 * n), np.concatenate([lack_u, lack_v])
    diagonal = np.concatenate([rows, columns])
    p = z = r / diagonal
    before = float(r @ z)
    goal = min(0.1, lack) ** 2 * 1e-2 * before
    for _ in range(4 * n + 50):
        Ap = diagonal * p
        Ap[:n] += active @ p[n:]
        Ap[n:] += p[:n] @ active
        curvature = float(p @ Ap)
        if curvature <= 0:
            break
        length = before / curvature
        x += length * p
        r = r - length * Ap
        z = r / diagonal
        after = float(r @ z)
        if after <= goal:
            break
        p, before = z + after / before * p, after
    return x[:n], x[n:]


def _evened(X: FloatArray, support: BoolArray) -> FloatArray:
    """Take out what rounding left: rows and columns miss 1 by a little, which positive entries take over."""
    for _ in range(50):
        X = X / X.sum(axis=1, keepdims=True)
        lack = np.abs(X.sum(axis=0) - 1).max()
        if lack <= 1e-15 * len(X):
            break
        X = X / X.sum(axis=0, keepdims=True)
    result: FloatArray = np.where(support, X, 0.0)
    return result


def scaled_doubly_stochastic(matrix: FloatArray, support: BoolArray) -> FloatArray | None:
    """Multiply rows and columns of a nonnegative matrix by numbers until all of them sum to 1; None where that does not
    come to an end, because entries are 0 that would be needed."""
    n = len(matrix)
    X = np.where(support, np.maximum(matrix, _LEAST_ENTRY / n), 0.0)
    rows, columns = np.ones(n), np.ones(n)
    for _ in range(_MOST_SCALINGS):
        rows = 1 / (X @ columns)
        columns = 1 / (rows @ X)
        lack = np.abs(rows * (X @ columns) - 1).max()
        if lack <= _ENOUGH:
            return _evened(rows[:, None] * X * columns, support)
    return None
