"""`pathveil audit`: is a mechanism as private on your system as it claims? Nothing sensitive is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pathveil.cli import options
from pathveil.cli.options import MechanismName, edit_lengths, edit_mechanism, public_system
from pathveil.cli.printing import waiting
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.audit.exhaustive import ExhaustiveAudit
    from pathveil.audit.statistical import StatisticalAudit
    from pathveil.systems.system import System
    from pathveil.words.base import SameLengthMechanism
    from pathveil.words.edit import EditMechanism

_AROUND = (0.25, 0.5, 1.0, 2.0)  # a plot of one ε shows these multiples of it

audit_app = typer.Typer(
    help="Check what a mechanism claims: by listing every word, or by drawing many.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
Length = Annotated[
    int | None,
    typer.Option(min=1, max=1_000_000, help="How many symbols a word has. Not needed with --distance edit."),
]
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
    epsilon: Epsilons,
    length: Length = None,
    mechanism: Mechanism = "certified",
    edges: options.Edges = None,
    alphabet: options.AlphabetFile = None,
    chain: options.ChainFile = None,
    automaton: options.AutomatonFile = None,
    adjacency: options.Adjacency = 1,
    distance: options.Distance = "hamming",
    lengths: options.Lengths = None,
    cap: options.Cap = None,
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

    [bold]pathveil audit exhaustive --edges roads.csv --distance edit --lengths 2:4 --cap 3 --epsilon 4[/bold]
    """
    subject = _Subject(mechanism, adjacency, unit, length, edit_lengths(distance, lengths, cap), cap)
    subject.require_lengths(optional=False)
    world = public_system(edges=edges, alphabet=alphabet, chain=chain, automaton=automaton)
    from pathveil.audit.exhaustive import audit_exhaustively

    looked_at = _looked_at(epsilon, plot, overwrite)
    with waiting("comparing all adjacent words ...", silent=quiet or as_json):
        audits = [audit_exhaustively(subject.made(world, one), length) for one in looked_at]
    if plot is not None:
        _draw(plot, subject.title, [(a.claimed, a.loss) for a in audits], "true loss", overwrite)
    _report(subject.facts(world), audits, lambda one: one.loss, "true loss", [], quiet, as_json)


@audit_app.command()
def statistical(
    epsilon: Epsilons,
    length: Length = None,
    mechanism: Mechanism = "certified",
    edges: options.Edges = None,
    alphabet: options.AlphabetFile = None,
    chain: options.ChainFile = None,
    automaton: options.AutomatonFile = None,
    adjacency: options.Adjacency = 1,
    distance: options.Distance = "hamming",
    lengths: options.Lengths = None,
    cap: options.Cap = None,
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

    [bold]pathveil audit statistical --edges roads.csv --distance edit --lengths 4:8 --cap 5 --epsilon 4[/bold]
    """  # noqa: E501 - a line to be copied
    if not 0.5 <= confidence < 1:
        raise InvalidParameterError(f"--confidence lies between 0.5 and 1 (usual: 0.99), not at {confidence:g}")
    subject = _Subject(mechanism, adjacency, unit, length, edit_lengths(distance, lengths, cap), cap)
    subject.require_lengths(optional=True)
    world = public_system(edges=edges, alphabet=alphabet, chain=chain, automaton=automaton)
    from pathveil.audit.statistical import audit_statistically
    from pathveil.audit.uniformity import audit_uniformity

    looked_at = _looked_at(epsilon, plot, overwrite)
    # All tests together keep the level, so each gets its share of the risk.
    each = 1 - (1 - confidence) / (len(looked_at) + subject.has_error_classes)
    with waiting("drawing words ...", silent=quiet or as_json):
        made = [subject.made(world, one) for one in looked_at]
        audits = [audit_statistically(one, draws=draws, confidence=each, length=length) for one in made]
        evenness = []
        if subject.has_error_classes:
            evenness = [audit_uniformity(subject.same_length(world, looked_at[0]), audits[0].word, draws, each)]
    if plot is not None:
        _draw(
            plot,
            subject.title,
            [(a.claimed or 0.0, a.epsilon_lower) for a in audits],
            "measured loss, at least",
            overwrite,
        )
    facts = {**subject.facts(world), "confidence": confidence}
    _report(facts, audits, lambda one: one.epsilon_lower, "loss at least", evenness, quiet, as_json)


@dataclass(frozen=True)
class _Subject:
    """What is audited: a mechanism on words of one length, or (`lengths`) of several for edit distance."""

    mechanism: MechanismName
    adjacency: int
    unit: str
    length: int | None
    lengths: tuple[int, int] | None
    cap: int | None

    def require_lengths(self, optional: bool) -> None:
        """An error where the length is missing, or given for words of all lengths."""
        if self.lengths is None and self.length is None:
            raise InvalidParameterError("give --length, or --distance edit with --lengths")
        if self.lengths is not None and self.length is not None and not optional:
            raise InvalidParameterError("with --distance edit all --lengths are compared: leave --length out")

    @property
    def has_error_classes(self) -> bool:
        return self.lengths is None and self.mechanism != "online"

    @property
    def words(self) -> str:
        if self.lengths is None:
            return f"words of {self.length} symbols"
        return f"words of {self.lengths[0]} to {self.lengths[1]} symbols, edit distance"

    @property
    def title(self) -> str:
        return f"{self.mechanism}, {self.words}, adjacency {self.adjacency}"

    def made(self, world: System, epsilon: float) -> SameLengthMechanism | EditMechanism:
        if self.lengths is None:
            return self.same_length(world, epsilon)
        return edit_mechanism(
            self.mechanism, world, epsilon, self.adjacency, self.lengths, self.cap, self._on_infeasible
        )

    def same_length(self, world: System, epsilon: float) -> SameLengthMechanism:
        from pathveil.words.by_name import MECHANISMS

        return MECHANISMS[self.mechanism](world, epsilon, self.adjacency, on_infeasible=self._on_infeasible)

    @property
    def _on_infeasible(self) -> Literal["refuse", "nearest"]:
        return "nearest" if self.unit == "any" else "refuse"

    def facts(self, world: System) -> dict[str, Any]:
        known = {"system": repr(world), "length": self.length, "mechanism": self.mechanism}
        edits = {} if self.lengths is None else {"distance": "edit", "lengths": self.lengths, "cap": self.cap}
        return {**known, "words": self.words, "adjacency": self.adjacency, "unit": self.unit, **edits}


def _looked_at(epsilons: list[float], plot: Path | None, overwrite: bool) -> list[float]:
    """The claims to audit; wrong use before any work is done."""
    from pathveil.words.base import checked_epsilon

    found = sorted({checked_epsilon(one) for one in epsilons})
    if plot is None:
        return found
    from pathveil.data.writing import refuse_existing

    if plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InvalidParameterError(f"{plot}: a plot is a .png, .svg or .pdf file")
    refuse_existing(plot.absolute(), overwrite)
    return found if len(found) > 1 else [found[0] * factor for factor in _AROUND]


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
    out.print(f"{facts['words']}, adjacency {facts['adjacency']}, {facts['unit']} words compared")
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

    from pathveil.data.workspace import private_workspace
    from pathveil.data.writing import publish

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
