"""`pathveil compare`: all mechanisms at the same ε, and what no mechanism can do better."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathveil.cli.options import Adjacency, Distance, Epsilon, Places, Printing, SystemFile, takes_bundles
from pathveil.cli.printing import ProgressBar, with_options

if TYPE_CHECKING:
    from pathveil.planning.forecast import Forecast, MechanismForecast


@takes_bundles
def compare(
    *,
    length: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many symbols a word has.")],
    epsilon: Epsilon,
    system: SystemFile,
    adjacency: Adjacency = 1,
    distance: Distance,
    places: Places,
    printing: Printing,
) -> None:
    """Which way to draw private words errs least here? All of them at one ε, beside the best that any could do.

    Nothing sensitive is read: the errors to expect follow from what is public. With --distance edit they are edits, for
    words of --length symbols. With --coordinates there is the mean distance of a symbol from the true one, too.

    Example: [bold]pathveil compare --edges roads.csv --length 14 --epsilon 5 --adjacency 1[/bold]
    """
    between, measured = distance.between, places.measured(distance)
    world = system.read()
    from pathveil.planning.forecast import forecast
    from pathveil.words.by_name import EDIT_MECHANISMS, MECHANISMS

    with ProgressBar(silent=printing.silent, unit="mechanisms") as bar:
        bar.total = len(EDIT_MECHANISMS if between else MECHANISMS)
        found = forecast(
            world,
            length,
            epsilon,
            adjacency,
            lengths=between,
            cap=distance.cap,
            **({} if measured is None else measured.options),
            progress=lambda done: bar("expected errors", done),
        )
    if printing.as_json:
        content = _json(found)
        if measured is not None:
            content |= {"radius": measured.distance.radius, "within": measured.within}
        if between:
            content |= {"distance": "edit", "lengths": between, "cap": distance.cap}
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        _print(found, "edits" if between else "errors")


def _json(found: Forecast) -> dict[str, Any]:
    usable = [
        {"mechanism": row.mechanism, "epsilon": row.epsilon, "errors": row.expected_errors}
        | ({} if row.expected_distance is None else {"distance": row.expected_distance})
        | {"theta": row.theta, "unit": row.unit, "why_not": None}
        for row in _fewest_errors_first(found)
    ]
    others = [
        {"mechanism": name, "epsilon": found.epsilon, "errors": None, "theta": None, "unit": None}
        | {"why_not": with_options(why)}
        for name, why in found.unusable.items()
    ]
    return {
        "system": repr(found.world),
        "length": found.length,
        "epsilon": found.epsilon,
        "adjacency": found.adjacency,
        "mechanisms": usable + others,
        "best": found.best.mechanism if found.rows else None,
        "lower_bound": None if found.bound is None else asdict(found.bound),
    }


def _print(found: Forecast, what: str) -> None:
    from rich.console import Console
    from rich.table import Table

    out, length, bound, rows = Console(), found.length, found.bound, _fewest_errors_first(found)
    title = f"Expected {what} in {length} symbols at ε = {found.epsilon:g}, adjacency {found.adjacency}"
    table = Table(title=title, title_justify="left")
    measured = any(row.expected_distance is not None for row in rows)
    for header in ("mechanism", what, "share", "tilt θ", *(["mean distance"] if measured else [])):
        table.add_column(header, justify="left" if header == "mechanism" else "right")
    for row in rows:
        errors = row.expected_errors
        mark = "*" * (row is found.best)
        away = [] if row.expected_distance is None else [f"{row.expected_distance:.4g}"]
        table.add_row(row.mechanism + mark, f"{errors:.4g}", f"{errors / length:.2%}", f"{row.theta:.4g}", *away)
    for name in found.unusable:
        table.add_row(name, "-", "-", "-")
    if bound is not None:
        table.add_section()
        least = "any mechanism: at least" + ("" if bound.proved else " about")
        table.add_row(least, f"{bound.errors:.4g}", f"{bound.errors / length:.2%}", "")
    out.print(repr(found.world), markup=False)
    out.print(table)
    if rows:
        fewest = "The smallest distance" if measured else f"The fewest {what}"
        out.print(f"* {fewest}: pathveil privatize takes it, unless told otherwise.", markup=False)
    if bound is not None:
        out.print(f"The lower bound: {bound.how}.")
    for unit in dict.fromkeys(row.unit for row in rows):
        names = ", ".join(row.mechanism for row in rows if row.unit == unit)
        out.print(f"Unit of {names}: {unit}.", markup=False)
    for name, why in found.unusable.items():
        out.print(f"{name} cannot be used here: {with_options(why)}", markup=False)


def _fewest_errors_first(found: Forecast) -> list[MechanismForecast]:
    """The best one first; with distances the nearest."""
    return sorted(
        found.rows, key=lambda row: (row is not found.best, row.expected_distance or 0.0, row.expected_errors)
    )
