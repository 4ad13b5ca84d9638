"""Mechanisms with distances, literally: every word, every cost, every loss."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf, log

import numpy as np

import pathveil as pv
from tests.reference.enumeration import feasible_words, law_by_permuting_and_flipping

Word = tuple
Law = dict[Word, float]


def rounded_up(apart: np.ndarray, radius: float, steps: int) -> np.ndarray:
    """Costs in steps, by their definition."""
    costs = np.zeros(apart.shape, dtype=int)
    for i, j in np.ndindex(apart.shape):
        if i != j:
            costs[i, j] = min(max(ceil(steps * apart[i, j] / radius - 1e-9), 1), steps) if radius else steps
    return costs


def is_metric(costs: np.ndarray) -> bool:
    """Symmetric, and no way around is shorter."""
    table = costs.astype(int)
    count = range(len(table))
    ways = all(table[i, j] <= table[i, k] + table[k, j] for i in count for j in count for k in count)
    return ways and bool((table == table.T).all())


class Enumerated:
    """A world with distances, small enough to look at everything."""

    def __init__(self, world: pv.System, distance: pv.SymbolDistance, within: float | None) -> None:
        self.world, self.within = world, within
        self.distance = distance.ordered(world.symbols)
        self.code = {symbol: code for code, symbol in enumerate(world.symbols)}

    def cost(self, w: Word, v: Word) -> int:
        return sum(int(self.distance.costs[self.code[x], self.code[y]]) for x, y in zip(w, v, strict=True))

    def metres(self, w: Word, v: Word) -> float:
        return sum(self.distance.distance(x, y) for x, y in zip(w, v, strict=True)) / len(w)

    def exponential_law(self, word: Word, z: float) -> Law:
        weights = {v: z ** self.cost(word, v) for v in self._words(len(word))}
        total = sum(weights.values())
        return {v: weight / total for v, weight in weights.items()}

    def permute_and_flip_law(self, word: Word, z: float) -> Law:
        words = self._words(len(word))
        least = min(self.cost(word, v) for v in words)
        law = law_by_permuting_and_flipping([z ** (self.cost(word, v) - least) for v in words])
        return dict(zip(words, law, strict=True))

    def online_law(self, word: Word, z: float) -> Law:
        """Symbol by symbol, among those that some feasible word has next."""
        law: Law = {}
        for v in self._words(len(word)):
            p = 1.0
            for i, x in enumerate(word):
                next_ones = sorted({u[i] for u in self._words(i + 1) if u[:i] == v[:i]}, key=self.code.__getitem__)
                weights = {y: z ** int(self.distance.costs[self.code[x], self.code[y]]) for y in next_ones}
                p *= weights[v[i]] / sum(weights.values())
            law[v] = p
        return law

    def are_adjacent(self, w: Word, v: Word, adjacency: int) -> bool:
        moved = [(x, y) for x, y in zip(w, v, strict=True) if x != y]
        near = self.within is None or all(self.distance.distance(x, y) <= self.within for x, y in moved)
        return 0 < len(moved) <= adjacency and near

    def worst_loss(self, laws: dict[Word, Law], adjacency: int) -> float:
        worst = 0.0
        for w, law in laws.items():
            for v, other in laws.items():
                if self.are_adjacent(w, v, adjacency):
                    worst = max(worst, *(log(p / other[u]) if other[u] else inf for u, p in law.items() if p))
        return worst

    def _words(self, length: int) -> Sequence[Word]:
        return [tuple(word) for word in feasible_words(self.world, length)]
