"""`pathveil places`: points to words of cells, and words of cells back onto the map. Neither costs privacy."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pathveil.cli.options import (
    WHAT_IS_PUBLIC,
    Columns,
    OnBadRow,
    Overwrite,
    Printing,
    refuse_sensitive,
    takes_bundles,
)
from pathveil.cli.places.options import Map, Points
from pathveil.cli.printing import ProgressBar
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.data.formats import Layout
    from pathveil.places import Cells, PointCounts

_THE_WAY_BACK = "Back onto the map (--back); for long tables also --case, --order, --symbol"


@takes_bundles
def places(
    *,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT...",
            help="Files of points; with --back, files of words of cells. Without any, only --system is written.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write. Words: .parquet, .jsonl or .csv; with --back: .geojson, .parquet (GeoParquet), "
            ".csv, or .html for a picture.",
        ),
    ] = None,
    system: Annotated[
        Path,
        typer.Option(
            help="The file of the cells, for --system of all commands. It is written with --grid, --hexagons or "
            "--zones, and read otherwise.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ],
    points: Points,
    map: Map,
    back: Annotated[bool, typer.Option("--back", help="From words of cells to points and lines.")] = False,
    place: Annotated[
        Literal["centre", "uniform"],
        typer.Option(help="Where in its cell a symbol is drawn.", rich_help_panel=_THE_WAY_BACK),
    ] = "centre",
    columns: Columns,
    on_bad_row: OnBadRow = "fail",
    overwrite: Overwrite = False,
    printing: Printing,
) -> None:
    """From points on a map to words of cells, and back. Nothing is released: the words are as sensitive as the points.

    Points have a latitude, a longitude, a person and a time. Each trip becomes the word of the cells that it passes, by
    fixed rules: it ends at gaps and where it leaves the map, points outside are dropped, and cells between two points
    that are no neighbours are filled in. privatize, model and all other commands take the words with --column word
    (--user user) and the cells with --system. Private or synthetic words go back onto the map with --back.

    Examples:

    [bold]pathveil places points.csv --latitude lat --longitude lon --user who --time when --grid 500
    --bounds 41.6,-87.9,42.1,-87.5 --output words.parquet --system cells.json[/bold]

    [bold]pathveil places --back private.parquet --system cells.json --output private.geojson[/bold]

    [bold]pathveil system graphml town.graphml --output town.json[/bold] (streets), then
    [bold]pathveil places points.csv … --system town.json --output words.parquet[/bold]

    [bold]pathveil places --zones counties.geojson --any-moves --system counties.json[/bold]
    """
    if not sources and not back and output is None:
        _write_cells(system, points, map, overwrite, printing)
        return
    if not sources or output is None:
        raise InvalidParameterError(f"{'--output' if sources else 'INPUT'} is missing: name the file")
    if back:
        if map.given or points != Points():
            raise InvalidParameterError("--back takes the cells from --system: leave out options of points and cells")
        _write_back(sources, output, system, place, columns, overwrite, printing)
        return
    if columns != Columns() or place != "centre":
        raise InvalidParameterError("options of words, and --place, belong to --back")
    _write_words(sources, output, system, points, map, on_bad_row, overwrite, printing)


def _write_cells(system: Path, points: Points, map: Map, overwrite: bool, printing: Printing) -> None:
    """Only the public file, for words or counts that come from elsewhere."""
    if points != Points():
        raise InvalidParameterError("options of points need INPUT, the files of points")
    from pathveil.data.points import save_cells
    from pathveil.release import refuse_inputs

    refuse_inputs([system.absolute()], public=[] if map.zones is None else [map.zones])
    cells = map.cells()
    save_cells(cells, system, overwrite=overwrite)
    if printing.as_json:
        typer.echo(json.dumps({"system": str(system), "cells": len(cells.symbols)}, indent=2))
    elif not printing.quiet:
        typer.echo(f"{system}: {len(cells.symbols):,} cells, {cells.source}")


def _write_words(
    sources: list[str],
    output: Path,
    system: Path,
    points: Points,
    map: Map,
    on_bad_row: Literal["fail", "skip"],
    overwrite: bool,
    printing: Printing,
) -> None:
    missing = [f"--{name}" for name in ("latitude", "longitude", "user", "time") if getattr(points, name) is None]
    if missing:
        raise InvalidParameterError(f"which columns? {', '.join(missing)} must be given")
    from pathveil.data.points import PointColumns, read_cells, save_cells, write_words_of_points
    from pathveil.data.writing import refuse_existing
    from pathveil.release import refuse_inputs

    refuse_inputs([output.absolute(), *([system.absolute()] if map.given else [])], public=[Path(s) for s in sources])
    refuse_sensitive("--system", system, sources)
    if map.given:
        refuse_existing(system.absolute(), overwrite)
    if map.zones is not None:
        refuse_sensitive("--zones", map.zones, sources)
    cells = points.snapped(map.cells() if map.given else read_cells(system))
    named = PointColumns(*(str(getattr(points, name)) for name in ("latitude", "longitude", "user", "time")))
    with ProgressBar(silent=printing.silent, unit="points") as bar:
        counts = write_words_of_points(
            sources,
            output,
            cells,
            named,
            gap=points.gap,
            on_bad_row=on_bad_row,
            overwrite=overwrite,
            progress=bar,
        )
    if map.given:
        save_cells(cells, system, overwrite=overwrite)
    if printing.as_json:
        facts = {"output": str(output), "system": str(system), "cells": len(cells.symbols), **counts.as_dict()}
        typer.echo(json.dumps(facts, indent=2))
    elif not printing.quiet:
        _print_counts(counts, output, system, cells)


def _print_counts(counts: PointCounts, output: Path, system: Path, cells: Cells) -> None:
    typer.echo(f"{system}: {len(cells.symbols):,} cells, {cells.source}")
    typer.echo(f"{output}: {counts.words:,} words of {counts.people:,} people, {counts.symbols:,} symbols")
    typer.echo("For the curator only, as are the words:")
    for what, number in (
        ("points read", counts.points),
        ("rows that are no points, left out", counts.unreadable),
        ("points outside the map, dropped", counts.outside),
        ("points in the cell of the point before, merged", counts.merged),
        ("cells filled in between two points", counts.filled),
        ("trips cut at gaps", counts.cut_at_gaps),
        ("trips that came in from outside", counts.cut_at_bounds),
        ("trips cut where no way leads on", counts.cut_at_islands),
        ("symbols of the longest word", counts.longest),
    ):
        typer.echo(f"  {number:>12,}  {what}")


def _write_back(
    sources: list[str],
    output: Path,
    system: Path,
    place: Literal["centre", "uniform"],
    columns: Columns,
    overwrite: bool,
    printing: Printing,
) -> None:
    from pathveil.data.points import read_cells, write_points_of_words
    from pathveil.release import refuse_inputs

    refuse_inputs([output.absolute()], public=[system, *map(Path, sources)])
    cells, layout = read_cells(system), _layout(columns, sources)
    if output.suffix.lower() in (".html", ".htm"):
        count = _write_page(sources, layout, output, cells, overwrite)
    else:
        with ProgressBar(silent=printing.silent) as bar:
            count = write_points_of_words(
                sources, layout, output, cells, place=place, overwrite=overwrite, progress=bar
            )
    if printing.as_json:
        typer.echo(json.dumps({"output": str(output), "words": count}, indent=2))
    elif not printing.quiet:
        typer.echo(f"{output}: {count:,} trips on the map")


def _write_page(sources: list[str], layout: Layout, output: Path, cells: Cells, overwrite: bool) -> int:
    """A page with the map of all words; how many they are."""
    from pathveil.data import read_words
    from pathveil.report.files import write_page
    from pathveil.report.maps import MapData, map_figure
    from pathveil.report.page import Page
    from pathveil.systems.alphabet import Alphabet

    codes = [
        word for batch in read_words(sources, layout, Alphabet(cells.symbols)) for word in batch.column(0).to_pylist()
    ]
    page = Page(
        "Trips on a map",
        "A map of the words it was made of, and of nothing else: as private, or as sensitive, as they are.",
    )
    words = [[cells.symbols[code] for code in word] for word in codes]
    drawn = MapData.of_words(f"{len(words):,} trips", words)
    page.add("Visits of cells, and where most trips begin and end (with a dot)", map_figure(cells, drawn))
    write_page(page, output, overwrite)
    return len(codes)


def _layout(columns: Columns, sources: list[str]) -> Layout:
    """Words stand in the column `word` where nothing else is said: `places` and `synthesize` write them there."""
    from pathveil.data.sources import find_files

    tables = find_files(sources, Path())[0].format in ("csv", "parquet", "jsonl")
    named = columns.case is not None or columns.column is not None or columns.order or columns.symbol
    return (replace(columns, column="word") if tables and not named else columns).layout(sources)
