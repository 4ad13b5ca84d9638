"""Private frequencies: how often each category occurs among N records (MCM Algorithm 1, with exact accounting).

The frequencies are mixed with a public floor, drawn from a Dirichlet law, and un-mixed; MCM's own mode (a floor that
the frequencies are known to respect, no mixing) is `floor=…, mix=False`. The number of records is public, and so is
the list of categories that can occur.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidCountsError, InvalidParameterError
from pathveil.models import accuracy
from pathveil.models.calibration import FLOOR_TOLERANCE, Calibration, calibrate
from pathveil.models.dirichlet import EXACT_ON_GRID, DirichletRows, draw_on_grid
from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.privacy import units
from pathveil.privacy.guarantee import Guarantee
from pathveil.randomness.source import RandomSource, checked_source


@dataclass(frozen=True)
class FrequencyForecast:
    """What to expect of a release, whatever the data: computed from public quantities only.

    `rmse` bounds the root of the mean squared error over the entries, `total_variation` the expected total-variation
    distance between truth and release. `kl` bounds the expected divergence of the raw draw from the mixed frequencies
    (MCM Corollary 1; without mixing, from the frequencies themselves).
    """

    concentration: float
    floor: float
    mixing: float
    rmse: float
    total_variation: float
    kl: float


@dataclass(frozen=True, eq=False)
class PrivateFrequencies:
    """A release. Nothing in it depends on the data except through the draw.

    `values` estimates the frequencies: the draw with the mixing undone, projected to the simplex. `draw` is the
    Dirichlet vector itself, strictly positive on the support.
    """

    values: FloatArray
    draw: FloatArray
    guarantee: Guarantee
    concentration: float
    floor: float
    mixing: float
    forecast: FrequencyForecast


@dataclass(frozen=True, eq=False, repr=False)
class CuratorErrors:
    """Expected errors of the very data that were released: no noise protects these numbers. Not for release.

    `absolute` and `squared` are per entry, for the un-mixed draw before its projection, which only brings it closer in
    squared error; `kl` is the expected divergence of the draw from the mixed frequencies.
    """

    absolute: FloatArray
    squared: FloatArray
    kl: float

    def __repr__(self) -> str:
        return "CuratorErrors(of the sensitive data: for the curator's eyes only)"


def private_frequencies(
    counts: npt.ArrayLike,
    *,
    epsilon: float,
    delta: float,
    support: npt.ArrayLike | None = None,
    floor: float | None = None,
    mix: bool = True,
    rng: RandomSource | None = None,
) -> PrivateFrequencies:
    """Frequencies of categories, private with respect to the category of any one record.

    `counts[i]` is how many of the N records fall into category i. `support` marks the categories that can occur at all
    (public; never taken from the data); None means all of them. With `mix=True` any counts are allowed. `mix=False` is
    the paper's mode: every frequency must be at least `floor`, everybody may know that it is, and counts that break
    the promise are refused with an error meant for the curator. Charge a ledger before the call: a refusal tells
    something about the counts, too.

    >>> import pathveil as pv
    >>> release = pv.private_frequencies([31, 28, 20, 9, 10], epsilon=1.0, delta=1e-6, rng=pv.insecure_seed(8))
    >>> release.values.round(2), round(release.floor, 3)
    (array([0.29, 0.26, 0.25, 0.07, 0.13]), 0.18)
    """
    vector = checked_counts(counts, "counts")
    inside = checked_support(support, vector.shape, "support")
    require_inside(vector, inside, "counts")
    size, records = int(inside.sum()), int(vector.sum())
    _require_something_to_release(size, records)
    calibration = calibrate(size, 1 / records, epsilon, delta, floor, mix)
    if not mix:
        require_floor(vector / records, inside, calibration.floor, "counts")
    source = checked_source(rng)
    draw, values = (rows[0] for rows in draw_rows(source, vector[None, :], 1, inside[None, :], [calibration]))
    floor_text = f"the floor {calibration.floor:.6g}"
    if not mix:
        floor_text = f"that every frequency is at least {calibration.floor:.6g}"
    guarantee = Guarantee(
        epsilon=epsilon,
        delta=delta,
        unit="any other list of as many records in which one is of another category",
        public=(f"the number of records ({records})", f"which {size} categories can occur", floor_text),
        mechanism="Dirichlet mechanism on frequencies",
        sampling=EXACT_ON_GRID,
        seeded=source.is_seeded,
        protects=units.Record(),
    )
    concentration, chosen_floor, mixing = calibration.concentration, calibration.floor, calibration.mixing
    forecast = forecast_row(calibration)
    return PrivateFrequencies(values, draw, guarantee, concentration, chosen_floor, mixing, forecast)


def _require_something_to_release(size: int, records: int) -> None:
    if size < 2:
        raise InvalidCountsError(
            f"there is {size} category in the support: with fewer than two there is nothing to hide and nothing to "
            "release. Give all categories that could occur, also those that did not."
        )
    if records == 0:
        raise InvalidCountsError("all counts are zero: frequencies need at least one record")


def forecast_frequencies(
    *, n: int, records: int, epsilon: float, delta: float, floor: float | None = None, mix: bool = True
) -> FrequencyForecast:
    """What `private_frequencies` would do with `records` records in n categories, before any data are touched.

    >>> import pathveil as pv
    >>> forecast = pv.forecast_frequencies(n=5, records=980, epsilon=1.0, delta=1e-6)
    >>> round(forecast.rmse, 4), round(forecast.mixing, 2)
    (0.0057, 0.9)
    """
    for name, value, least in (("n", n, 2), ("records", records, 1)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise InvalidParameterError(f"{name} is {value!r}: it must be a whole number of at least {least}")
    return forecast_row(calibrate(int(n), 1 / int(records), epsilon, delta, floor, mix))


def curator_errors(counts: npt.ArrayLike, release: PrivateFrequencies) -> CuratorErrors:
    """The exact expected errors of releasing these very counts as `release` did (MCM Theorem 2 and Lemma 7).

    For the curator only: the numbers depend on the counts without noise.
    """
    vector = checked_counts(counts, "counts")
    frequencies = vector / vector.sum()
    mixed = np.where(release.draw > 0, (1 - release.mixing) * frequencies + (release.mixing > 0) * release.floor, 0.0)
    kept, k = 1 - release.mixing, release.concentration
    return CuratorErrors(
        absolute=accuracy.expected_absolute_error(mixed, k) / kept,
        squared=accuracy.expected_squared_error(mixed, k) / kept**2,
        kl=accuracy.expected_kl(mixed, k),
    )


def forecast_row(calibration: Calibration) -> FrequencyForecast:
    """Bounds over every possible input of a row, attained by the uniform one (squared error) or a corner (KL)."""
    n, k, rmse = calibration.size, calibration.concentration, row_rmse(calibration)
    return FrequencyForecast(
        concentration=k,
        floor=calibration.floor,
        mixing=calibration.mixing,
        rmse=rmse,
        total_variation=min(1.0, n * rmse / 2),  # Cauchy–Schwarz
        kl=accuracy.worst_kl(k, n, calibration.floor),
    )


def row_rmse(calibration: Calibration) -> float:
    """A bound on the root of the mean squared error over a row's entries, attained by the uniform row."""
    n, kept = calibration.size, 1 - calibration.mixing
    return math.sqrt((1 - 1 / n) / (calibration.concentration + 1) / n) / kept


def draw_rows(
    source: RandomSource,
    data: npt.NDArray[Any],
    change: float,
    inside: BoolArray,
    calibrations: Sequence[Calibration],
) -> tuple[FloatArray, FloatArray]:
    """The Dirichlet draw for each row, and the estimate: mixing undone, projected to the simplex of the support.

    `change` is how much of the data may move between two entries of a row: 1 where they are counts.
    """
    mixing = np.array([[c.mixing] for c in calibrations])
    # Mixed rows have η = mixing/size added; without mixing nothing is, whatever the floor.
    added = np.array([[c.floor if c.mixing else 0.0] for c in calibrations])
    base, step = np.array([c.base for c in calibrations]), np.array([c.step(change) for c in calibrations])
    draws = draw_on_grid(source, DirichletRows(base, step, data, inside))
    # Papers' rows are a distribution as drawn.
    values = np.where(mixing > 0, project_to_simplex((draws - added) / (1 - mixing), inside), draws)
    return draws, values


def project_to_simplex(v: FloatArray, inside: BoolArray) -> FloatArray:
    """For each row of v the nearest one (in squared distance) with entries of at least 0 that sum to 1, 0 outside.

    All entries inside fall by the same threshold and stop at 0. If the r largest stay positive, they fall by what they
    have above 1 together, divided by r; r is the last for which the smallest of them does stay positive.
    """
    ordered = -np.sort(np.where(inside, -v, np.inf), axis=-1)
    sums = np.cumsum(np.where(np.isfinite(ordered), ordered, 0.0), axis=-1)
    falls = (sums - 1) / np.arange(1, v.shape[-1] + 1)
    last = v.shape[-1] - 1 - np.argmax((ordered > falls)[..., ::-1], axis=-1)
    threshold = np.take_along_axis(falls, last[..., None], axis=-1)
    projected = np.where(inside, np.maximum(v - threshold, 0.0), 0.0)
    result: FloatArray = projected / projected.sum(axis=-1, keepdims=True)
    return result


def _dense(array: Any) -> npt.NDArray[Any]:
    """An array of what may be a scipy sparse matrix."""
    return np.asarray(array.toarray() if hasattr(array, "toarray") else array)


def checked_counts(counts: npt.ArrayLike, name: str, dimensions: int = 1) -> IntArray:
    """Counts as an integer array; an error that names the first entry that is not a count."""
    try:
        array = _dense(counts)
        numbers = array.astype(float)
    except (TypeError, ValueError) as problem:
        raise InvalidCountsError(f"{name} cannot be read as numbers: {problem}") from None
    if array.ndim != dimensions or not array.size:
        raise InvalidCountsError(f"{name} has shape {array.shape}: it must have {dimensions} non-empty dimension(s)")
    for where in np.argwhere(~((numbers >= 0) & (numbers < 2.0**62) & (numbers == np.floor(numbers)))):
        place = ", ".join(str(i + 1) for i in where)
        raise InvalidCountsError(
            f"{name}: entry {place} is {array[tuple(where)]}, but a count is a whole number of at least 0"
        )
    return array.astype(np.int64)


def checked_support(support: npt.ArrayLike | None, shape: tuple[int, ...], name: str) -> BoolArray:
    """The public support as a Boolean array of the same shape as the data."""
    if support is None:
        return np.ones(shape, dtype=bool)
    array = _dense(support)
    if array.shape != shape or not (array.dtype == bool or np.isin(array, (0, 1)).all()):
        raise InvalidParameterError(
            f"{name} must mark, entry by entry, what can occur: True and False in the shape {shape}"
        )
    return array.astype(bool)


def require_inside(data: npt.NDArray[Any], inside: BoolArray, name: str) -> None:
    for where in np.argwhere(~inside & (data != 0)):
        place = ", ".join(str(i + 1) for i in where)
        raise InvalidCountsError(
            f"{name}: entry {place} is {data[tuple(where)]}, but the public support says that it cannot occur. "
            "Correct the data, or the support if it is wrong for reasons that have nothing to do with the data."
        )


def require_floor(data: FloatArray, inside: BoolArray, floor: float, name: str) -> None:
    """The check of the papers' mode. Its outcome depends on the data: it comes after any charge."""
    for where in np.argwhere(inside & (data < floor * (1 - FLOOR_TOLERANCE))):
        place = ("row {}, column {}" if data.ndim == 2 else "entry {}").format(*(i + 1 for i in where))
        raise InvalidCountsError(
            f"{name}: {place} is {data[tuple(where)]:.6g}, below the floor {floor:g} that was promised to be public "
            "knowledge. Lower the floor for reasons that have nothing to do with the data, or use `mix=True`."
        )
