"""`pathveil plan`: which ε is needed? Decided from what is public, before anything sensitive is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pathveil.cli import options
from pathveil.cli.options import edit_lengths
from pathveil.cli.printing import ProgressBar
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.planning.error_curves import ErrorCurves

_EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0)


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
    from pathveil.data.writing import refuse_existing
    from pathveil.words.base import checked_epsilon

    looked_at = sorted({checked_epsilon(one) for one in epsilon or _EPSILONS})
    if plot is not None:
        if plot.suffix.lower() not in (".png", ".svg", ".pdf"):
            raise InvalidParameterError(f"{plot}: a plot is a .png, .svg or .pdf file")
        refuse_existing(plot.absolute(), overwrite)
    if rows is not None:
        if alphabet is not None or chain is not None or automaton is not None:
            raise InvalidParameterError("a model's states are in --rows; only --edges may say which transitions occur")
        curves = _model_curves(rows, edges, delta, unit, max_length)
    else:
        from pathveil.cli.options import public_system
        from pathveil.planning.word_curves import word_curves

        world = public_system(edges=edges, alphabet=alphabet, chain=chain, automaton=automaton)
        curves = word_curves(world, length or 0, adjacency, between, cap)
    with ProgressBar(silent=quiet or as_json, unit="forecasts") as bar:
        wanted = [(mechanism, one) for mechanism in curves.mechanisms for one in looked_at]
        bar.total = len(wanted)
        for done, (mechanism, one) in enumerate(wanted, start=1):
            curves.at(mechanism, one)
            bar("expected errors", done)
        needed = None
        if target_error is not None:
            needed = {name: curves.epsilon_for(name, target_error) for name in curves.mechanisms}
    remarks = curves.remarks(looked_at)
    if rows is not None and delta is None:
        remarks.append("With a --delta, more mechanisms can be compared.")
    if plot is not None:
        _draw(plot, curves, looked_at, target_error, overwrite)
    if as_json:
        content = {
            **curves.facts,
            "forecasts": [
                {"mechanism": name, "epsilon": one, "error": curves.at(name, one)}
                for name in curves.mechanisms
                for one in looked_at
            ],
            "target_error": target_error,
            "epsilon_for_target": needed,
            "remarks": remarks,
        }
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        _print(curves, looked_at, needed, target_error, remarks)


def _model_curves(
    rows: Path, edges: Path | None, delta: float | None, unit: str, max_length: int | None
) -> ErrorCurves:
    from pathveil.data.reading import read_row_sizes
    from pathveil.planning.model_curves import model_curves

    sizes = read_row_sizes(rows)
    successors = _successors(list(sizes), edges)
    if unit == "word" and max_length is None:
        raise InvalidParameterError("--unit word needs --max-length, after which words are cut")
    if unit != "word" and max_length is not None:
        raise InvalidParameterError("--max-length belongs to --unit word")
    return model_curves(sizes, successors, delta, unit, max_length)


def _successors(states: list[str], edges: Path | None) -> list[int]:
    """How many states can follow each state."""
    if edges is None:
        return [len(states)] * len(states)
    import numpy as np

    from pathveil.data.reading import read_edges

    given = read_edges(edges)
    followers = dict(zip(given.symbols, np.diff(given.matrix.indptr).tolist(), strict=True))
    for state in followers:
        if state not in states:
            raise InvalidParameterError(f"{edges}: {state!r} is not among the states of --rows. Add it there.")
    for state in states:
        if not followers.get(state):
            raise InvalidParameterError(f"{edges}: nothing can follow {state!r}. Add an edge, or remove its row.")
    return [followers[state] for state in states]


def _print(
    curves: ErrorCurves,
    epsilons: list[float],
    needed: dict[str, float | None] | None,
    target: float | None,
    remarks: list[str],
) -> None:
    from rich.console import Console
    from rich.table import Table

    from pathveil.planning.error_curves import LARGEST_EPSILON

    out = Console()
    table = Table(title=f"{curves.title}: {curves.error}", title_justify="left")
    table.add_column("mechanism", no_wrap=True)
    for epsilon in epsilons:
        table.add_column(f"ε={epsilon:g}", justify="right")
    if needed is not None:
        table.add_column("needed", justify="right")
    for name in curves.mechanisms:
        cells = [_short(curves.at(name, epsilon)) for epsilon in epsilons]
        if needed is not None:
            enough = needed[name]
            cells.append("-" if enough is None else f"{enough:.3g}")
        table.add_row(name, *cells)
    out.print(table)
    if needed is not None:
        out.print(f"Needed: the ε at which that is {target:g} (none up to {LARGEST_EPSILON:g}: -).")
    for remark in remarks:
        out.print(remark, markup=False)


def _short(value: float | None) -> str:
    """Two digits, and few enough characters for a narrow terminal."""
    if value is None:
        return "-"
    return f"{value:.2g}" if value >= 0.001 else f"{value:.0e}"


def _draw(path: Path, curves: ErrorCurves, epsilons: list[float], target: float | None, overwrite: bool) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from pathveil.data.workspace import private_workspace
    from pathveil.data.writing import publish

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for name in curves.mechanisms:
        points = [(one, error) for one in epsilons if (error := curves.at(name, one)) is not None]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", label=name)
    if target is not None:
        axes.axhline(target, color="grey", linestyle="--", label="target")
    axes.set(xlabel="ε", ylabel=curves.error, xscale="log", yscale="log", title=curves.title)
    axes.legend()
    with private_workspace(path.absolute()) as workspace:
        unfinished = workspace / f"unfinished{path.suffix.lower()}"
        figure.savefig(unfinished, dpi=150)
        publish(unfinished, path.absolute(), overwrite)
