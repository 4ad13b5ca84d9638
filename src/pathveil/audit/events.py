"""Which event tells two inputs apart best? Chosen on draws that are not used again.

A *view* is a function of one output: either a class (an integer; classes have no order) or a score (a real number).
Events are sets of classes, or scores above a threshold. By the lemma of Neyman and Pearson the best event consists of
the outputs with the largest likelihood ratio, so a view is good if it carries that ratio. A poor view makes an audit
weak, never wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.audit.confidence import loss_lower_bounds

Outputs = npt.NDArray[Any]
"""Outputs of a mechanism, one for each row."""

_THRESHOLDS = 300


@dataclass(frozen=True)
class View:
    """What is looked at in an output: `classes` says whether the keys are classes or scores."""

    name: str
    keys: Callable[[Outputs], npt.NDArray[Any]]
    classes: bool
    show: Callable[[Any], str] = str
    """A class in words."""


@dataclass(frozen=True)
class Event:
    """A set of outputs that is likelier for one input than for its neighbour.

    `swapped`: it is the neighbour that makes the event likely. `promise` is the bound that the choosing draws alone
    would give; since the event was chosen to make it large, it proves nothing.
    """

    view: View
    members: frozenset[int] | None
    threshold: float
    swapped: bool
    classes: int
    promise: float

    def count(self, outputs: Outputs) -> int:
        """How many of the outputs are in the event."""
        keys = self.view.keys(outputs)
        inside = keys >= self.threshold if self.members is None else np.isin(keys, list(self.members))
        return int(np.count_nonzero(inside))

    def __str__(self) -> str:
        if self.members is None:
            return f"{self.view.name} ≥ {self.threshold:.6g}"
        shown = [self.view.show(member) for member in sorted(self.members)[:6]]
        rest = len(self.members) - len(shown)
        return f"{self.view.name}: {' or '.join(shown)}" + (f" or {rest} more" if rest else "")


def best_event(views: Sequence[View], first: Outputs, second: Outputs, risk: float, delta: float) -> Event:
    """The most promising event for these draws from the two inputs, over all views and both directions.

    Half of the draws put the outputs in an order, the other half say how far to go along it, with a risk that is shared
    by all places to stop: an event that owes its promise to luck (many classes, few draws in each) has no advantage.
    """
    found: list[Event] = []
    for view in views:
        keys = view.keys(first), view.keys(second)
        for swapped in (False, True):
            a, b = keys[::-1] if swapped else keys
            found.append((_best_classes if view.classes else _best_threshold)(view, a, b, risk, delta, swapped))
    return max(found, key=lambda event: event.promise)


def _best_classes(
    view: View, a: npt.NDArray[Any], b: npt.NDArray[Any], risk: float, delta: float, swapped: bool
) -> Event:
    """Classes in the order of their estimated likelihood ratio; the event is the best beginning of that list."""
    classes, which = np.unique(np.concatenate([a, b]), return_inverse=True)
    of_a, of_b = which[: len(a)], which[len(a) :]

    def counts(keys: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.bincount(keys, minlength=len(classes))

    # A ratio that few draws have shown is taken to be smaller than it looks, by one standard error of its logarithm.
    x, y = counts(of_a[::2]) + 0.5, counts(of_b[::2]) + 0.5
    order = np.argsort(np.sqrt(1 / x + 1 / y) - np.log(x / y), kind="stable")
    x, y = np.cumsum(counts(of_a[1::2])[order]), np.cumsum(counts(of_b[1::2])[order])
    bounds = loss_lower_bounds(x, y, (len(a) // 2, len(b) // 2), risk / len(classes), delta)
    last = int(np.argmax(bounds))
    members = frozenset(classes[order[: last + 1]].tolist())
    return Event(view, members, 0.0, swapped, len(classes), float(bounds[last]))


def _best_threshold(
    view: View, a: npt.NDArray[Any], b: npt.NDArray[Any], risk: float, delta: float, swapped: bool
) -> Event:
    """Scores are in order already: high for the first input. In the other direction their sign is turned."""
    if swapped:
        turned = View(f"minus {view.name}", lambda outputs: -view.keys(outputs), False)
        return replace(_best_threshold(turned, -a, -b, risk, delta, False), swapped=True)
    a, b = np.sort(a[1::2]), np.sort(b[1::2])
    # Rare events matter as much as common ones: the marks are dense at the upper end.
    pooled = np.sort(np.concatenate([a, b]))
    ranks = np.geomspace(1, len(pooled), _THRESHOLDS).astype(np.int64)
    marks = np.unique(pooled[len(pooled) - ranks])
    x, y = len(a) - np.searchsorted(a, marks), len(b) - np.searchsorted(b, marks)
    bounds = loss_lower_bounds(x, y, (len(a), len(b)), risk / len(marks), delta)
    best = int(np.argmax(bounds))
    return Event(view, None, float(marks[best]), swapped, len(marks), float(bounds[best]))
