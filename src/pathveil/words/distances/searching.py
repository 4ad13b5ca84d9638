"""The largest tilt that passes a test which need not be monotone."""

from __future__ import annotations

from collections.abc import Callable

_TRIES = 48
_HALVINGS = 12


def largest_passing(
    passes: Callable[[float], bool], *, lowest: float, highest: float, tries: int = _TRIES, halvings: int = _HALVINGS
) -> float:
    """The largest number we find that passes: from the highest down, then between the last two. The lowest passes."""
    above = highest
    for k in range(tries):
        found = highest - (highest - lowest) * k / tries
        if passes(found):
            break
        above = found
    else:
        found = lowest
    for _ in range(halvings):
        middle = (found + above) / 2
        if middle <= found or middle >= above:
            break
        if passes(middle):
            found = middle
        else:
            above = middle
    return found
