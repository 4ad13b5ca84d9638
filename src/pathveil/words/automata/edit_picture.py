"""How a capped-row automaton is drawn: as LEV's Figure 1, with rows in place of single runs.

LEV's state i^e says that i symbols of the word are matched and e edits were made. A row knows e for every i at once; it
is drawn where e is smallest, and shows the entries below the cap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathveil.systems.system import Symbol

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pathveil.words.automata.edit import EditAutomaton, Row

Point = tuple[float, float]

_SYMBOLS_SHOWN = 3
_COLUMN, _ROW = 1.9, 1.0  # inches between neighbouring places


def draw_edit_automaton(automaton: EditAutomaton, ax: Axes | None = None) -> Axes:
    """Draw into `ax`, or into a new figure of a fitting size; returns the axes. The far row is left out."""
    places, bands = _layout(automaton)
    top = max(upper for _, upper in bands.values())
    if ax is None:
        import matplotlib.pyplot as plt

        size = (_COLUMN * (automaton.length + 1.4), _ROW * (top + 1.2) + 0.4)
        _, ax = plt.subplots(figsize=size, layout="constrained")
    for edits, (lower, upper) in bands.items():
        if edits % 2:
            ax.axhspan(lower, upper, color="0.955", zorder=0)
    for (source, target), symbols in automaton.edges.items():
        if automaton.far not in (source, target):
            _draw_edge(ax, automaton, places[source], places[target], symbols, matches=min(target) == min(source))
    for row, (x, y) in places.items():
        accepts = row[-1] < automaton.cap
        outline = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": "black"}
        ax.text(x, y, _entries(row, automaton.cap), ha="center", va="center", fontsize=8, bbox=outline, zorder=4)
        if accepts:
            ax.annotate(
                f"d = {row[-1]}", (x, y), xytext=(0, 11), textcoords="offset points", ha="center", fontsize=7,
                color="tab:blue", zorder=5,
            )  # fmt: skip
    ax.set_xlim(-0.6, automaton.length + 0.6)
    ax.set_ylim(-0.5, top)
    ax.set_xticks(range(automaton.length + 1))
    ax.set_yticks([sum(band) / 2 for band in bands.values()], [str(edits) for edits in bands])
    ax.tick_params(length=0)
    ax.set_xlabel("symbols of the word accounted for, where the row is smallest")
    ax.set_ylabel("edits, where the row is smallest")
    ax.spines[:].set_visible(False)
    return ax


def _layout(automaton: EditAutomaton) -> tuple[dict[Row, Point], dict[int, tuple[float, float]]]:
    """Where each row stands, and the lower and upper edge of each number of edits; rows at one place are stacked."""
    cells: dict[tuple[int, int], list[Row]] = {}
    for row in automaton.states:
        if row != automaton.far:
            edits = min(row)
            cells.setdefault((row.index(edits), edits), []).append(row)
    bands: dict[int, tuple[float, float]] = {}
    lower = -0.5
    for edits in sorted({edits for _, edits in cells}):
        height = max(len(cell) for (_, e), cell in cells.items() if e == edits)
        bands[edits] = (lower, lower + height)
        lower += height
    places: dict[Row, Point] = {}
    for (j, edits), cell in cells.items():
        for number, row in enumerate(cell):
            # Rows above one another are shifted a little, so that an arrow to the next but one does not hide.
            places[row] = (j + 0.16 * (number % 2), sum(bands[edits]) / 2 + number - (len(cell) - 1) / 2)
    return places, bands


def _entries(row: Row, cap: int) -> str:
    """The entries of a row, a dot for each that has reached the cap."""
    return " ".join("·" if entry == cap else str(entry) for entry in row)


def _draw_edge(
    ax: Axes, automaton: EditAutomaton, start: Point, end: Point, symbols: tuple[Symbol, ...], matches: bool
) -> None:
    """An arrow, broken where an edit was made, with its symbols at a third of the way."""
    style = {
        "arrowstyle": "-|>",
        "color": "0.45",
        "linestyle": "-" if matches else "--",
        "linewidth": 0.9,
        "shrinkA": 16,
        "shrinkB": 16,
        "connectionstyle": "arc3,rad=0.06",
    }
    ax.annotate("", end, xytext=start, arrowprops=style, zorder=1)
    others = len(symbols) > _SYMBOLS_SHOWN
    listed = f"{len(symbols)} of {len(automaton.world.symbols)}" if others else ",".join(map(str, symbols))
    x, y = (a + 0.36 * (b - a) for a, b in zip(start, end, strict=True))
    ground = {"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    ax.text(x, y, listed.replace("$", r"\$"), ha="center", va="center", fontsize=7, bbox=ground, zorder=2)
