"""`pathveil audit`: is a mechanism as private on your system as it claims? Nothing sensitive is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pathveil.cli import options
from pathveil.cli.forecasts import waiting
from pathveil.cli.mechanisms import MechanismName
from pathveil.cli.system_choice import public_system
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.audit.exhaustive import ExhaustiveAudit
    from pathveil.audit.statistical import StatisticalAudit
    from pathveil.systems.system import System
    from pathveil.words.mechanism import SameLengthMechanism

_AROUND = (0.25, 0.5, 1.0, 2.0)  # a plot of one ε shows these multiples of it

audit_app = typer.Typer(
    help="Check what a mechanism claims: by listing every word, or by drawing many.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
Mechanism = Annotated[MechanismName, typer.Option(help="The mechanism to audit.")]
Epsilons = Annotated[
    list[float], typer.Option("--epsilon", help="The claimed ε; may be repeated to audit several claims.")
]
Unit = Annotated[
    Literal["feasible", "any"],
    typer.Option(
        help="Compare feasible words only, or any words over the symbols (infeasible ones are then accepted)."
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(help="Draw measured against claimed loss, as .png, .svg or .pdf; around ε if only one is given."),
]


@audit_app.command()
def exhaustive(
    length: options.Length,
    epsilon: Epsilons,
    mechanism: Mechanism = "certified",
    edges: options.Edges = None,
    alphabet: options.AlphabetFile = None,
    chain: options.ChainFile = None,
    automaton: options.AutomatonFile = None,
    adjacency: options.Adjacency = 1,
    unit: Unit = "feasible",
    plot: Plot = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """The true loss: every pair of adjacent words, every output. For short words.

    Exit code 0: every claim holds. 1: a claim is refuted. Nothing sensitive is read.

    Examples:

    [bold]pathveil audit exhaustive --edges roads.csv --length 4 --mechanism certified --epsilon 1[/bold]

    [bold]pathveil audit exhaustive --edges roads.csv --length 3 --unit any --epsilon 1 --epsilon 4 --plot a.png[/bold]
    """
    world = public_system(edges=edges, alphabet=alphabet, chain=chain, automaton=automaton)
    from pathveil.audit.exhaustive import audit_exhaustively

    looked_at = _looked_at(epsilon, plot, overwrite)
    with waiting("comparing all adjacent words ...", silent=quiet or as_json):
        audits = [audit_exhaustively(_made(world, mechanism, one, adjacency, unit), length) for one in looked_at]
    if plot is not None:
        title = f"{mechanism}, words of {length} symbols, adjacency {adjacency}"
        _draw(plot, title, [(a.claimed, a.loss) for a in audits], "true loss", overwrite)
    facts = _facts(world, length, mechanism, adjacency, unit)
    _report(facts, audits, lambda one: one.loss, "true loss", [], quiet, as_json)


@audit_app.command()
def statistical(
    length: options.Length,
    epsilon: Epsilons,
    mechanism: Mechanism = "certified",
    edges: options.Edges = None,
    alphabet: options.AlphabetFile = None,
    chain: options.ChainFile = None,
    automaton: options.AutomatonFile = None,
    adjacency: options.Adjacency = 1,
    unit: Unit = "feasible",
    draws: Annotated[int, typer.Option(help="How many private words to draw for each ε.")] = 200_000,
    confidence: Annotated[
        float, typer.Option(help="A correct mechanism passes with at least this probability, all its tests together.")
    ] = 0.99,
    plot: Plot = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """A lower bound on the loss, from drawn words alone: what the program does, not what it says.

    Words of the public system are drawn, the worst of their neighbours is looked for, and fresh draws test it.

    A second test checks that the words of one error class are equally likely.

    Exit code 0: no claim is refuted (which is no proof). 1: a claim is refuted. Nothing sensitive is read.

    Examples:

    [bold]pathveil audit statistical --edges roads.csv --length 8 --mechanism permute-and-flip --epsilon 2 --draws 100000[/bold]

    [bold]pathveil audit statistical --alphabet pages.txt --length 5 --epsilon 1 --confidence 0.999 --plot b.svg[/bold]
    """  # noqa: E501 - a line to be copied
    if not 0.5 <= confidence < 1:
        raise InvalidParameterError(f"--confidence lies between 0.5 and 1 (usual: 0.99), not at {confidence:g}")
    world = public_system(edges=edges, alphabet=alphabet, chain=chain, automaton=automaton)
    from pathveil.audit.statistical import audit_statistically
    from pathveil.audit.uniformity import audit_uniformity
    from pathveil.systems.system import checked_length

    length = checked_length(length)
    looked_at = _looked_at(epsilon, plot, overwrite)
    uniform = mechanism != "online"
    # All tests together keep the level, so each gets its share of the risk.
    each = 1 - (1 - confidence) / (len(looked_at) + uniform)
    with waiting("drawing words ...", silent=quiet or as_json):
        made = [_made(world, mechanism, one, adjacency, unit) for one in looked_at]
        audits = [audit_statistically(one, draws=draws, confidence=each, length=length) for one in made]
        evenness = [audit_uniformity(made[0], audits[0].word, draws, each)] if uniform else []
    if plot is not None:
        title = f"{mechanism}, words of {length} symbols, adjacency {adjacency}"
        _draw(plot, title, [(a.claimed or 0.0, a.epsilon_lower) for a in audits], "measured loss, at least", overwrite)
    facts = {**_facts(world, length, mechanism, adjacency, unit), "confidence": confidence}
    _report(facts, audits, lambda one: one.epsilon_lower, "loss at least", evenness, quiet, as_json)


def _made(world: System, name: MechanismName, epsilon: float, adjacency: int, unit: str) -> SameLengthMechanism:
    from pathveil.words.by_name import MECHANISMS

    return MECHANISMS[name](world, epsilon, adjacency, on_infeasible="nearest" if unit == "any" else "refuse")


def _looked_at(epsilons: list[float], plot: Path | None, overwrite: bool) -> list[float]:
    """The claims to audit; wrong use before any work is done."""
    from pathveil.words.mechanism import checked_epsilon

    found = sorted({checked_epsilon(one) for one in epsilons})
    if plot is None:
        return found
    from pathveil.data.output import refuse_existing

    if plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InvalidParameterError(f"{plot}: a plot is a .png, .svg or .pdf file")
    refuse_existing(plot.absolute(), overwrite)
    return found if len(found) > 1 else [found[0] * factor for factor in _AROUND]


def _facts(world: System, length: int, mechanism: str, adjacency: int, unit: str) -> dict[str, Any]:
    return {"system": repr(world), "length": length, "mechanism": mechanism, "adjacency": adjacency, "unit": unit}


def _report(
    facts: dict[str, Any],
    audits: list[Any],
    measured: Callable[[Any], float],
    header: str,
    evenness: list[Any],
    quiet: bool,
    as_json: bool,
) -> None:
    """Print what was found; exit code 1 if a claim was refuted."""
    stands = all(one.holds for one in [*audits, *evenness])
    if as_json:
        content = {
            **facts,
            "holds": stands,
            "audits": [{**asdict(one), "holds": one.holds, "verdict": one.verdict} for one in audits],
            "uniformity": [{**asdict(one), "holds": one.holds, "verdict": one.verdict} for one in evenness],
        }
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False, default=str))
    elif not quiet:
        _print(facts, audits, measured, header, evenness)
    if not stands:
        raise typer.Exit(1)


def _print(
    facts: dict[str, Any],
    audits: list[ExhaustiveAudit | StatisticalAudit],
    measured: Callable[[Any], float],
    header: str,
    evenness: list[Any],
) -> None:
    from rich.console import Console
    from rich.table import Table

    out = Console()
    out.print(f"{facts['mechanism']} on {facts['system']}", markup=False)
    out.print(f"words of {facts['length']} symbols, adjacency {facts['adjacency']}, {facts['unit']} words compared")
    table = Table()
    for name in ("claimed ε", header, "verdict"):
        table.add_column(name, justify="left" if name == "verdict" else "right", no_wrap=True)
    for one in audits:
        table.add_row(f"{one.claimed:g}", f"{measured(one):.4g}", "stands" if one.holds else "REFUTED")
    out.print(table)
    # The worst one in full: the largest share of its claim.
    worst = max(audits, key=lambda one: measured(one) / (one.claimed or 1.0))
    for one in (worst, *evenness):
        out.print(str(one), markup=False, highlight=False)


def _draw(path: Path, title: str, points: list[tuple[float, float]], label: str, overwrite: bool) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from pathveil.data.output import private_workspace, publish

    figure = Figure(figsize=(6, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    top = 1.1 * max(max(point) for point in points)
    axes.plot([0, top], [0, top], color="grey", linestyle="--", label="claimed")
    axes.fill_between([0, top], [0, top], [top, top], color="tab:red", alpha=0.1, label="refuted up here")
    axes.plot(*zip(*points, strict=True), marker="o", label=label)
    axes.set(xlabel="claimed ε", ylabel="loss", xlim=(0, top), ylim=(0, top), title=title)
    axes.legend(loc="upper left")
    with private_workspace(path.absolute()) as workspace:
        unfinished = workspace / f"unfinished{path.suffix.lower()}"
        figure.savefig(unfinished, dpi=150)
        publish(unfinished, path.absolute(), overwrite)
