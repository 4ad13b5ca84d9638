"""How many symbols will be wrong: said before anything is charged, and asked about where a release says little."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import typer

from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.planning.choose import Choice

_HALF = 0.5


def echo_choice(choice: Choice, *, asked_for_best: bool, edits: bool) -> None:
    """Which mechanism was taken and why, and what to expect of it. From public quantities only."""
    if asked_for_best:
        _say(f"Mechanism: {_why(choice, edits)}.")
        if choice.name != "certified" and choice.mechanism.guarantee.unit != _unit_of_certified(choice):
            others = "of allowed lengths" if edits else "of that length"
            _say(f"Its promise is among all words {others}; that of certified is among feasible ones only.")
    if choice.share is None:
        _say(f"How many symbols will be wrong is not known: {choice.why_not[choice.name]}. See pathveil plan.")
    else:
        _say(f"To expect: about {_wrong(choice.share, edits)}{_away(choice)}.")


def require_consent(choice: Choice, *, edits: bool, silent: bool, yes: bool) -> None:
    """Ask, or refuse where nobody can be asked, if more than half of the symbols will be wrong."""
    if yes or choice.share is None or choice.share <= _HALF or choice.distances:
        return  # with distances a wrong symbol is no loss by itself: it may be next door
    expected = (
        f"about {_wrong(choice.share, edits, will_be=True)}: this release says little; `pathveil plan` shows which ε "
        "would do"
    )
    if silent or not (_is_terminal(sys.stdin) and _is_terminal(sys.stderr)):
        raise InvalidParameterError(
            f"{expected}. Add --yes to release it all the same. Nothing was charged or written."
        )
    _say(f"pathveil: {expected}.")
    if not typer.confirm("Release it all the same?", default=False, err=True):
        _say("pathveil: nothing was charged or written")
        raise typer.Exit(1)


def choice_as_json(choice: Choice) -> dict[str, Any]:
    """The same for machines."""
    return {
        "mechanism": choice.name,
        "expected_errors_a_symbol": choice.share,
        "forecasts": dict(choice.shares),
        "not_forecast": dict(choice.why_not),
        **({"expected_distances": dict(choice.distances)} if choice.distances else {}),
    }


def _say(text: str) -> None:
    """On standard error: what is released is not there yet, and nobody may be waiting for its summary."""
    with contextlib.suppress(OSError):  # a full disk: the release does not depend on these words
        print(text, file=sys.stderr)


def _why(choice: Choice, edits: bool) -> str:
    if choice.share is None:
        return f"{choice.name}, the default: the others cannot be compared with it"
    if not choice.others:
        return f"{choice.name}, the only one that could be forecast here"
    if choice.distances:
        means = ", ".join(f"{name} {mean:.3g}" for name, mean in choice.distances.items())
        return f"{choice.name}, the best by public forecast of the mean distance: {means}"
    others = ", ".join(f"{name} {_share(share, edits, digits=3)}" for name, share in choice.others.items())
    what = "edits for 100 symbols" if edits else "of the symbols wrong"
    return f"{choice.name}, the best by public forecast: {_share(choice.share, edits, digits=3)} {what} ({others})"


def _away(choice: Choice) -> str:
    """How far private symbols will be from the true ones, where that is known."""
    mean = choice.distances.get(choice.name)
    return "" if mean is None else f", and a symbol {mean:.3g} away on average (in the units of the coordinates)"


def _unit_of_certified(choice: Choice) -> str | None:
    certified = choice.compared.get("certified")
    return None if certified is None else certified.guarantee.unit


def _wrong(share: float, edits: bool, *, will_be: bool = False) -> str:
    if edits:
        return f"{_share(share, edits)} edits for every 100 symbols"
    return f"{_share(share, edits)} of the symbols {'will be ' if will_be else ''}wrong"


def _share(share: float, edits: bool, *, digits: int = 2) -> str:
    """Two digits are enough, but where shares are compared."""
    number = f"{100 * share:.0e}" if share < 1e-5 else f"{100 * share:.{digits if share < 0.995 else 3}g}"
    return number if edits else f"{number}%"


def _is_terminal(stream: Any) -> bool:
    return stream is not None and bool(stream.isatty())
