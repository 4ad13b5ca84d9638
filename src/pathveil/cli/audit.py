"""`pathveil audit`: is a mechanism as private on your system as it claims? Nothing sensitive is read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pathveil.cli.options import (
    Adjacency,
    Distance,
    MechanismName,
    OnInfeasible,
    Overwrite,
    Places,
    Printing,
    SystemFile,
    takes_bundles,
)
from pathveil.cli.printing import PlotFile, waiting
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.audit.exhaustive import ExhaustiveAudit
    from pathveil.audit.statistical import StatisticalAudit
    from pathveil.audit.uniformity import UniformityAudit
    from pathveil.systems.system import System
    from pathveil.words.base import SameLengthMechanism
    from pathveil.words.edit import EditMechanism

_AROUND = (0.25, 0.5, 1.0, 2.0)  # a plot of one ε shows these multiples of it

audit_app = typer.Typer(
    help="Check that what is promised is kept: by listing every word, or by drawing many.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is audited: a mechanism on words of one length, or for edit distance on words of several."""

    epsilon: Annotated[
        list[float], typer.Option("--epsilon", help="The claimed ε; may be repeated to audit several claims.")
    ]
    length: Annotated[
        int | None,
        typer.Option(min=1, max=1_000_000, help="How many symbols a word has. Not needed with --distance edit."),
    ] = None
    mechanism: Annotated[MechanismName, typer.Option(help="The mechanism to audit.")] = "certified"
    system: SystemFile
    adjacency: Adjacency = 1
    distance: Distance
    places: Places
    unit: Annotated[
        Literal["feasible", "any"],
        typer.Option(
            help="Compare feasible words only, or any words over the symbols (infeasible ones are then accepted)."
        ),
    ] = "feasible"

    def __post_init__(self) -> None:
        if self.distance.between is None and self.length is None:
            raise InvalidParameterError("give --length, or --distance edit with --lengths")

    @property
    def has_error_classes(self) -> bool:
        same_errors = self.distance.between is None and self.places.coordinates is None
        return same_errors and self.mechanism != "online"

    @property
    def words(self) -> str:
        between = self.distance.between
        if between is None:
            return f"words of {self.length} symbols"
        return f"words of {between[0]} to {between[1]} symbols, edit distance"

    @property
    def title(self) -> str:
        return f"{self.mechanism}, {self.words}, adjacency {self.adjacency}"

    def made(self, world: System, epsilon: float) -> SameLengthMechanism | EditMechanism:
        if self.distance.between is None:
            return self.same_length(world, epsilon)
        return self.distance.edit_mechanism(self.mechanism, world, epsilon, self.adjacency, self._on_infeasible)

    def same_length(self, world: System, epsilon: float) -> SameLengthMechanism:
        from pathveil.words.by_name import MECHANISMS

        measured = self.places.measured(self.distance)
        options = {} if measured is None else measured.options
        return MECHANISMS[self.mechanism](world, epsilon, self.adjacency, on_infeasible=self._on_infeasible, **options)

    @property
    def _on_infeasible(self) -> OnInfeasible:
        return "nearest" if self.unit == "any" else "refuse"

    def facts(self, world: System) -> dict[str, Any]:
        known = {"system": repr(world), "length": self.length, "mechanism": self.mechanism}
        between, cap = self.distance.between, self.distance.cap
        edits = {} if between is None else {"distance": "edit", "lengths": between, "cap": cap}
        near = {} if self.places.coordinates is None else {"radius": self.places.radius, "within": self.places.within}
        return {**known, "words": self.words, "adjacency": self.adjacency, "unit": self.unit, **edits, **near}


@dataclass(frozen=True)
class Plot:
    """A picture of the losses."""

    plot: Annotated[
        Path | None,
        typer.Option(help="Draw measured against claimed loss, as .png, .svg or .pdf; around ε if only one is given."),
    ] = None
    overwrite: Overwrite = False

    @property
    def file(self) -> PlotFile | None:
        return None if self.plot is None else PlotFile(self.plot, self.overwrite)


@audit_app.command()
@takes_bundles
def exhaustive(*, subject: Subject, plot: Plot, printing: Printing) -> None:
    """Measure exactly how much is given away, by listing every word and every output. For short words.

    For all pairs of words that should be hard to tell apart, it computes how well they can be (the loss) and compares
    that with the ε that is claimed.

    Exit code 0: every claim holds. 1: a claim is refuted. Nothing sensitive is read.

    Examples:

    [bold]pathveil audit exhaustive --edges roads.csv --length 4 --mechanism certified --epsilon 1[/bold]

    [bold]pathveil audit exhaustive --edges roads.csv --length 3 --unit any --epsilon 1 --epsilon 4 --plot a.png[/bold]

    [bold]pathveil audit exhaustive --edges roads.csv --distance edit --lengths 2:4 --cap 3 --epsilon 4[/bold]
    """
    if subject.distance.between is not None and subject.length is not None:
        raise InvalidParameterError("with --distance edit all --lengths are compared: leave --length out")
    world = subject.system.read()
    from pathveil.audit.exhaustive import audit_exhaustively

    claims, picture = _claims(subject, plot), plot.file
    with waiting("comparing all adjacent words ...", silent=printing.silent):
        audits = [audit_exhaustively(subject.made(world, claim), subject.length) for claim in claims]
    found = _Findings(subject.facts(world), audits, [audit.loss for audit in audits], "true loss")
    if picture is not None:
        picture.draw_losses(subject.title, found.points, "true loss")
    found.report(printing)


@audit_app.command()
@takes_bundles
def statistical(
    *,
    subject: Subject,
    draws: Annotated[int, typer.Option(help="How many private words to draw for each ε.")] = 200_000,
    confidence: Annotated[
        float, typer.Option(help="A correct mechanism passes with at least this probability, all its tests together.")
    ] = 0.99,
    plot: Plot,
    printing: Printing,
) -> None:
    """Measure from many drawn words how much is given away, at least: what the program does, not what it says.

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
    world = subject.system.read()
    from pathveil.audit.statistical import audit_statistically
    from pathveil.audit.uniformity import audit_uniformity

    claims, picture = _claims(subject, plot), plot.file
    # All tests together keep the level, so each gets its share of the risk.
    each = 1 - (1 - confidence) / (len(claims) + subject.has_error_classes)
    with waiting("drawing words ...", silent=printing.silent):
        made = [subject.made(world, claim) for claim in claims]
        audits = [audit_statistically(one, draws=draws, confidence=each, length=subject.length) for one in made]
        evenness = []
        if subject.has_error_classes:
            evenness = [audit_uniformity(subject.same_length(world, claims[0]), audits[0].word, draws, each)]
    facts = {**subject.facts(world), "confidence": confidence}
    found = _Findings(facts, audits, [audit.epsilon_lower for audit in audits], "loss at least", evenness)
    if picture is not None:
        picture.draw_losses(subject.title, found.points, "measured loss, at least")
    found.report(printing)


@audit_app.command()
@takes_bundles
def sequences(
    *,
    epsilon: Annotated[float, typer.Option(help="The claimed ε.")],
    delta: Annotated[float | None, typer.Option(help="The claimed δ; with it, kept words are audited, too.")] = None,
    unit: Annotated[Literal["word", "user"], typer.Option(help="As for pathveil model --order.")] = "word",
    max_words_per_user: Annotated[int | None, typer.Option(min=1, help="Unit user: as for pathveil model.")] = None,
    neighbours: Annotated[Literal["replace", "add-remove"], typer.Option(help="As for pathveil model.")] = "replace",
    draws: Annotated[
        int, typer.Option(min=1000, help="How many models to fit; some hundredths of a second each.")
    ] = 3000,
    confidence: Annotated[
        float, typer.Option(help="A correct program passes with at least this probability, all its tests together.")
    ] = 0.99,
    printing: Printing,
) -> None:
    """Measure from many models of made-up words how much pathveil model --order gives away, at least.

    Whole models of neighbouring data are compared and, with --delta, which words are kept whole.

    Exit code 0: no claim is refuted (which is no proof). 1: a claim is refuted. Nothing sensitive is read.

    Example: [bold]pathveil audit sequences --epsilon 3 --delta 0.01 --neighbours add-remove[/bold]
    """
    if not 0.5 <= confidence < 1:
        raise InvalidParameterError(f"--confidence lies between 0.5 and 1 (usual: 0.99), not at {confidence:g}")
    from pathveil.audit.sequences import audit_sequences

    with waiting("fitting models ...", silent=printing.silent):
        found = audit_sequences(
            epsilon, delta, unit=unit, max_words_per_user=max_words_per_user, neighbours=neighbours, draws=draws,
            confidence=confidence,
        )  # fmt: skip
    stands = all(one.holds for one in found.values())
    if printing.as_json:
        listed = {name: {**asdict(one), "holds": one.holds, "verdict": one.verdict} for name, one in found.items()}
        typer.echo(json.dumps({"holds": stands, "audits": listed}, indent=2, ensure_ascii=False, default=str))
    elif not printing.quiet:
        for name, one in found.items():
            typer.echo(f"{name}: {one}")
    if not stands:
        raise typer.Exit(1)


def _claims(subject: Subject, plot: Plot) -> list[float]:
    """The claims to audit; wrong use before any work is done."""
    from pathveil.words.base import checked_epsilon

    found = sorted({checked_epsilon(one) for one in subject.epsilon})
    around = plot.plot is not None and len(found) == 1
    return [found[0] * factor for factor in _AROUND] if around else found


@dataclass(frozen=True)
class _Findings:
    """What the audits of all claims have found."""

    facts: dict[str, Any]
    audits: Sequence[ExhaustiveAudit | StatisticalAudit]
    losses: Sequence[float]
    header: str
    evenness: Sequence[UniformityAudit] = ()

    @property
    def points(self) -> list[tuple[float, float]]:
        """Claimed and measured losses."""
        return [(audit.claimed or 0.0, loss) for audit, loss in zip(self.audits, self.losses, strict=True)]

    def report(self, printing: Printing) -> None:
        """Print what was found; exit code 1 if a claim was refuted."""
        stands = all(one.holds for one in [*self.audits, *self.evenness])
        if printing.as_json:
            content = {
                **self.facts,
                "holds": stands,
                "audits": [{**asdict(one), "holds": one.holds, "verdict": one.verdict} for one in self.audits],
                "uniformity": [{**asdict(one), "holds": one.holds, "verdict": one.verdict} for one in self.evenness],
            }
            typer.echo(json.dumps(content, indent=2, ensure_ascii=False, default=str))
        elif not printing.quiet:
            self._print()
        if not stands:
            raise typer.Exit(1)

    def _print(self) -> None:
        from rich.console import Console
        from rich.table import Table

        out, facts = Console(), self.facts
        out.print(f"{facts['mechanism']} on {facts['system']}", markup=False)
        out.print(f"{facts['words']}, adjacency {facts['adjacency']}, {facts['unit']} words compared")
        table = Table()
        for name in ("claimed ε", self.header, "verdict"):
            table.add_column(name, justify="left" if name == "verdict" else "right", no_wrap=True)
        for audit, loss in zip(self.audits, self.losses, strict=True):
            table.add_row(f"{audit.claimed:g}", f"{loss:.4g}", "stands" if audit.holds else "REFUTED")
        out.print(table)
        # The worst one in full: the largest share of its claim.
        shares = [loss / (claimed or 1.0) for claimed, loss in self.points]
        for one in (self.audits[shares.index(max(shares))], *self.evenness):
            out.print(str(one), markup=False, highlight=False)
