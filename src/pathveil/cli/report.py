"""`pathveil report`: one self-contained HTML file to plan a release, to look at it, or to defend it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pathveil.cli.options import (
    Adjacency,
    Columns,
    Distance,
    OnBadRow,
    Overwrite,
    Places,
    Quiet,
    SystemFile,
    refuse_sensitive,
    takes_bundles,
)
from pathveil.cli.printing import echo_notice, waiting
from pathveil.errors import DataFileError, InvalidParameterError

if TYPE_CHECKING:
    from pathveil.data.public import SavedSystem
    from pathveil.models.sequences import CodedWords, PrivateSequences, PrivateSequencesByGroup
    from pathveil.report.curator import Comparison
    from pathveil.report.page import Page
    from pathveil.report.released import Released
    from pathveil.systems.system import System, Word

report_app = typer.Typer(
    help="Pages to look at: plan a release, check it against the data, or show others what it promises.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

_SENSITIVE_NAMES = ("curator", "sensitive")
_SYNTHETIC = 10_000  # words of a model on a map


@dataclass(frozen=True)
class Report:
    """The page that is written, or the folder of its charts."""

    path: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The HTML file to write; with --format png or svg, a folder for the charts."
        ),
    ]
    format: Annotated[
        Literal["html", "png", "svg"], typer.Option(help="A page, or every chart as a picture in a folder.")
    ] = "html"
    overwrite: Overwrite = False
    quiet: Quiet = False

    def require_free(self) -> None:
        """An error, before any work is done, where it must not be written."""
        from pathveil.data.writing import refuse_existing

        is_page = self.path.suffix.lower() in (".html", ".htm")
        if self.format == "html":
            if not is_page:
                raise InvalidParameterError(f"--output {self.path}: a report is an .html file")
            refuse_existing(self.path.absolute(), self.overwrite)
        elif is_page:
            raise InvalidParameterError(
                f"--output {self.path}: with --format {self.format}, name a folder for the charts"
            )
        elif self.path.exists() and not self.path.is_dir():
            raise DataFileError(f"{self.path} is a file: with --format {self.format}, name a folder for the charts")

    def write(self, page: Page, *, secret: bool = False) -> None:
        from pathveil.report.files import write_charts, write_page

        if self.format == "html":
            write_page(page, self.path, self.overwrite, secret=secret)
        else:
            write_charts(page, self.path, self.format, self.overwrite, secret=secret)


@report_app.command()
@takes_bundles
def plan(
    *,
    length: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1_000_000,
            help="How many symbols a word has. With --distance edit it may be left out: a length in the middle.",
        ),
    ] = None,
    system: SystemFile,
    adjacency: Adjacency = 1,
    distance: Distance,
    epsilon: Annotated[float, typer.Option(help="The ε that the page recommends a mechanism for.")] = 2.0,
    sample: Annotated[
        str | None,
        typer.Option(
            help="A PUBLIC word to show private words for, its symbols with spaces between. Never a sensitive one."
        ),
    ] = None,
    words: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many words there are, for forecasts of a model of all of them. PUBLIC, or a guess that does not "
            "come from the data; otherwise three sizes are shown.",
        ),
    ] = None,
    places: Places,
    ledger: Annotated[
        Path | None, typer.Option(help="The budget: the page then lists its charges (amounts and times).")
    ] = None,
    report: Report,
) -> None:
    """A page of advice: how wrong a release would be for every ε. Made of public figures only, so safe to share.

    Examples:

    [bold]pathveil report plan --edges roads.csv --length 14 --adjacency 1 --output plan.html[/bold]

    [bold]pathveil report plan --edges roads.csv --distance edit --lengths 5:20 --cap 6 --output plan.html[/bold]

    With --coordinates the system is drawn as a map (a --system may know its own), and with --radius or --within the
    page tells how far private symbols will be from the true ones.
    """
    report.require_free()
    saved = system.read_saved()
    world = saved.system
    from pathveil.data.points import cells_of
    from pathveil.planning.distances import radius_curve
    from pathveil.planning.edit_grid import edit_grid
    from pathveil.planning.grid import word_grid
    from pathveil.report.maps import MapData, add_radius_chart, map_figure
    from pathveil.report.plan import plan_page
    from pathveil.systems.markov_chain import MarkovChain

    measured = places.measured(distance) if (places.radius, places.within) != (None, None) else None
    drawn = saved.map if places.coordinates is None else places.points()
    if measured is not None and not isinstance(world, MarkovChain):
        drawn = None  # only the states of a chain can be drawn
    word = None if sample is None else _word(sample, world)
    between, cap = distance.between, distance.cap
    with waiting("computing expected errors at every ε and b ...", silent=report.quiet):
        if between is not None:
            grid = edit_grid(world, between, cap, adjacency, length=length, epsilons=[epsilon], sample=word)
        elif length is not None:
            grid = word_grid(world, length, adjacency, epsilons=[epsilon], sample=word, measured=measured)
        else:
            raise InvalidParameterError("give --length, or --distance edit with --lengths")
        page = plan_page(grid, epsilon=epsilon, adjacency=adjacency, coordinates=drawn, words=words)
        if measured is not None and length is not None:
            curve = radius_curve(world, length, epsilon, adjacency, **measured.options)
            add_radius_chart(page, curve, epsilon)
        cells = cells_of(saved)
        if cells is not None:
            page.add("The cells of the map", map_figure(cells, MapData(cells.source, {})))
    _add_budget(page, ledger)
    report.write(page)
    if not report.quiet:
        typer.echo(f"{report.path}: a planning report. It was made from public quantities only and may be shared.")


@report_app.command()
@takes_bundles
def curator(
    *,
    input: Annotated[
        list[str], typer.Option("--input", help="The sensitive file, folder or pattern; may be repeated.")
    ],
    private: Annotated[Path | None, typer.Option(help="The private words, as pathveil privatize wrote them.")] = None,
    system: SystemFile,
    columns: Columns,
    max_length: Annotated[int | None, typer.Option(help="As it was given to privatize, if it was.")] = None,
    places: Places,
    model: Annotated[
        Path | None,
        typer.Option(help="A private model of the same words. A model of sequences gets a page of its own."),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(metavar="COLUMN=GROUP", help="For models of groups: a page about this group of the column."),
    ] = None,
    on_bad_row: OnBadRow = "fail",
    ledger: Annotated[Path | None, typer.Option(help="The budget of these data: the page lists every charge.")] = None,
    report: Report,
) -> None:
    """Sensitive words against private ones, for those who may read both. CONTAINS SENSITIVE DATA: never for release.

    The name of the output has to say so: it must contain "curator" or "sensitive". For a model of sequences the words
    that it makes are compared with the sensitive ones, and with those of the same model without privacy.

    Examples:

    [bold]pathveil report curator --input trips.parquet --column route --edges roads.csv --private private.parquet
    --output curator.html[/bold]

    [bold]pathveil report curator --input trips.parquet --column route --model model.json --output curator.html[/bold]
    """
    _require_telling_name(report.path)
    report.require_free()
    from pathveil.data.public import read_sequences

    sequences = None if model is None else read_sequences(model)
    if sequences is not None:
        odd = [option for option in system.given if option != "--system"]
        if private is not None or odd:
            raise InvalidParameterError(
                f"{'--private' if private is not None else odd[0]}: {model} is a model of sequences, which knows its "
                "states and needs no other file (a --system of places draws maps)"
            )
        saved = system.read_saved(sensitive=input) if system.given else None
        page = _sequence_page(sequences, input, columns, on_bad_row, report.quiet, group, saved)
        _add_budget(page, ledger, to_the_curator=True)
        report.write(page, secret=True)
        if not report.quiet:
            echo_notice(f"{report.path} CONTAINS SENSITIVE DATA: for the curator only")
        return
    if private is None:
        raise InvalidParameterError("give --private, the private words; only a --model of sequences needs none")
    saved = system.read_saved(sensitive=input)
    world = saved.system
    refuse_sensitive("--private", private, input)
    layout = columns.layout(input)
    from pathveil.data.formats import layout_of_output
    from pathveil.data.sources import named_format
    from pathveil.data.writing import manifest_path
    from pathveil.report.curator import compare, curator_page, read_all
    from pathveil.report.released import read_manifest, read_model_of, rebuilt_mechanism, require_same_system

    released = mechanism = None
    if manifest_path(private).exists():
        released = read_manifest(manifest_path(private))
        require_same_system(released, world)
        mechanism = rebuilt_mechanism(world, released.promise, max_length, places.measured(Distance()))
    accepted = mechanism is None or mechanism.on_infeasible == "nearest"
    lengths = None if mechanism is None else mechanism.accepted_lengths
    format = named_format(private)
    written = layout if format is None else layout_of_output(format, layout)  # as privatize has written them
    fitted, rows = (None, []) if model is None else read_model_of(world, model)
    with waiting("comparing ...", silent=report.quiet):
        found = compare(
            world,
            read_all(input, layout, world, on_bad_row=on_bad_row, accept_infeasible=accepted, lengths=lengths),
            read_all(str(private), written, world),
            released,
            mechanism,
            model=fitted,
            model_rows=rows,
        )
        page = curator_page(found)
        _add_map(page, found, saved)
    _add_budget(page, ledger, to_the_curator=True)
    report.write(page, secret=True)
    if not report.quiet:
        echo_notice(f"{report.path} CONTAINS SENSITIVE DATA: for the curator only")


def _add_budget(page: Page, ledger: Path | None, *, to_the_curator: bool = False) -> None:
    """Every charge of a ledger, where one is given."""
    if ledger is None:
        return
    from pathveil.ledger.ledger import Ledger
    from pathveil.report.budget import add_budget

    add_budget(page, Ledger.open(ledger), to_the_curator=to_the_curator)


def _add_map(page: Page, found: Comparison, saved: SavedSystem) -> None:
    """Maps before and after, where the symbols are cells."""
    from pathveil.data.points import cells_of
    from pathveil.privacy.units import MovedSymbols
    from pathveil.report.curator import add_map

    cells = cells_of(saved)
    if cells is None:
        return
    unit = None if found.released is None else found.released.promise.protects
    radius = unit.within if isinstance(unit, MovedSymbols) else None
    before, after = (
        [saved.system.decode(word.tolist()) for word in words] for words in (found.sensitive, found.private)
    )
    add_map(page, cells, before, after, "Private trips", radius)


def _sequence_page(
    model: PrivateSequences | PrivateSequencesByGroup,
    input: list[str],
    columns: Columns,
    on_bad_row: OnBadRow,
    quiet: bool,
    group: str | None,
    saved: SavedSystem | None,
) -> Page:
    from pathveil.data.reading import Beside, read_coded_words
    from pathveil.models.sequences import PrivateSequences
    from pathveil.report.curator import sequence_page

    beside, place = None, 0
    if not isinstance(model, PrivateSequences):
        names = {str(one): one for one in model.models}
        column, _, name = (group or "").partition("=")
        if name not in names:
            raise InvalidParameterError(
                f"the model has a part for each group: give --group COLUMN=GROUP, a group of {', '.join(names)}"
            )
        beside, place = Beside(group=column, groups=tuple(names)), list(names).index(name)
        model = model[names[name]]
    elif group is not None:
        raise InvalidParameterError("--group: the model has no groups. Leave it out.")
    with waiting("comparing ...", silent=quiet):
        layout, longest = columns.layout(input), model.asked.max_length
        found = read_coded_words(input, layout, model.states, max_length=longest, on_bad_row=on_bad_row, beside=beside)
        words = found.words if found.groups is None else found.words.select(found.groups == place)
        if not len(words):
            raise DataFileError("there is no word of this group to compare with")
        page = sequence_page(model, words)
        if saved is not None:
            _add_synthetic_map(page, model, words, saved)
        return page


def _add_synthetic_map(page: Page, model: PrivateSequences, words: CodedWords, saved: SavedSystem) -> None:
    """Maps of the original words and of as many of the model, where the symbols are cells."""
    from pathveil.data.points import cells_of
    from pathveil.report.curator import add_map

    cells = cells_of(saved)
    if cells is None:
        return
    each = [tuple(model.states[code] for code in words.values[a:b]) for a, b in pairwise(words.offsets)]
    sensitive = [word for word, count in zip(each, words.times, strict=True) for _ in range(count)]
    add_map(page, cells, sensitive, model.synthesize(len(sensitive)), "Synthetic trips of the private model")


@report_app.command()
@takes_bundles
def release(
    *,
    manifest: Annotated[Path, typer.Argument(metavar="MANIFEST", help="The .manifest.json beside a release.")],
    ledger: Annotated[
        Path | None, typer.Option(help="The budget that was charged: shows the charge and what is left.")
    ] = None,
    system: Annotated[
        Path | None, typer.Option(help="The public cells, as pathveil places wrote them: draws the release on a map.")
    ] = None,
    columns: Columns,
    report: Report,
) -> None:
    """What was released and what is promised, in words for lawyers and engineers. May go with the release.

    With the public cells (--system) there is a map of the released words, or of words that a released model makes.

    Examples:

    [bold]pathveil report release private.parquet.manifest.json --ledger budget.db --output release.html[/bold]

    [bold]pathveil report release private.parquet.manifest.json --system cells.json --column word
    --output release.html[/bold]
    """
    report.require_free()
    from pathveil.report.release_page import charged_for, digest_of, release_page
    from pathveil.report.released import read_manifest

    released = read_manifest(manifest)
    digest = digest_of(released.data_file)
    charged = None
    if ledger is not None:
        from pathveil.ledger.ledger import Ledger

        charged = charged_for(Ledger.open(ledger), released, digest)
    page = release_page(released, digest, charged)
    if system is not None:
        _add_map_of_release(page, released, system, columns)
    elif columns != Columns():
        raise InvalidParameterError("where words are in the released file matters for a map only: give --system, too")
    report.write(page)
    if not report.quiet:
        typer.echo(f"{report.path}: a release report. It holds what the manifest says, and may go with the release.")


def _add_map_of_release(page: Page, released: Released, system: Path, columns: Columns) -> None:
    """A map of what was released: of private words, or of words that a private model makes."""
    from pathveil.data.points import cells_of
    from pathveil.data.public import SavedSystem
    from pathveil.privacy.units import Edits, MovedSymbols
    from pathveil.report.curator import read_all
    from pathveil.report.maps import map_of_release
    from pathveil.report.released import require_same_system

    saved, file, unit = SavedSystem.read(system), released.data_file, released.promise.protects
    cells = cells_of(saved)
    if cells is None:
        raise InvalidParameterError(f"--system {system}: this system has no places. Give what pathveil places wrote.")
    if not file.is_file():
        raise DataFileError(f"{file}: the released file is not beside its manifest, so there is nothing to draw")
    radius = unit.within if isinstance(unit, MovedSymbols) else None
    words: Sequence[Word]
    if released.system is None and file.suffix.lower() == ".json":
        words, what = _made_by(file), "synthetic words of the private model"
    else:
        require_same_system(released, saved.system)
        lengths = (unit.shortest, unit.longest) if isinstance(unit, Edits) else None
        found = read_all(str(file), columns.layout([str(file)]), saved.system, lengths=lengths)
        words, what = [saved.system.decode(word.tolist()) for word in found], "private words"
    page.add("On the map", *map_of_release(cells, words, what, radius))


def _made_by(file: Path) -> Sequence[Word]:
    """Synthetic words of a released model."""
    from pathveil.data.public import read_sequences
    from pathveil.models.sequences import PrivateSequencesByGroup

    sequences = read_sequences(file)
    if sequences is None:
        raise DataFileError(f"{file}: a map is drawn of private words, or of a model of sequences (--order)")
    if isinstance(sequences, PrivateSequencesByGroup):
        return [word for words in sequences.synthesize().values() for word in words]
    return sequences.synthesize(_SYNTHETIC)


def _require_telling_name(output: Path) -> None:
    if not any(word in output.name.lower() for word in _SENSITIVE_NAMES):
        raise InvalidParameterError(
            f"--output {output}: this report contains sensitive data, and its name has to say so, or one day it lies "
            f"beside the releases. Call it curator-{output.name} or sensitive-{output.name}."
        )


def _word(text: str, world: System) -> Word:
    """A word from its symbols with spaces between; symbols are texts in files, but need not be in the system."""
    known = {str(name): name for name in world.symbols}
    return tuple(known.get(part, part) for part in text.split())
