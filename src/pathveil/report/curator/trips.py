"""Where words are cells of a map: maps before and after, and what trips have in common. For the curator only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pathveil.markup import Html, tag
from pathveil.places import Cells, TripMetrics, trip_metrics
from pathveil.report.maps import MapData, maps_side_by_side
from pathveil.report.page import Page, listed

_COMPARED = 20_000  # trips of each side, evenly spaced: enough for figures with two digits

Trips = Sequence[Sequence[Any]]


def add_map(page: Page, cells: Cells, before: Trips, after: Trips, released: str, radius: float | None = None) -> None:
    """A section with both maps, and one with the figures. `released` says what the words after are."""
    before, after = _some(before), _some(after)
    maps = [MapData.of_words("Sensitive trips", before), MapData.of_words(released, after)]
    explained = (
        "Cells are coloured the more strongly the more symbols of the words lie in them, alike on both maps; lines "
        "show where most trips begin and end (the end has a dot), and are the thicker the more trips they stand for."
    )
    if radius is not None:
        explained += " The circle has the radius within which a symbol is protected."
    page.add("On the map, before and after", tag("p", explained), maps_side_by_side(cells, maps, radius))
    page.add("What trips have in common", *_figures(trip_metrics(before, after, cells)))


def _figures(found: TripMetrics) -> list[Html]:
    rows = [[what, figure, f"{better} is better"] for what, figure, better in found.rows()]
    return [
        tag(
            "p",
            "Divergences are Jensen–Shannon's in nats: 0 for the same distribution, 0.69 for nothing in common. These "
            "are the figures of papers on synthetic trips; how they are made is on the page about places.",
        ),
        listed("trip-metrics", "Released trips against sensitive ones", ["figure", "value", ""], rows),
    ]


def _some(trips: Trips) -> Trips:
    step = -(-len(trips) // _COMPARED)
    return trips[::step] if step > 1 else trips
