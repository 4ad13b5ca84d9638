"""Places as symbols: cells of a map, points to words of cells, words back to points, and what trips have in common.

Grid        square cells in metres
Hexagons    hexagons of H3
Zones       zones from GeoJSON
Streets     segments of a road network
TimedCells  cells with the time of day in the symbol
"""

from __future__ import annotations

from typing import Any

from pathveil.errors import InvalidSystemError
from pathveil.places.cells import Cells, Moves, Placing
from pathveil.places.frames import to_geopandas, to_movingpandas, to_scikit_mobility
from pathveil.places.grid import Grid
from pathveil.places.hexagons import Hexagons
from pathveil.places.metrics import TripMetrics, trip_metrics
from pathveil.places.streets import Streets
from pathveil.places.timed import TimedCells
from pathveil.places.trips import COLUMNS, MakesWords, PointCounts, Trips, WordBatch
from pathveil.places.zones import Zones

__all__ = [
    "COLUMNS",
    "Cells",
    "Grid",
    "Hexagons",
    "MakesWords",
    "Moves",
    "Placing",
    "PointCounts",
    "Streets",
    "TimedCells",
    "TripMetrics",
    "Trips",
    "WordBatch",
    "Zones",
    "cells_from_document",
    "to_geopandas",
    "to_movingpandas",
    "to_scikit_mobility",
    "trip_metrics",
]


def cells_from_document(document: Any) -> Cells:
    """The cells that `Cells.document` describes."""
    kind = document.get("kind") if isinstance(document, dict) else None
    try:
        rules = {name: document[name] for name in ("stay", "moves")} if kind in ("grid", "hexagons", "zones") else {}
        if kind == "grid":
            return Grid(document["bounds"], document["cell"], **rules)
        if kind == "hexagons":
            return Hexagons(document["bounds"], document["resolution"], **rules)
        if kind == "timed":
            return TimedCells(cells_from_document(document["cells"]), document["seconds"])
        if kind == "zones":
            return Zones(document["zones"], name="name", **rules)
    except KeyError as missing:
        raise InvalidSystemError(f"the description of the {kind} has no {missing}") from None
    raise InvalidSystemError(f"there are no cells of the kind {kind!r}; this release knows grid, hexagons and zones")
