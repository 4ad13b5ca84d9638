"""`pathveil model`: one private Markov chain for all words, or for all from/to pairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pathveil.cli import options
from pathveil.cli.options import (
    chosen_layout,
    echo_notice,
    fingerprint_of,
    input_files,
    open_ledger,
    refuse_sensitive,
    rows_declared,
)
from pathveil.cli.printing import ProgressBar, content_hidden, echo_cost, echo_json, echo_skipped
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.models.chain import Unit


def model(
    sources: options.Sources,
    states: Annotated[Path, typer.Option(help="Text, one public state a line.")],
    epsilon: options.Epsilon,
    output: options.Output,
    delta: Annotated[float | None, typer.Option(help="δ; without it, discrete Laplace noise is used.")] = None,
    unit: Annotated[
        Literal["transition", "symbol", "word"] | None,
        typer.Option(help="What is protected: one transition's destination, one symbol, or one whole word."),
    ] = None,
    mechanism: Annotated[
        Literal["dirichlet", "laplace", "gaussian"] | None,
        typer.Option(help="If not given: laplace without a δ; with one dirichlet for transitions, otherwise gaussian."),
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(min=1, max=1_000_000, help="Unit word: the greatest length; longer words are cut.")
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="Unit word: learn first symbols and lengths, too, each for a share of the budget: "
            "transitions=0.8,first=0.1,lengths=0.1"
        ),
    ] = None,
    support: Annotated[
        Path | None, typer.Option(help="CSV with the columns from,to: the only transitions that can occur. Public.")
    ] = None,
    origin: Annotated[str | None, typer.Option("--from", help="Pairs: the column where a transition starts.")] = None,
    destination: Annotated[str | None, typer.Option("--to", help="Pairs: the column where it ends.")] = None,
    column: options.ColumnName = None,
    separator: options.Separator = None,
    case: options.Case = None,
    order: options.Order = None,
    symbol: options.SymbolColumn = None,
    format: options.FormatName = None,
    matrix: Annotated[Path | None, typer.Option(help="Write the matrix of probabilities as CSV, too.")] = None,
    on_bad_row: options.OnBadRow = "fail",
    ledger: options.LedgerFile = None,
    resume: options.Resume = False,
    curator: options.Curator = False,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """A private Markov chain from words or from from/to pairs, as JSON with a manifest beside it.

    Examples:

    [bold]pathveil model trips.parquet --column route --unit transition --states zones.txt --epsilon 1 --delta 1e-6
    --ledger budget.db --output model.json[/bold]

    [bold]pathveil model trips.csv --from pickup --to dropoff --states zones.txt --epsilon 1 --delta 1e-6
    --output model.json[/bold]
    """
    pairs = origin is not None or destination is not None
    if pairs and (origin is None or destination is None):
        raise InvalidParameterError("--from and --to belong together: give both")
    if pairs and any(given is not None for given in (column, separator, case, order, symbol)):
        raise InvalidParameterError("--from and --to are for pairs, the options --column to --symbol for words")
    if pairs and unit not in (None, "transition"):
        raise InvalidParameterError(f"pairs do not say what a {unit} is: with --from and --to the unit is a transition")
    if not pairs and unit is None:
        raise InvalidParameterError(
            "what shall be protected? Words need --unit transition (the destination of one transition; where each "
            "starts is public), --unit symbol (one symbol of one word) or --unit word (a whole word)"
        )
    if resume and ledger is None:
        raise InvalidParameterError("--resume is about a charge: it needs --ledger")
    refuse_sensitive("--states", states, sources)
    if support is not None:
        refuse_sensitive("--support", support, sources)
    protected: Unit = unit or "transition"
    chosen = mechanism or ("laplace" if delta is None else "dirichlet" if protected == "transition" else "gaussian")
    if chosen == "laplace" and delta is not None:
        raise InvalidParameterError("discrete Laplace noise has δ = 0: leave out --delta, or choose another mechanism")

    from pathveil.data.writing import manifest_path, refuse_existing
    from pathveil.release import ModelChoices, Release, files_to_write, refuse_inputs, release_model

    shares = _shares(split)
    hidden = ledger is not None and not curator
    budget = open_ledger(ledger)
    target = output.absolute()
    refuse_existing(target, overwrite)
    outputs = files_to_write(target, manifest_path(target), matrix)
    refuse_inputs(outputs, sources=sources, public=(states, support), ledger=ledger)
    for path in outputs:
        refuse_existing(path, overwrite)
    with (
        content_hidden(hidden),
        input_files(sources, format) as files,
        ProgressBar(silent=quiet or as_json or hidden) as bar,
    ):
        from pathveil.data.reading import PairColumns, read_alphabet

        known = read_alphabet(states).symbols
        layout = (
            PairColumns(origin, destination)
            if origin is not None and destination is not None
            else chosen_layout(
                files, column=column, separator=separator, case=case, order=order, symbol=symbol, format=format
            )
        )
        choices = ModelChoices(
            states=known,
            epsilon=epsilon,
            delta=delta,
            mechanism=chosen,
            unit=protected,
            support=_support(support, known),
            max_length=max_length,
            split=shares,
            on_bad_row=on_bad_row,
            overwrite=overwrite,
        )
        if case is None:  # one word, or one transition, a row
            bar.total = rows_declared(files, format)
        with Release(
            budget,
            command=f"model {' '.join(sources)}",
            request=f"model {' '.join(sources)} as {layout!r} to {target}",
            fingerprint=fingerprint_of(budget, files, format),
            resume=resume,
            notice=echo_notice,
        ) as release:
            place = None if matrix is None else matrix.absolute()
            done = release_model(files, layout, choices, release, target, place, format=format, progress=bar)
    counted = done.counted
    if as_json:
        skipped = {"rows_skipped": counted.rows_skipped, "skipped_examples": list(counted.skipped_examples)}
        echo_json(output, done.promise, {} if hidden else skipped, release.cost)
    elif not quiet:
        typer.echo(f"{output}: a private chain over {len(known)} states")
        typer.echo(f"The promise: {done.promise}")
        echo_cost(release.cost)
        if not hidden:
            echo_skipped(counted.rows_skipped, "rows", counted.skipped_examples)


def _shares(text: str | None) -> dict[str, float] | None:
    """Shares of the budget, from "transitions=0.8,first=0.1,lengths=0.1"."""
    if text is None:
        return None
    try:
        return {name.strip(): float(share) for name, share in (part.split("=") for part in text.split(","))}
    except ValueError:
        raise InvalidParameterError(
            f"--split is {text!r}: it has the form transitions=0.8,first=0.1,lengths=0.1"
        ) from None


def _support(path: Path | None, states: Sequence[Any]) -> Any:
    """Which transitions can occur, as a table over the states; None where all can."""
    if path is None:
        return None
    import numpy as np

    from pathveil.data.reading import read_edges

    given = read_edges(path)
    number = {state: i for i, state in enumerate(states)}
    for state in given.symbols:
        if state not in number:
            raise InvalidParameterError(f"{path}: {state!r} is not among the states. Add it there, or remove the edge.")
    codes = np.array([number[state] for state in given.symbols])
    edges = given.matrix.tocoo()
    table = np.zeros((len(states), len(states)), dtype=bool)
    table[codes[edges.row], codes[edges.col]] = True
    return table
