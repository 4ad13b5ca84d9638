"""The rows of a transition matrix that limit a model: small ones get large errors, whatever the mechanism."""

from __future__ import annotations

import numpy as np

from pathveil.errors import PathVeilError
from pathveil.markup import Html, name_of, tag
from pathveil.planning.compare_models import compare_models
from pathveil.report.charts import Bars, Series
from pathveil.report.curator.comparison import Comparison, row_differences
from pathveil.report.follows import successor_counts
from pathveil.report.page import Page, listed
from pathveil.systems.markov_chain import MarkovChain

_SHOWN_SYMBOLS = 20
_DELTA = 1e-6


def add_rows(page: Page, found: Comparison) -> None:
    """A section about small rows, and about those of a private model of the same words."""
    sizes = found.row_sizes[0]
    if not sizes.any():
        page.leave_out("Rows that limit a model: the words have no transitions.")
        return
    parts = [] if found.model is None else _model_rows(found, found.model)
    epsilon = 1.0 if found.released is None else found.released.promise.epsilon
    try:
        parts += _small_rows(page, found, epsilon)
    except PathVeilError as problem:
        page.leave_out(f"Forecasts for rows that limit a model: {problem}")
    if parts:
        page.add("The rows that limit a model", *parts)


def _small_rows(page: Page, found: Comparison, epsilon: float) -> list[Html]:
    sizes, successors = found.row_sizes[0], successor_counts(found.world)
    forecasts = compare_models(sizes.tolist(), successors=successors, epsilon=epsilon, delta=_DELTA)
    seen, unseen = np.flatnonzero(sizes), int((sizes == 0).sum())
    order = [int(i) for i in seen[np.argsort(sizes[seen], kind="stable")][:_SHOWN_SYMBOLS]]
    rows: list[list[object]] = [
        [name_of(found.world.symbols[i]), int(sizes[i]), successors[i], *(float(one.row_rmse[i]) for one in forecasts)]
        for i in order
    ]
    headers = ["state", "transitions", "possible successors", *(f"error, {one.mechanism}" for one in forecasts)]
    chart = Bars(
        "The smallest rows",
        [str(row[0]) for row in rows],
        [Series("transitions from the state", [float(sizes[i]) for i in order], 0)],
        "transitions",
        "state",
        flat=True,
    )
    return [
        tag(
            "p",
            "A model is as good as its rows, and a row with few transitions is bad under every mechanism. Merge such "
            "states, or spend more. Forecast: the root mean square error of a probability, for unit “transition” at "
            f"ε = {epsilon:g} and δ = {_DELTA:g} (discrete Laplace noise spends no δ).",
        ),
        page.chart("rows", chart),
        listed("rows-table", "The rows with fewest transitions", headers, rows),
        *([tag("p", f"{unseen:,} of {len(sizes):,} states have no transition at all.")] if unseen else []),
    ]


def _model_rows(found: Comparison, model: MarkovChain) -> list[Html]:
    """The rows of the private model that was fitted to these words, the worst first."""
    gaps = row_differences(found.chains[0], model)
    sizes = found.row_sizes[0]
    order = [
        int(i) for i in np.argsort(-np.where(sizes > 0, gaps, -1.0), kind="stable")[:_SHOWN_SYMBOLS] if sizes[i] > 0
    ]
    forecasts = found.model_rows or [{}] * len(sizes)
    rows: list[list[object]] = [
        [name_of(model.symbols[i]), int(sizes[i]), forecasts[i].get("rmse"), float(gaps[i])] for i in order
    ]
    headers = ["state", "transitions", "forecast error of an entry", "total variation distance from the data"]
    return [listed("model-rows", "The private model: the rows that are farthest from the data", headers, rows)]
