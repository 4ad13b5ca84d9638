"""Which mechanism to use for a chain, decided before the data are touched and from public quantities only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.models.chain import ErrorForecast, Unit, checked_request, forecast_errors
from pathveil.numerics.arrays import FloatArray
from pathveil.privacy.units import Neighbours

_REMARKS = {
    "laplace": "δ = 0, sampled exactly; may release zeros",
    "gaussian": "sampled exactly; may release zeros",
    "dirichlet": "law of every draw known in closed form; strictly positive draws; sampled exactly, on a public grid",
}


@dataclass(frozen=True, eq=False)
class ModelForecast:
    """What a mechanism would do at the same ε: `rmse` of an entry of each row, and on average over all records.

    `count_error` is by how much the count of a transition from one state to another will be wrong on average: the one
    with the smallest has the most accurate pairs, and `fit_private_chain` takes it unless told otherwise. `delta` is
    what it spends besides ε; `remark` says what else speaks for or against it, or why it cannot be used (the errors are
    infinite then).
    """

    mechanism: str
    delta: float
    rmse: float
    row_rmse: FloatArray
    count_error: float
    remark: str


def compare_models(
    records: Sequence[int],
    *,
    successors: int | Sequence[int],
    epsilon: float,
    delta: float | None = None,
    unit: Unit = "transition",
    max_length: int | None = None,
    max_words_per_user: int | None = None,
    neighbours: Neighbours = "replace",
) -> list[ModelForecast]:
    """The mechanisms of `fit_private_chain`, the one that it takes first; without `delta` Laplace noise only.

    `records` are the row sizes, `successors` how many states can follow each state (public). For the units "symbol",
    "word" and "user" row sizes are protected: give a guess that does not come from the data, such as last year's public
    figures, for persons the transitions in those words that would be used.

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
    asked = checked_request(
        None, unit, epsilon, delta, max_length, split=None, floor=None, mix=True, from_words=True,
        max_words_per_user=max_words_per_user, neighbours=neighbours,
    )  # fmt: skip
    return [_with_averages(one, rows) for one in forecast_errors(asked, sizes.tolist(), rows.tolist())]


def _with_averages(one: ErrorForecast, records: FloatArray) -> ModelForecast:
    """The root mean square over records: a row counts as often as it is used."""
    errors = np.zeros(len(records)) if one.row_rmse is None else one.row_rmse
    rmse = math.inf if one.why_not else float(np.sqrt(np.average(errors**2, weights=records)))
    return ModelForecast(
        one.mechanism, one.delta, rmse, errors, one.count_error, one.why_not or _REMARKS[one.mechanism]
    )
