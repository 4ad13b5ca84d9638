"""A private model: the error of its probabilities over ε, from row sizes that the curator declares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache

from pathveil.models.chain import Unit
from pathveil.planning.compare_models import ModelForecast, compare_models
from pathveil.planning.error_curves import ErrorCurves
from pathveil.privacy.units import Neighbours


def model_curves(
    sizes: Mapping[str, int],
    successors: Sequence[int],
    delta: float | None,
    unit: Unit,
    max_length: int | None,
    max_words_per_user: int | None = None,
    neighbours: Neighbours = "replace",
) -> ErrorCurves:
    """The root mean squared error of an entry, averaged over records, of each mechanism for these row sizes.

    `sizes` are {state: expected transitions from it}, `successors` how many states can follow each of them. Without
    `delta` Laplace noise only.
    """
    mechanisms = ["laplace"]
    if delta is not None:
        mechanisms += ["gaussian", *(["dirichlet"] if unit == "transition" else [])]

    @cache
    def forecasts(epsilon: float) -> list[ModelForecast]:
        records = list(sizes.values())
        return compare_models(
            records, successors=successors, epsilon=epsilon, delta=delta, unit=unit, max_length=max_length,
            max_words_per_user=max_words_per_user, neighbours=neighbours,
        )  # fmt: skip

    def error_at(name: str, epsilon: float) -> float | None:
        return next((one.rmse for one in forecasts(epsilon) if one.mechanism == name and one.rmse < math.inf), None)

    def remarks(epsilons: list[float]) -> list[str]:
        people = "" if max_words_per_user is None else f", at most {max_words_per_user} words of whom are used"
        added = "" if neighbours == "replace" else ", added or removed"
        protected = f"one {unit}{people}{added}"
        said = [f"{sum(sizes.values()):,} declared transitions from {len(sizes)} states, protected unit: {protected}."]
        for epsilon in epsilons:
            said += [f"ε = {epsilon:g}: {one.remark}" for one in forecasts(epsilon) if one.rmse == math.inf]
        return said + _choices({epsilon: forecasts(epsilon)[0] for epsilon in epsilons})

    return ErrorCurves(
        title=f"a chain of {len(sizes)} states",
        error="root mean squared error of a probability",
        mechanisms=mechanisms,
        error_at=error_at,
        remarks=remarks,
        facts={"states": len(sizes), "records": sum(sizes.values()), "delta": delta, "unit": unit},
    )


def _choices(best: Mapping[float, ModelForecast]) -> list[str]:
    """What a fit takes at each ε unless told otherwise; where it spends no δ, none needs to be offered."""
    taken: dict[str, list[str]] = {}
    for epsilon, one in best.items():
        taken.setdefault(one.mechanism + (", which spends no δ" if one.delta == 0 else ""), []).append(f"{epsilon:g}")
    return [
        f"Chosen unless told otherwise, its counts are least wrong: {name} (ε = {', '.join(at)})."
        for name, at in taken.items()
    ]
