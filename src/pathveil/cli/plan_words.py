"""Planning private words: expected errors on the public system."""

from __future__ import annotations

from pathveil.cli.edit_distance import EDIT_NAMES
from pathveil.cli.forecasts import Forecast, forecast
from pathveil.cli.mechanisms import MECHANISM_NAMES, MechanismName
from pathveil.cli.plan import Plan
from pathveil.systems.system import System, checked_length


def plan_words(
    world: System, length: int, adjacency: int, lengths: tuple[int, int] | None = None, cap: int | None = None
) -> Plan:
    """The share of wrong symbols of each mechanism, exact for each word and averaged over feasible words.

    With `lengths` the mechanisms for edit distance: edits for each symbol of the word.
    """
    length = checked_length(length)
    world.require_words(length)
    names: dict[str, MechanismName] = {name: name for name in (EDIT_NAMES if lengths else MECHANISM_NAMES)}
    found: dict[tuple[str, float], Forecast] = {}

    def error_at(name: str, epsilon: float) -> float | None:
        found[name, epsilon] = one = forecast(world, names[name], length, epsilon, adjacency, lengths, cap)
        return None if one.errors is None else one.errors / length

    def remarks(epsilons: list[float]) -> list[str]:
        by_name = {name: [found[name, epsilon] for epsilon in epsilons] for name in names}
        certified = [one for one in by_name["certified"] if one.theta is not None]
        said = [repr(world)]
        if certified:
            tilts = ", ".join(f"θ = {one.theta:.3g} at ε = {one.epsilon:g}" for one in certified)
            said.append(f"Certified: {tilts}.")
        for name, several in by_name.items():
            if several[0].why_not is not None:
                said.append(f"{name} cannot be used here: {several[0].why_not}")
        for unit in dict.fromkeys(several[0].unit for several in by_name.values() if several[0].unit is not None):
            mine = ", ".join(name for name, several in by_name.items() if several[0].unit == unit)
            said.append(f"Unit of {mine}: {unit}.")
        return said

    return Plan(
        title=f"words of {length} symbols, adjacency {adjacency}",
        error="expected edits a symbol" if lengths else "expected share of wrong symbols",
        mechanisms=list(names),
        error_at=error_at,
        remarks=remarks,
        facts={"system": repr(world), "length": length, "adjacency": adjacency}
        | ({"distance": "edit", "lengths": lengths, "cap": cap} if lengths else {}),
    )
