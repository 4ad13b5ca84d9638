"""Cells as SVG: coloured more strongly where there is more, flows as lines, a radius and a bar to scale.

A map is markup and nothing else: no script draws it, so it is there on paper, too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.markup import Html, joined, name_of, tag
from pathveil.numerics.arrays import FloatArray
from pathveil.places import Cells

_WIDTH = 480.0  # units of the drawing
_FOOT = 34.0  # below the map: the bar with its length
_MOST_OUTLINES = 3000  # with more cells, only those that hold something are drawn
_FLOWS = 40
_THICKEST = 9.0
_FAINTEST = 0.06  # something is told from nothing


@dataclass(frozen=True)
class Flow:
    """How much goes from one cell to another."""

    origin: str
    destination: str
    amount: float


@dataclass(frozen=True)
class MapData:
    """What is drawn: an amount for each cell, and the strongest flows."""

    title: str
    amounts: Mapping[str, float]
    flows: Sequence[Flow] = ()

    @classmethod
    def of_words(cls, title: str, words: Iterable[Sequence[Any]]) -> MapData:
        """The share of each cell among all symbols, and where most trips begin and end, as shares of all trips."""
        listed = [tuple(word) for word in words]
        visits = Counter(symbol for word in listed for symbol in word)
        total = max(sum(visits.values()), 1)
        return cls(title, {cell: count / total for cell, count in visits.items()}, flows_of(listed))


def flows_of(words: Sequence[Sequence[Any]], most: int = _FLOWS) -> list[Flow]:
    """The pairs of different cells that most words begin and end with, as shares of all words."""
    pairs = Counter((word[0], word[-1]) for word in words if word[0] != word[-1])
    strongest = sorted(pairs.items(), key=lambda one: (-one[1], one[0]))[:most]
    return [Flow(origin, destination, count / len(words)) for (origin, destination), count in strongest]


@dataclass
class _Sheet:
    """Where metres of the map lie on the drawing."""

    cells: Cells
    rings: dict[str, list[FloatArray]] = field(init=False)

    def __post_init__(self) -> None:
        self.rings = {
            symbol: [self._metres(ring) for ring in self.cells.outline(symbol)] for symbol in self.cells.symbols
        }
        corners = np.concatenate([ring for rings in self.rings.values() for ring in rings])
        self._low, high = corners.min(axis=0), corners.max(axis=0)
        self.scale = _WIDTH / float(high[0] - self._low[0])
        self.height = float(high[1] - self._low[1]) * self.scale

    def _metres(self, ring: Sequence[tuple[float, float]]) -> FloatArray:
        latitudes, longitudes = np.array(ring).T
        return np.column_stack(self.cells.projection.to_metres(latitudes, longitudes))

    def on_paper(self, places: FloatArray) -> FloatArray:
        """x to the right and y downwards."""
        moved = (places - self._low) * self.scale
        flat: FloatArray = np.column_stack([moved[:, 0], self.height - moved[:, 1]])
        return flat


def maps_side_by_side(cells: Cells, maps: Sequence[MapData], radius: float | None = None) -> Html:
    """Maps of the same cells with one scale of shades and of lines, so that they can be compared."""
    for one in maps:
        strangers = (one.amounts.keys() | {end for flow in one.flows for end in (flow.origin, flow.destination)}) - set(
            cells.symbols
        )
        if strangers:
            raise InvalidParameterError(f"{min(map(str, strangers))!r} is not one of the cells of the map")
    sheet = _Sheet(cells)
    top = max((amount for one in maps for amount in one.amounts.values()), default=0.0)
    thickest = max((flow.amount for one in maps for flow in one.flows), default=0.0)
    return tag("div", *(_figure(sheet, one, top, thickest, radius) for one in maps), class_="maps")


def map_figure(cells: Cells, data: MapData, radius: float | None = None) -> Html:
    """One map."""
    return maps_side_by_side(cells, [data], radius)


def _figure(sheet: _Sheet, data: MapData, top: float, thickest: float, radius: float | None) -> Html:
    height = sheet.height + _FOOT
    drawing = tag(
        "svg",
        tag("title", f"{data.title}: {len(sheet.cells.symbols)} cells, coloured more strongly where there is more"),
        _cells(sheet, data, top),
        _lines(sheet, data, thickest),
        None if radius is None else _circle(sheet, radius),
        _bar(sheet),
        viewBox=f"0 0 {_WIDTH:g} {height:.1f}",
        role="img",
        xmlns="http://www.w3.org/2000/svg",
    )
    return tag("figure", tag("figcaption", data.title), tag("div", drawing, class_="canvas"))


def _cells(sheet: _Sheet, data: MapData, top: float) -> Html:
    drawn = []
    few = len(sheet.rings) <= _MOST_OUTLINES
    for symbol, rings in sheet.rings.items():
        amount = data.amounts.get(symbol, 0.0)
        if amount <= 0 and not few:
            continue
        shade = 0.0 if amount <= 0 else max(_FAINTEST, math.sqrt(amount / top))
        path = "".join(_path(sheet.on_paper(ring)) for ring in rings)
        what = f"{name_of(symbol)}: {amount:.3g}"
        if all(len(ring) == 2 for ring in rings):  # a street
            drawn.append(tag("path", d=path, class_="edge"))
            drawn.append(tag("path", tag("title", what), d=path, class_="street", stroke_opacity=f"{shade:.3f}"))
            continue
        drawn.append(tag("path", tag("title", what), d=path, class_="place", fill_opacity=f"{shade:.3f}"))
    return tag("g", joined(drawn))


def _path(ring: FloatArray) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in ring.tolist()) + "Z"


def _lines(sheet: _Sheet, data: MapData, thickest: float) -> Html:
    place = dict(zip(sheet.cells.symbols, sheet.on_paper(sheet.cells.places_in_metres).tolist(), strict=True))
    drawn = []
    for flow in data.flows:
        (x0, y0), (x1, y1) = place[flow.origin], place[flow.destination]
        # Bent to the right of its direction, so that there and back can be told apart.
        bend = (x0 + x1) / 2 - (y1 - y0) / 8, (y0 + y1) / 2 + (x1 - x0) / 8
        what = f"{name_of(flow.origin)} → {name_of(flow.destination)}: {flow.amount:.3g}"
        drawn.append(
            tag(
                "path",
                tag("title", what),
                d=f"M{x0:.1f} {y0:.1f}Q{bend[0]:.1f} {bend[1]:.1f} {x1:.1f} {y1:.1f}",
                class_="flow",
                stroke_width=f"{max(0.8, _THICKEST * flow.amount / thickest):.2f}",
            )
        )
        drawn.append(tag("circle", cx=f"{x1:.1f}", cy=f"{y1:.1f}", r="2.4", class_="goal"))
    return tag("g", joined(drawn))


def _circle(sheet: _Sheet, radius: float) -> Html:
    """What lies within the radius of the middle of the map."""
    size = radius * sheet.scale
    x, y = _WIDTH / 2, sheet.height / 2
    label = tag(
        "text", f"r = {_metres(radius)}", x=f"{x:.1f}", y=f"{y - size - 5:.1f}", text_anchor="middle", class_="halo"
    )
    return tag("g", tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{size:.2f}", class_="radius"), label)


def _bar(sheet: _Sheet) -> Html:
    """A bar of a round length, about a quarter of the width."""
    wanted = _WIDTH / sheet.scale / 4
    power = 10 ** math.floor(math.log10(wanted))
    length = max(factor * power for factor in (1, 2, 5) if factor * power <= wanted)
    size, y = length * sheet.scale, sheet.height + 12
    ends = f"M1 {y - 4:.1f}V{y + 4:.1f}M1 {y:.1f}H{1 + size:.1f}M{1 + size:.1f} {y - 4:.1f}V{y + 4:.1f}"
    label = tag("text", _metres(length), x=f"{size + 8:.1f}", y=f"{y + 5:.1f}", font_size="15")
    return tag("g", tag("path", d=ends, class_="axis"), label)


def _metres(length: float) -> str:
    return f"{length / 1000:g} km" if length >= 1000 else f"{length:g} m"
