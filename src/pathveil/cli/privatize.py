"""`pathveil privatize`: one private word for each word of a file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pathveil.cli import options
from pathveil.cli.options import (
    MechanismName,
    chosen_layout,
    echo_notice,
    edit_lengths,
    edit_mechanism,
    fingerprint_of,
    input_files,
    open_ledger,
    public_system,
    rows_declared,
)
from pathveil.cli.printing import ProgressBar, content_hidden, echo_cost, echo_json, echo_skipped
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.data.writing import CuratorSummary
    from pathveil.systems.system import System
    from pathveil.words.base import WordMechanism


def privatize(
    sources: options.Sources,
    epsilon: options.Epsilon,
    output: options.Output,
    edges: options.Edges = None,
    alphabet: options.AlphabetFile = None,
    chain: options.ChainFile = None,
    automaton: options.AutomatonFile = None,
    column: options.ColumnName = None,
    separator: options.Separator = None,
    case: options.Case = None,
    order: options.Order = None,
    symbol: options.SymbolColumn = None,
    format: options.FormatName = None,
    adjacency: options.Adjacency = 1,
    mechanism: Annotated[MechanismName, typer.Option(help="How to draw; see docs/choosing.md.")] = "certified",
    max_length: Annotated[
        int | None,
        typer.Option(
            min=1, max=1_000_000, help="Certified mechanism: one certificate for all words of up to this length."
        ),
    ] = None,
    distance: options.Distance = "hamming",
    lengths: options.Lengths = None,
    cap: options.Cap = None,
    on_infeasible: Annotated[
        Literal["refuse", "nearest"],
        typer.Option(help="Words that the system could not produce are bad rows, or are drawn towards."),
    ] = "refuse",
    keep: Annotated[
        list[str] | None, typer.Option(help="A column to release as it is, without protection; may be repeated.")
    ] = None,
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="Leave the words in the order of the input.")
    ] = False,
    user: Annotated[str | None, typer.Option(help="The column that says whose word it is.")] = None,
    max_words_per_user: Annotated[
        int | None, typer.Option(min=1, help="Release at most so many words of a user; the rest is dropped at random.")
    ] = None,
    on_bad_row: options.OnBadRow = "fail",
    ledger: options.LedgerFile = None,
    resume: options.Resume = False,
    curator: options.Curator = False,
    overwrite: options.Overwrite = False,
    engine: Annotated[
        Literal["embedded", "spark"],
        typer.Option(help="What does the work: this process, or Apache Spark (Parquet files; docs/spark.md)."),
    ] = "embedded",
    master: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Spark's master, such as spark://host:7077; local[*] if not given."),
    ] = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """One private word for each word, in a file of the same shape, with a manifest beside it.

    Words come in random order, cases are numbered afresh, and other columns are dropped.

    Examples:

    [bold]pathveil privatize trips.parquet --column route --edges roads.csv --epsilon 5 --adjacency 1
    --ledger budget.db --output private.parquet[/bold]

    [bold]pathveil privatize visits.csv --case visit --order step --symbol page --alphabet pages.txt --epsilon 2
    --output private.csv[/bold]

    [bold]pathveil privatize trips.parquet --column route --edges roads.csv --epsilon 6 --distance edit --lengths 5:20
    --output private.parquet[/bold]
    """
    between = edit_lengths(distance, lengths, cap)
    kept = tuple(keep or ())
    if (user is None) != (max_words_per_user is None):
        raise InvalidParameterError("--user and --max-words-per-user belong together: give both or none")
    if user is not None and engine == "spark":
        raise InvalidParameterError(
            "--user and --max-words-per-user need the embedded engine: leave out --engine spark"
        )
    if resume and ledger is None:
        raise InvalidParameterError("--resume is about a charge: it needs --ledger")
    hidden = ledger is not None and not curator
    budget = open_ledger(ledger)
    with (
        content_hidden(hidden),
        input_files(sources, format) as files,
        ProgressBar(silent=quiet or as_json or hidden) as bar,
    ):
        world = public_system(edges=edges, alphabet=alphabet, chain=chain, automaton=automaton, sensitive=sources)
        layout = chosen_layout(
            files, column=column, separator=separator, case=case, order=order, symbol=symbol, format=format
        )
        chosen = _mechanism(mechanism, world, epsilon, adjacency, on_infeasible, max_length, between, cap)
        from pathveil.data.writing import manifest_path, refuse_existing
        from pathveil.release import Release, WordChoices, files_to_write, refuse_inputs, release_words, runner_for

        destination = output.absolute()
        work = runner_for(engine, master, files, layout, format, bar)
        work.refuse_existing(destination, overwrite)
        outputs = files_to_write(destination, manifest_path(destination))
        refuse_inputs(outputs, sources=sources, public=(edges, alphabet, chain, automaton), ledger=ledger)
        refuse_existing(manifest_path(destination), overwrite)
        _warn(kept, keep_order, on_bad_row)
        if case is None:  # one word a row
            bar.total = rows_declared(files, format)
        with Release(
            budget,
            command=f"privatize {' '.join(sources)}",
            request=f"privatize {' '.join(sources)} as {layout!r} to {destination}",
            fingerprint=fingerprint_of(budget, files, format),
            resume=resume,
            notice=echo_notice,
        ) as release:
            choices = WordChoices(kept, keep_order, user, max_words_per_user, on_bad_row, overwrite)
            summary = release_words(work, chosen, destination, release, choices)
    if as_json:
        echo_json(output, summary.guarantee, {} if hidden else _for_the_curator(summary), release.cost)
    elif not quiet and hidden:
        typer.echo(f"{output}: private words\nThe promise, for each word: {summary.guarantee}")
        echo_cost(release.cost)
    elif not quiet:
        _print(output, summary)
        echo_cost(release.cost)


def _mechanism(
    name: MechanismName,
    world: System,
    epsilon: float,
    adjacency: int,
    on_infeasible: Any,
    max_length: int | None,
    lengths: tuple[int, int] | None,
    cap: int | None,
) -> WordMechanism:
    if lengths is not None:
        if max_length is not None:
            raise InvalidParameterError("--max-length does not go with --distance edit: --lengths has the longest word")
        return edit_mechanism(name, world, epsilon, adjacency, lengths, cap, on_infeasible)
    from pathveil.words.by_name import MECHANISMS

    made = MECHANISMS[name]
    if max_length is None:
        return made(world, epsilon, adjacency, on_infeasible=on_infeasible)
    if name != "certified":
        raise InvalidParameterError("--max-length belongs to the certified mechanism")
    from pathveil.words.certified import CertifiedExponential

    return CertifiedExponential(world, epsilon, adjacency, on_infeasible=on_infeasible, max_length=max_length)


def _warn(keep: Sequence[str], keep_order: bool, on_bad_row: str) -> None:
    """Options that release something unprotected say so, even with --quiet: they are decisions about privacy."""
    if keep:
        print(f"pathveil: released as they are, without protection: {', '.join(keep)} (--keep)", file=sys.stderr)
    if keep_order:
        print(
            "pathveil: the order of the words is released (--keep-order); who knows the order of the input knows "
            "whose word is whose",
            file=sys.stderr,
        )
    if on_bad_row == "skip":
        print(
            "pathveil: bad rows are left out (--on-bad-row skip); which rows could be released is taken as public",
            file=sys.stderr,
        )


def _for_the_curator(summary: CuratorSummary) -> dict[str, Any]:
    return {
        "words_released": summary.words_released,
        "symbols_released": summary.symbols_released,
        "words_skipped": summary.words_skipped,
        "skipped_examples": list(summary.skipped_examples),
        "largest_words_per_user": summary.largest_words_per_user,
        "words_over_limit": summary.words_over_limit,
    }


def _print(output: Path, summary: CuratorSummary) -> None:
    typer.echo(f"{output}: {summary.words_released:,} private words, {summary.symbols_released:,} symbols")
    typer.echo(f"The promise, for each word: {summary.guarantee}")
    echo_skipped(summary.words_skipped, "words", summary.skipped_examples)
    if summary.largest_words_per_user is not None:
        typer.echo(
            f"For you only: the user with most words has {summary.largest_words_per_user:,}; "
            f"{summary.words_over_limit:,} words were over the limit and dropped"
        )
