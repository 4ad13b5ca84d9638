"""The error to expect of each mechanism, from public quantities only, and the mechanism that a fit takes unless told.

What is compared is the mean absolute error of a count, when rows have their public sums and before negative entries are
cut. Summed over the cells of the table it is twice the number of transitions times the total variation distance of
pairs, so the mechanism with the smallest one has the most accurate pairs, whatever the unit. Where row sizes are
protected they are not needed: noise on counts is the same for all rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pathveil.errors import UnreachablePrivacyError
from pathveil.models.accuracy import expected_absolute_error
from pathveil.models.calibration import calibrate_each
from pathveil.models.chain.request import Mechanism, Request
from pathveil.models.frequencies import row_rmse
from pathveil.models.laplace import count_noises
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.privacy.profile import require_promise


@dataclass(frozen=True, eq=False)
class ErrorForecast:
    """What a mechanism would do: `delta` is what it spends besides ε.

    `errors` has, for each part that is learned ("transitions", "first", "lengths"), by how much a count will be wrong
    on average. `row_rmse` bounds the root mean squared error of a probability in each row; None where row sizes are
    protected. A mechanism that cannot keep the promise has infinite errors, and `why_not` says why.
    """

    mechanism: Mechanism
    delta: float
    errors: Mapping[str, float]
    row_rmse: FloatArray | None
    why_not: str = ""

    @property
    def count_error(self) -> float:
        """By how much the count of a transition from one state to another will be wrong on average."""
        return self.errors["transitions"]


def forecast_errors(
    asked: Request, successors: Sequence[int], records: Sequence[float] | None = None
) -> list[ErrorForecast]:
    """All mechanisms that can be used for what is asked, the best first; equally good ones by the δ that they spend.

    `successors` are how many states can follow each state, `records` the row sizes, None where they are protected.
    A mechanism that makes any part of the model worse than Laplace noise does, which needs no δ, comes after it.
    """
    names: list[Mechanism] = ["laplace"]
    if asked.delta is not None:
        require_promise(asked.epsilon, asked.delta)
        names += ["gaussian", "dirichlet"] if asked.unit == "transition" else ["gaussian"]
    sizes = np.asarray(successors, dtype=int)
    rows = None if records is None else np.asarray(records, dtype=float)
    found = [_forecast(name, asked, sizes, rows) for name in names]
    laplace = found[0].errors

    def rank(one: ErrorForecast) -> tuple[bool, float]:
        return any(one.errors[part] > laplace[part] for part in laplace), one.count_error

    return sorted(found, key=rank)


def chosen_mechanism(asked: Request, successors: Sequence[int], records: Sequence[float] | None) -> Mechanism:
    """The mechanism that the caller names or, where none is named, the one with the smallest error to expect."""
    if asked.mechanism is not None:
        return asked.mechanism
    if asked.is_papers_mode:
        return "dirichlet"
    return forecast_errors(asked, successors, records)[0].mechanism


def _forecast(name: Mechanism, asked: Request, sizes: IntArray, rows: FloatArray | None) -> ErrorForecast:
    spent = 0.0 if name == "laplace" else asked.delta or 0.0
    try:
        if name == "dirichlet" and rows is not None:
            return _of_dirichlet_rows(asked, sizes, rows, spent)
        noises = count_noises(name, asked.epsilon, spent, asked.unit, asked.max_length, asked.shares, asked.whole)
    except UnreachablePrivacyError as problem:
        nothing = None if rows is None else np.full(len(sizes), math.inf)
        return ErrorForecast(name, spent, dict.fromkeys(asked.shares, math.inf), nothing, str(problem))
    errors = {part: noise.mean_size for part, noise in noises.items()}
    each = None
    if rows is not None:
        noisy = (rows > 0) & (sizes > 1)
        each = np.where(noisy, noises["transitions"].variance ** 0.5 / np.maximum(rows, 1), 0.0)
        if asked.unit == "transition":
            errors["transitions"] *= _share_left(sizes[noisy])
    return ErrorForecast(name, spent, errors, each)


def _share_left(entries: IntArray) -> float:
    """What is left of independent noise when rows get their public sums back: of n entries' squares, 1/n goes."""
    return float(np.average(np.sqrt(1 - 1 / entries), weights=entries)) if len(entries) else 0.0


def _of_dirichlet_rows(asked: Request, sizes: IntArray, rows: FloatArray, spent: float) -> ErrorForecast:
    """The errors of uniform rows, the largest that there are."""
    noisy = (rows > 0) & (sizes > 1)
    entries, records = sizes[noisy], rows[noisy]
    settled = calibrate_each(entries.tolist(), (1 / records).tolist(), asked.epsilon, spent, asked.floor, asked.mix)
    each = np.zeros(len(rows))
    each[noisy] = [row_rmse(how) for how in settled]
    shares = [float(expected_absolute_error(1 / how.size, how.concentration)) / (1 - how.mixing) for how in settled]
    error = float(np.average(records * shares, weights=entries)) if settled else 0.0
    return ErrorForecast("dirichlet", spent, {"transitions": error}, each)
