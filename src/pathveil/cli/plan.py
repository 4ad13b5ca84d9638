"""`pathveil plan`: which ε is needed? Decided from what is public, before anything sensitive is read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pathveil.cli.options import Adjacency, Distance, Overwrite, Places, Printing, SystemFile, takes_bundles
from pathveil.cli.printing import PlotFile, ProgressBar, echo_notice, with_options
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.planning.error_curves import ErrorCurves
    from pathveil.planning.lengths import Lengths

_DIGITS = 7  # no word is longer
_LONG = 10.0  # seconds
_EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0, 8.0)


@dataclass(frozen=True)
class ModelPromise:
    """What a private model would promise."""

    delta: Annotated[
        float | None, typer.Option(help="Private model: δ that may be spent; without it, Laplace noise only.")
    ] = None
    unit: Annotated[
        Literal["transition", "symbol", "word", "user"], typer.Option(help="Private model: what is protected.")
    ] = "transition"
    max_length: Annotated[
        int | None, typer.Option(min=2, max=1_000_000, help="Private model, units word and user: the greatest length.")
    ] = None
    max_words_per_user: Annotated[
        int | None, typer.Option(min=1, help="Private model, unit user: how many words of a person are used.")
    ] = None
    neighbours: Annotated[
        Literal["replace", "add-remove"],
        typer.Option(help="Private model, units word and user: one becomes another, or is there or not."),
    ] = "replace"


@dataclass(frozen=True)
class Wanted:
    """Which ε are looked at, and the error that is looked for."""

    epsilon: Annotated[
        list[float] | None, typer.Option(help="An ε to look at; may be repeated. Otherwise from 0.5 to 8.")
    ] = None
    target_error: Annotated[
        float | None,
        typer.Option(
            help="Which ε does it take to come down to this? Words: the share of wrong symbols. Model: the error of a "
            "probability."
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.target_error is not None and not 0 < self.target_error < 1:
            raise InvalidParameterError(f"--target-error lies between 0 and 1, not at {self.target_error:g}")

    @property
    def epsilons(self) -> list[float]:
        from pathveil.words.base import checked_epsilon

        return sorted({checked_epsilon(one) for one in self.epsilon or _EPSILONS})


@takes_bundles
def plan(
    *,
    length: Annotated[
        str | None,
        typer.Option(
            metavar="N|LO:HI|CSV",
            help="Private words: how many symbols a word has; the shortest and the longest, for example 5:40, all "
            "equally frequent; or a CSV with the columns length,words. Declared by you, not measured.",
        ),
    ] = None,
    rows: Annotated[
        Path | None,
        typer.Option(
            help="Private model: CSV with the columns state,records: how many transitions you expect from each state. "
            "Declared by you, not measured."
        ),
    ] = None,
    system: SystemFile,
    adjacency: Adjacency = 1,
    distance: Distance,
    places: Places,
    promise: ModelPromise,
    wanted: Wanted,
    plot: Annotated[Path | None, typer.Option(help="Draw the table, as a .png, .svg or .pdf file.")] = None,
    overwrite: Overwrite = False,
    printing: Printing,
) -> None:
    """Which ε would do? Shows how much of a release would be wrong at several ε, before any sensitive file is read.

    Give --length, and what is public, to plan private words: the table shows the share of wrong symbols for every
    mechanism (a way to draw private words). Give --rows to plan a private model. With --target-error you get the ε that
    it takes.

    Examples:

    [bold]pathveil plan --edges roads.csv --length 14 --adjacency 1 --target-error 0.1[/bold]

    [bold]pathveil plan --edges roads.csv --length 5:40[/bold]

    [bold]pathveil plan --alphabet pages.txt --length 20 --epsilon 1 --epsilon 2 --plot plan.png[/bold]

    [bold]pathveil plan --rows sizes.csv --delta 1e-6 --target-error 0.01[/bold]
    """
    if (length is None) == (rows is None):
        raise InvalidParameterError("give --length to plan private words, or --rows to plan a private model")
    if rows is None and promise != ModelPromise():
        raise InvalidParameterError(
            "--delta, --unit, --max-length, --max-words-per-user and --neighbours are for a private model: they need "
            "--rows"
        )
    if places.coordinates is not None and (rows is not None or wanted.target_error is not None):
        raise InvalidParameterError("--coordinates goes with --length, and not with --target-error: it is a share")
    epsilons = wanted.epsilons
    picture = None if plot is None else PlotFile(plot, overwrite)
    if rows is not None:
        curves = _model_curves(rows, system, distance, promise)
    else:
        from pathveil.planning.word_curves import looked_at, seconds_for_forecasts, word_curves

        declared = declared_lengths(length or "")
        world = system.read()
        if not printing.silent:
            distance.warn(world, looked_at(world, declared))
            seconds = 0.0 if distance.between else seconds_for_forecasts(world, declared, len(epsilons))
            if seconds > _LONG:
                echo_notice(f"this will take up to about {seconds:,.0f} s, by an estimate from public sizes")
        measured = places.measured(distance)
        curves = word_curves(world, declared, adjacency, distance.between, distance.cap, measured)
    needed = _computed(curves, epsilons, wanted.target_error, printing)
    remarks = [with_options(remark) for remark in curves.remarks(epsilons)]
    if rows is not None and promise.delta is None:
        remarks.append("With a --delta, more mechanisms can be compared.")
    if picture is not None:
        picture.draw_curves(curves, epsilons, wanted.target_error)
    if printing.as_json:
        forecasts = [
            {"mechanism": name, "epsilon": one, "error": curves.at(name, one)}
            for name in curves.mechanisms
            for one in epsilons
        ]
        target = {"target_error": wanted.target_error, "epsilon_for_target": needed}
        best = [{"epsilon": one, "mechanism": curves.best(one)} for one in epsilons]
        content = {**curves.facts, "forecasts": forecasts, "best": best, **target, "remarks": remarks}
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        if rows is None:
            remarks.append("pathveil privatize takes the mechanism that is marked, unless told otherwise.")
        _print(curves, epsilons, needed, wanted.target_error, remarks)


def declared_lengths(text: str) -> Lengths:
    """What --length says: 14, 5:40, or the name of a file."""
    lo, colon, hi = (part.strip() for part in text.partition(":"))
    if _is_number(lo) and (_is_number(hi) if colon else not hi):
        return (int(lo), int(hi)) if colon else int(lo)
    if not text.lower().endswith(".csv"):
        raise InvalidParameterError(
            f"--length is {text!r}: give a number of symbols such as 14, a range such as 5:40, or a .csv file with the "
            "columns length,words"
        )
    from pathveil.data.public import read_length_counts

    return read_length_counts(text)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= _DIGITS


def _model_curves(rows: Path, system: SystemFile, distance: Distance, promise: ModelPromise) -> ErrorCurves:
    if distance.between is not None:
        raise InvalidParameterError("--distance edit is for private words: it needs --length, not --rows")
    if system not in (SystemFile(), SystemFile(edges=system.edges), SystemFile(system=system.system)):
        raise InvalidParameterError(
            "a model's states are in --rows; only --edges or --system may say which transitions occur"
        )
    from pathveil.data.public import read_row_sizes, successors_of
    from pathveil.planning.model_curves import model_curves

    sizes = read_row_sizes(rows)
    successors = [len(sizes)] * len(sizes)
    for path in system.given.values():
        successors = successors_of(system.read(), sizes, path)
    is_whole = promise.unit in ("word", "user")
    if is_whole and promise.max_length is None:
        raise InvalidParameterError(f"--unit {promise.unit} needs --max-length, after which words are cut")
    if not is_whole and promise.max_length is not None:
        raise InvalidParameterError("--max-length belongs to --unit word and --unit user")
    if (promise.unit == "user") != (promise.max_words_per_user is not None):
        raise InvalidParameterError(
            "--unit user and --max-words-per-user belong together: how many words of a person are used?"
        )
    people = (promise.max_words_per_user, promise.neighbours)
    return model_curves(sizes, successors, promise.delta, promise.unit, promise.max_length, *people)


def _computed(
    curves: ErrorCurves, epsilons: list[float], target: float | None, printing: Printing
) -> dict[str, float | None] | None:
    """Compute all forecasts of the table, with a bar; the ε that each mechanism needs for the target, if any."""
    with ProgressBar(silent=printing.silent, unit="forecasts") as bar:
        bar.total = len(curves.mechanisms) * len(epsilons)
        done = 0
        for name in curves.mechanisms:
            for one in epsilons:
                curves.at(name, one)
                done += 1
                bar("expected errors", done)
        return None if target is None else {name: curves.epsilon_for(name, target) for name in curves.mechanisms}


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
    # The mark of the best stands where there would be room on the right of a cell.
    table = Table(title=f"{curves.title}: {curves.error}", title_justify="left", padding=(0, 0, 0, 1))
    table.add_column("mechanism", no_wrap=True)
    for epsilon in epsilons:
        table.add_column(f"ε={epsilon:g}", justify="right")
    if needed is not None:
        table.add_column("needed", justify="right")
    for name in curves.mechanisms:
        cells = [_short(curves.at(name, epsilon)) + "*" * (name == curves.best(epsilon)) for epsilon in epsilons]
        if needed is not None:
            enough = needed[name]
            cells.append("-" if enough is None else f"{enough:.3g}")
        table.add_row(name, *cells)
    out.print(table)
    out.print("* The best at this ε.", markup=False)
    if needed is not None:
        out.print(f"Needed: the ε at which that is {target:g} (none up to {LARGEST_EPSILON:g}: -).")
    for remark in remarks:
        out.print(remark, markup=False)


def _short(value: float | None) -> str:
    """Two digits, and few enough characters for a narrow terminal."""
    if value is None:
        return "-"
    return f"{value:.2g}" if value >= 0.001 else f"{value:.0e}"
