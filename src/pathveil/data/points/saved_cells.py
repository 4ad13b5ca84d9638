"""Cells in the file of their public system: every command takes it as --system, and the geometry comes along."""

from __future__ import annotations

from pathlib import Path

from pathveil.data.public import SavedSystem
from pathveil.data.workspace import private_workspace
from pathveil.data.writing import publish, refuse_existing
from pathveil.errors import InvalidSystemError
from pathveil.places import Cells, Streets, cells_from_document
from pathveil.systems.markov_chain import MarkovChain

_PART = "places"
_LINES = "lines"
"""Where the segments of a road network lie, as `read_graphml` keeps them: [x, y, x, y] each, in their order."""


def saved_cells(cells: Cells) -> SavedSystem:
    """The system of cells with their centres (longitude, latitude), and what the cells are made of again."""
    latitudes, longitudes = cells.centres()
    centres = dict(zip(cells.symbols, zip(longitudes.tolist(), latitudes.tolist(), strict=True), strict=True))
    more = cells.document() if isinstance(cells, Streets) else {_PART: cells.document()}
    return SavedSystem(cells.system, cells.source, centres, more)


def cells_of(saved: SavedSystem) -> Cells | None:
    """The cells of a saved system; None where it has none."""
    if _LINES in saved.more:
        return _streets(saved)
    if _PART not in saved.more:
        return None
    cells = cells_from_document(saved.more[_PART])
    if cells.symbols != saved.system.symbols:
        raise InvalidSystemError(
            "the cells and the symbols of this file do not belong together: another version of the library of hexagons "
            "may have made it. Run `pathveil places` again."
        )
    return cells


def _streets(saved: SavedSystem) -> Streets:
    chain, lines, snapping = saved.system, saved.more[_LINES], saved.more.get("snapping", {})
    if (
        not isinstance(chain, MarkovChain)
        or not isinstance(lines, list)
        or len(lines) != len(chain.symbols)
        or not isinstance(snapping, dict)
        or not snapping.keys() <= {"radius", "reach"}
    ):
        raise InvalidSystemError("the lines of this network are not those of its segments. Read its GraphML again.")
    names = [str(symbol) for symbol in chain.symbols]
    placed = {name: ((y0, x0), (y1, x1)) for name, (x0, y0, x1, y1) in zip(names, lines, strict=True)}
    pairs = zip(*(ends.tolist() for ends in chain.matrix.nonzero()), strict=True)
    return Streets(placed, [(names[a], names[b]) for a, b in pairs], **snapping)


def save_cells(cells: Cells, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the file that `--system` and `read_cells` take."""
    target = Path(path).absolute()
    refuse_existing(target, overwrite)
    with private_workspace(target) as workspace:
        (workspace / "system").write_text(saved_cells(cells).to_json(), encoding="utf-8")
        publish(workspace / "system", target, overwrite)


def read_cells(path: str | Path) -> Cells:
    """The cells that `save_cells` or `pathveil places` has written."""
    try:
        cells = cells_of(SavedSystem.read(path))
    except InvalidSystemError as problem:
        raise type(problem)(f"{path}: {str(problem).removeprefix(f'{path}: ')}") from None
    if cells is None:
        raise InvalidSystemError(f"{path}: this system has no cells. `pathveil places` writes one that has.")
    return cells
