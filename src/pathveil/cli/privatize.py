"""`pathveil privatize`: one private word for each word of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pathveil.cli.options import (
    HOW_PRIVATE,
    Adjacency,
    Budget,
    Distance,
    Epsilon,
    Input,
    OnInfeasible,
    Output,
    Places,
    Printing,
    SystemFile,
    Work,
    takes_bundles,
)
from pathveil.cli.printing import (
    ProgressBar,
    choice_as_json,
    content_hidden,
    echo_choice,
    echo_cost,
    echo_json,
    echo_limited,
    echo_notice,
    echo_skipped,
    echo_tied,
    require_consent,
)
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.data.writing import CuratorSummary
    from pathveil.planning.choose import Choice
    from pathveil.release import Release, Runner, WordChoices
    from pathveil.systems.system import System
    from pathveil.words.base import WordMechanism

_LONG = 10.0  # seconds
_PATIENCE = 20.0  # seconds: a forecast for which nobody asked takes no longer, by an estimate from public sizes
_SOME_WORDS = 1_000  # where a file does not say how many it has
_WHAT_ELSE = "What else is released, and how many words of a person"


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """How private words are drawn."""

    epsilon: Epsilon
    adjacency: Adjacency = 1
    mechanism: Annotated[
        Literal["best", "certified", "permute-and-flip", "exponential", "online"],
        typer.Option(
            help="The way to draw private words; docs/choosing.md compares them. best: the one with the fewest wrong "
            "symbols, by a forecast from what is public.",
            rich_help_panel=HOW_PRIVATE,
        ),
    ] = "best"
    max_length: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1_000_000,
            help="Certified mechanism: one certificate for all words of up to this length.",
            rich_help_panel=HOW_PRIVATE,
        ),
    ] = None
    distance: Distance
    places: Places
    on_infeasible: Annotated[
        OnInfeasible,
        typer.Option(
            help="Words that are impossible by what is public: they are bad rows, or what is drawn is near them.",
            rich_help_panel=HOW_PRIVATE,
        ),
    ] = "refuse"
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            "-y",
            help="Release even if more than half of the symbols will be wrong.",
            rich_help_panel=HOW_PRIVATE,
        ),
    ] = False

    def compared(self, world: System, radius: float | None = None) -> dict[str, WordMechanism]:
        """The mechanisms, by name, of which the best is taken: one, where it was named. `radius` instead of none."""
        from pathveil.planning.choose import candidates
        from pathveil.words.by_name import MECHANISMS
        from pathveil.words.certified import CertifiedExponential

        between, infeasible = self.distance.between, self.on_infeasible
        measured = self.places.measured(self.distance)
        if measured is not None and radius is not None:
            measured = replace(measured, distance=measured.distance.with_radius(radius))
        options = {} if measured is None else measured.options
        if between is not None and self.max_length is not None:
            raise InvalidParameterError("--max-length does not go with --distance edit: --lengths has the longest word")
        if self.max_length is not None:
            if self.mechanism not in ("best", "certified"):
                raise InvalidParameterError("--max-length belongs to the certified mechanism")
            longest = self.max_length
            return {
                "certified": CertifiedExponential(
                    world, self.epsilon, self.adjacency, on_infeasible=infeasible, max_length=longest, **options
                )
            }
        if self.mechanism == "best":
            cap = self.distance.cap
            return candidates(
                world,
                self.epsilon,
                self.adjacency,
                lengths=between,
                cap=cap,
                on_infeasible=infeasible,
                measured=measured,
            )
        name = self.mechanism
        if between is not None:
            return {name: self.distance.edit_mechanism(name, world, self.epsilon, self.adjacency, infeasible)}
        return {name: MECHANISMS[name](world, self.epsilon, self.adjacency, on_infeasible=infeasible, **options)}


@dataclass
class Decision:
    """Which mechanism is taken: said, and asked about where a release would say little, before anything is charged."""

    drawing: Drawing
    world: System
    printing: Printing
    bar: ProgressBar
    taken: Choice | None = None

    def __post_init__(self) -> None:
        self._compared = self.drawing.compared(self.world)

    @property
    def any_of_them(self) -> WordMechanism:
        """What words are checked for: all of them accept the same words, and this one has nothing to prove."""
        from pathveil.words.permute_and_flip import PermuteAndFlip

        asked = self.drawing
        if asked.distance.between is not None:
            return asked.distance.edit_mechanism(
                "permute-and-flip", self.world, asked.epsilon, asked.adjacency, asked.on_infeasible
            )
        return PermuteAndFlip(self.world, asked.epsilon, asked.adjacency, on_infeasible=asked.on_infeasible)

    @property
    def as_json(self) -> dict[str, Any]:
        """What was decided, for machines."""
        return {} if self.taken is None else choice_as_json(self.taken)

    def decide(self, lengths: Mapping[int, int]) -> WordMechanism:
        """For so many words of each length, or for words of which only --lengths is public."""
        from pathveil.planning.choose import choose
        from pathveil.planning.effort import seconds_for_words
        from pathveil.planning.lengths import LengthMix, length_mix

        between = self.drawing.distance.between
        if self.drawing.places.coordinates is not None and self.drawing.places.radius is None:
            self._compared = self.drawing.compared(self.world, self._best_radius(lengths))
        mix = LengthMix(lengths) if between is None else length_mix(self.world, between)
        edits = between is not None
        self.taken = choice = choose(
            self._compared, mix, seconds=_PATIENCE, progress=lambda done: self.bar("forecasting", done)
        )
        silent = self.printing.silent
        with self.bar.paused():
            if not silent:
                echo_choice(choice, asked_for_best=len(self._compared) > 1, edits=edits)
                self.drawing.distance.warn(self.world, self.bar.total or _SOME_WORDS)
            require_consent(choice, edits=edits, silent=silent, yes=self.drawing.yes)
        choice.mechanism.prepare(lengths, self.bar)  # a certificate that cannot be made says so before the charge
        if not edits:
            with self.bar.paused():
                say_if_long(seconds_for_words(choice.mechanism, choice.name, lengths))
        return choice.mechanism

    def _best_radius(self, lengths: Mapping[int, int]) -> float:
        """Where none was given: that with the smallest mean distance for words of the commonest length, by forecast."""
        from pathveil.planning.distances import radius_curve

        asked, length = self.drawing, max(lengths, key=lambda n: (lengths[n], -n))
        measured = asked.places.measured(asked.distance)
        assert measured is not None
        named = "certified" if asked.max_length is not None else asked.mechanism
        curve = radius_curve(
            self.world,
            length,
            asked.epsilon,
            asked.adjacency,
            mechanism=None if named == "best" else named,
            **measured.options,
        )
        radius = float(f"{curve.best:.4g}")  # as it is said, so that others can ask for the same
        if not self.printing.silent:
            uncut = curve.means[max(curve.means)]
            with self.bar.paused():
                echo_notice(
                    f"radius {radius:g}, the best by a forecast from what is public: a mean distance of about "
                    f"{curve.means[curve.best]:.4g}, and {uncut:.4g} if nothing were cut off (--radius takes another)"
                )
        return radius


def say_if_long(seconds: float) -> None:
    """A message before words take longer to draw than anybody waits without one."""
    if seconds > _LONG:
        echo_notice(f"drawing will take about {seconds:,.0f} s, by an estimate from public sizes")


@dataclass(frozen=True)
class Kept:
    """What of the input is released beside the words, and how many words of a user."""

    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="A column to release as it is, without protection; may be repeated.", rich_help_panel=_WHAT_ELSE
        ),
    ] = None
    keep_order: Annotated[
        bool,
        typer.Option("--keep-order", help="Leave the words in the order of the input.", rich_help_panel=_WHAT_ELSE),
    ] = False
    user: Annotated[
        str | None, typer.Option(help="The column that says whose word it is.", rich_help_panel=_WHAT_ELSE)
    ] = None
    max_words_per_user: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Release at most so many words of a user; the rest is dropped at random.",
            rich_help_panel=_WHAT_ELSE,
        ),
    ] = None

    def __post_init__(self) -> None:
        if (self.user is None) != (self.max_words_per_user is None):
            raise InvalidParameterError("--user and --max-words-per-user belong together: give both or none")

    def choices(self, input: Input, output: Output) -> WordChoices:
        """What becomes of everything beside the words."""
        from pathveil.release import WordChoices

        return WordChoices(
            keep=tuple(self.keep or ()),
            keep_order=self.keep_order,
            user=self.user,
            max_words_per_user=self.max_words_per_user,
            on_bad_row=input.on_bad_row,
            overwrite=output.overwrite,
        )


@takes_bundles
def privatize(
    *,
    system: SystemFile,
    drawing: Drawing,
    kept: Kept,
    input: Input,
    budget: Budget,
    output: Output,
    work: Work,
    printing: Printing,
) -> None:
    """Protect a file of sequences: every word (a trip, a visit, a case) is replaced by a private one.

    You say three things: where the words are in your file (--column, or --case, --order and --symbol), what is public
    about them (--alphabet: which symbols there are; or --edges: which may follow which), and how private it shall be
    (--epsilon; pathveil plan helps to choose).

    The ending of --output says what is written: .csv, .tsv, .parquet, .jsonl, .txt or .xes. Words come in random order,
    cases are numbered afresh, and other columns are dropped.

    Examples:

    [bold]pathveil privatize trips.parquet --column route --edges roads.csv --epsilon 5 --adjacency 1
    --ledger budget.db --output private.parquet[/bold]

    [bold]pathveil privatize visits.csv --case visit --order step --symbol page --alphabet pages.txt --epsilon 2
    --output private.csv[/bold]

    [bold]pathveil privatize visits.csv --case visit --order step --symbol page --alphabet pages.txt --epsilon 2
    --output private.xes[/bold]

    [bold]pathveil privatize trips.parquet --column route --edges roads.csv --epsilon 6 --distance edit --lengths 5:20
    --output private.parquet[/bold]
    """
    if kept.user is not None and work.engine == "spark":
        raise InvalidParameterError(
            "--user and --max-words-per-user need the embedded engine: leave out --engine spark"
        )
    hidden, ledger = budget.hides_content, budget.open()
    with (
        content_hidden(hidden),
        input.files() as files,
        ProgressBar(silent=printing.silent or hidden) as bar,
    ):
        world = system.read(sensitive=input.sources)
        layout = input.columns.layout(files, input.format)
        decision = Decision(drawing, world, printing, bar)
        from pathveil.release import release_words, runner_for

        runner = runner_for(work.engine, work.master, files, layout, input.format, bar)
        _refuse_outputs(runner, output, input, system, budget)
        _warn(kept, input.on_bad_row)
        bar.total = input.words_declared(files)
        with budget.release(ledger, "privatize", input, files, layout, output.target) as release:
            choices = kept.choices(input, output)
            summary = release_words(
                runner, decision.any_of_them, output.target, release, choices, choose=decision.decide
            )
    if printing.as_json:
        found = {} if hidden else _for_the_curator(summary)
        echo_json(output.path, summary.guarantee, found, release.cost, decision.as_json)
    elif not printing.quiet:
        _print(output.path, summary, hidden, release)


def _refuse_outputs(runner: Runner, output: Output, input: Input, system: SystemFile, budget: Budget) -> None:
    """An error, before any work is done, where the output or its manifest must not be written."""
    from pathveil.data.writing import manifest_path, refuse_existing
    from pathveil.release import files_to_write, refuse_inputs

    runner.refuse_existing(output.target, output.overwrite)
    beside = manifest_path(output.target)
    written = files_to_write(output.target, beside)
    refuse_inputs(written, sources=input.sources, public=system.files, ledger=budget.ledger)
    refuse_existing(beside, output.overwrite)


def _warn(kept: Kept, on_bad_row: str) -> None:
    """Options that release something unprotected say so, even with --quiet: they are decisions about privacy."""
    if kept.keep:
        echo_notice(f"released as they are, without protection: {', '.join(kept.keep)} (--keep)")
    if kept.keep_order:
        echo_notice(
            "the order of the words is released (--keep-order); who knows the order of the input knows whose word is "
            "whose"
        )
    if on_bad_row == "skip":
        echo_notice("bad rows are left out (--on-bad-row skip); which rows could be released is taken as public")


def _for_the_curator(summary: CuratorSummary) -> dict[str, Any]:
    return {
        "words_released": summary.words_released,
        "symbols_released": summary.symbols_released,
        "words_skipped": summary.words_skipped,
        "skipped_examples": list(summary.skipped_examples),
        "largest_words_per_user": summary.largest_words_per_user,
        "words_over_limit": summary.words_over_limit,
        "words_tied": summary.words_tied,
    }


def _print(output: Path, summary: CuratorSummary, hidden: bool, release: Release) -> None:
    counts = "" if hidden else f"{summary.words_released:,} private words, {summary.symbols_released:,} symbols"
    typer.echo(f"{output}: {counts or 'private words'}")
    typer.echo(f"The promise, for each word: {summary.guarantee}")
    if not hidden:
        echo_skipped(summary.words_skipped, "words", summary.skipped_examples)
        echo_tied(summary.words_tied)
        echo_limited(summary.largest_words_per_user, summary.words_over_limit)
    echo_cost(release.cost)
