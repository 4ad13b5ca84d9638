"""`pathveil system …`: read a public system from where it lies, and save it as the file that --system takes.

Nothing sensitive is read. Each command prints what a person can check: how large the system is, and where words would
get stuck in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pathveil.cli.options import Ends, Overwrite, Printing, SystemFile, takes_bundles
from pathveil.cli.system.summary import print_summary
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.data.public import SavedSystem

system_app = typer.Typer(
    help="Save what is public (a street map, a timetable, a process model, a grid) as one file for --system.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@dataclass(frozen=True)
class Saving:
    """The file to write, and what is printed about it."""

    path: Annotated[Path, typer.Option("--output", "-o", help="The file to write, for --system of other commands.")]
    printing: Printing
    overwrite: Overwrite = False

    def require_free(self, *read: Path | str) -> None:
        """An error, before any work is done, if the output is there already or is a file that is read."""
        from pathveil.data.writing import refuse_existing
        from pathveil.release import refuse_inputs

        refuse_existing(self.path.absolute(), self.overwrite)
        refuse_inputs([self.path.absolute()], public=[Path(path) for path in read])

    def save(self, saved: SavedSystem, ends: Ends | None = None) -> None:
        """Write the system, with these beginnings and ends of words, and print what can be checked."""
        from pathveil.data.workspace import private_workspace
        from pathveil.data.writing import publish
        from pathveil.systems.markov_chain import MarkovChain

        if ends is not None and isinstance(saved.system, MarkovChain):
            saved = replace(saved, system=ends.applied(saved.system))
        target = self.path.absolute()
        with private_workspace(target) as workspace:
            (workspace / "system").write_text(saved.to_json(), encoding="utf-8")
            publish(workspace / "system", target, self.overwrite)
        if not self.printing.quiet:
            print_summary(saved, str(self.path), as_json=self.printing.as_json)


Model = Annotated[Path, typer.Argument(help="The model. Read with pm4py: pip install 'pathveil\\[processes]'.")]


@system_app.command()
@takes_bundles
def bpmn(*, file: Model, saving: Saving) -> None:
    """A BPMN model: tasks are the symbols, and words the orders in which the process can do them.

    Branches that run in parallel may be written in any order. Events and gateways write nothing. Inclusive gateways,
    sub-processes and boundary events are refused, with the way to redraw them.

    Example: [bold]pathveil system bpmn orders.bpmn --output orders.json[/bold]
    """
    saving.require_free(file)
    from pathveil.data.public import read_bpmn

    saving.save(read_bpmn(file))


@system_app.command()
@takes_bundles
def pnml(*, file: Model, saving: Saving) -> None:
    """A Petri net in PNML: labels of transitions are the symbols, and words lead from the initial to the final marking.

    Transitions that ProM and pm4py mark as invisible write nothing. The net must be bounded.

    Example: [bold]pathveil system pnml orders.pnml --output orders.json[/bold]
    """
    saving.require_free(file)
    from pathveil.data.public import read_pnml

    saving.save(read_pnml(file))


@system_app.command()
@takes_bundles
def gtfs(
    *,
    feed: Annotated[Path, typer.Argument(help="The feed: a folder or a zip archive.")],
    symbols: Annotated[
        Literal["stops", "stations", "names", "routes"],
        typer.Option(
            help="What words are made of: stops, stations (parent_station), names of stops, or routes. A route follows "
            "another if both call at one stop."
        ),
    ] = "stops",
    transfers: Annotated[
        bool, typer.Option("--transfers", help="A stop may also be followed by those that transfers.txt lists.")
    ] = False,
    walk: Annotated[
        float | None,
        typer.Option(metavar="METRES", help="A stop may also be followed by those so near, as the crow flies."),
    ] = None,
    ends: Ends,
    saving: Saving,
) -> None:
    """A timetable in GTFS: a stop may be followed by the next stop of some trip.

    Example: [bold]pathveil system gtfs city.zip --walk 300 --output stops.json[/bold]
    """
    saving.require_free(feed, *ends.files.values())
    from pathveil.data.public import read_gtfs

    saving.save(read_gtfs(feed, symbols, transfers=transfers, walk=walk), ends)


@system_app.command()
@takes_bundles
def graphml(
    *,
    file: Annotated[Path, typer.Argument(help="The street network, as ox.save_graphml of osmnx writes it.")],
    symbols: Annotated[
        Literal["segments", "junctions"],
        typer.Option(help="What words are made of: streets from one junction to the next (u->v), or junctions."),
    ] = "segments",
    u_turns: Annotated[
        Literal["never", "dead-ends", "always"],
        typer.Option(help="Segments: where one may turn round."),
    ] = "dead-ends",
    need_coordinates: Annotated[
        bool, typer.Option("--need-coordinates", help="Refuse a network in which a junction has no coordinates.")
    ] = False,
    ends: Ends,
    saving: Saving,
) -> None:
    """A street network in GraphML, from osmnx: a street may be followed by those that leave its end.

    Example: [bold]pathveil system graphml town.graphml --u-turns never --output streets.json[/bold]
    """
    saving.require_free(file, *ends.files.values())
    from pathveil.data.public import read_graphml

    saving.save(read_graphml(file, symbols, u_turns=u_turns, need_coordinates=need_coordinates), ends)


@system_app.command()
@takes_bundles
def grid(
    *,
    size: Annotated[str, typer.Argument(metavar="ROWSxCOLUMNS", help="How many cells, for example 20x30.")],
    neighbours: Annotated[
        Literal["4", "8"], typer.Option(help="A cell is followed by the 4 cells beside it, or by 8, with the corners.")
    ] = "4",
    stay: Annotated[bool, typer.Option("--stay", help="A cell may follow itself.")] = False,
    ends: Ends,
    saving: Saving,
) -> None:
    """A grid: cells r01c01, r01c02, … of which neighbours may follow each other.

    Example: [bold]pathveil system grid 20x30 --neighbours 8 --stay --output cells.json[/bold]
    """
    saving.require_free(*ends.files.values())
    found = re.fullmatch(r"(\d{1,7})x(\d{1,7})", size)
    if found is None:
        raise InvalidParameterError(f"the size of a grid is ROWSxCOLUMNS, for example 20x30, not {size!r}")
    from pathveil.data.public import grid_system

    saving.save(grid_system(int(found[1]), int(found[2]), int(neighbours), stay=stay), ends)


@system_app.command()
@takes_bundles
def convert(*, system: SystemFile, saving: Saving) -> None:
    """Any file that commands take (edges, an alphabet, a chain, an automaton) as a file for --system.

    Examples:

    [bold]pathveil system convert --edges roads.csv:source,target --first A,B --output roads.json[/bold]

    [bold]pathveil system convert --alphabet stops.txt:stop_id --output stops.json[/bold]
    """
    saving.require_free(*system.files)
    saved = system.read_saved()
    [(option, path)] = system.given.items()
    saving.save(saved if saved.source else replace(saved, source=f"{option.strip('-')} in {path.name}"))


@system_app.command()
@takes_bundles
def show(
    *,
    file: Annotated[Path, typer.Argument(help="A file that `pathveil system` wrote.")],
    printing: Printing,
) -> None:
    """What a person can check about a saved system.

    Example: [bold]pathveil system show streets.json[/bold]
    """
    from pathveil.data.public import SavedSystem

    saved = SavedSystem.read(file)
    if not printing.quiet:
        print_summary(saved, str(file), as_json=printing.as_json)
