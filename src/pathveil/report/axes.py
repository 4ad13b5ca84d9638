"""Charts drawn with matplotlib, for notebooks and for picture files: the same charts as on the pages.

Colours are those of the pages (they can be told apart by people who see few colours); lines also differ in their
dashes, widths and markers, bars in their hatches.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pathveil.report.charts import Bars, Chart, Heat, Lines, Network, coinciding_merged
from pathveil.report.drawing import Box, placed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0067a8", "#c24d00", "#00785a", "#a8417e", "#4a5866")
_DASHES = ("-", "--", ":", "-.", (0, (1, 3)))
_HATCHES = ("", "//", "..", "xx", "")
_MARKERS = ("o", "s", "^", "D", ".")
_SMALL = 60  # a network or a matrix of up to so many states has its names written
_WITH_ARROWS = 150
_LETTERS = 24  # of a name
_POINT = 1 / 72  # inches


def draw(chart: Chart, ax: Axes | None = None) -> Axes:
    """Draw a chart into `ax`, or into a new figure of a fitting size; returns the axes."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=chart_size(chart), layout="constrained")
    if isinstance(chart, Lines):
        _draw_lines(chart, ax)
    elif isinstance(chart, Bars):
        _draw_flat_bars(chart, ax) if chart.flat else _draw_bars(chart, ax)
    elif isinstance(chart, Heat):
        _draw_heat(chart, ax)
    else:
        _draw_network(chart, ax)
    if chart.title:
        ax.set_title(plain(fill(chart.title, 75)), fontsize=11, loc="left")
    return ax


def chart_size(chart: Chart) -> tuple[float, float]:
    """Width and height in inches that suit a chart."""
    if isinstance(chart, Bars) and chart.flat:
        lines = sum(max(1, -(-len(label) // 30)) for label in chart.labels)
        return 7.0, 1.0 + lines * 0.12 + len(chart.labels) * 0.13 * len(chart.series)
    if isinstance(chart, Heat):
        side = 2.2 + 0.2 * min(len(chart.names), _SMALL)
        return max(6.0, side + 1.2), max(5.0, side)
    if isinstance(chart, Network):
        side = 6.5 + 0.06 * min(len(chart.names), _SMALL)
        return side + 0.5, side
    return 7.0, 4.2


def plain(text: str) -> str:
    """Text as it is: a dollar sign begins a formula in matplotlib."""
    return text.replace("$", r"\$")


def cut(name: str) -> str:
    """A name that is not too long for a label."""
    return plain(name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…")


def _draw_lines(chart: Lines, ax: Axes) -> None:
    series = coinciding_merged(chart.series)
    for k, one in enumerate(series):
        values = [np.nan if value is None else value for value in one.values]
        few = len(values) <= 24
        ax.plot(
            chart.x,
            values,
            color=COLOURS[one.style],
            linestyle=cast(Any, _DASHES[one.style]),
            # An earlier curve is wider and markers take turns, so that both of two close curves are seen.
            linewidth=max(1.4, 3.2 - 0.6 * k),
            marker=_MARKERS[one.style] if few else "",
            markevery=(k % len(values), len(series)),
            label=plain(one.name),
        )
    for mark, _ in chart.marks:
        ax.axvline(mark, color="black", linestyle=":", linewidth=1)
    ax.set(xlabel=chart.xlabel, ylabel=chart.ylabel, xscale=chart.xscale, yscale=chart.yscale)
    if chart.xscale == "log":
        # Plain numbers, not powers of ten.
        ticks = [tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if chart.x[0] <= tick <= chart.x[-1]]
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)


def _draw_bars(chart: Bars, ax: Axes) -> None:
    places = np.arange(len(chart.labels))
    wide = 0.84 / len(chart.series)
    for k, one in enumerate(chart.series):
        heights = np.array([value or 0.0 for value in one.values] or [0.0] * len(places))
        ax.bar(
            places + (k - (len(chart.series) - 1) / 2) * wide,
            heights,
            wide,
            color=COLOURS[one.style],
            hatch=_HATCHES[one.style],
            edgecolor="white",
            label=plain(one.name),
        )
    longest = max(map(len, chart.labels), default=1)
    every = max(1, len(places) * (longest + 1) // 48)
    ax.set_xticks(places[::every], [plain(label) for label in chart.labels[::every]])
    ax.set(xlabel=chart.xlabel, ylabel=chart.ylabel)
    if len(chart.series) > 1:
        ax.legend(frameon=False)


def _draw_flat_bars(chart: Bars, ax: Axes) -> None:
    places = np.arange(len(chart.labels))
    wide = 0.84 / len(chart.series)
    for k, one in enumerate(chart.series):
        widths = [value or 0.0 for value in one.values]
        ax.barh(
            places + (k - (len(chart.series) - 1) / 2) * wide,
            widths,
            wide,
            color=COLOURS[one.style],
            hatch=_HATCHES[one.style],
            edgecolor="white",
            label=plain(one.name),
        )
    ax.set_yticks(places, [plain(fill(label, 30)) for label in chart.labels])
    ax.invert_yaxis()
    ax.set(xlabel=chart.xlabel)
    if len(chart.series) > 1:
        ax.legend(frameon=False)


def _draw_heat(chart: Heat, ax: Axes) -> None:
    image = ax.imshow(np.array(chart.values, dtype=float), cmap="Blues", vmin=0, vmax=chart.top)
    n = len(chart.names)
    if n <= _SMALL:
        places, names = range(n), [cut(name) for name in chart.names]
        size = 9 if n <= 24 else 7.5
        ax.set_xticks(places, names, rotation=90, fontsize=size)
        ax.set_yticks(places, names, fontsize=size)
        ax.set_xticks(np.arange(n + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(n + 1) - 0.5, minor=True)
        ax.grid(which="minor", color="0.9", linewidth=0.5)
        ax.tick_params(which="minor", length=0)
    ax.set(xlabel=chart.xlabel, ylabel=chart.ylabel)
    ax.figure.colorbar(image, ax=ax, shrink=0.6)


def _draw_network(chart: Network, ax: Axes) -> None:
    places = np.column_stack([chart.x, chart.y])
    n = len(places)
    # Labels and arrows are laid out in points, which have to be known before: limits first.
    ax.set_aspect("equal", adjustable="box")
    ax.set_axis_off()
    low, high = places.min(axis=0), places.max(axis=0)
    span = float((high - low).max()) or 1.0
    ax.set_xlim(low[0] - 0.12 * span, high[0] + 0.12 * span)
    ax.set_ylim(low[1] - 0.08 * span, high[1] + 0.08 * span)
    ax.apply_aspect()
    _draw_edges(chart, places, ax)
    ax.plot(*places.T, "o", ms=6 if n <= _SMALL else 2, mfc="white", mec="0.35", zorder=2)
    for k, path in enumerate(chart.paths):
        _draw_word(places[list(path.nodes)], path.name, path.style, k, ax)
    if n <= _SMALL:
        _draw_names([cut(name) for name in chart.names], places, [path.nodes for path in chart.paths], ax)
    if chart.paths:
        ax.legend(frameon=False, loc="lower left")


def _draw_edges(chart: Network, places: np.ndarray, ax: Axes) -> None:
    """Arrows, one for there and back together; plain lines where there are too many for heads to be seen."""
    known = set(chart.edges)
    single = [(a, b) for a, b in chart.edges if a != b and not (a > b and (b, a) in known)]
    if len(places) > _WITH_ARROWS:
        from matplotlib.collections import LineCollection

        ax.add_collection(LineCollection([places[[a, b]] for a, b in single], colors="0.8", linewidths=1, zorder=1))
        return
    from matplotlib.patches import FancyArrowPatch

    for a, b in single:
        ax.add_patch(
            FancyArrowPatch(
                tuple(places[a]), tuple(places[b]), arrowstyle="<|-|>" if (b, a) in known else "-|>", mutation_scale=8,
                shrinkA=3.5, shrinkB=3.5, color="0.62", linewidth=0.8, zorder=1,
            )
        )  # fmt: skip


def _draw_word(way: np.ndarray, name: str, style: int, k: int, ax: Axes) -> None:
    """A later word is thinner, so that it shows on top of an earlier one; arrows say which way it goes."""
    dashes = "-" if style == 0 else (0, (0.5, 1.6))
    ax.plot(
        *way.T,
        color=COLOURS[style],
        linestyle=cast(Any, dashes),
        linewidth=max(2.0, 5.0 - 1.5 * k),
        alpha=0.9,
        label=plain(name),
        zorder=3 + k,
        dash_capstyle="round",
    )
    ax.plot(*way[0], "o", ms=9, color=COLOURS[style], zorder=4 + k)
    middles, steps = (way[:-1] + way[1:]) / 2, np.diff(way, axis=0)
    for (x, y), (dx, dy) in zip(middles, steps, strict=True):
        if dx or dy:
            arrow = {"arrowstyle": "-|>", "color": COLOURS[style], "mutation_scale": 16.0}
            ax.annotate("", (x + 0.08 * dx, y + 0.08 * dy), (x - 0.02 * dx, y - 0.02 * dy), arrowprops=arrow, zorder=5)


def _draw_names(names: list[str], places: np.ndarray, paths: Sequence[Sequence[int]], ax: Axes) -> None:
    """Names beside the nodes, moved where they would cover each other."""
    from matplotlib.patheffects import withStroke

    points = ax.transData.transform(places) / ax.figure.dpi / _POINT
    size = 8.0
    sizes = [(0.62 * size * len(name) + 1, 1.25 * size) for name in names]
    corners = ax.transAxes.transform([(0, 0), (1, 1)]) / ax.figure.dpi / _POINT
    (left, bottom), (right, top) = corners.tolist()
    area = Box((left + right) / 2, (bottom + top) / 2, right - left, top - bottom)
    ways = [[tuple(points[node].tolist()) for node in path] for path in paths]
    boxes = placed(points.tolist(), sizes, 5.0, area, ways)
    for name, box, (x, y), place in zip(names, boxes, points, places, strict=True):
        ax.annotate(
            name,
            tuple(place),
            xytext=(box.x - x, box.y - y),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=size,
            zorder=9,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
