"""The error of each mechanism as a curve over ε, and the ε at which a curve comes down to a wanted error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

LARGEST_EPSILON = 1e3
"""Beyond this, and below its inverse, no ε is looked for."""

_PRECISION = 1.01  # how closely the ε for a wanted error is found
_ROUNDING = 1e-12  # relative: errors that are closer than that are the same number


def fewest(errors: Mapping[str, float | None]) -> str | None:
    """Whoever has the fewest errors; of several that differ by rounding only, the first. None if nothing is known."""
    known = {name: error for name, error in errors.items() if error is not None}
    least = min(known.values(), default=0.0)
    return next((name for name, error in known.items() if error <= least * (1 + _ROUNDING)), None)


@dataclass(frozen=True)
class ErrorCurves:
    """The error of each mechanism at any ε: computed when it is asked for, and kept.

    `error` says what kind of error it is. None stands for a mechanism that cannot be used. `remarks` on some ε may be
    asked for when their errors are known. `facts` are the public quantities behind the curves, for JSON.
    """

    title: str
    error: str
    mechanisms: list[str]
    error_at: Callable[[str, float], float | None]
    remarks: Callable[[list[float]], list[str]]
    facts: dict[str, Any]
    known: dict[tuple[str, float], float | None] = field(default_factory=dict)

    def at(self, mechanism: str, epsilon: float) -> float | None:
        """The error of a mechanism at this ε."""
        if (mechanism, epsilon) not in self.known:
            self.known[mechanism, epsilon] = self.error_at(mechanism, epsilon)
        return self.known[mechanism, epsilon]

    def best(self, epsilon: float) -> str | None:
        """The mechanism with the fewest errors at this ε."""
        return fewest({name: self.at(name, epsilon) for name in self.mechanisms})

    def epsilon_for(self, mechanism: str, target: float) -> float | None:
        """The smallest ε with so small an error, to 1%, rounded up; None where there is none up to LARGEST_EPSILON."""
        tried = {epsilon for name, epsilon in self.known if name == mechanism} or {1.0}

        def enough(epsilon: float) -> bool:
            tried.add(epsilon)
            error = self.at(mechanism, epsilon)
            return error is not None and error <= target

        high = max(tried)
        if self.at(mechanism, high) is None:
            return None
        while not enough(high):
            high *= 2
            if high > LARGEST_EPSILON:
                return None
        low = min(tried)
        while enough(low):
            low /= 2
            if low < 1 / LARGEST_EPSILON:
                return 2 * low
        high = min(epsilon for epsilon in tried if enough(epsilon))
        low = max(epsilon for epsilon in tried if epsilon < high)
        while high > low * _PRECISION:
            middle = (low * high) ** 0.5
            if enough(middle):
                high = middle
            else:
                low = middle
        return high
