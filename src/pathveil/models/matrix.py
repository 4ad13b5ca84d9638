"""Private stochastic matrices: the matrix itself is the sensitive thing (MDM's Matrix Dirichlet Mechanism).

MDM lets *every* row change and yet accounts for one; here the caller says which of the two is meant:

- `protects="row"`: in any one row, mass of at most b/2 may move between two entries; the promise is the worst row's;
- `protects="matrix"`: that may happen in every row at once; the losses of all rows add up.

Rows are mixed with a public floor, drawn, and un-mixed as in `frequencies.py`; MDM's own mode is `floor=…, mix=False`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidCountsError, InvalidParameterError, UnreachablePrivacyError
from pathveil.models.calibration import Calibration, calibrate, plan_floor
from pathveil.models.dirichlet import EXACT_ON_GRID
from pathveil.models.frequencies import checked_support, draw_rows, require_floor, require_inside
from pathveil.numerics.arrays import FloatArray
from pathveil.privacy import units
from pathveil.privacy.composition import ComposedProfile
from pathveil.privacy.guarantee import Guarantee
from pathveil.privacy.profile import SAFETY, DirichletProfile, largest_passing
from pathveil.randomness.source import RandomSource, checked_source

_ROW_SUM_TOLERANCE = 1e-8


@dataclass(frozen=True, eq=False)
class PrivateMatrix:
    """A release. Nothing in it depends on the matrix except through the draw.

    `values` estimates the matrix: the draw with the mixing undone, each row projected to the simplex of its support.
    `draw` has the Dirichlet rows themselves. `concentration` and `floor` have one number for each row; rows with a
    single possible entry need no noise and have an infinite concentration.
    """

    values: FloatArray
    draw: FloatArray
    guarantee: Guarantee
    concentration: FloatArray
    floor: FloatArray


def private_matrix(
    matrix: npt.ArrayLike,
    *,
    epsilon: float,
    delta: float,
    change: float,
    protects: Literal["row", "matrix"] = "row",
    support: npt.ArrayLike | None = None,
    floor: float | None = None,
    mix: bool = True,
    rng: RandomSource | None = None,
) -> PrivateMatrix:
    """A stochastic matrix with Dirichlet noise on every row.

    `change` is MDM's b: adjacent rows differ in two entries by at most b in the 1-norm, so mass b/2 moves. `support`
    marks the entries that can differ from zero (public, not taken from the matrix); None means all. `mix=False` is
    MDM's mode: every entry on the support must be at least `floor`, which is then public knowledge.

    >>> import pathveil as pv
    >>> release = pv.private_matrix(
    ...     [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]],
    ...     epsilon=1.0, delta=1e-6, change=0.025, rng=pv.insecure_seed(7),
    ... )
    >>> release.values.shape, release.guarantee.unit
    ((3, 3), 'any other matrix in which mass of at most 0.0125 has moved between two entries of one row')
    """
    rows = checked_matrix(matrix)
    inside = checked_support(support, rows.shape, "support")
    require_inside(rows, inside, "matrix")
    unit = _checked_unit(change, protects)
    sizes = inside.sum(axis=1)
    noisy = sizes > 1
    calibrations = calibrate_rows(sizes.tolist(), change / 2, epsilon, delta, protects, floor, mix)
    if not mix and floor is not None:
        require_floor(rows, inside & noisy[:, None], floor, "matrix")
    source = checked_source(rng)
    draw, values = inside.astype(float), inside.astype(float)
    settled = [calibration for calibration in calibrations if calibration is not None]
    draw[noisy], values[noisy] = draw_rows(source, rows[noisy], change / 2, inside[noisy], settled)
    where = "every row" if unit.every_row else "one row"
    guarantee = Guarantee(
        epsilon=epsilon,
        delta=delta,
        unit=f"any other matrix in which mass of at most {unit.amount:g} has moved between two entries of {where}",
        public=(
            "which entries can differ from zero",
            "the floor of each row" if mix else f"that every such entry is at least {floor:.6g}",
        ),
        mechanism="Matrix Dirichlet Mechanism",
        sampling=EXACT_ON_GRID,
        seeded=source.is_seeded,
        protects=unit,
    )
    return PrivateMatrix(
        values,
        draw,
        guarantee,
        np.array([math.inf if c is None else c.concentration for c in calibrations]),
        np.array([1.0 if c is None else c.floor for c in calibrations]),
    )


def _checked_unit(change: float, protects: str) -> units.Mass:
    """The mass that may move, half of the change in the 1-norm, and in how many rows."""
    if not 0 < change <= 2:
        raise InvalidParameterError(
            f"change is {change}: it is the 1-norm by which a row may change, above 0, at most 2"
        )
    if protects not in ("row", "matrix"):
        raise InvalidParameterError(f"protects is {protects!r}: it must be 'row' or 'matrix'")
    return units.Mass(change / 2, every_row=protects == "matrix")


def calibrate_rows(
    sizes: Sequence[int],
    change: float,
    epsilon: float,
    delta: float,
    protects: str,
    floor: float | None,
    mix: bool,
) -> list[Calibration | None]:
    """Floor and concentration of each row, given how many entries it can have; None where there is only one."""
    if all(size == 1 for size in sizes):
        raise InvalidCountsError("every row has a single possible entry: the matrix is public already")
    if protects == "row":
        return [None if size == 1 else calibrate(size, change, epsilon, delta, floor, mix) for size in sizes]
    noisy = [size for size in sizes if size > 1]
    # A floor that would do even if every row had to keep its share alone; a larger floor costs no accuracy.
    share = len(noisy)
    plans = {size: plan_floor(size, change, epsilon / share, delta / share, floor, mix) for size in set(noisy)}

    def profiles(log_scale: float) -> list[DirichletProfile]:
        # Concentrations ∝ η/s² give every row the same share of the loss, as its variance is about 2ks²/η.
        return [DirichletProfile(f, math.exp(log_scale) * f / s**2, s) for f, _, s in (plans[size] for size in noisy)]

    def room(log_scale: float) -> float:
        return math.log(delta) - SAFETY - math.log(ComposedProfile.for_searches(profiles(log_scale)).delta(epsilon))

    passing = failing = 2 * math.log(epsilon) - math.log(2 * share)
    while room(failing) > 0:
        passing, failing = failing, failing + 2
    while room(passing) <= 0:
        failing, passing = passing, passing - 3
        if passing < -60:
            raise UnreachablePrivacyError(
                f"no amount of noise gives (ε, δ) = ({epsilon:g}, {delta:g}) when each of {share} rows may change by "
                f"{2 * change:g} at floor {floor}: raise the floor, or leave it out"
            )
    log_scale, step = largest_passing(room, failing=failing, passing=passing, tolerance=1e-6), 1e-7
    while ComposedProfile(profiles(log_scale)).delta(epsilon) > delta:
        log_scale, step = log_scale - step, 2 * step
        if step > 10:
            raise UnreachablePrivacyError(
                f"no noise can be proven to give (ε, δ) = ({epsilon:g}, {delta:g}) for {share} rows: raise the floor"
            )
    scale = math.exp(log_scale)
    made = {size: Calibration(size, f, mixing, s, scale * f / s**2) for size, (f, mixing, s) in plans.items()}
    return [made.get(size) for size in sizes]


def checked_matrix(matrix: npt.ArrayLike) -> FloatArray:
    """A matrix of probabilities whose rows sum to 1; an error that names row and column otherwise."""
    try:
        rows = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=float)
    except (TypeError, ValueError) as problem:
        raise InvalidCountsError(f"the matrix cannot be read as numbers: {problem}") from None
    if rows.ndim != 2 or not rows.size:
        raise InvalidCountsError(f"the matrix has shape {rows.shape}: it must have rows and columns")
    for i, j in np.argwhere(~(rows >= 0)):
        raise InvalidCountsError(f"row {i + 1}, column {j + 1} of the matrix is {rows[i, j]}: it must be at least 0")
    sums = rows.sum(axis=1)
    for i in np.flatnonzero(~(np.abs(sums - 1) <= _ROW_SUM_TOLERANCE)):
        raise InvalidCountsError(f"row {i + 1} of the matrix sums to {sums[i]:.12g}, not to 1")
    return rows
