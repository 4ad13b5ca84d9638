"""`pathveil synthesize`: words from a saved private model. It costs no further privacy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pathveil.cli.options import Overwrite, Printing, takes_bundles
from pathveil.cli.printing import ProgressBar
from pathveil.errors import InvalidParameterError


@takes_bundles
def synthesize(
    *,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="JSON that pathveil model wrote.")],
    count: Annotated[int, typer.Option(help="How many words.")],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The file to write: .csv, .tsv, .parquet, .jsonl, .txt or .xes; .gz or .zst may follow.",
        ),
    ],
    length: Annotated[
        int | None,
        typer.Option(min=1, max=1_000_000, help="How many symbols a word has; if not given, as the model learned it."),
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="One word a row: the name of the column; word if not given.")
    ] = None,
    separator: Annotated[
        str | None, typer.Option(help="CSV and text: what stands between symbols; a blank if not given.")
    ] = None,
    case: Annotated[
        str | None, typer.Option(help="One symbol a row: the name of the column that says which word.")
    ] = None,
    order: Annotated[
        str | None, typer.Option(help="One symbol a row: the name of the column that says where in it.")
    ] = None,
    symbol: Annotated[
        str | None, typer.Option(help="One symbol a row: the name of the column of symbols. Event log: the attribute.")
    ] = None,
    overwrite: Overwrite = False,
    printing: Printing,
) -> None:
    """Make synthetic words from a private model. That gives nothing away beyond the model, however many you make.

    The ending of --output says what is written: tables (one word a row, or with --case, --order and --symbol one symbol
    a row), plain text or an event log. Where words begin, and how long they are, is drawn from the model if it has
    learned that (model --order, or --split); otherwise each state is as likely, and --length says how long.

    Examples:

    [bold]pathveil synthesize model.json --count 1000 --length 14 --output synthetic.parquet[/bold]

    [bold]pathveil synthesize model.json --count 1000 --case visit --order step --symbol page
    --output synthetic.csv[/bold]

    [bold]pathveil synthesize model.json --count 1000 --output synthetic.xes[/bold]
    """
    if count < 1:
        raise InvalidParameterError(f"--count is a whole number of at least 1, not {count}")
    from pathveil.release import SyntheticChoices, release_synthetic

    with ProgressBar(silent=printing.silent) as bar:
        bar.total = count
        choices = SyntheticChoices(count, length, column, separator, case, order, symbol, overwrite)
        promise = release_synthetic(model, output, choices, bar)
    if printing.as_json:
        made = None if promise is None else f"{output}.manifest.json"
        typer.echo(json.dumps({"output": str(output), "manifest": made, "words": count}, indent=2))
    elif not printing.quiet:
        typer.echo(f"{output}: {count:,} synthetic words{'' if length is None else f' of {length} symbols'}")
        if promise is None:
            typer.echo(f"{model} carries no guarantee: it was not made by pathveil model, and there is no manifest")
        else:
            typer.echo(f"They cost nothing beyond the promise of the model: {promise}")
