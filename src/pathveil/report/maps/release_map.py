"""The map of a release: where released words lead, on public cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pathveil.markup import Html, tag
from pathveil.places import Cells
from pathveil.report.maps.drawing import MapData, map_figure

_DRAWN = 20_000  # words, evenly spaced: more are not seen on a map


def map_of_release(cells: Cells, words: Sequence[Sequence[Any]], what: str, radius: float | None = None) -> list[Html]:
    """The parts of a section. `words` are released ones, or made by a released model: `what` says which."""
    some = words[:: -(-len(words) // _DRAWN) or 1]
    explained = (
        f"Drawn from the release and from public cells alone. Cells are coloured the more strongly the more symbols of "
        f"{what} lie in them; lines show where most words begin and end (the end has a dot), and are the thicker the "
        "more words they stand for."
    )
    if radius is not None:
        explained += " The circle has the radius within which a symbol is protected."
    return [tag("p", explained), map_figure(cells, MapData.of_words(what[0].upper() + what[1:], some), radius)]
