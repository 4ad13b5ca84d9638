"""Private words: the error of each mechanism over ε, on the public system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum
from typing import Any

from pathveil.planning.distances import Measured, radius_curve
from pathveil.planning.effort import seconds_for_a_law
from pathveil.planning.error_curves import ErrorCurves
from pathveil.planning.forecast import CANNOT_BE_USED, MechanismForecast, forecast_mechanism
from pathveil.planning.lengths import LengthMix, Lengths, length_mix, most_lengths
from pathveil.planning.public_words import words_looked_at
from pathveil.systems.system import System
from pathveil.words.by_name import EDIT_MECHANISMS, MECHANISMS


def word_curves(
    world: System,
    length: Lengths,
    adjacency: int,
    lengths: tuple[int, int] | None = None,
    cap: int | None = None,
    measured: Measured | None = None,
) -> ErrorCurves:
    """The share of wrong symbols of each mechanism, exact for each word and averaged over feasible words.

    `length` may be a range or a declared distribution: few lengths then stand for all. With `lengths` the mechanisms
    for edit distance: edits for each symbol of the word. With distances between symbols (`measured`): how far a private
    symbol is from the true one, in their units, and remarks on the radius.
    """
    mix = length_mix(world, length)
    looked_at = mix.represented(most_lengths(world))
    names = list(EDIT_MECHANISMS if lengths else MECHANISMS)
    found: dict[tuple[str, float], dict[int, MechanismForecast]] = {}
    why_not: dict[tuple[str, float], str] = {}

    def error_at(name: str, epsilon: float) -> float | None:
        try:
            found[name, epsilon] = rows = {
                one: forecast_mechanism(world, name, one, epsilon, adjacency, lengths, cap, measured)
                for one in looked_at
            }
        except CANNOT_BE_USED as problem:
            why_not[name, epsilon] = str(problem)
            return None
        if measured is not None:
            return fsum(share * (rows[one].expected_distance or 0.0) for one, share in looked_at.items())
        return fsum(share * rows[one].expected_errors / one for one, share in looked_at.items())

    def remarks(epsilons: list[float]) -> list[str]:
        said = [repr(world)]
        if len(mix.words) > 1:
            said.append(mix.said(looked_at))
        tilts = [
            f"θ = {_span(row.theta for row in found['certified', epsilon].values())} at ε = {epsilon:g}"
            for epsilon in epsilons
            if ("certified", epsilon) in found
        ]
        if tilts:
            said.append(f"Certified: {', '.join(tilts)}.")
        if measured is not None:
            said += _on_distances(world, max(looked_at), epsilons, adjacency, measured)
        first = epsilons[0]
        said += [f"{name} cannot be used here: {why_not[name, first]}" for name in names if (name, first) in why_not]
        units = {name: next(iter(found[name, first].values())).unit for name in names if (name, first) in found}
        for unit in dict.fromkeys(units.values()):
            said.append(f"Unit of {', '.join(name for name, one in units.items() if one == unit)}: {unit}.")
        return said

    return ErrorCurves(
        title=f"words of {mix}, adjacency {adjacency}",
        error=(
            "expected edits a symbol"
            if lengths
            else "expected share of wrong symbols"
            if measured is None
            else "expected distance of a symbol"
        ),
        mechanisms=names,
        error_at=error_at,
        remarks=remarks,
        facts={"system": repr(world), **_declared(mix, looked_at), "adjacency": adjacency}
        | ({"distance": "edit", "lengths": lengths, "cap": cap} if lengths else {})
        | ({} if measured is None else {"radius": measured.distance.radius, "within": measured.within}),
    )


def _on_distances(world: System, length: int, epsilons: list[float], adjacency: int, measured: Measured) -> list[str]:
    """The radius in use and the best one; and who is not protected."""
    said = [f"Radius in use: {measured.distance.radius:.4g}."]
    said += [
        f"At ε = {epsilon:g}: {radius_curve(world, length, epsilon, adjacency, **measured.options)}"
        for epsilon in dict.fromkeys((epsilons[0], epsilons[-1]))
    ]
    if measured.within is not None:
        alone = measured.distance.ordered(world.symbols).within(measured.within).alone
        said.append(f"Without another symbol within {measured.within:g}, and so not protected: {alone:,} symbols.")
    return said


def looked_at(world: System, length: Lengths) -> int:
    """How many public words a forecast looks at."""
    return len(length_mix(world, length).represented(most_lengths(world))) * words_looked_at(world)


def seconds_for_forecasts(world: System, length: Lengths, epsilons: int) -> float:
    """How long the errors of all mechanisms take at so many ε, without certificates: an estimate from public sizes."""
    represented = length_mix(world, length).represented(most_lengths(world))
    each = sum(seconds_for_a_law(world.compiled, one) for one in represented)
    return epsilons * len(MECHANISMS) * words_looked_at(world) * each


def _declared(mix: LengthMix, looked_at: Mapping[int, float]) -> dict[str, Any]:
    """The lengths, for JSON."""
    if mix.only is not None:
        return {"length": mix.only}
    return {"lengths_of_words": [min(mix.words), max(mix.words)], "symbols_by_length_looked_at": looked_at}


def _span(values: Iterable[float]) -> str:
    """A number, or the least and the largest of several that differ."""
    shown = [f"{value:.3g}" for value in sorted(values)]
    return shown[0] if shown[0] == shown[-1] else f"{shown[0]} to {shown[-1]}"
