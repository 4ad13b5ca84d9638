"""The mathematics of a finite Markov chain: its classes, its long run, and how fast it gets there.

A short primer. State j is *accessible* from i if some path of possible transitions leads from i to j. States that are
accessible from each other form a *communication class*; a chain with one class is *irreducible*. A class that cannot
be left is *recurrent*: in the long run the chain is in one of these. The *period* of a class is the greatest common
divisor of the lengths of its closed paths, and a class of period 1 is *aperiodic*. A *stationary distribution* is a
row vector π with πP = π; each recurrent class has exactly one, and all others are mixtures of those.

Every function takes the transition matrix P as sparse rows without stored zeros. `names` are the states, for messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from pathveil.errors import DeadEndError, ReducibleChainError, TooLargeError
from pathveil.numerics.arrays import FloatArray, IntArray

# Dense elimination of this many states takes some seconds and 200 MB.
LARGEST_DENSE = 5_000
# All eigenvalues of more states than this take longer than the few that an iteration finds.
_LARGEST_FULL_SPECTRUM = 1_000
_BLOCK = 64


def require_stochastic(P: sparse.csr_array, names: Sequence[Any]) -> None:
    """Raise an error that names the states without successor, if there are any."""
    dead = np.flatnonzero(np.diff(P.indptr) == 0).tolist()
    if dead:
        raise DeadEndError(
            f"{_some(names[i] for i in dead)}: no successor, so these rows are no probability distributions. "
            "Give each of these states a successor (itself, for a state that is never left), or leave it out."
        )


def communication_classes(P: sparse.csr_array) -> list[IntArray]:
    """The states of each class, in increasing order; classes in the order of their first states."""
    from scipy.sparse.csgraph import connected_components

    _, labels = connected_components(P, directed=True, connection="strong")
    by_class = np.argsort(labels, kind="stable")
    classes = np.split(by_class, np.flatnonzero(np.diff(labels[by_class])) + 1)
    return sorted(classes, key=lambda members: int(members[0]))


def recurrent_classes(P: sparse.csr_array) -> list[IntArray]:
    """The classes that cannot be left."""
    classes = communication_classes(P)
    label = np.empty(P.shape[0], dtype=np.int64)
    for number, members in enumerate(classes):
        label[members] = number
    sources, targets = P.nonzero()
    left = set(label[sources[label[sources] != label[targets]]].tolist())
    return [members for number, members in enumerate(classes) if number not in left]


def is_aperiodic(P: sparse.csr_array) -> bool:
    """Has every recurrent class period 1?"""
    return all(_period(_within(P, members)) == 1 for members in recurrent_classes(P))


def _period(P: sparse.csr_array) -> int:
    """The period of an irreducible chain: the gcd of level(i) + 1 - level(j) over its transitions i → j.

    The level of a state is its distance from the first one. Along a closed path these numbers add up to its length.
    """
    from scipy.sparse.csgraph import dijkstra

    level = dijkstra(P, unweighted=True, indices=[0])[0].astype(np.int64)
    sources, targets = P.nonzero()
    return int(np.gcd.reduce(np.abs(level[sources] + 1 - level[targets])))


def stationary_distributions(P: sparse.csr_array) -> FloatArray:
    """One row for each recurrent class: the stationary distribution that lives on it."""
    classes = recurrent_classes(P)
    rows = np.zeros((len(classes), P.shape[0]))
    for row, members in zip(rows, classes, strict=True):
        within = _within(P, members)
        row[members] = _eliminate(within.toarray()) if len(members) <= LARGEST_DENSE else _solve_sparse(within)
    return rows


def stationary_distribution(P: sparse.csr_array, names: Sequence[Any]) -> FloatArray:
    """The stationary distribution π of a chain with one recurrent class; states outside it get 0."""
    classes = recurrent_classes(P)
    if len(classes) > 1:
        named = "; ".join("{" + _some(names[i] for i in members) + "}" for members in classes[:4])
        raise ReducibleChainError(
            f"there is no single stationary distribution: the chain has {len(classes)} recurrent classes, {named}"
            f"{'; ...' if len(classes) > 4 else ''}. Take `stationary_distributions`, which has one row for each."
        )
    return np.asarray(stationary_distributions(P)[0])


def _eliminate(A: FloatArray) -> FloatArray:
    """The stationary distribution of an irreducible chain by the algorithm of Grassmann, Taksar and Heyman (1985).

    States are removed from the last to the first; what is left is the chain watched only while in the remaining
    states. No two numbers are ever subtracted, so that *every entry* is right to a relative error of about
    n³ roundings, however small it is and however badly conditioned the chain. Overwrites A.

    Removing state k changes all transitions among the states before it by A[i, k]·A[k, j]/(way out of k). These
    updates are collected for a block of states and then made in one matrix product, which is much faster.
    """
    n = len(A)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for high in range(n, 1, -_BLOCK):
            low = max(high - _BLOCK, 1)
            for k in range(high - 1, low - 1, -1):
                done = slice(k + 1, high)  # removed already, but not yet accounted for in row and column k
                A[k, :k] += A[k, done] @ A[done, :k]
                A[:k, k] += A[:k, done] @ A[done, k]
                A[:k, k] /= A[k, :k].sum()
            A[:low, :low] += A[:low, low:high] @ A[low:high, :low]
        π = np.zeros(n)
        π[0] = 1.0
        for k in range(1, n):
            π[k] = π[:k] @ A[:k, k]
            if π[k] > 1e100:  # only ratios matter; keep them within the range of floating point
                π[: k + 1] /= π[k]
        π /= π.sum()
    if not np.isfinite(π).all():
        raise TooLargeError(
            "the stationary distribution spans more orders of magnitude than floating point has: some transition "
            "probabilities are nearly zero. Leave such transitions out."
        )
    return π


def _solve_sparse(P: sparse.csr_array) -> FloatArray:
    """The stationary distribution of a large irreducible chain by sparse elimination.

    With the last state's probability set to 1 the others solve a linear system. Fast where the transitions form a
    network of few edges; accurate to (condition number × rounding) of the largest entry, not entry by entry.
    """
    from scipy.sparse.linalg import splu

    others = P.copy()
    others.setdiag(0)
    # 1 - P[i, i] written as the sum of the other entries: nothing cancels.
    A = sparse.diags_array(np.asarray(others.sum(axis=1)).ravel()) - others
    system = sparse.csc_array(A[:-1, :-1].T)
    right = others[[-1], :-1].toarray().ravel()
    # For this kind of matrix (an M-matrix) the diagonal is always a good pivot, and it keeps the factors sparse.
    factors = splu(system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    solution = factors.solve(right)
    solution += factors.solve(right - system @ solution)
    π = np.append(solution, 1.0)
    if not np.isfinite(π).all() or π.min() < -1e-9 * π.max():
        raise TooLargeError(
            f"the stationary distribution of these {P.shape[0]} states is too badly conditioned for sparse "
            f"elimination. Merge states until at most {LARGEST_DENSE} are left: then a stable method is used."
        )
    π = np.maximum(π, 0.0)
    return np.asarray(π / π.sum())


def fundamental_matrix(P: sparse.csr_array, π: FloatArray) -> FloatArray:
    """Z = (I - P + 1πᵀ)⁻¹, which turns a change of P into a change of π: π̃ - π = π̃(P̃ - P)Z.

    MDM and MCM print I - P - 1πᵀ. Their inverse differs from Z by 2·1πᵀ, which the zero row sums of P̃ - P make
    harmless in this equation, but not in a bound by the norm of Z; we keep to Kemeny and Snell's sign.
    """
    n = P.shape[0]
    _require_dense(n, "the fundamental matrix")
    return np.asarray(np.linalg.inv(np.eye(n) - P.toarray() + π))


def ergodicity_coefficient(P: sparse.csr_array) -> float:
    """τ_∞(P) = max ‖Pᵀz‖_∞ over ‖z‖_∞ = 1 with entries that sum to zero (MCM, Definition 7), in closed form.

    The best z for a column is +1 at its largest ⌊n/2⌋ entries, -1 at its smallest ⌊n/2⌋, and 0 between.
    """
    n = P.shape[0]
    half = n // 2
    columns = P.tocsc()
    largest = 0.0
    for j in range(n):
        entries = np.sort(columns.data[columns.indptr[j] : columns.indptr[j + 1]])
        # The zeros, which are not stored, are the smallest entries of the column.
        above = entries[max(len(entries) - half, 0) :].sum()
        below = entries[: max(half - (n - len(entries)), 0)].sum()
        largest = max(largest, float(above - below))
    return largest


def second_eigenvalue(P: sparse.csr_array) -> float:
    """|λ₂|, the second largest modulus among the eigenvalues; 0 for a chain of one state."""
    n = P.shape[0]
    if n == 1:
        return 0.0
    # Other eigenvalues of modulus 1 come from the structure alone; an iteration may miss repeated ones.
    if len(recurrent_classes(P)) > 1 or not is_aperiodic(P):
        return 1.0
    if n <= _LARGEST_FULL_SPECTRUM:
        moduli = np.abs(np.linalg.eigvals(P.toarray()))
    else:
        from scipy.sparse.linalg import ArpackNoConvergence, eigs

        try:
            # A fixed start makes the answer reproducible; it must not be the eigenvector of λ₁ = 1.
            moduli = np.abs(eigs(P, k=2, which="LM", v0=np.cos(np.arange(n)), return_eigenvectors=False))
        except ArpackNoConvergence:
            _require_dense(n, "the second eigenvalue, whose neighbours are too close for an iteration")
            moduli = np.abs(np.linalg.eigvals(P.toarray()))
    return float(np.sort(moduli)[-2])


def kl_rate(P: sparse.csr_array, Q: sparse.csr_array, π: FloatArray) -> float:
    """Σ_i π_i Σ_j P_ij log(P_ij/Q_ij) (MCM, Definition 8), infinite where P goes and Q cannot go."""
    from scipy.special import rel_entr

    used = P[π > 0]
    rows, columns = used.nonzero()
    states = np.flatnonzero(π > 0)[rows]
    p, q = used.data, np.asarray(Q[states, columns]).ravel()
    # Rounding may push the rate of nearly equal chains below zero, where no divergence can be.
    return max(0.0, float(np.sum(π[states] * rel_entr(p, q))))


def _within(P: sparse.csr_array, members: IntArray) -> sparse.csr_array:
    return P if len(members) == P.shape[0] else sparse.csr_array(P[members][:, members])


def _require_dense(n: int, what: str) -> None:
    if n > LARGEST_DENSE:
        raise TooLargeError(
            f"{what} needs a full matrix of {n} × {n}; the limit is {LARGEST_DENSE} states. Merge states first."
        )


def _some(items: Iterable[Any], limit: int = 6) -> str:
    listed = list(items)
    return ", ".join(map(repr, listed[:limit])) + (f", ... ({len(listed)} states)" if len(listed) > limit else "")
