"""The δ of several releases together, by listing every outcome of the coins that imitate them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import mpmath


def worst_coin(epsilon: float, delta: float) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    """(probability before, probability after the change) of each outcome of the least private (ε, δ) release."""
    growth = mpmath.exp(epsilon)
    rest = 1 - mpmath.mpf(delta)
    more, less = rest * growth / (1 + growth), rest / (1 + growth)
    return [(mpmath.mpf(delta), mpmath.mpf(0)), (more, less), (less, more), (mpmath.mpf(0), mpmath.mpf(delta))]


def delta_by_listing(releases: Sequence[Sequence[tuple[mpmath.mpf, mpmath.mpf]]], epsilon: float) -> mpmath.mpf:
    """Σ max(0, P - e^ε Q) over all outcomes of independent releases."""
    bound = mpmath.exp(epsilon)
    total = mpmath.mpf(0)
    for outcome in itertools.product(*releases):
        before = mpmath.fprod(pair[0] for pair in outcome)
        after = mpmath.fprod(pair[1] for pair in outcome)
        total += max(mpmath.mpf(0), before - bound * after)
    return total


def three_way_response(epsilon: float) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    """A real ε-private release: randomized response among three answers, when the truth changes from one to another."""
    growth = mpmath.exp(epsilon)
    true, other = growth / (growth + 2), 1 / (growth + 2)
    return [(true, other), (other, true), (other, other)]
