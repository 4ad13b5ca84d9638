"""The charts of a plan: expected errors against ε, how many errors there are, and words on the public system."""

from __future__ import annotations

from collections.abc import Sequence

from pathveil.planning.grid import Cell, ForecastGrid
from pathveil.report.charts import Bars, Lines, Network, Path, Series, counted_bars
from pathveil.report.layout import Picture

_BOUND_STYLE = 4


def errors_chart(grid: ForecastGrid, b: int, marks: Sequence[tuple[float, str]] = ()) -> Lines:
    """Expected errors against ε for every mechanism, and what no mechanism can do better, where that is known."""
    series = [Series(name, grid.means(b, k), k) for k, name in enumerate(grid.names)]
    if grid.bounds is not None:
        bounds = [bound.errors for bound in grid.bounds[b]]
        series.append(Series("lower bound for any mechanism", bounds, _BOUND_STYLE))
    what = "errors in" if grid.lengths is None else "edits of a word of"
    return Lines(
        title=f"Expected {what} {grid.length} symbols, b = {grid.adjacencies[b]}",
        x=grid.epsilons,
        series=[one for one in series if any(value is not None for value in one.values)],
        xlabel="ε",
        ylabel=f"expected {grid.what}",
        xscale="log",
        yscale="log",
        marks=marks,
    )


def distribution_chart(grid: ForecastGrid, b: int, e: int, k: int) -> Bars:
    """How many errors a private word has, with which probability."""
    cell = grid.cells[b][e][k]
    assert cell is not None  # only usable ones are drawn
    labels, [values] = counted_bars([cell.law.pmf.tolist()])
    if grid.cap is not None and grid.lengths is not None and grid.cap < grid.lengths[1]:
        labels[-1] += " or more"
    name = grid.names[k]
    return Bars(
        title=f"{name}, ε = {grid.epsilons[e]:g}, b = {grid.adjacencies[b]}",
        labels=labels,
        series=[Series(name, values, k)],
        xlabel="number of wrong symbols" if grid.lengths is None else "edits from the true word",
        ylabel="probability",
    )


def system_chart(grid: ForecastGrid, picture: Picture, cell: Cell | None) -> Network:
    """The public system with the sample word and a private one on it."""
    paths = [Path(sample_title(grid), picture.path(grid.world, grid.sample), 0)]
    if cell is not None:
        paths.append(Path("a private word for it", picture.path(grid.world, cell.draws[0]), 1))
    return picture.network("The public system with the sample word and a private one", paths)


def sample_title(grid: ForecastGrid) -> str:
    return "sample word" if grid.sample_given else "a feasible word"
