"""Instead of private words, a private model of all of them: how wrong it would be at each ε, from public quantities.

Lengths and the row sizes of a chain are not known before it is fitted; all lengths up to the longest, and all states,
are taken to be equally frequent here.
"""

from __future__ import annotations

from pathveil.errors import PathVeilError
from pathveil.markup import Html, tag
from pathveil.models.sequences import SequencesForecast, forecast_sequences
from pathveil.planning.grid import ForecastGrid
from pathveil.planning.model_curves import model_curves
from pathveil.report.charts import Lines, Series
from pathveil.report.explain import percent
from pathveil.report.follows import successor_counts
from pathveil.report.page import Page, listed

_CROWDS = (1_000, 10_000, 100_000)
"""So many words are looked at where nobody says how many there are."""

_PARTS = {"pairs": "pairs of symbols", "starts": "first symbols", "ends": "last symbols", "lengths": "lengths"}


def add_models(page: Page, grid: ForecastGrid, words: int | None) -> None:
    """A section about models; `words` is how many words there are, if that is public."""
    longest = grid.length if grid.lengths is None else grid.lengths[1]
    try:
        parts = _sequences(page, grid, longest, words)
        if longest > 1:
            parts.append(_chain(page, grid, longest, words))
    except PathVeilError as problem:
        page.leave_out(f"Models of all words: {problem}")
        return
    said = "" if words is None else f" of {words:,} words"
    page.add(
        "Or a private model of all words?",
        tag(
            "p",
            f"A model{said} says how words go in general, and makes synthetic ones. It protects each whole word (one "
            "word may become any other), which is more than b symbols of it, and its errors shrink the more words "
            "there are. Forecasts are about noise alone: what a model of its order cannot know comes on top. All "
            f"lengths up to {longest:,} symbols and all symbols are taken to be equally frequent.",
        ),
        *parts,
    )


def _sequences(page: Page, grid: ForecastGrid, longest: int, words: int | None) -> list[Html]:
    forecasts = {crowd: _forecasts(grid, longest, crowd) for crowd in ((words,) if words else _CROWDS)}
    if words:
        one = forecasts[words]
        series = [Series(name, [at.errors[part] for at in one], k) for k, (part, name) in enumerate(_PARTS.items())]
        title = f"Sequence model: distance from the truth, {words:,} words"
    else:
        series = [
            Series(f"{crowd:,} words", [at.errors["pairs"] for at in ats], k)
            for k, (crowd, ats) in enumerate(forecasts.items())
        ]
        title = "Sequence model: distance of its pairs of symbols from the truth"
    chart = Lines(title, grid.epsilons, series, "ε", "total variation", xscale="log", yscale="log")
    crowd, ats = next(reversed(forecasts.items()))
    rows: list[list[object]] = [
        [f"{at.epsilon:g}", str(at.order), *(percent(at.errors[part]) for part in _PARTS)] for at in ats
    ]
    return [
        page.chart("model-sequences", chart),
        listed(
            "model-table",
            f"Sequence model of {crowd:,} words: order, and distance from the truth (100%: nothing in common)",
            ["ε", "order", *_PARTS.values()],
            rows,
        ),
    ]


def _forecasts(grid: ForecastGrid, longest: int, words: int) -> list[SequencesForecast]:
    return [
        forecast_sequences(support=grid.world, words=words, max_length=longest, epsilon=epsilon)
        for epsilon in grid.epsilons
    ]


def _chain(page: Page, grid: ForecastGrid, longest: int, words: int | None) -> Html:
    successors, series = successor_counts(grid.world), []
    for k, crowd in enumerate((words,) if words else _CROWDS):
        each = max(1, round(crowd * (longest - 1) / 2 / len(successors)))
        sizes = {str(i): each for i in range(len(successors))}
        curves = model_curves(sizes, successors, None, "word", longest)
        series.append(Series(f"{crowd:,} words", [curves.at("laplace", epsilon) for epsilon in grid.epsilons], k))
    title = "Markov chain: error of a transition probability (root mean square)"
    return page.chart("model-chain", Lines(title, grid.epsilons, series, "ε", "error", xscale="log", yscale="log"))
