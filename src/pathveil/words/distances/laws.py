"""How far private words are from the true one: wrong symbols, and distances in the units of the coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import ErrorLaw
from pathveil.words.distances.prices import Prices


class DistanceLaw:
    """How far a private symbol is from the true one, at a position chosen at random: `mean`, `quantile(q)`.

    In the units of the coordinates. It depends on the sensitive word: it is for the curator.
    """

    def __init__(self, distances: FloatArray, probabilities: FloatArray) -> None:
        kept = probabilities > 0
        order = np.argsort(distances[kept], kind="stable")
        self._distances, self._probabilities = distances[kept][order], probabilities[kept][order]

    @classmethod
    def of(cls, prices: Prices, codes: IntArray, marginals: FloatArray) -> DistanceLaw:
        """From P(private symbol) at each position, a row for each."""
        rows = np.stack([prices.distance.distances_from(int(code)) for code in codes])
        return cls(rows.reshape(-1), marginals.reshape(-1) / len(codes))

    @classmethod
    def average(cls, laws: Iterable[DistanceLaw]) -> DistanceLaw:
        """The law for a word chosen at random."""
        listed = list(laws)
        probabilities = np.concatenate([law._probabilities for law in listed]) / len(listed)
        return cls(np.concatenate([law._distances for law in listed]), probabilities)

    @property
    def mean(self) -> float:
        """The expected distance of a symbol."""
        return float(self._distances @ self._probabilities / self._probabilities.sum())

    def quantile(self, q: float) -> float:
        """The smallest distance that is not exceeded with probability at least q."""
        if not 0 <= q <= 1:
            raise InvalidParameterError(f"a quantile is asked for at a probability from 0 to 1, not at {q!r}")
        sums = np.cumsum(self._probabilities)
        reached = np.searchsorted(sums, min(q, 1 - 1e-12) * sums[-1])
        return float(self._distances[min(int(reached), len(sums) - 1)])

    def __repr__(self) -> str:
        return f"DistanceLaw(mean {self.mean:.6g}, nine in ten within {self.quantile(0.9):.6g})"


def marginals(compiled: CompiledSystem, transitions: Iterator[FloatArray], length: int) -> FloatArray:
    """P(private symbol) at each position, from the probability of each edge given its state."""
    rows = np.zeros((length, compiled.symbol_count))
    states: FloatArray = np.zeros(compiled.state_count)
    states[compiled.start] = 1.0
    for row, probabilities in zip(rows, transitions, strict=True):
        flow = states[compiled.sources] * probabilities
        row[:] = np.bincount(compiled.labels, flow, minlength=compiled.symbol_count)
        states = np.zeros_like(states)
        np.add.at(states, compiled.targets, flow)
    return rows


def wrong_symbols(compiled: CompiledSystem, transitions: Iterator[FloatArray], codes: IntArray) -> ErrorLaw:
    """The law of the number of wrong symbols, forward over (state, number of them)."""
    order, _ = compiled.edges_by_target
    entered, first = np.unique(compiled.targets[order], return_index=True)
    mass = np.zeros((compiled.state_count, len(codes) + 1))
    mass[compiled.start, 0] = 1.0
    for code, probabilities in zip(codes, transitions, strict=True):
        flow = mass[compiled.sources[order]] * probabilities[order, None]
        wrong = compiled.labels[order] != code
        flow[wrong, 1:] = flow[wrong, :-1]
        flow[wrong, 0] = 0.0
        mass = np.zeros_like(mass)
        mass[entered] = np.add.reduceat(flow, first, axis=0)
    return law_of(mass.sum(axis=0))


def independent_errors(wrong: FloatArray) -> ErrorLaw:
    """The law of the number of wrong symbols, each wrong with a probability of its own."""
    pmf: FloatArray = np.ones(1)
    for p in wrong:
        pmf = np.convolve(pmf, np.array([1 - p, p]))
    return law_of(pmf)


def law_of(pmf: FloatArray) -> ErrorLaw:
    """A law of the number of errors from its probabilities."""
    with np.errstate(divide="ignore"):
        return ErrorLaw(np.log(np.maximum(pmf, 0.0)))
