"""How a distance automaton is drawn: positions from left to right, errors upwards, as in the papers' figures.

All sizes of nodes and letters are in points, so circles stay round whatever the shape of the axes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pathveil.words.automata.distance import DistanceAutomaton, DistanceEdge, DistanceState

Point = tuple[float, float]
Points = npt.NDArray[np.float64]

WRITTEN_AT_MOST = 80
"""Automata with more states than this are drawn without letters and numbers, which nobody could read."""

_RADIUS = 13.0
_BLUE, _RED, _GREY, _BAND = "tab:blue", "tab:red", "0.45", "0.955"
_SYMBOLS_SHOWN = 4
_COLUMN, _ROW = 1.75, 1.05  # inches between neighbouring states


def draw_distance_automaton(automaton: DistanceAutomaton, ax: Axes | None = None) -> Axes:
    """Draw into `ax`, or into a new figure of a fitting size; returns the axes."""
    places, bands = _layout(automaton)
    written = len(automaton.states) <= WRITTEN_AT_MOST
    top = max(upper for _, upper in bands.values())
    if ax is None:
        import matplotlib.pyplot as plt

        inches = (_COLUMN, _ROW) if written else (0.22, 0.22)
        size = (inches[0] * (automaton.length + 1.2), inches[1] * (top + 1.2) + 0.4)
        _, ax = plt.subplots(figsize=(max(size[0], 4.0), max(size[1], 2.0)), layout="constrained")
    _draw_bands(ax, automaton, bands)
    if written:
        _draw_written(ax, automaton, places)
    else:
        _draw_plain(ax, automaton, places)
    ax.set_xlim(-0.5, automaton.length + 0.5)
    ax.set_ylim(-0.5, top)
    ax.set_xlabel("symbols written")
    ax.set_ylabel("errors")
    ax.spines[:].set_visible(False)
    return ax


def _layout(automaton: DistanceAutomaton) -> tuple[dict[DistanceState, Point], dict[int, tuple[float, float]]]:
    """Where each state stands, and the lower and upper edge of each number of errors.

    The system's states that share position and errors stand one above the other, in the middle of their band.
    """
    order = {name: y for y, name in enumerate(automaton.world.state_names)}
    cells: dict[tuple[int, int], list[DistanceState]] = {}
    for q in sorted(automaton.states, key=lambda q: order[q[2]] if len(q) == 3 else 0):
        cells.setdefault((q[0], q[1]), []).append(q)
    bands: dict[int, tuple[float, float]] = {}
    lower = -0.5
    for errors in sorted({e for _, e in cells}):
        height = max(len(cell) for (_, e), cell in cells.items() if e == errors)
        bands[errors] = (lower, lower + height)
        lower += height
    places = {
        q: (float(i), sum(bands[errors]) / 2 + row - (len(cell) - 1) / 2)
        for (i, errors), cell in cells.items()
        for row, q in enumerate(cell)
    }
    return places, bands


def _draw_bands(ax: Axes, automaton: DistanceAutomaton, bands: dict[int, tuple[float, float]]) -> None:
    """Every second number of errors on a light ground; ticks in the middle of each."""
    for errors, (lower, upper) in bands.items():
        if errors % 2:
            ax.axhspan(lower, upper, color=_BAND, zorder=0)
    every = max(1, math.ceil(len(bands) / 12))
    shown = sorted(bands)[::every]
    ax.set_yticks([sum(bands[errors]) / 2 for errors in shown], [str(errors) for errors in shown])
    ax.set_xticks(range(0, automaton.length + 1, max(1, math.ceil(automaton.length / 16))))
    ax.tick_params(length=0)


def _draw_written(ax: Axes, automaton: DistanceAutomaton, places: dict[DistanceState, Point]) -> None:
    """Circles with i^e inside, V above them in blue, symbols and μ (red) on the arrows."""
    accepting = set(automaton.accepting)
    for edge, label in zip(automaton.edges, _label_places(automaton, places), strict=True):
        _draw_edge(ax, automaton, edge, places[edge.source], places[edge.target], label)
    for q, (x, y) in places.items():
        ax.plot(x, y, "o", ms=2 * _RADIUS, mfc="white", mec="black", mew=1.0, zorder=3)
        if q in accepting:
            ax.plot(x, y, "o", ms=2 * _RADIUS - 5, mfc="none", mec="black", mew=0.8, zorder=4)
        name = "" if len(q) == 2 or q[2] is None else f"\n{_short(q[2])}"
        ax.text(x, y, f"${q[0]}^{{{q[1]}}}${name}", ha="center", va="center", fontsize=8, linespacing=0.9, zorder=5)
        ax.annotate(
            _short(automaton.V[q]),
            (x, y),
            xytext=(0, _RADIUS + 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
            color=_BLUE,
            fontsize=8,
            zorder=5,
        )


def _label_places(automaton: DistanceAutomaton, places: dict[DistanceState, Point]) -> list[Point]:
    """A point on each edge where its label keeps clear of other labels, of states and of other edges.

    Edges are served in turn, each taking the clearest of a few points. Distances are in sizes of the thing to be kept
    clear of, and no point is clearer than one size.
    """
    inches = np.array([_COLUMN, _ROW])
    starts = np.array([places[edge.source] for edge in automaton.edges]) * inches
    ends = np.array([places[edge.target] for edge in automaton.edges]) * inches
    # A state takes more room above than below: V stands there.
    obstacles = [np.array(place) * inches + (0.0, 0.08) for place in places.values()]
    sizes = [np.array([0.4, 0.48])] * len(obstacles)
    chosen: list[Point] = []
    for k, (start, end) in enumerate(zip(starts, ends, strict=True)):
        others = np.arange(len(starts)) != k
        clearest, best = -1.0, start
        for share in (0.45, 0.5, 0.4, 0.55, 0.35, 0.6, 0.3, 0.65, 0.25, 0.7, 0.75):
            point = start + share * (end - start)
            gaps = np.abs(np.array(obstacles) - point) / np.array(sizes)
            to_lines = _distances_to_segments(point, starts[others], ends[others]) / 0.2
            # A line under a label is a lesser evil than two labels on top of each other.
            clearance = min(float(gaps.max(axis=1).min()), 0.5 + 0.5 * float(to_lines.min(initial=1.0)))
            if clearance > clearest + 1e-9:
                clearest, best = clearance, point
        obstacles.append(best)
        sizes.append(np.array([0.36, 0.3]))
        x, y = best / inches
        chosen.append((float(x), float(y)))
    return chosen


def _distances_to_segments(point: Points, starts: Points, ends: Points) -> Points:
    along = ends - starts
    share = np.clip(((point - starts) * along).sum(axis=1) / (along**2).sum(axis=1), 0.0, 1.0)
    nearest: Points = np.linalg.norm(starts + share[:, None] * along - point, axis=1)
    return nearest


def _draw_edge(
    ax: Axes, automaton: DistanceAutomaton, edge: DistanceEdge, start: Point, end: Point, label: Point
) -> None:
    """An arrow, broken for errors, with its symbols above and μ below the label's point."""
    ax.annotate(
        "",
        end,
        xytext=start,
        arrowprops={
            "arrowstyle": "-|>",
            "shrinkA": _RADIUS,
            "shrinkB": _RADIUS,
            "color": _GREY,
            "linestyle": "--" if edge.is_error else "-",
            "linewidth": 0.9,
        },
        zorder=1,
    )
    ground = {"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    symbols = [_short(symbol) for symbol in edge.symbols]
    listed = ",".join(symbols) if len(symbols) <= _SYMBOLS_SHOWN else f"{len(symbols)} symbols"
    ax.annotate(
        listed,
        label,
        xytext=(0, 1),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=7,
        zorder=2,
        bbox=ground,
    )
    ax.annotate(
        _short(automaton.mu[edge.source, edge.target]) + (" each" if edge.multiplicity > 1 else ""),
        label,
        xytext=(0, -1),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=7,
        color=_RED,
        zorder=2,
        bbox=ground,
    )


def _draw_plain(ax: Axes, automaton: DistanceAutomaton, places: dict[DistanceState, Point]) -> None:
    """Dots and lines only: the shape of a large automaton."""
    from matplotlib.collections import LineCollection

    lines = [(places[edge.source], places[edge.target]) for edge in automaton.edges]
    ax.add_collection(LineCollection(lines, colors=_GREY, linewidths=0.4, zorder=1))
    accepting = set(automaton.accepting)
    ax.plot(*zip(*places.values(), strict=True), "o", ms=3, color="black", zorder=3)
    ends = [places[q] for q in places if q in accepting]
    ax.plot(*zip(*ends, strict=True), "o", ms=6, mfc="none", mec="black", mew=0.8, zorder=3)


def _short(value: object) -> str:
    """A name or a number that fits into a circle: sets without their wrapping, long ones cut, spaces visible."""
    if isinstance(value, Fraction) and len(str(value)) > 8:
        text = f"{float(value):.3g}"
    elif isinstance(value, frozenset):
        text = "{" + ",".join(sorted(map(str, value))) + "}"
    elif isinstance(value, int) and abs(value) >= 10**7:
        text = f"10^{math.log10(abs(value)):.1f}"
    else:
        text = str(value)
    text = "␣" if text == " " else text.replace("$", r"\$")
    return text if len(text) <= 8 else text[:7] + "…"
