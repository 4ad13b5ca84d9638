"""Which mechanism to use for a chain, decided before the data are touched and from public quantities only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.models.calibration import calibrate_each
from pathveil.models.frequencies import row_rmse
from pathveil.models.laplace import count_noises
from pathveil.numerics.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class ModelForecast:
    """What a mechanism would do at the same ε: `rmse` of an entry of each row, and on average over all records.

    `delta` is what it spends besides ε; `remark` says what else speaks for or against it.
    """

    mechanism: str
    delta: float
    rmse: float
    row_rmse: FloatArray
    remark: str


def compare_models(
    records: Sequence[int],
    *,
    successors: int | Sequence[int],
    epsilon: float,
    delta: float,
    unit: str = "transition",
    max_length: int | None = None,
) -> list[ModelForecast]:
    """The mechanisms of `fit_private_chain`, the most accurate first.

    `records` are the row sizes, `successors` how many states can follow each state (public). For the units "symbol" and
    "word" row sizes are protected: give a guess that does not come from the data, such as last year's public figures.

    >>> import pathveil as pv
    >>> for forecast in pv.compare_models([73_000] * 40, successors=40, epsilon=3.73, delta=3e-6):
    ...     print(f"{forecast.mechanism:9} {forecast.rmse:.2e}")
    laplace   9.02e-06
    gaussian  2.34e-05
    dirichlet 2.45e-05
    """
    rows = np.asarray(records, dtype=float)
    sizes = np.broadcast_to(np.asarray(successors, dtype=int), rows.shape)
    if rows.ndim != 1 or not len(rows) or not (rows >= 0).all() or not (rows > 0).any():
        raise InvalidParameterError("records are the sizes of the rows: numbers of at least 0, and not all of them 0")
    if not (sizes >= 1).all():
        raise InvalidParameterError("successors: every row needs at least one possible entry")
    if unit not in ("transition", "symbol", "word") or (unit == "word") != (max_length is not None):
        raise InvalidParameterError("unit is 'transition', 'symbol', or 'word', and only 'word' has a max_length")
    remarks = {"laplace": "δ = 0, sampled exactly; may release zeros", "gaussian": "sampled exactly; may release zeros"}
    noisy = (rows > 0) & (sizes > 1)
    forecasts = []
    for name, remark in remarks.items():
        noise = count_noises(name, epsilon, delta, unit, max_length, {"transitions": 1.0})["transitions"]
        errors = np.where(noisy, noise.variance**0.5 / np.maximum(rows, 1), 0.0)
        spent = 0.0 if name == "laplace" else delta
        forecasts.append(ModelForecast(name, spent, _average(errors, rows), errors, remark))
    if unit == "transition":
        errors = np.zeros(len(rows))
        settled = calibrate_each(sizes[noisy].tolist(), (1 / rows[noisy]).tolist(), epsilon, delta)
        errors[noisy] = [row_rmse(calibration) for calibration in settled]
        remark = "law of every draw known in closed form; strictly positive draws; sampled exactly, on a public grid"
        forecasts.append(ModelForecast("dirichlet", delta, _average(errors, rows), errors, remark))
    return sorted(forecasts, key=lambda forecast: forecast.rmse)


def _average(errors: FloatArray, records: FloatArray) -> float:
    """The root mean square over records: a row counts as often as it is used."""
    return float(np.sqrt(np.average(errors**2, weights=records)))
