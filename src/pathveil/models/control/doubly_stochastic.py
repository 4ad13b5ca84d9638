"""Private doubly stochastic matrices: rows and columns sum to 1, before and after (MDM's future work).

Columns sum to 1 too, so mass cannot move within one row alone. The smallest change is an *exchange*: s passes from
column j to column l in one row, and from l to j in another; or round a longer cycle of the support, through t rows. So
t rows change, each by a shift of s between two entries, and their losses *add up*: the promise is that of t Dirichlet
draws together (`privacy/composition.py`), not that of the worst row. (docs/control.md has the proof, and what the worst
row would have claimed.)

Every row is drawn so that it has the same profile, whatever its size: with n possible entries and nη mixed in, the
profile depends on kη and ks(1-nη) alone, and η is chosen so that their quotient is the same for all rows. Then it does
not matter which t rows an exchange touches. What comes out is made doubly stochastic again, which costs no privacy.

*Symmetric* matrices (weights of a consensus protocol on a graph) change in one number: the weight of an edge, against
the two weights that its ends give to themselves. Each edge gets noise once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidCountsError, InvalidParameterError
from pathveil.models.calibration import Calibration
from pathveil.models.control.birkhoff import possible_entries, shortest_cycle
from pathveil.models.control.consensus import noisy_edges, settling
from pathveil.models.control.projection import nearest_doubly_stochastic, scaled_doubly_stochastic
from pathveil.models.dirichlet import EXACT_ON_GRID
from pathveil.models.frequencies import checked_support, draw_rows, require_inside, row_rmse
from pathveil.models.laplace import EXACT
from pathveil.models.matrix import calibrate_rows, checked_matrix
from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.privacy import units
from pathveil.privacy.guarantee import Guarantee
from pathveil.privacy.profile import require_promise
from pathveil.randomness.source import RandomSource, checked_source

Make = Literal["nearest", "scaling"]

_SUM_TOLERANCE = 1e-8
_LEAST_CHANGE = 1e-9  # less is lost in the rounding of the matrix itself
# What rounding may do to kη and ks(1-nη): by so much of themselves they are moved to the safe side.
_ROUNDING = 1e-11


@dataclass(frozen=True)
class DoublyStochasticForecast:
    """What to expect, from public quantities only.

    `frobenius` bounds the root mean squared Frobenius distance between truth and release, whatever the matrix. The
    convergence factor of the release (`convergence_factor`) is then, on average, at most so far from the true one.
    `entry` is the same for one entry of the support, on average over them.
    """

    frobenius: float
    entry: float


@dataclass(frozen=True, eq=False)
class PrivateDoublyStochastic:
    """A release. Nothing in it depends on the matrix except through the draw.

    `values` has rows and columns that sum to 1, and is 0 where every doubly stochastic matrix on the support is.
    `noisy` is what it was made from: rows sum to 1, columns do not. `convergence_factor` says how fast averaging with
    `values` settles. `guarded` says that a twentieth of public weights was mixed in, because
    averaging would not have settled otherwise (symmetric matrices only; the forecast does not count it). `made` is how
    it became doubly stochastic: "nearest" also where scaling was asked for and noise had made that impossible.
    """

    values: FloatArray
    noisy: FloatArray
    guarantee: Guarantee
    forecast: DoublyStochasticForecast
    convergence_factor: float
    made: Make = "nearest"
    guarded: bool = False


def convergence_factor(matrix: npt.ArrayLike) -> float:
    """The largest singular value of P - 11ᵀ/n: by this factor, at least, averaging with P brings values closer to
    their mean in each step. For symmetric P it is the second largest eigenvalue in absolute value.

    >>> import pathveil as pv
    >>> round(pv.convergence_factor([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]), 6)
    0.25
    """
    P = np.asarray(matrix, dtype=float)
    return float(np.linalg.norm(P - 1 / len(P), ord=2))


def private_doubly_stochastic(
    matrix: npt.ArrayLike,
    *,
    epsilon: float,
    delta: float | None = None,
    change: float,
    support: npt.ArrayLike | None = None,
    symmetric: bool = False,
    rows: int | None = None,
    make: Make = "nearest",
    rng: RandomSource | None = None,
) -> PrivateDoublyStochastic:
    """A doubly stochastic matrix that hides an exchange of mass.

    `change` is s, the most mass that one exchange moves. An exchange goes through `rows` rows: 2 unless the support
    has no two rows with two columns in common; None takes the fewest that the support allows. `support` marks the
    entries that may differ from zero (public, not taken from the matrix); None means all. `make` says how the noisy
    rows become doubly stochastic: "nearest" takes the nearest such matrix, "scaling" multiplies rows and columns.

    With `symmetric=True` the matrix is symmetric, one edge may change by s, and so do the two self-weights at its ends;
    `support` is the graph (self-weights are always possible). Discrete Laplace noise does that with δ = 0, so a `delta`
    is not needed, and not spent.

    Raises `InvalidCountsError` where the matrix is not doubly stochastic (which row or column, by how much), and
    `InvalidParameterError` where the support allows no such matrix, or no such exchange.

    >>> import pathveil as pv
    >>> release = pv.private_doubly_stochastic(
    ...     [[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.1, 0.3, 0.6]],
    ...     epsilon=2.0, delta=1e-6, change=0.01, rng=pv.insecure_seed(7),
    ... )
    >>> release.values.sum(axis=0).round(12), release.values.sum(axis=1).round(12)
    (array([1., 1., 1.]), array([1., 1., 1.]))
    """
    P = _checked_doubly_stochastic(matrix)
    if not _LEAST_CHANGE <= change <= 1:
        raise InvalidParameterError(
            f"change is {change}: it is the mass that one exchange moves, at least {_LEAST_CHANGE:g} and at most 1"
        )
    if delta is not None:
        require_promise(epsilon, delta)
    if make not in ("nearest", "scaling"):
        raise InvalidParameterError(f"make is {make!r}: it must be 'nearest' or 'scaling'")
    inside = checked_support(support, P.shape, "support")
    require_inside(P, inside | (symmetric & np.eye(len(P), dtype=bool)), "matrix")
    if symmetric:
        return _symmetric(P, inside, epsilon, change, rows, make, checked_source(rng))
    if delta is None:
        raise InvalidParameterError("the Dirichlet mechanism needs a `delta`; only `symmetric=True` can do without")
    inside = possible_entries(inside)
    unit = units.Exchange(change, _checked_rows(inside, rows))
    calibrations = calibrated_for_exchange(inside.sum(axis=1), unit, epsilon, delta)
    source = checked_source(rng)
    noisy = inside.astype(float)
    drawn = [i for i, calibration in enumerate(calibrations) if calibration is not None]
    settled = [calibration for calibration in calibrations if calibration is not None]
    _, noisy[drawn] = draw_rows(source, P[drawn], change, inside[drawn], settled)
    squares = sum(c.size * row_rmse(c) ** 2 for c in settled)
    return _made(
        noisy,
        inside,
        make,
        _guarantee(unit, epsilon, delta, "Dirichlet mechanism on the rows of a doubly stochastic matrix", source),
        DoublyStochasticForecast(math.sqrt(squares), math.sqrt(squares / inside.sum())),
    )


def calibrated_for_exchange(
    sizes: IntArray, unit: units.Exchange, epsilon: float, delta: float
) -> list[Calibration | None]:
    """Floor and concentration of each row, all with one profile of which `unit.rows` together keep the promise.

    None for rows with a single possible entry, which is 1.
    """
    noisy = [int(size) for size in sizes if size > 1]
    base = _one_of(unit.rows, min(noisy), unit.amount, epsilon, delta)
    made = {base.size: base}
    for size in set(noisy) - {base.size}:
        # η/s the same as for `base`, a hair more: with κ = 1 - nη kept, η/(κs) = (1-κ)/(nκs).
        odds = size * unit.amount * (base.floor / base.shift) * (1 + _ROUNDING)
        kept = 1 / (1 + odds)
        shift = kept * unit.amount
        concentration = base.concentration * base.shift / shift * (1 - _ROUNDING / 10)
        made[size] = Calibration(size, odds * kept / size, odds * kept, shift, concentration)
    return [made.get(int(size)) for size in sizes]


@lru_cache(maxsize=64)
def _one_of(rows: int, size: int, change: float, epsilon: float, delta: float) -> Calibration:
    """One of so many equal rows that keep the promise together."""
    base = calibrate_rows([size] * rows, change, epsilon, delta, "matrix", None, True)[0]
    assert base is not None
    return base


def _symmetric(
    W: FloatArray, graph: BoolArray, epsilon: float, change: float, rows: int | None, make: Make, source: RandomSource
) -> PrivateDoublyStochastic:
    """Laplace noise on every edge; self-weights follow."""
    n = len(W)
    inside = graph | np.eye(n, dtype=bool)
    for i, j in np.argwhere(inside != inside.T):
        raise InvalidParameterError(f"the support is not symmetric: it has {i + 1}, {j + 1} and not {j + 1}, {i + 1}")
    for i, j in np.argwhere(np.abs(W - W.T) > _SUM_TOLERANCE):
        raise InvalidCountsError(f"entry {i + 1}, {j + 1} is {W[i, j]:.6g} and entry {j + 1}, {i + 1} {W[j, i]:.6g}")
    if rows is not None:
        raise InvalidParameterError("`rows` is for matrices that are not symmetric: here one edge changes")
    edges = np.argwhere(np.triu(inside, 1))
    if not len(edges):
        raise InvalidParameterError("the graph has no edges: the matrix is public already")
    weights, variance = noisy_edges(source, W[edges[:, 0], edges[:, 1]], change, epsilon)
    noisy = np.zeros_like(W)
    noisy[edges[:, 0], edges[:, 1]] = noisy[edges[:, 1], edges[:, 0]] = weights
    np.fill_diagonal(noisy, 1 - noisy.sum(axis=1))
    # Noise of variance σ² on an edge stands in two entries, and its negative in two self-weights, where the noises of
    # all edges of a node add up: 4σ² for each edge in all.
    squares = 4 * variance * len(edges)
    unit = units.Exchange(change, 2, symmetric=True)
    release = _made(
        noisy,
        inside,
        make,
        _guarantee(unit, epsilon, 0.0, "discrete Laplace noise on the edges of a doubly stochastic matrix", source),
        DoublyStochasticForecast(math.sqrt(squares), math.sqrt(squares / inside.sum())),
    )
    values, guarded = settling((release.values + release.values.T) / 2, inside, convergence_factor)
    return replace(release, values=values, guarded=guarded, convergence_factor=convergence_factor(values))


def _made(
    noisy: FloatArray, inside: BoolArray, make: Make, guarantee: Guarantee, forecast: DoublyStochasticForecast
) -> PrivateDoublyStochastic:
    """The release, doubly stochastic again."""
    values = None if make == "nearest" else scaled_doubly_stochastic(noisy, inside)
    if values is None:
        make, values = "nearest", nearest_doubly_stochastic(noisy, inside)
    return PrivateDoublyStochastic(values, noisy, guarantee, forecast, convergence_factor(values), make)


def _guarantee(unit: units.Exchange, epsilon: float, delta: float, mechanism: str, source: RandomSource) -> Guarantee:
    what = (
        f"the weight of one edge differs by at most {unit.amount:g}, and so do the self-weights at its two ends"
        if unit.symmetric
        else f"mass of at most {unit.amount:g} has gone round one cycle of the support, through {unit.rows} rows or "
        "fewer"
    )
    kind = "symmetric doubly stochastic" if unit.symmetric else "doubly stochastic"
    return Guarantee(
        epsilon=epsilon,
        delta=delta,
        unit=f"any other {kind} matrix in which {what}",
        public=("which entries can differ from zero",),
        mechanism=mechanism,
        sampling=EXACT if unit.symmetric else EXACT_ON_GRID,
        seeded=source.is_seeded,
        protects=unit,
    )


def _checked_rows(inside: BoolArray, rows: int | None) -> int:
    """Through how many rows an exchange may go, at most."""
    fewest = shortest_cycle(inside)
    if fewest is None:
        raise InvalidParameterError(
            "the support has no cycle, so there is a single doubly stochastic matrix on it: nothing can be exchanged, "
            "and the matrix is public already"
        )
    if rows is None:
        return fewest
    if isinstance(rows, bool) or not isinstance(rows, int) or not fewest <= rows <= len(inside):
        raise InvalidParameterError(
            f"`rows` is {rows!r}: an exchange on this support goes through {fewest} rows at least, and the matrix has "
            f"{len(inside)}"
        )
    return rows


def _checked_doubly_stochastic(matrix: npt.ArrayLike) -> FloatArray:
    P = checked_matrix(matrix)
    if P.shape[0] != P.shape[1]:
        raise InvalidCountsError(f"the matrix has shape {P.shape}: a doubly stochastic matrix is square")
    sums: FloatArray = P.sum(axis=0)
    for j in np.flatnonzero(~(np.abs(sums - 1) <= _SUM_TOLERANCE)):
        raise InvalidCountsError(
            f"column {j + 1} of the matrix sums to {sums[j]:.12g}, {abs(sums[j] - 1):.3g} away from 1: rows do, but "
            "the columns of a doubly stochastic matrix sum to 1 as well"
        )
    return P
