"""How the budget is divided, how long contexts may be and how many events of a word count: from noisy or public numbers.

All shares are exact fractions that sum to one.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from pathveil.numerics.arrays import FloatArray

LENGTHS = Fraction(1, 20)
"""The share for the histogram of lengths."""

FREQUENT = Fraction(3, 10)
"""The share for the first look for frequent words, where there is a δ."""

STARTS = Fraction(1, 25)
"""The share of the whole for the hours of the week in which words begin, where there are times."""

DURATIONS = Fraction(1, 50)
"""The share of the whole for durations between symbols, whatever the symbol, where each symbol has a time."""

DURATIONS_BY_SYMBOL = Fraction(1, 25)
"""The share of the whole for the same by symbol."""

DEPTHS = {
    1: (100,),
    2: (40, 60),
    3: (30, 45, 25),
    4: (25, 35, 22, 18),
}
"""Hundredths of what is left for contexts of 1, 2, … symbols. Longer ones share alike with the last."""

SIGNAL = 0.8
"""The next order is taken where ε·words is at least so many times the number of its cells (ε of add-remove)."""

_BIAS = 0.15
"""What leaving out an event of a word costs, against the same in noise; see `events_to_count`."""


def share_of_times(kind: str | None) -> Fraction:
    """How much of the whole goes to times: of "starts", of all "symbols", or of nothing (None)."""
    return {None: Fraction(0), "starts": STARTS, "symbols": STARTS + DURATIONS + DURATIONS_BY_SYMBOL}[kind]


def shares_of_depths(order: int) -> list[Fraction]:
    """How much each depth gets of what is left for the contexts."""
    parts = list(DEPTHS[min(order, max(DEPTHS))])
    parts += [parts[-1]] * (order - len(parts))
    return [Fraction(part, sum(parts)) for part in parts]


def affordable_order(epsilon: float, words: float, sides: int, cells: float, growth: float, most: int) -> int:
    """The longest contexts that the budget can tell apart.

    `cells` is how many counts pairs have, and each symbol more multiplies that by `growth`. `sides` is by how many
    words neighbouring data differ, weighted as the noise has to be: 2 for replacing one word, k for k words of a person.
    """
    order = 1
    while order < most and epsilon * words / sides >= SIGNAL * cells * growth**order:
        order += 1
    return order


def events_to_count(epsilon: float, words: float, sides: int, cells: float, lengths: FloatArray) -> int:
    """How many events of a word, from its first, are counted; the noise grows with their number.

    One event more adds noise of `sides`/ε to every cell. Without it the model knows nothing of what comes so late in a
    word; that is as bad as the number of words that are as long, times the part by which their late events differ from
    their early ones (taken as `_BIAS`). So events are counted as long as enough words have them.
    """
    longest = len(lengths)
    noise = cells * sides / max(epsilon * words, 1e-9)
    having = np.append(1.0, np.cumsum(lengths[::-1])[::-1])[:longest]  # [e]: words with more than e events
    enough = np.flatnonzero(having * _BIAS >= noise)
    return int(min(max(3, (enough.max() + 1) if len(enough) else 0), longest))
