"""`pathveil plan`: which ε is needed? Decided from the public system, before anything sensitive is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli import options
from pathveil.cli.forecasts import Forecast, forecast, waiting
from pathveil.cli.mechanisms import MechanismName, mechanism_classes
from pathveil.cli.system_choice import public_system
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.systems.system import System

_EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0)
_CONTEXTS = 1_000  # quick certificates; privatize has 40,000, which can only help
_PRECISION = 1.01  # how closely the ε for a target is found
_SMALLEST, _LARGEST = 1e-3, 1e3  # beyond these no ε is looked for


def plan(
    length: options.Length,
    edges: options.Edges = None,
    alphabet: options.AlphabetFile = None,
    chain: options.ChainFile = None,
    automaton: options.AutomatonFile = None,
    adjacency: options.Adjacency = 1,
    epsilon: Annotated[
        list[float] | None, typer.Option(help="An ε to look at; may be repeated. Otherwise from 0.5 to 8.")
    ] = None,
    target_error: Annotated[
        float | None, typer.Option(help="The share of wrong symbols to allow: which ε does it take?")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the table, as a .png, .svg or .pdf file.")] = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Expected errors of each mechanism over a range of ε, and the ε that a target needs. Nothing sensitive is read.

    Examples:

    [bold]pathveil plan --edges roads.csv --length 14 --adjacency 1 --target-error 0.1[/bold]

    [bold]pathveil plan --alphabet pages.txt --length 20 --epsilon 1 --epsilon 2 --plot plan.png[/bold]
    """
    if target_error is not None and not 0 < target_error < 1:
        raise InvalidParameterError(f"--target-error is a share between 0 and 1, not {target_error:g}")
    world = public_system(edges=edges, alphabet=alphabet, chain=chain, automaton=automaton)
    from pathveil.data.output import refuse_existing
    from pathveil.systems.system import checked_length
    from pathveil.words.mechanism import checked_epsilon

    length = checked_length(length)
    world.require_words(length)
    looked_at = sorted({checked_epsilon(one) for one in epsilon or _EPSILONS})
    if plot is not None:
        refuse_existing(plot.absolute(), overwrite)
        if plot.suffix.lower() not in (".png", ".svg", ".pdf"):
            raise InvalidParameterError(f"{plot}: a plot is a .png, .svg or .pdf file")

    def at(name: MechanismName, eps: float) -> Forecast:
        return forecast(world, name, length, eps, adjacency, _CONTEXTS)

    with waiting("computing expected errors ...", silent=quiet or as_json):
        found = {name: [at(name, eps) for eps in looked_at] for name in mechanism_classes()}
        needed = None if target_error is None else _needed(found, target_error * length, at)
    if plot is not None:
        _draw(plot, found, length, adjacency, target_error, overwrite)
    if as_json:
        content = {
            "system": repr(world),
            "length": length,
            "adjacency": adjacency,
            "forecasts": [asdict(one) for several in found.values() for one in several],
            "target_error": target_error,
            "epsilon_for_target": needed,
        }
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        _print(world, found, needed, length, adjacency, target_error)


def _needed(
    found: dict[MechanismName, list[Forecast]], errors: float, at: Callable[[MechanismName, float], Forecast]
) -> dict[MechanismName, float | None]:
    """The smallest ε of each mechanism with so few expected errors, to 1%, rounded up; None where there is none."""
    return {name: _smallest(known, errors, partial(at, name)) for name, known in found.items()}


def _smallest(known: Sequence[Forecast], errors: float, at: Callable[[float], Forecast]) -> float | None:
    if known[0].errors is None:
        return None
    tried = {one.epsilon: one.errors for one in known}

    def enough(eps: float) -> bool:
        if eps not in tried:
            tried[eps] = at(eps).errors
        reached = tried[eps]
        return reached is not None and reached <= errors

    high = max(tried)
    while not enough(high):
        high *= 2
        if high > _LARGEST:
            return None
    low = min(tried)
    while enough(low):
        low /= 2
        if low < _SMALLEST:
            return 2 * low
    high = min(eps for eps in tried if enough(eps))
    low = max(eps for eps in tried if eps < high)
    while high > low * _PRECISION:
        middle = (low * high) ** 0.5
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


def _print(
    world: System,
    found: dict[MechanismName, list[Forecast]],
    needed: dict[MechanismName, float | None] | None,
    length: int,
    adjacency: int,
    target: float | None,
) -> None:
    from rich.console import Console
    from rich.table import Table

    out = Console()
    out.print(repr(world), markup=False)
    table = Table(title=f"Expected errors in {length} symbols, adjacency {adjacency}", title_justify="left")
    table.add_column("mechanism", no_wrap=True)
    for one in next(iter(found.values())):
        table.add_column(f"ε={one.epsilon:g}", justify="right")
    if needed is not None:
        table.add_column("needed", justify="right")
    for name, several in found.items():
        cells = ["-" if one.errors is None else f"{one.errors:.3g}" for one in several]
        if needed is not None:
            enough = needed[name]
            cells.append("-" if enough is None else f"{enough:.3g}")
        table.add_row(name, *cells)
    out.print(table)
    if needed is not None:
        out.print(f"Needed: the ε at which a share of {target:g} of the symbols is wrong (none up to {_LARGEST:g}: -).")
    certified = ", ".join(
        f"θ = {one.theta:.3g} at ε = {one.epsilon:g}" for one in found["certified"] if one.theta is not None
    )
    out.print(
        f"Certified: {certified}. Found with quick certificates; privatize takes longer over them and may have "
        "fewer errors."
    )
    for several in found.values():
        if several[0].why_not is not None:
            out.print(f"{several[0].mechanism} cannot be used here: {several[0].why_not}", markup=False)
    for unit in dict.fromkeys(several[0].unit for several in found.values() if several[0].unit is not None):
        names = ", ".join(name for name, several in found.items() if several[0].unit == unit)
        out.print(f"Unit of {names}: {unit}.", markup=False)


def _draw(
    path: Path,
    found: dict[MechanismName, list[Forecast]],
    length: int,
    adjacency: int,
    target: float | None,
    overwrite: bool,
) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from pathveil.data.output import private_workspace, publish

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for name, several in found.items():
        points = [(one.epsilon, one.errors / length) for one in several if one.errors is not None]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", label=name)
    if target is not None:
        axes.axhline(target, color="grey", linestyle="--", label="target")
    axes.set(xlabel="ε", ylabel="expected share of wrong symbols", xscale="log", yscale="log")
    axes.set_title(f"words of {length} symbols, adjacency {adjacency}")
    axes.legend()
    with private_workspace(path.absolute()) as workspace:
        unfinished = workspace / f"unfinished{path.suffix.lower()}"
        figure.savefig(unfinished, dpi=150)
        publish(unfinished, path.absolute(), overwrite)
