"""Pictures for notebooks: matplotlib axes in (or none), axes out. The charts of reports are drawn to files here, too.

Colours are those of the pages (they can be told apart by people who see few colours); lines also differ in their
dashes and markers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.markup import name_of, text_of
from pathveil.report.charts import Bars, Chart, Heat, Lines, Network, Path, Series
from pathveil.report.layout import Coordinates, picture_of
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import Symbol, System, Word
from pathveil.words.base import ErrorLaw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0067a8", "#c24d00", "#00785a", "#a8417e", "#4a5866")
_DASHES = ("-", "--", ":", "-.", (0, (1, 3)))
_MARKERS = ("o", "s", "^", "D", ".")
_SMALL = 60  # a network or a matrix of up to so many states has its names written


def plot_expected_errors(world: System, length: int, adjacency: int = 1, ax: Axes | None = None) -> Axes:
    """Expected errors of every mechanism against ε, with the lower bound for any mechanism. Public quantities only."""
    from pathveil.planning.grid import word_grid
    from pathveil.report.plan_page import errors_chart

    grid = word_grid(world, length, adjacency, only_adjacency=True)
    return draw(errors_chart(grid, grid.adjacencies.index(adjacency)), ax)


def plot_error_law(laws: ErrorLaw | Mapping[str, ErrorLaw], ax: Axes | None = None) -> Axes:
    """The distribution of the number of errors; of several mechanisms side by side if a dictionary is given.

    A law belongs to one sensitive word: the picture is for the curator, unless the word is public.
    """
    named = {"": laws} if isinstance(laws, ErrorLaw) else dict(laws)
    if not named:
        raise InvalidParameterError("there is no law to draw: give an ErrorLaw, or a dictionary of them")
    longest = max(len(law.pmf) for law in named.values())
    series = [
        Series(name, [*law.pmf.tolist(), *[0.0] * (longest - len(law.pmf))], k % len(COLOURS))
        for k, (name, law) in enumerate(named.items())
    ]
    labels = [str(errors) for errors in range(longest)]
    return draw(Bars("How many errors?", labels, series, "number of wrong symbols", "probability"), ax)


def plot_system(
    world: System,
    words: Iterable[Word] | Mapping[str, Word] = (),
    coordinates: Coordinates | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The system as a graph of up to 400 states, with words drawn on it; a dictionary names them.

    `coordinates` maps symbols to (x, y); without them, places say nothing but who is near whom.
    """
    named = words if isinstance(words, Mapping) else {f"word {i + 1}": word for i, word in enumerate(words)}
    picture = picture_of(world, coordinates)
    paths = [
        Path(text_of(name), picture.path(world, word), k % len(COLOURS)) for k, (name, word) in enumerate(named.items())
    ]
    return draw(picture.network("", paths), ax)


def plot_chain(chain: MarkovChain, ax: Axes | None = None) -> Axes:
    """The transition matrix of a chain, dark where a transition is likely."""
    values = chain.matrix.toarray().tolist()
    return draw(Heat("Transition matrix", [name_of(state) for state in chain.symbols], values, "to", "from"), ax)


def plot_distributions(
    symbols: Sequence[Symbol], distributions: Mapping[str, Sequence[float]], ax: Axes | None = None
) -> Axes:
    """Distributions over the same symbols side by side: frequencies before and after, or long runs of two chains."""
    for name, values in distributions.items():
        if len(values) != len(symbols):
            raise InvalidParameterError(f"{name}: {len(values)} values for {len(symbols)} symbols")
    series = [
        Series(text_of(name), [float(value) for value in values], k % len(COLOURS))
        for k, (name, values) in enumerate(distributions.items())
    ]
    return draw(Bars("", [name_of(symbol) for symbol in symbols], series, "share", "symbol", flat=True), ax)


def plot_belief(epsilon: float, ax: Axes | None = None) -> Axes:
    """How sure somebody can become at most (δ = 0), against how sure they were before the release."""
    return draw(belief_chart(epsilon), ax)


def belief_chart(epsilon: float) -> Lines:
    """The largest belief after a release against the belief before it."""
    from pathveil.report.explain import greatest_belief

    prior = [0.001, 0.01, *(i / 40 for i in range(1, 40)), 0.99, 0.999]
    return Lines(
        title=f"How sure can somebody become? ε = {epsilon:g}",
        x=prior,
        series=[
            Series("at most, after the release", [greatest_belief(epsilon, one) for one in prior], 0),
            Series("before: nothing learned", prior, 4),
        ],
        xlabel="how sure before",
        ylabel="how sure after",
    )


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
        return 7.0, 1.0 + len(chart.labels) * (0.12 + 0.13 * len(chart.series))
    return (7.0, 6.5) if isinstance(chart, Heat | Network) else (7.0, 4.2)


def plain(text: str) -> str:
    """Text as it is: a dollar sign begins a formula in matplotlib."""
    return text.replace("$", r"\$")


def _draw_lines(chart: Lines, ax: Axes) -> None:
    for one in chart.series:
        values = [np.nan if value is None else value for value in one.values]
        few = len(values) <= 24
        ax.plot(
            chart.x,
            values,
            color=COLOURS[one.style],
            linestyle=cast(Any, _DASHES[one.style]),
            marker=_MARKERS[one.style] if few else "",
            label=plain(one.name),
        )
    if chart.mark is not None:
        ax.axvline(chart.mark, color="black", linestyle=":", linewidth=1)
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
            places + (k - (len(chart.series) - 1) / 2) * wide, heights, wide, color=COLOURS[one.style], label=one.name
        )
    every = max(1, len(places) // 16)
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
            label=plain(one.name),
        )
    ax.set_yticks(places, [plain(label) for label in chart.labels])
    ax.invert_yaxis()
    ax.set(xlabel=chart.xlabel)
    if len(chart.series) > 1:
        ax.legend(frameon=False)


def _draw_heat(chart: Heat, ax: Axes) -> None:
    ax.imshow(np.array(chart.values, dtype=float), cmap="Blues", vmin=0)
    if len(chart.names) <= _SMALL:
        places, names = range(len(chart.names)), [plain(name) for name in chart.names]
        ax.set_xticks(places, names, rotation=90, fontsize=6)
        ax.set_yticks(places, names, fontsize=6)
    ax.set(xlabel=chart.xlabel, ylabel=chart.ylabel)


def _draw_network(chart: Network, ax: Axes) -> None:
    from matplotlib.collections import LineCollection

    places = np.column_stack([chart.x, chart.y])
    lines = [places[[a, b]] for a, b in chart.edges if a != b]
    ax.add_collection(LineCollection(lines, colors="0.8", linewidths=1, zorder=1))
    ax.plot(*places.T, "o", ms=5 if len(places) <= _SMALL else 2, mfc="white", mec="0.45", zorder=2)
    for k, path in enumerate(chart.paths):
        way = places[list(path.nodes)]
        style = "-" if path.style == 0 else (0, (0.5, 1.6))
        # A later word is thinner, so that it shows on top of an earlier one.
        ax.plot(
            *way.T,
            color=COLOURS[path.style],
            linestyle=cast(Any, style),
            linewidth=max(2.0, 5.0 - 1.5 * k),
            alpha=0.9,
            label=plain(path.name),
            zorder=3 + k,
            dash_capstyle="round",
        )
        ax.plot(*way[0], "o", ms=9, color=COLOURS[path.style], zorder=4 + k)
    if len(places) <= _SMALL:
        for name, (x, y) in zip(chart.names, places, strict=True):
            ax.annotate(plain(name), (x, y), xytext=(4, 4), textcoords="offset points", fontsize=7, zorder=9)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_axis_off()
    if chart.paths:
        ax.legend(frameon=False, loc="lower left")
