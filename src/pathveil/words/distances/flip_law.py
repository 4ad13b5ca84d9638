"""The law of permute-and-flip with distances: as a mixture of exponential mechanisms, or by the costs of all words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from math import exp, log

import numpy as np

from pathveil.errors import TooLargeError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import ErrorLaw, permute_and_flip_log_law
from pathveil.words.distances.free import symbol_laws
from pathveil.words.distances.laws import independent_errors, law_of, marginals, wrong_symbols
from pathveil.words.distances.prices import Prices
from pathveil.words.distances.word_passes import WordPasses

_MOST_CLASSES = 500_000  # (state, cost, errors) at a position
_MOST_TERMS = 200
_ENOUGH = 1e-10
_TOO_MANY = "permute-and-flip's law takes too many terms here: symbols are too near each other"


class FlipCosts:
    """The law around one word by the number of feasible words of each cost, as exact numbers."""

    def __init__(self, compiled: CompiledSystem, prices: Prices, codes: IntArray, theta: float) -> None:
        self._compiled, self._prices, self._codes = compiled, prices, codes
        self._step = -log(prices.z(theta))

    @cached_property
    def _prefixes(self) -> list[Counter[tuple[int, int, int]]]:
        """After each position: how many prefixes lead to (state, cost, errors)."""
        found = [Counter({(self._compiled.start, 0, 0): 1})]
        alive = self._compiled.completable(len(self._codes))
        for i, code in enumerate(self._codes.tolist()):
            costs, after = self._prices.costs[code].tolist(), Counter[tuple[int, int, int]]()
            for (state, cost, errors), count in found[-1].items():
                for label, target in self._compiled.moves[state].items():
                    if alive[i + 1, target]:
                        after[target, cost + costs[label], errors + (label != code)] += count
            if len(after) > _MOST_CLASSES:
                raise TooLargeError(
                    "words around this one have too many different costs to count them all. Take distances with "
                    "fewer `steps`, or the exponential mechanism, whose law needs no such table."
                )
            found.append(after)
        return found

    @cached_property
    def log_probability_by_cost(self) -> dict[int, float]:
        """log P(output) for an output of this cost."""
        counts: Counter[int] = Counter()
        for (_, cost, _), count in self._prefixes[-1].items():
            counts[cost] += count
        costs = sorted(counts)
        law = permute_and_flip_log_law([counts[cost] for cost in costs], np.array([-self._step * c for c in costs]))
        return {cost: float(law[i]) - log(counts[cost]) for i, cost in enumerate(costs)}

    def wrong_symbols(self) -> ErrorLaw:
        """The law of the number of wrong symbols."""
        pmf = np.zeros(len(self._codes) + 1)
        for (_, cost, errors), count in self._prefixes[-1].items():
            pmf[errors] += exp(self.log_probability_by_cost[cost] + log(count))
        return law_of(pmf)

    def marginals(self) -> FloatArray:
        """P(private symbol) at each position."""
        rows = np.zeros((len(self._codes), self._compiled.symbol_count))
        after = {(state, cost): self.log_probability_by_cost[cost] for state, cost, _ in self._prefixes[-1]}
        for i in range(len(self._codes) - 1, -1, -1):
            costs, here = self._prices.costs[self._codes[i]].tolist(), dict[tuple[int, int], float]()
            for (state, cost, _), count in self._prefixes[i].items():
                ways = [
                    (label, after[target, cost + costs[label]])
                    for label, target in self._compiled.moves[state].items()
                    if (target, cost + costs[label]) in after
                ]
                for label, weight in ways:
                    rows[i, label] += exp(weight + log(count))
                here[state, cost] = float(np.logaddexp.reduce([weight for _, weight in ways]))
            after = here
        return rows


class FlipMixture:
    """Permute-and-flip as a mixture of exponential mechanisms at the tilts θ, 2θ, 3θ, …

    With p = z^cost, 1/(1 - pt) = Σ p^k t^k, a word other than the true one has the probability
    Σ_k a_k p^k, a_k = ∫ t^(k-1) (1-t) G(t) dt, where log G(t) = -Σ_r (t^r/r) (F(z^r) - 1). So whatever is additive over
    words follows from the exponential mechanism at z^k. What the missing terms weigh is known: all weights add up to 1.
    """

    def __init__(self, compiled: CompiledSystem, prices: Prices, codes: IntArray, theta: float) -> None:
        self._compiled, self._prices, self._codes, self._theta = compiled, prices, codes, theta
        self._z = prices.z(theta)

    def marginals(self) -> FloatArray:
        """P(private symbol) at each position."""
        try:
            return self._mixed_marginals()
        except TooLargeError:  # where terms hardly fall there are few words, or none could be told apart
            return FlipCosts(self._compiled, self._prices, self._codes, self._theta).marginals()

    def wrong_symbols(self) -> ErrorLaw:
        """The law of the number of wrong symbols."""
        try:
            return self._mixed_wrong_symbols()
        except TooLargeError:
            return FlipCosts(self._compiled, self._prices, self._codes, self._theta).wrong_symbols()

    def _mixed_marginals(self) -> FloatArray:
        total: FloatArray = np.zeros((len(self._codes), self._compiled.symbol_count))
        for weight, k in self._terms():
            total += weight * self._marginals_at(k)
        rows = np.arange(len(self._codes))
        total[rows, self._codes] += 1 - total.sum(axis=1)
        return total

    def _mixed_wrong_symbols(self) -> ErrorLaw:
        pmf = np.zeros(len(self._codes) + 1)
        for weight, k in self._terms():
            pmf += weight * self._errors_at(k).pmf
        pmf[0] += 1 - pmf.sum()
        return law_of(pmf)

    def _terms(self) -> Iterator[tuple[float, int]]:
        """(a_k F(z^k), k): what the exponential mechanism at z^k weighs; the true word takes what is left to 1.

        No terms at all where all other words together weigh next to nothing.
        """
        others = [self._others(1)]
        if others[0] == 0:
            return
        t, dt = _nodes(others[0])
        exponent, r = np.zeros_like(t), 0
        while True:
            r += 1
            if r > len(others):
                others.append(self._others(r))
            term = t**r / r * others[r - 1]
            exponent -= term
            if r > 1 and float((term / np.maximum(1 - t * self._nearest_power, 1e-9)).max()) < _ENOUGH:
                break
            if r >= _MOST_TERMS:
                raise TooLargeError(_TOO_MANY)
        g = np.exp(exponent)
        missing, k = 1.0 - float(dt @ g), 0  # of all words but the true one
        while missing > _ENOUGH and k < _MOST_TERMS:
            k += 1
            if k > len(others):
                others.append(self._others(k))
            weight = float(dt @ (t ** (k - 1) * (1 - t) * g))
            missing -= weight * others[k - 1]
            yield weight * (1 + others[k - 1]), k
        if missing > 1e-6:
            raise TooLargeError(_TOO_MANY)

    @property
    def _nearest_power(self) -> float:
        costs = self._prices.costs
        return float(self._z ** int(costs[costs > 0].min(initial=1)))

    def _passes(self, k: int) -> WordPasses:
        return WordPasses(self._compiled, self._prices, self._codes, self._z, k)

    def _others(self, k: int) -> float:
        """F(z^k) - 1."""
        if self._compiled.is_free:
            rows = self._prices.powers(self._z, k)[self._prices.costs[self._codes]]
            rows[np.arange(len(rows)), self._codes] = 0.0
            return float(np.expm1(np.log1p(rows.sum(axis=1)).sum()))
        return max(float(np.expm1(self._passes(k).log_normaliser)), 0.0)

    def _marginals_at(self, k: int) -> FloatArray:
        if self._compiled.is_free:
            return symbol_laws(self._prices, self._codes, self._theta, k)
        return marginals(self._compiled, self._passes(k).transitions(), len(self._codes))

    def _errors_at(self, k: int) -> ErrorLaw:
        if self._compiled.is_free:
            laws = symbol_laws(self._prices, self._codes, self._theta, k)
            return independent_errors(1 - laws[np.arange(len(laws)), self._codes])
        return wrong_symbols(self._compiled, self._passes(k).transitions(), self._codes)


def _nodes(rate: float) -> tuple[FloatArray, FloatArray]:
    """Gauss–Legendre nodes and weights on [0, 1] for functions that fall like e^(-rate · t), on growing panels."""
    points, weights = np.polynomial.legendre.leggauss(40)
    end = min(1.0, 128.0 / rate)
    edges = np.unique(np.minimum(np.concatenate([[0.0, 0.5], 2.0 ** np.arange(8)]) / max(rate, 1.0), end))
    if edges[-1] < end:
        edges = np.append(edges, end)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (1 + points)).ravel(), (half * weights).ravel()
