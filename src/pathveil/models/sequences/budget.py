"""How the budget is divided, how long contexts may be and how many events of a word count.

All of it is decided from noisy or public numbers. All shares are exact fractions that sum to one.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from pathveil.numerics.arrays import FloatArray

LENGTHS = Fraction(1, 20)
"""The share for the histogram of lengths."""

FIRST_LOOK = Fraction(1, 10)
"""Where there is a δ: the share for a first look for frequent words, which tells how much they leave to model."""

SECOND_LOOK = Fraction(3, 10)
"""The share for a second look, where the other words are modelled with the rest; otherwise it gets all that is left."""

FIRSTS = LASTS = Fraction(3, 40)
"""Where ends are asked for: the share for first symbols, and for last ones."""

PAIRS = Fraction(1, 20)
"""The share for pairs of both."""

STARTS = Fraction(1, 25)
"""The share of the whole for the hours of the week in which words begin, where there are times."""

DURATIONS = Fraction(3, 50)
"""The share of the whole for durations between symbols, where each symbol has a time."""

OF_ALL_SYMBOLS = Fraction(1, 3)
"""Which part of that is for durations whatever the symbol is; the other part is for durations by symbol."""

DEPTHS = {
    1: (100,),
    2: (40, 60),
    3: (30, 50, 20),
    4: (27, 47, 15, 11),
}
"""Hundredths of what is left for contexts of 1, 2, … symbols. Longer ones share alike with the last."""

SIGNAL, DEEPER_SIGNAL = 0.8, 0.04
"""Order 2 is taken where ε·words is at least so many times the number of its cells (ε of add-remove), and longer
contexts where it is at least the second number of times theirs: of these only common ones get a row.
"""

_ENOUGH, _POWER = 0.84, 0.4
"""How many words must have an event for it to be counted; see `events_to_count`."""

_MOST_LOST = 0.1
"""The part of all events that may be left out, at most: symbols that come late in words have to be met."""


def share_of_times(kind: str | None) -> Fraction:
    """How much of the whole goes to times: of "starts", of all "symbols", or of nothing (None)."""
    return {None: Fraction(0), "starts": STARTS, "symbols": STARTS + DURATIONS}[kind]


def shares_of_depths(order: int) -> list[Fraction]:
    """How much each depth gets of what is left for the contexts."""
    parts = list(DEPTHS[min(order, max(DEPTHS))])
    parts += [parts[-1]] * (order - len(parts))
    return [Fraction(part, sum(parts)) for part in parts]


def signal_needed(order: int, cells: float, growth: float) -> float:
    """What ε·words has to be for contexts of this order; the arguments are those of `affordable_order`."""
    return max(SIGNAL * cells * growth ** min(order - 1, 1), DEEPER_SIGNAL * cells * growth ** (order - 1))


def affordable_order(epsilon: float, words: float, sides: int, cells: float, growth: float, most: int) -> int:
    """The longest contexts that the budget can tell apart.

    `cells` is how many counts pairs have, and each symbol more multiplies that by `growth`. `sides` is how many words
    neighbouring data differ in, as the noise sees it: 2 for replacing one word, k for k words of a person.
    """
    order = 1
    while order < most and epsilon * words / sides >= signal_needed(order + 1, cells, growth):
        order += 1
    return order


def events_at(depth: int, counted: int) -> int:
    """How many of the first `counted` events of a word are counted at a depth, at most.

    What comes first in a word has nothing before it, and what comes second only the beginning: such contexts are never
    divided further. So the first event is counted at depth 1 only, the second down to depth 2, and so on.
    """
    return max(counted - depth + 1, 0)


def events_to_count(epsilon: float, words: float, sides: int, cells: float, lengths: FloatArray) -> int:
    """How many events of a word, from its first, are counted; the noise grows with their number.

    One event more adds noise of `sides`/ε to every cell; without it the model knows nothing of what comes so late in a
    word. So the first events are counted, as many as a large enough part of the words has. How large it has to be grows
    with the noise; the two numbers in it were fitted to what came out best on page visits and bike trips.
    """
    longest = len(lengths)
    noise = cells * sides / max(epsilon * words, 1e-9)
    having = np.append(1.0, np.cumsum(lengths[::-1])[::-1])[:longest]  # [e]: the part of words with more than e events
    enough = int((having >= _ENOUGH * noise**_POWER).sum())
    lost = 1 - np.cumsum(having) / having.sum()
    return min(max(3, enough, int((lost > _MOST_LOST).sum()) + 1), longest)
