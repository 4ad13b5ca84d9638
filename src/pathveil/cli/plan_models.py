"""Planning a private model: the error of its probabilities, from row sizes that the curator declares."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pathveil.cli.plan import Plan
from pathveil.data.system_files import read_edges, read_row_sizes
from pathveil.errors import InvalidParameterError, UnreachablePrivacyError
from pathveil.planning.compare_models import compare_models


def plan_models(rows: Path, edges: Path | None, delta: float | None, unit: str, max_length: int | None) -> Plan:
    """The root mean squared error of an entry, averaged over records, of each mechanism for these row sizes."""
    sizes = read_row_sizes(rows)
    successors = _successors(list(sizes), edges)
    if unit == "word" and max_length is None:
        raise InvalidParameterError("--unit word needs --max-length, after which words are cut")
    if unit != "word" and max_length is not None:
        raise InvalidParameterError("--max-length belongs to --unit word")
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
        if delta is None:
            said.append("With a --delta, more mechanisms can be compared.")
        return [*said, *(f"ε = {epsilon:g}: {why_not[epsilon]}" for epsilon in epsilons if epsilon in why_not)]

    return Plan(
        title=f"a chain of {len(sizes)} states",
        error="root mean squared error of a probability",
        mechanisms=mechanisms,
        error_at=error_at,
        remarks=remarks,
        facts={"states": len(sizes), "records": sum(sizes.values()), "delta": delta, "unit": unit},
    )


def _successors(states: list[str], edges: Path | None) -> list[int]:
    """How many states can follow each state."""
    if edges is None:
        return [len(states)] * len(states)
    given = read_edges(edges)
    followers = dict(zip(given.symbols, np.diff(given.matrix.indptr).tolist(), strict=True))
    for state in followers:
        if state not in states:
            raise InvalidParameterError(f"{edges}: {state!r} is not among the states of --rows. Add it there.")
    for state in states:
        if not followers.get(state):
            raise InvalidParameterError(f"{edges}: nothing can follow {state!r}. Add an edge, or remove its row.")
    return [followers[state] for state in states]
