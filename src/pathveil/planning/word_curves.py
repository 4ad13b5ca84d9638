"""Private words: the error of each mechanism over ε, on the public system."""

from __future__ import annotations

from pathveil.planning.error_curves import ErrorCurves
from pathveil.planning.forecast import CANNOT_BE_USED, MechanismForecast, forecast_mechanism
from pathveil.systems.system import System, checked_length
from pathveil.words.by_name import EDIT_MECHANISMS, MECHANISMS


def word_curves(
    world: System, length: int, adjacency: int, lengths: tuple[int, int] | None = None, cap: int | None = None
) -> ErrorCurves:
    """The share of wrong symbols of each mechanism, exact for each word and averaged over feasible words.

    With `lengths` the mechanisms for edit distance: edits for each symbol of the word.
    """
    length = checked_length(length)
    world.require_words(length)
    names = list(EDIT_MECHANISMS if lengths else MECHANISMS)
    found: dict[tuple[str, float], MechanismForecast] = {}
    why_not: dict[tuple[str, float], str] = {}

    def error_at(name: str, epsilon: float) -> float | None:
        try:
            found[name, epsilon] = row = forecast_mechanism(world, name, length, epsilon, adjacency, lengths, cap)
        except CANNOT_BE_USED as problem:
            why_not[name, epsilon] = str(problem)
            return None
        return row.expected_errors / length

    def remarks(epsilons: list[float]) -> list[str]:
        said = [repr(world)]
        tilts = [
            f"θ = {found['certified', epsilon].theta:.3g} at ε = {epsilon:g}"
            for epsilon in epsilons
            if ("certified", epsilon) in found
        ]
        if tilts:
            said.append(f"Certified: {', '.join(tilts)}.")
        first = epsilons[0]
        said += [f"{name} cannot be used here: {why_not[name, first]}" for name in names if (name, first) in why_not]
        units = {name: found[name, first].unit for name in names if (name, first) in found}
        for unit in dict.fromkeys(units.values()):
            said.append(f"Unit of {', '.join(name for name, one in units.items() if one == unit)}: {unit}.")
        return said

    return ErrorCurves(
        title=f"words of {length} symbols, adjacency {adjacency}",
        error="expected edits a symbol" if lengths else "expected share of wrong symbols",
        mechanisms=names,
        error_at=error_at,
        remarks=remarks,
        facts={"system": repr(world), "length": length, "adjacency": adjacency}
        | ({"distance": "edit", "lengths": lengths, "cap": cap} if lengths else {}),
    )
