"""Figures of trips, literally: the obvious versions of what `places/metrics.py` computes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise

Word = Sequence[Hashable]


def divergence(p: Counter[Hashable], q: Counter[Hashable]) -> float:
    """Jensen–Shannon divergence in nats."""
    total = 0.0
    for key in p.keys() | q.keys():
        a, b = p[key] / p.total(), q[key] / q.total()
        for one in (a, b):
            if one:
                total += one * math.log(one / ((a + b) / 2)) / 2
    return total


def length(word: Word, place: dict[Hashable, tuple[float, float]]) -> float:
    return sum(math.dist(place[a], place[b]) for a, b in pairwise(word))


def diameter(word: Word, place: dict[Hashable, tuple[float, float]]) -> float:
    return max(math.dist(place[a], place[b]) for a in word for b in word)


def binned(values: list[float], largest: float) -> Counter[Hashable]:
    return Counter(min(int(20 * value / largest), 19) for value in values)


def pieces(words: Sequence[Word]) -> Counter[tuple[Hashable, ...]]:
    """How often each piece of two to eight symbols occurs."""
    return Counter(
        tuple(word[i : i + size]) for word in words for size in range(2, 9) for i in range(len(word) - size + 1)
    )
