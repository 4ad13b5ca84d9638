"""What to do, first of all: the mechanism, what it costs, and what it promises, in plain words."""

from __future__ import annotations

from math import exp

from pathveil.markup import Html, short, tag
from pathveil.planning.grid import ForecastGrid
from pathveil.report.explain import best_guess, percent
from pathveil.report.page import listed

_WANTED = (0.5, 0.2, 0.1, 0.05, 0.01)  # shares of wrong symbols that somebody may want to come down to
_MUCH = 0.5
_AS_GOOD = 1.005  # so near to the bound, nothing is left to gain


def advice(grid: ForecastGrid, b: int, e: int) -> list[Html]:
    """The recommendation at this ε and b, and what other ε would buy."""
    epsilon, adjacency = grid.epsilons[e], grid.adjacencies[b]
    name = grid.best(b, e)
    k = grid.names.index(name)
    cell = grid.cells[b][e][k]
    assert cell is not None  # the best one can be used
    share = cell.law.mean / grid.length
    expected = f"{short(cell.law.mean)} of {grid.length} symbols will be wrong on average ({percent(share)})"
    if grid.lengths is not None:
        expected = f"a private word will be {short(cell.law.mean)} edits away from a word of {grid.length} symbols"
    if cell.distances is not None:
        expected += f", a private symbol {short(cell.distances.mean)} away from the true one"
    bound = None if grid.bounds is None else grid.bounds[b][e]
    if bound is not None:
        least = "it is proved that no mechanism can" if bound.proved else "by an estimate, no mechanism can"
        reached = cell.law.mean <= bound.errors * _AS_GOOD
        expected += f"; {least} do better" if reached else f"; {least} do with less than {short(bound.errors)}"
    said = [
        tag(
            "p",
            "Take the ",
            tag("strong", name, id="best"),
            f" mechanism at ε = {epsilon:g}, b = {adjacency}: {expected}.",
        ),
        tag(
            "p",
            f"What that promises: nobody can tell a word from {cell.unit} with more certainty than this: who holds "
            f"both equally likely before the release is right at most {percent(best_guess(epsilon))} of the time "
            f"after it (a coin is right 50% of the time). The odds change by a factor of at most "
            f"e^ε ≈ {short(exp(epsilon))}.",
        ),
    ]
    if share > _MUCH:
        said.append(
            tag(
                "p",
                f"More than half of what is released would be wrong. With this ε, rather release a model of all words "
                f"(below), or protect less: a larger ε{', or a smaller b' if adjacency > 1 else ''}.",
            )
        )
    parts = [tag("div", *said, class_="advice")]
    rows = _ladder(grid, b)
    if rows:
        what = "at most so many wrong symbols" if grid.lengths is None else "at most so many edits a symbol"
        headers = [what, "takes ε of", "mechanism", f"expected {grid.what}", "a bet is won at most"]
        parts.append(listed("ladder", f"Which ε it takes, b = {adjacency}", headers, rows))
    return parts


def _ladder(grid: ForecastGrid, b: int) -> list[list[object]]:
    """The smallest ε of the grid that comes down to each share."""
    rows: list[list[object]] = []
    for wanted in _WANTED:
        for e, epsilon in enumerate(grid.epsilons):
            name = grid.best(b, e)
            cell = grid.cells[b][e][grid.names.index(name)]
            if cell is not None and cell.law.mean <= wanted * grid.length:
                rows.append([percent(wanted), f"{epsilon:g}", name, cell.law.mean, percent(best_guess(epsilon))])
                break
    return rows
