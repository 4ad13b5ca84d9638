"""The same maps for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.places import Cells
from pathveil.report.axes import COLOURS
from pathveil.report.maps.drawing import MapData

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_map(
    cells: Cells,
    words: Iterable[Sequence[str]] | Mapping[str, float],
    *,
    title: str = "",
    flows: bool = True,
    radius: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Cells on the plane, in metres: darker where words of cells pass more often; a mapping gives amounts instead.

    With `flows`, lines show where most words begin and end, with a dot at the end. A `radius` in metres is drawn to
    scale.
    Words that are sensitive make a sensitive picture.
    """
    data = MapData(title, dict(words)) if isinstance(words, Mapping) else MapData.of_words(title, words)
    if unknown := data.amounts.keys() - set(cells.symbols):
        raise InvalidParameterError(f"{min(map(str, unknown))!r} is not one of the cells of the map")
    from matplotlib.collections import LineCollection, PolyCollection

    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(7.0, 6.5), layout="constrained")
    outlines, shades = [], []
    top = max(data.amounts.values(), default=0.0) or 1.0
    for symbol in cells.symbols:
        for ring in cells.outline(symbol):
            outlines.append(np.column_stack(cells.projection.to_metres(*np.array(ring).T)))
            shades.append(np.sqrt(max(data.amounts.get(symbol, 0.0), 0.0) / top))
    streets = max(map(len, outlines)) == 2
    edge = 2.0 if streets else 0.4 if len(outlines) < 3000 else 0.0
    colour = "face" if streets else "0.8"
    shown = PolyCollection(outlines, array=np.array(shades), cmap="Blues", edgecolors=colour, linewidths=edge)
    shown.set_clim(-0.2 if streets else 0, 1)
    ax.add_collection(shown)
    place = cells.coordinates
    if flows and data.flows:
        lines = [(place[flow.origin], place[flow.destination]) for flow in data.flows]
        widths = [0.5 + 5 * flow.amount / data.flows[0].amount for flow in data.flows]
        ax.add_collection(LineCollection(lines, colors=COLOURS[1], linewidths=widths, alpha=0.7))
        ax.plot(*np.array([end for _, end in lines]).T, ".", color=COLOURS[1], ms=5)
    if radius is not None:
        from matplotlib.patches import Circle

        middle = np.concatenate(outlines)
        x, y = (float(value) for value in (middle.min(axis=0) + middle.max(axis=0)) / 2)
        ax.add_patch(Circle((x, y), radius, fill=False, color="black"))
        ax.annotate(f"r = {radius:g} m", (x, y + radius), ha="center", va="bottom")
    ax.autoscale_view()
    ax.set_aspect("equal")
    ax.set(xlabel="metres to the east", ylabel="metres to the north", title=title)
    return ax
