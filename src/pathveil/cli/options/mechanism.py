"""What draws private words: the names of the mechanisms, and what separates the words that they protect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.places import Cells
    from pathveil.planning.distances import Measured
    from pathveil.systems.system import System
    from pathveil.words.edit import EditMechanism

_DEGREES = 180.0
_DIGITS = 30  # Python refuses to read numbers of thousands of digits, and no word is that long

MechanismName = Literal["certified", "permute-and-flip", "exponential", "online"]  # known without loading them
OnInfeasible = Literal["refuse", "nearest"]
HOW_PRIVATE = "How private"
Epsilon = Annotated[
    float,
    typer.Option(
        help="ε: how much may be given away about a word. Smaller is more private, and errs more; pathveil plan helps "
        "to choose.",
        rich_help_panel=HOW_PRIVATE,
    ),
]
Adjacency = Annotated[
    int,
    typer.Option(
        help="How many symbols of a word are protected together: ε bounds what can be told about so many at once.",
        rich_help_panel=HOW_PRIVATE,
    ),
]


@dataclass(frozen=True)
class Distance:
    """Substitutions, or edits: `--distance edit --lengths 5:20 --cap 6`."""

    distance: Annotated[
        Literal["hamming", "edit"],
        typer.Option(
            help="What is hidden about the protected symbols: which ones they are (hamming; lengths are public), or "
            "also whether they are there at all (edit; the length is hidden, too).",
            rich_help_panel=HOW_PRIVATE,
        ),
    ] = "hamming"
    lengths: Annotated[
        str | None,
        typer.Option(
            metavar="LO:HI",
            help="With --distance edit: the shortest and the longest word, for example 5:20. They are public.",
            rich_help_panel=HOW_PRIVATE,
        ),
    ] = None
    cap: Annotated[
        int | None,
        typer.Option(
            help="With --distance edit: words that are so many edits away, or more, count as equally far. Less memory.",
            rich_help_panel=HOW_PRIVATE,
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.distance != "edit":
            if self.lengths is not None or self.cap is not None:
                raise InvalidParameterError("--lengths and --cap belong to --distance edit")
            return
        lo, colon, hi = self._lengths_parts()
        if not (colon and lo.isdecimal() and hi.isdecimal() and len(lo) + len(hi) < _DIGITS):
            shown = "is missing" if self.lengths is None else f"is not {self.lengths!r}"
            raise InvalidParameterError(
                f"--lengths {shown}: with --distance edit give the shortest and the longest word, for example "
                "--lengths 5:20. They are public, so they must not be read off the data."
            )

    @property
    def between(self) -> tuple[int, int] | None:
        """The shortest and the longest word for edit distance, None otherwise."""
        if self.distance != "edit":
            return None
        lo, _, hi = self._lengths_parts()
        return int(lo), int(hi)

    def warn(self, world: System, words: int) -> None:
        """Say so, before the work begins, if edit distance makes so many different words take long."""
        from pathveil.cli.printing import echo_notice, with_options
        from pathveil.planning.effort import edit_warning

        if self.between is not None:
            warning = edit_warning(world, self.between, self.cap, words)
            if warning is not None:
                echo_notice(with_options(warning))

    def _lengths_parts(self) -> list[str]:
        return [part.strip() for part in (self.lengths or "").partition(":")]

    def edit_mechanism(
        self, name: MechanismName, world: System, epsilon: float, adjacency: int, on_infeasible: OnInfeasible
    ) -> EditMechanism:
        """The mechanism of this name for edit distance."""
        from pathveil.words.by_name import EDIT_MECHANISMS

        if name not in EDIT_MECHANISMS:
            raise InvalidParameterError(
                f"--mechanism {name} keeps the length of a word: it does not know --distance edit"
            )
        if self.between is None:
            raise AssertionError("asked for only with --distance edit")
        return EDIT_MECHANISMS[name](world, epsilon, adjacency, self.between, self.cap, on_infeasible=on_infeasible)


@dataclass(frozen=True)
class Places:
    """Distances between symbols: `--coordinates cells.csv:cell,x,y --radius 800 --within 500`."""

    coordinates: Annotated[
        str | None,
        typer.Option(
            metavar="FILE[:SYMBOL,X,Y]",
            help="Where each symbol lies, in metres: a CSV with the columns symbol,x,y, or a saved system (.json) that "
            "knows. A near symbol is then a smaller error than a far one. Public.",
            rich_help_panel=HOW_PRIVATE,
        ),
    ] = None
    radius: Annotated[
        float | None,
        typer.Option(
            help="With --coordinates: from this distance on all symbols are equally far; 0: all of them. Without it "
            "pathveil privatize takes the best by a forecast, which pathveil plan shows, and others cut nothing off.",
            rich_help_panel=HOW_PRIVATE,
        ),
    ] = None
    within: Annotated[
        float | None,
        typer.Option(
            help="With --coordinates: protect a symbol among those that are at most so far away, not among all. Far "
            "fewer errors, and a smaller promise.",
            rich_help_panel=HOW_PRIVATE,
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.coordinates is None and (self.radius is not None or self.within is not None):
            raise InvalidParameterError("--radius and --within need --coordinates: where the symbols lie")

    def measured(self, distance: Distance) -> Measured | None:
        """The distances that were asked for; None without."""
        if self.coordinates is None:
            return None
        if distance.between is not None:
            raise InvalidParameterError("--coordinates does not go with --distance edit")
        from pathveil.planning.distances import Measured
        from pathveil.systems.symbol_distance import SymbolDistance

        cells = self._cells()
        if cells is not None:  # it knows them in metres, too
            return Measured(cells.distance_within(self.radius), self.within)
        points = self.points()
        degrees = all(abs(value) <= _DEGREES for point in points.values() for value in point)
        if degrees and max(self.radius or 0.0, self.within or 0.0) > 2 * _DEGREES:
            raise InvalidParameterError(
                f"--coordinates {self.coordinates}: these look like degrees, but --radius and --within like metres. "
                "Give coordinates in metres."
            )
        return Measured(SymbolDistance.from_coordinates(points, radius=self.radius), self.within)

    def _cells(self) -> Cells | None:
        """The cells of a map, where the file of coordinates is one of them."""
        from pathveil.data.points import cells_of
        from pathveil.data.public import SavedSystem, split_columns

        path, _ = split_columns(self.coordinates or "", 3)
        return cells_of(SavedSystem.read(path)) if path.suffix == ".json" else None

    def points(self) -> dict[Any, tuple[float, float]]:
        """Where the symbols lie."""
        from pathveil.data.public import SavedSystem, read_coordinates, split_columns

        path, columns = split_columns(self.coordinates or "", 3)
        if path.suffix != ".json":
            return dict(read_coordinates(path, columns or ("symbol", "x", "y")))
        known = SavedSystem.read(path).coordinates
        if not known:
            raise InvalidParameterError(f"--coordinates {path}: this system does not know where its symbols lie")
        return dict(known)
