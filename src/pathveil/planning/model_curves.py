"""A private model: the error of its probabilities over ε, from row sizes that the curator declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pathveil.errors import UnreachablePrivacyError
from pathveil.planning.compare_models import compare_models
from pathveil.planning.error_curves import ErrorCurves


def model_curves(
    sizes: Mapping[str, int], successors: Sequence[int], delta: float | None, unit: str, max_length: int | None
) -> ErrorCurves:
    """The root mean squared error of an entry, averaged over records, of each mechanism for these row sizes.

    `sizes` are {state: expected transitions from it}, `successors` how many states can follow each of them. Without
    `delta` Laplace noise only.
    """
    mechanisms = ["laplace"]
    if delta is not None:
        mechanisms += ["gaussian", *(["dirichlet"] if unit == "transition" else [])]
    why_not: dict[float, str] = {}
    found: dict[float, dict[str, float]] = {}

    def error_at(name: str, epsilon: float) -> float | None:
        if epsilon not in found:
            try:
                forecasts = compare_models(
                    list(sizes.values()),
                    successors=successors,
                    epsilon=epsilon,
                    delta=1e-6 if delta is None else delta,  # for Laplace noise alone it does not matter
                    unit=unit,
                    max_length=max_length,
                )
                found[epsilon] = {one.mechanism: one.rmse for one in forecasts}
            except UnreachablePrivacyError as problem:
                found[epsilon] = {}
                why_not[epsilon] = str(problem)
        return found[epsilon].get(name)

    def remarks(epsilons: list[float]) -> list[str]:
        said = [f"{sum(sizes.values()):,} declared transitions from {len(sizes)} states, protected unit: one {unit}."]
        return [*said, *(f"ε = {epsilon:g}: {why_not[epsilon]}" for epsilon in epsilons if epsilon in why_not)]

    return ErrorCurves(
        title=f"a chain of {len(sizes)} states",
        error="root mean squared error of a probability",
        mechanisms=mechanisms,
        error_at=error_at,
        remarks=remarks,
        facts={"states": len(sizes), "records": sum(sizes.values()), "delta": delta, "unit": unit},
    )
