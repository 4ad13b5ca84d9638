"""What `pathveil places` is told: where the points are, and which cells."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli.options import WHAT_IS_PUBLIC
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.places import Cells

_WHERE_POINTS_ARE = "Where the points are in your file"
_WHY_DECLARED = (
    "Bounds are declared, never taken from the points: the outermost point of a file is where one person was."
)


@dataclass(frozen=True)
class Points:
    """The columns of points, and when a trip ends."""

    latitude: Annotated[
        str | None, typer.Option(help="The column of latitudes, in degrees.", rich_help_panel=_WHERE_POINTS_ARE)
    ] = None
    longitude: Annotated[
        str | None, typer.Option(help="The column of longitudes, in degrees.", rich_help_panel=_WHERE_POINTS_ARE)
    ] = None
    user: Annotated[
        str | None, typer.Option(help="The column that says whose point it is.", rich_help_panel=_WHERE_POINTS_ARE)
    ] = None
    time: Annotated[
        str | None,
        typer.Option(
            help="The column of times: ISO 8601 (UTC if they name no zone), or seconds since 1970.",
            rich_help_panel=_WHERE_POINTS_ARE,
        ),
    ] = None
    gap: Annotated[
        str,
        typer.Option(
            help="A trip ends where nothing is known for so long: 90s, 30min, 2h, 1d.",
            rich_help_panel=_WHERE_POINTS_ARE,
        ),
    ] = "30min"
    snap: Annotated[
        float | None,
        typer.Option(
            metavar="METRES",
            help="Streets (a --system from `pathveil system graphml`): how far from its street a point may lie; 50 m "
            "if not given.",
            rich_help_panel=_WHERE_POINTS_ARE,
        ),
    ] = None

    def snapped(self, cells: Cells) -> Cells:
        """The cells, with the radius for points that was asked for."""
        from pathveil.places import Streets

        if self.snap is None:
            return cells
        if not isinstance(cells, Streets):
            raise InvalidParameterError("--snap belongs to streets, a --system from `pathveil system graphml`")
        return cells.snapping(self.snap)


@dataclass(frozen=True)
class Map:
    """Which cells; one kind has to be given."""

    grid: Annotated[
        float | None,
        typer.Option(
            metavar="METRES", help="Square cells with sides of so many metres.", rich_help_panel=WHAT_IS_PUBLIC
        ),
    ] = None
    hexagons: Annotated[
        int | None,
        typer.Option(
            metavar="RES",
            help="Hexagons of H3 of this resolution, 0 to 15. Needs pip install 'pathveil\\[places]'.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None
    zones: Annotated[
        Path | None,
        typer.Option(
            metavar="GEOJSON",
            help="Zones from a file of GeoJSON. Needs pip install 'pathveil\\[places]'.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None
    zone_name: Annotated[
        str | None,
        typer.Option(help="The property that names a zone; a usual one if not given.", rich_help_panel=WHAT_IS_PUBLIC),
    ] = None
    bounds: Annotated[
        str | None,
        typer.Option(
            metavar="S,W,N,E",
            help="South, west, north and east of the map in degrees, for --grid and --hexagons.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None
    stay: Annotated[
        bool,
        typer.Option(
            "--stay",
            help="A cell may follow itself, and stays as often as it has points; otherwise repeated cells are merged.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = False

    any_moves: Annotated[
        bool,
        typer.Option(
            "--any-moves",
            help="Any cell may follow any other, as in tables of origins and destinations; nothing is filled in.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = False

    times: Annotated[
        str | None,
        typer.Option(
            help="Bins of the day as part of the symbol, such as 6h; --gap may not be longer.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None

    @property
    def given(self) -> bool:
        return self != Map()

    def cells(self) -> Cells:
        """The cells that were asked for."""
        from pathveil.places import TimedCells

        return self._untimed() if self.times is None else TimedCells(self._untimed(), self.times)

    def _untimed(self) -> Cells:
        from pathveil import places

        named = {"--grid": self.grid, "--hexagons": self.hexagons, "--zones": self.zones}
        kinds = [option for option, value in named.items() if value is not None]
        if len(kinds) != 1:
            raise InvalidParameterError(
                f"give one kind of cells, not {' and '.join(kinds)}"
                if kinds
                else "which cells? Give --grid METRES, --hexagons RES or --zones GEOJSON, or a --system that has cells"
            )
        moves: places.Moves = "any" if self.any_moves else "neighbours"
        if self.zones is not None:
            if self.bounds is not None:
                raise InvalidParameterError("--bounds do not go with --zones, which say themselves where they are")
            return places.Zones(self.zones, name=self.zone_name, stay=self.stay, moves=moves)
        if self.zone_name is not None:
            raise InvalidParameterError("--zone-name belongs to --zones")
        if self.bounds is None:
            raise InvalidParameterError(f"{kinds[0]} needs --bounds SOUTH,WEST,NORTH,EAST in degrees. {_WHY_DECLARED}")
        bounds = self.bounds.split(",")
        if self.hexagons is not None:
            return places.Hexagons(bounds, self.hexagons, stay=self.stay, moves=moves)
        return places.Grid(bounds, self.grid or 0.0, stay=self.stay, moves=moves)
