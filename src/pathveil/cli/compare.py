"""`pathveil compare`: all mechanisms at the same ε, and what no mechanism can do better."""

from __future__ import annotations

import json
from dataclasses import asdict

import typer

from pathveil.cli import options
from pathveil.cli.edit_distance import EDIT_NAMES, edit_lengths
from pathveil.cli.forecasts import forecast
from pathveil.cli.mechanisms import MECHANISM_NAMES
from pathveil.cli.progress import ProgressBar
from pathveil.cli.system_choice import public_system


def compare(
    length: options.Length,
    epsilon: options.Epsilon,
    edges: options.Edges = None,
    alphabet: options.AlphabetFile = None,
    chain: options.ChainFile = None,
    automaton: options.AutomatonFile = None,
    adjacency: options.Adjacency = 1,
    distance: options.Distance = "hamming",
    lengths: options.Lengths = None,
    cap: options.Cap = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Every mechanism on your public system at the same ε: exact expected errors, and a lower bound for any mechanism.

    Nothing sensitive is read.

    With --distance edit: expected edits, for words of --length symbols.

    Example: [bold]pathveil compare --edges roads.csv --length 14 --epsilon 5 --adjacency 1[/bold]
    """
    between = edit_lengths(distance, lengths, cap)
    world = public_system(edges=edges, alphabet=alphabet, chain=chain, automaton=automaton)
    from pathveil.planning.lower_bound import least_expected_errors
    from pathveil.systems.system import checked_length

    length = checked_length(length)
    world.require_words(length)
    with ProgressBar(silent=quiet or as_json, unit="mechanisms") as bar:
        compared = EDIT_NAMES if between else MECHANISM_NAMES
        bar.total = len(compared)
        found = []
        for done, name in enumerate(compared, start=1):
            found.append(forecast(world, name, length, epsilon, adjacency, between, cap))
            bar("expected errors", done)
        bound = None if between else least_expected_errors(world, length, epsilon, adjacency)
    found.sort(key=lambda one: float("inf") if one.errors is None else one.errors)
    if as_json:
        content = {
            "system": repr(world),
            "length": length,
            "epsilon": epsilon,
            "adjacency": adjacency,
            "mechanisms": [asdict(one) for one in found],
            "lower_bound": None if bound is None else asdict(bound),
        }
        if between:
            content |= {"distance": "edit", "lengths": between, "cap": cap}
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    out = Console()
    what = "edits" if between else "errors"
    title = f"Expected {what} in {length} symbols at ε = {epsilon:g}, adjacency {adjacency}"
    table = Table(title=title, title_justify="left")
    for header in ("mechanism", what, "share", "tilt θ"):
        table.add_column(header, justify="left" if header == "mechanism" else "right")
    for one in found:
        if one.errors is None or one.theta is None:
            table.add_row(one.mechanism, "-", "-", "-")
        else:
            table.add_row(one.mechanism, f"{one.errors:.4g}", f"{one.errors / length:.2%}", f"{one.theta:.4g}")
    if bound is not None:
        table.add_section()
        table.add_row("any mechanism: at least", f"{bound.errors:.4g}", f"{bound.errors / length:.2%}", "")
    out.print(repr(world), markup=False)
    out.print(table)
    if bound is not None:
        out.print(f"The lower bound: {bound.how}.")
    for unit in dict.fromkeys(one.unit for one in found if one.unit is not None):
        names = ", ".join(one.mechanism for one in found if one.unit == unit)
        out.print(f"Unit of {names}: {unit}.", markup=False)
    for one in found:
        if one.why_not is not None:
            out.print(f"{one.mechanism} cannot be used here: {one.why_not}", markup=False)
