"""How much: what ε means, what to expect at each ε, and what is left of the budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pathveil.errors import PathVeilError
from pathveil.ledger.ledger import Ledger
from pathveil.report.explain import best_guess, percent
from pathveil.studio.choices import Choices, Refusal
from pathveil.studio.forecasts import ADJACENCIES, EPSILONS, Forecasts, model_forecasts
from pathveil.studio.projects import Project


def amount_shown(project: Project, choices: Choices) -> dict[str, Any]:
    """What the page knows before any forecast: the stops of the sliders, the odds, the budget."""
    odds = {f"{epsilon:g}": percent(best_guess(epsilon)) for epsilon in EPSILONS}
    epsilon = choices["epsilon"] or "2"
    return {
        "epsilons": list(odds),
        "stop": _nearest_stop(epsilon),
        "adjacencies": [str(one) for one in ADJACENCIES],
        "odds": odds,
        "now": {
            "epsilon": epsilon,
            "adjacency": choices["adjacency"] or "1",
            "length": choices["length"] or "10",
            "words": choices["words"] or "10000",
            "delta": choices["delta"] if choices["epsilon"] else "1e-6",
            "total-epsilon": choices["total-epsilon"] or "10",
            "total-delta": choices["total-delta"] or "1e-5",
        },
        "budget": budget_shown(project),
    }


def _nearest_stop(typed: str) -> str:
    """Where the slider stands for an ε that somebody typed; in its usual place for what is no number."""
    try:
        wanted = float(typed)
    except ValueError:
        wanted = 2.0
    return f"{min(EPSILONS, key=lambda stop: abs(stop - wanted)):g}"


def budget_shown(project: Project) -> dict[str, str] | None:
    """What the ledger has left; None where it was not opened yet."""
    if project.ledger is None:
        return None
    try:
        ledger = Ledger.open(project.ledger)
        return {
            "unit": str(ledger.unit),
            "total": str(ledger.total),
            "spent": str(ledger.spent),
            "remaining": str(ledger.remaining),
            "epsilon": str(float(ledger.remaining.epsilon)),
        }
    except PathVeilError as problem:
        raise Refusal("", str(problem)) from None


def forecasts_shown(project: Project, forecasts: Forecasts, asked: Mapping[str, str]) -> dict[str, Any]:
    """The forecasts for what is typed at the moment; those for words go on being computed after the answer."""
    choices = project.choices
    typed = Choices({**choices.values, **{name: asked[name] for name in ("length", "words", "delta") if name in asked}})
    if choices["purpose"] == "words":
        length = typed.whole("length", 1, 100_000, "The usual length of a word")
        b = int(asked["adjacency"]) if asked.get("adjacency", "") in map(str, ADJACENCIES) else 1
        within = float(choices["within"]) if choices["kind"] == "points" and choices["within"] else None
        forecasts.begin(project, length, b, within)
        return forecasts.known(project, length, b, within)
    words = typed.whole("words", 1, 10**12, "About how many words there are")
    if typed["delta"]:
        typed.number("delta", 1e-15, 0.1, "δ")
    try:
        return {"models": model_forecasts(project, typed, words)}
    except PathVeilError as problem:
        raise Refusal("words", str(problem)) from None
