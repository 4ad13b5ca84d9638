"""`pathveil report`: one self-contained HTML file to plan a release, to look at it, or to defend it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pathveil.cli import options
from pathveil.cli.options import chosen_layout, edit_lengths, public_system, refuse_sensitive
from pathveil.cli.printing import waiting
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.report.page import Page
    from pathveil.systems.markov_chain import MarkovChain
    from pathveil.systems.system import System, Word

report_app = typer.Typer(
    help="A page to look at: plan a release, check it as the curator, or defend it.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

ReportFile = Annotated[
    Path,
    typer.Option("--output", "-o", help="The HTML file to write; with --format png or svg, a folder for the charts."),
]
ChartFormat = Annotated[
    Literal["html", "png", "svg"], typer.Option("--format", help="A page, or every chart as a picture in a folder.")
]
_SENSITIVE_NAMES = ("curator", "sensitive")


@report_app.command()
def plan(
    output: ReportFile,
    length: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1_000_000,
            help="How many symbols a word has. With --distance edit it may be left out: a length in the middle.",
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
    epsilon: Annotated[float, typer.Option(help="Where the slider for ε starts.")] = 2.0,
    sample: Annotated[
        str | None,
        typer.Option(
            help="A PUBLIC word to show private words for, its symbols with spaces between. Never a sensitive one."
        ),
    ] = None,
    coordinates: Annotated[
        Path | None, typer.Option(help="CSV with the columns symbol,x,y: draw the system as a map.")
    ] = None,
    format: ChartFormat = "html",
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
) -> None:
    """What every ε and b would cost, with sliders. Public quantities only: safe to share.

    Examples:

    [bold]pathveil report plan --edges roads.csv --length 14 --adjacency 1 --output plan.html[/bold]

    [bold]pathveil report plan --edges roads.csv --distance edit --lengths 5:20 --cap 6 --output plan.html[/bold]
    """
    between = edit_lengths(distance, lengths, cap)
    _refuse_existing(output, format, overwrite)
    world = public_system(edges=edges, alphabet=alphabet, chain=chain, automaton=automaton)
    from pathveil.data.reading import read_coordinates
    from pathveil.planning.edit_grid import edit_grid
    from pathveil.planning.grid import word_grid
    from pathveil.report.plan_page import plan_page

    places = None if coordinates is None else read_coordinates(coordinates)
    word = None if sample is None else _word(sample, world)
    with waiting("computing expected errors at every ε and b ...", silent=quiet):
        if between is not None:
            grid = edit_grid(world, between, cap, adjacency, length=length, epsilons=[epsilon], sample=word)
        elif length is not None:
            grid = word_grid(world, length, adjacency, epsilons=[epsilon], sample=word)
        else:
            raise InvalidParameterError("give --length, or --distance edit with --lengths")
        page = plan_page(grid, epsilon=epsilon, adjacency=adjacency, coordinates=places)
    _write(page, output, format, overwrite)
    if not quiet:
        typer.echo(f"{output}: a planning report. It was made from public quantities only and may be shared.")


@report_app.command()
def curator(
    input: Annotated[
        list[str], typer.Option("--input", help="The sensitive file, folder or pattern; may be repeated.")
    ],
    private: Annotated[Path, typer.Option(help="The private words, as pathveil privatize wrote them.")],
    output: ReportFile,
    edges: options.Edges = None,
    alphabet: options.AlphabetFile = None,
    chain: options.ChainFile = None,
    automaton: options.AutomatonFile = None,
    column: options.ColumnName = None,
    separator: options.Separator = None,
    case: options.Case = None,
    order: options.Order = None,
    symbol: options.SymbolColumn = None,
    max_length: Annotated[int | None, typer.Option(help="As it was given to privatize, if it was.")] = None,
    model: Annotated[Path | None, typer.Option(help="A private model of the same words, to look at its rows.")] = None,
    on_bad_row: options.OnBadRow = "fail",
    format: ChartFormat = "html",
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
) -> None:
    """Sensitive words against private ones. CONTAINS SENSITIVE DATA: for the curator only, never for release.

    The name of the output has to say so: it must contain "curator" or "sensitive".

    Example: [bold]pathveil report curator --input trips.parquet --column route --edges roads.csv --private
    private.parquet --output curator.html[/bold]
    """
    if not any(word in output.name.lower() for word in _SENSITIVE_NAMES):
        raise InvalidParameterError(
            f"--output {output}: this report contains sensitive data, and its name has to say so, or one day it lies "
            f"beside the releases. Call it curator-{output.name} or sensitive-{output.name}."
        )
    _refuse_existing(output, format, overwrite)
    world = public_system(edges=edges, alphabet=alphabet, chain=chain, automaton=automaton, sensitive=input)
    refuse_sensitive("--private", private, input)
    layout = chosen_layout(
        input, column=column, separator=separator, case=case, order=order, symbol=symbol, format=None
    )
    from pathveil.data.writing import manifest_path
    from pathveil.report.curator import compare, curator_page, read_all
    from pathveil.report.released import read_manifest, rebuilt_mechanism, require_same_system

    released = mechanism = None
    if manifest_path(private).exists():
        released = read_manifest(manifest_path(private))
        require_same_system(released, world)
        mechanism = rebuilt_mechanism(world, released.promise, max_length)
    accepted = mechanism is None or mechanism.on_infeasible == "nearest"
    lengths = None if mechanism is None else mechanism.accepted_lengths
    fitted, rows = (None, []) if model is None else _model(model, world)
    with waiting("comparing ...", silent=quiet):
        found = compare(
            world,
            read_all(input, layout, world, on_bad_row=on_bad_row, accept_infeasible=accepted, lengths=lengths),
            read_all(str(private), layout, world),
            released,
            mechanism,
            model=fitted,
            model_rows=rows,
        )
        page = curator_page(found)
    _write(page, output, format, overwrite, prefix="sensitive-", secret=True)
    if not quiet:
        print(f"pathveil: {output} CONTAINS SENSITIVE DATA: for the curator only", file=sys.stderr)


@report_app.command()
def release(
    manifest: Annotated[Path, typer.Argument(metavar="MANIFEST", help="The .manifest.json beside a release.")],
    output: ReportFile,
    ledger: Annotated[
        Path | None, typer.Option(help="The budget that was charged: shows the charge and what is left.")
    ] = None,
    format: ChartFormat = "html",
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
) -> None:
    """What was released and what is promised, in words for lawyers and engineers. May go with the release.

    Example: [bold]pathveil report release private.parquet.manifest.json --ledger budget.db --output release.html[/bold]
    """
    _refuse_existing(output, format, overwrite)
    from pathveil.report.release_page import charged_for, digest_of, release_page
    from pathveil.report.released import read_manifest

    released = read_manifest(manifest)
    digest = digest_of(released.data_file)
    charged = None
    if ledger is not None:
        from pathveil.ledger.ledger import Ledger

        charged = charged_for(Ledger.open(ledger), released, digest)
    _write(release_page(released, digest, charged), output, format, overwrite)
    if not quiet:
        typer.echo(f"{output}: a release report. It holds what the manifest says, and may go with the release.")


def _word(text: str, world: System) -> Word:
    """A word from its symbols with spaces between; symbols are texts in files, but need not be in the system."""
    known = {str(name): name for name in world.symbols}
    return tuple(known.get(part, part) for part in text.split())


def _model(path: Path, world: System) -> tuple[MarkovChain, list[dict[str, Any]]]:
    """A private model over the symbols of the system, in their order."""
    from pathveil.data.reading import read_model
    from pathveil.systems.markov_chain import MarkovChain

    chain, _, forecasts = read_model(path)
    place = {str(state): i for i, state in enumerate(chain.symbols)}
    missing = [name for name in map(str, world.symbols) if name not in place]
    if missing or len(place) != len(world.symbols):
        raise InvalidParameterError(f"{path}: the model and the public system do not have the same symbols")
    order = [place[str(name)] for name in world.symbols]
    rows = [] if forecasts is None else [forecasts["rows"][i] for i in order]
    return MarkovChain.from_counts(world.symbols, chain.matrix[order][:, order]), rows


def _refuse_existing(output: Path, format: str, overwrite: bool) -> None:
    from pathveil.data.writing import refuse_existing
    from pathveil.errors import DataFileError

    if format == "html":
        if output.suffix.lower() not in (".html", ".htm"):
            raise InvalidParameterError(f"--output {output}: a report is an .html file")
        refuse_existing(output.absolute(), overwrite)
    elif output.suffix.lower() in (".html", ".htm"):
        raise InvalidParameterError(f"--output {output}: with --format {format}, name a folder for the charts")
    elif output.exists() and not output.is_dir():
        raise DataFileError(f"{output} is a file: with --format {format}, name a folder for the charts")


def _write(page: Page, output: Path, format: str, overwrite: bool, *, prefix: str = "", secret: bool = False) -> None:
    """The page, or its charts; each file appears complete or not at all."""
    from pathveil.data.workspace import private_workspace
    from pathveil.data.writing import publish, refuse_existing

    target = output.absolute()
    if format == "html":
        with private_workspace(target) as workspace:
            unfinished = workspace / "unfinished"
            unfinished.write_text(page.render(), encoding="utf-8")
            if secret:
                unfinished.chmod(0o600)
            publish(unfinished, target, overwrite)
        return
    from pathveil.report.pictures import save_chart

    target.mkdir(mode=0o700 if secret else 0o777, exist_ok=True)
    named = {key: target / f"{prefix}{key}.{format}" for key in page.charts}
    for path in named.values():
        refuse_existing(path, overwrite)
    with private_workspace(target / "charts") as workspace:
        for key, path in named.items():
            unfinished = workspace / f"{key}.{format}"
            save_chart(page.charts[key], unfinished)
            publish(unfinished, path, overwrite)
