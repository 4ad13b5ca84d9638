"""`pathveil synthesize`: words from a saved private model. It costs no further privacy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli.options import Overwrite, Printing, takes_bundles
from pathveil.cli.printing import ProgressBar
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.privacy.guarantee import Guarantee


@takes_bundles
def synthesize(
    *,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="JSON that pathveil model wrote.")],
    count: Annotated[
        list[str],
        typer.Option(
            metavar="NUMBER",
            help="How many words. Of a model of groups: of all together, or GROUP=NUMBER, which may be repeated.",
        ),
    ],
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
    prefix: Annotated[
        str | None, typer.Option(help="Model of sequences: symbols that all words begin with, such as a,b.")
    ] = None,
    first: Annotated[str | None, typer.Option(help="Model of sequences: the first symbol of all words.")] = None,
    last: Annotated[str | None, typer.Option(help="Model of sequences: the last symbol of all words.")] = None,
    week: Annotated[
        str | None,
        typer.Option(
            metavar="DATE",
            help="Model with times: the Monday of the week in which words begin; 2024-01-01 if not given.",
        ),
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="Model of groups: the name of the column of groups; group if not given.")
    ] = None,
    overwrite: Overwrite = False,
    printing: Printing,
) -> None:
    """Make synthetic words from a private model. That gives nothing away beyond the model, however many you make.

    The ending of --output says what is written: tables (one word a row, or with --case, --order and --symbol one symbol
    a row), plain text or an event log. Where words begin, and how long they are, is drawn from the model if it has
    learned that (model --order, or --split). Otherwise --length says how long they are, and they begin as often in each
    state as transitions do where that is public (--unit transition, counted flows), and in all states alike where not.

    Examples:

    [bold]pathveil synthesize model.json --count 1000 --length 14 --output synthetic.parquet[/bold]

    [bold]pathveil synthesize model.json --count 1000 --case visit --order step --symbol page
    --output synthetic.csv[/bold]

    [bold]pathveil synthesize model.json --count 1000 --output synthetic.xes[/bold]

    [bold]pathveil synthesize model.json --count east=100 --count west=200 --first home --last work
    --output synthetic.csv[/bold]
    """
    wanted = _counts(count)
    total = wanted if isinstance(wanted, int) else sum(wanted.values())
    from pathveil.release import SyntheticChoices, release_synthetic

    with ProgressBar(silent=printing.silent) as bar:
        bar.total = total
        choices = SyntheticChoices(
            wanted, length, column, separator, case, order, symbol, overwrite,
            prefix=prefix, first=first, last=last, week=week, group=group,
        )  # fmt: skip
        promise = release_synthetic(model, output, choices, bar)
    if printing.as_json:
        made = None if promise is None else f"{output}.manifest.json"
        typer.echo(json.dumps({"output": str(output), "manifest": made, "words": total}, indent=2))
    elif not printing.quiet:
        typer.echo(f"{output}: {total:,} synthetic words{'' if length is None else f' of {length} symbols'}")
        _tell_promise(model, promise)


def _tell_promise(model: Path, promise: Guarantee | None) -> None:
    if promise is None:
        typer.echo(f"{model} carries no guarantee: it was not made by pathveil model, and there is no manifest")
    else:
        typer.echo(f"They cost nothing beyond the promise of the model: {promise}")


def _counts(given: list[str]) -> int | dict[str, int]:
    """One number of words, or one for each group."""
    if len(given) == 1 and "=" not in given[0]:
        return _number(given[0], given[0])
    found: dict[str, int] = {}
    for one in given:
        name, equals, number = one.rpartition("=")
        if not equals or name in found:
            raise InvalidParameterError(f"--count {one}: give one number, or for each group once GROUP=NUMBER")
        found[name] = _number(number, one)
    return found


def _number(text: str, told: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) < 2**62:
        raise InvalidParameterError(f"--count is a whole number of at least 1, not {told}")
    return int(text)
