"""`pathveil plan`: which ε is needed? Decided from what is public, before anything sensitive is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pathveil.cli import options
from pathveil.cli.edit_distance import edit_lengths
from pathveil.cli.progress import ProgressBar
from pathveil.errors import InvalidParameterError

_EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0)
_PRECISION = 1.01  # how closely the ε for a target is found
_SMALLEST, _LARGEST = 1e-3, 1e3  # beyond these no ε is looked for


@dataclass(frozen=True)
class Plan:
    """Errors of each mechanism over ε, and how to find out about another ε.

    An error of None: the mechanism cannot be used. `facts` goes into the JSON. `remarks` on the ε of the table are
    asked for when all of them have been computed.
    """

    title: str
    error: str
    mechanisms: list[str]
    error_at: Callable[[str, float], float | None]
    remarks: Callable[[list[float]], list[str]]
    facts: dict[str, Any]
    known: dict[tuple[str, float], float | None] = field(default_factory=dict)

    def at(self, mechanism: str, epsilon: float) -> float | None:
        if (mechanism, epsilon) not in self.known:
            self.known[mechanism, epsilon] = self.error_at(mechanism, epsilon)
        return self.known[mechanism, epsilon]


def plan(
    length: Annotated[int | None, typer.Option(help="Private words: how many symbols a word has.")] = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            help="Private model: CSV with the columns state,records: how many transitions you expect from each state. "
            "Declared by you, not measured."
        ),
    ] = None,
    edges: options.Edges = None,
    alphabet: options.AlphabetFile = None,
    chain: options.ChainFile = None,
    automaton: options.AutomatonFile = None,
    adjacency: options.Adjacency = 1,
    distance: options.Distance = "hamming",
    lengths: options.Lengths = None,
    cap: options.Cap = None,
    delta: Annotated[float | None, typer.Option(help="Private model: δ; without it, Laplace noise only.")] = None,
    unit: Annotated[
        Literal["transition", "symbol", "word"], typer.Option(help="Private model: what is protected.")
    ] = "transition",
    max_length: Annotated[int | None, typer.Option(help="Private model, unit word: the greatest length.")] = None,
    epsilon: Annotated[
        list[float] | None, typer.Option(help="An ε to look at; may be repeated. Otherwise from 0.5 to 8.")
    ] = None,
    target_error: Annotated[
        float | None,
        typer.Option(
            help="Which ε does it take to come down to this? Words: the share of wrong symbols. Model: the error of a "
            "probability."
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the table, as a .png, .svg or .pdf file.")] = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Expected errors of each mechanism over a range of ε, and the ε that a target needs. Nothing sensitive is read.

    With --length for private words on a public system, with --rows for a private model.

    Examples:

    [bold]pathveil plan --edges roads.csv --length 14 --adjacency 1 --target-error 0.1[/bold]

    [bold]pathveil plan --alphabet pages.txt --length 20 --epsilon 1 --epsilon 2 --plot plan.png[/bold]

    [bold]pathveil plan --rows sizes.csv --delta 1e-6 --target-error 0.01[/bold]
    """
    if (length is None) == (rows is None):
        raise InvalidParameterError("give --length to plan private words, or --rows to plan a private model")
    between = edit_lengths(distance, lengths, cap)
    if between is not None and rows is not None:
        raise InvalidParameterError("--distance edit is for private words: it needs --length, not --rows")
    if target_error is not None and not 0 < target_error < 1:
        raise InvalidParameterError(f"--target-error lies between 0 and 1, not at {target_error:g}")
    if rows is None and (delta is not None or unit != "transition" or max_length is not None):
        raise InvalidParameterError("--delta, --unit and --max-length are for a private model: they need --rows")
    from pathveil.data.output import refuse_existing
    from pathveil.words.base import checked_epsilon

    looked_at = sorted({checked_epsilon(one) for one in epsilon or _EPSILONS})
    if plot is not None:
        if plot.suffix.lower() not in (".png", ".svg", ".pdf"):
            raise InvalidParameterError(f"{plot}: a plot is a .png, .svg or .pdf file")
        refuse_existing(plot.absolute(), overwrite)
    if rows is not None:
        from pathveil.cli.plan_models import plan_models

        if alphabet is not None or chain is not None or automaton is not None:
            raise InvalidParameterError("a model's states are in --rows; only --edges may say which transitions occur")
        made = plan_models(rows, edges, delta, unit, max_length)
    else:
        from pathveil.cli.plan_words import plan_words
        from pathveil.cli.system_choice import public_system

        world = public_system(edges=edges, alphabet=alphabet, chain=chain, automaton=automaton)
        made = plan_words(world, length or 0, adjacency, between, cap)
    with ProgressBar(silent=quiet or as_json, unit="forecasts") as bar:
        wanted = [(mechanism, one) for mechanism in made.mechanisms for one in looked_at]
        bar.total = len(wanted)
        for done, (mechanism, one) in enumerate(wanted, start=1):
            made.at(mechanism, one)
            bar("expected errors", done)
        needed = None if target_error is None else {name: _needed(made, name, target_error) for name in made.mechanisms}
    if plot is not None:
        _draw(plot, made, looked_at, target_error, overwrite)
    if as_json:
        content = {
            **made.facts,
            "forecasts": [
                {"mechanism": name, "epsilon": one, "error": made.at(name, one)}
                for name in made.mechanisms
                for one in looked_at
            ],
            "target_error": target_error,
            "epsilon_for_target": needed,
            "remarks": made.remarks(looked_at),
        }
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        _print(made, looked_at, needed, target_error)


def _needed(made: Plan, mechanism: str, target: float) -> float | None:
    """The smallest ε with so small an error, to 1%, rounded up; None where there is none."""
    tried = {epsilon for name, epsilon in made.known if name == mechanism}

    def enough(epsilon: float) -> bool:
        tried.add(epsilon)
        error = made.at(mechanism, epsilon)
        return error is not None and error <= target

    high = max(tried)
    if made.at(mechanism, high) is None:
        return None
    while not enough(high):
        high *= 2
        if high > _LARGEST:
            return None
    low = min(tried)
    while enough(low):
        low /= 2
        if low < _SMALLEST:
            return 2 * low
    high = min(epsilon for epsilon in tried if enough(epsilon))
    low = max(epsilon for epsilon in tried if epsilon < high)
    while high > low * _PRECISION:
        middle = (low * high) ** 0.5
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


def _print(made: Plan, epsilons: list[float], needed: dict[str, float | None] | None, target: float | None) -> None:
    from rich.console import Console
    from rich.table import Table

    out = Console()
    table = Table(title=f"{made.title}: {made.error}", title_justify="left")
    table.add_column("mechanism", no_wrap=True)
    for epsilon in epsilons:
        table.add_column(f"ε={epsilon:g}", justify="right")
    if needed is not None:
        table.add_column("needed", justify="right")
    for name in made.mechanisms:
        cells = [_short(made.at(name, epsilon)) for epsilon in epsilons]
        if needed is not None:
            enough = needed[name]
            cells.append("-" if enough is None else f"{enough:.3g}")
        table.add_row(name, *cells)
    out.print(table)
    if needed is not None:
        out.print(f"Needed: the ε at which that is {target:g} (none up to {_LARGEST:g}: -).")
    for remark in made.remarks(epsilons):
        out.print(remark, markup=False)


def _short(value: float | None) -> str:
    """Two digits, and few enough characters for a narrow terminal."""
    if value is None:
        return "-"
    return f"{value:.2g}" if value >= 0.001 else f"{value:.0e}"


def _draw(path: Path, made: Plan, epsilons: list[float], target: float | None, overwrite: bool) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from pathveil.data.output import private_workspace, publish

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for name in made.mechanisms:
        points = [(one, error) for one in epsilons if (error := made.at(name, one)) is not None]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", label=name)
    if target is not None:
        axes.axhline(target, color="grey", linestyle="--", label="target")
    axes.set(xlabel="ε", ylabel=made.error, xscale="log", yscale="log", title=made.title)
    axes.legend()
    with private_workspace(path.absolute()) as workspace:
        unfinished = workspace / f"unfinished{path.suffix.lower()}"
        figure.savefig(unfinished, dpi=150)
        publish(unfinished, path.absolute(), overwrite)
