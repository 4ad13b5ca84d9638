"""The noise of a fit: how much of it the promise takes, the draw, and the error to expect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pathveil.models.calibration import Calibration, calibrate_each
from pathveil.models.chain.data import ChainData
from pathveil.models.chain.private_chain import RowForecast
from pathveil.models.chain.request import Mechanism, Request
from pathveil.models.counting import Counts, WordCounts
from pathveil.models.frequencies import draw_rows, row_rmse
from pathveil.models.laplace import CountNoise, count_noises, noisy_rows
from pathveil.numerics.arrays import FloatArray
from pathveil.randomness.source import RandomSource


class Drawn(NamedTuple):
    """The rows of the chain; and the probabilities of first symbols and of lengths, where they are learned."""

    rows: FloatArray
    first: FloatArray | None = None
    lengths: FloatArray | None = None


def noise_for(data: ChainData, asked: Request, mechanism: Mechanism) -> DirichletRowNoise | CountTableNoise:
    """Settle the noise that keeps the promise, from public numbers; an error if none does. Nothing is drawn yet."""
    return DirichletRowNoise(data, asked) if mechanism == "dirichlet" else CountTableNoise(data, asked, mechanism)


class DirichletRowNoise:
    """A Dirichlet draw for every row that has something to protect (MCM Algorithm 2)."""

    def __init__(self, data: ChainData, asked: Request) -> None:
        self._data = data
        noisy = data.to_protect
        settled = calibrate_each(
            data.successors[noisy].tolist(),
            (1 / data.records[noisy]).tolist(),
            asked.epsilon,
            asked.delta or 0.0,
            asked.floor,
            asked.mix,
        )
        self._calibrations: dict[int, Calibration] = dict(zip(np.flatnonzero(noisy).tolist(), settled, strict=True))

    def draw(self, source: RandomSource) -> Drawn:
        inside, noisy = self._data.inside, list(self._calibrations)
        values: FloatArray = inside / np.maximum(self._data.successors, 1)[:, None]
        if noisy:
            how = list(self._calibrations.values())
            _, values[noisy] = draw_rows(source, self._data.table[noisy], 1, inside[noisy], how)
        return Drawn(values)

    def forecasts(self) -> Iterator[RowForecast]:
        data = self._data
        for i, (state, records, size) in enumerate(
            zip(data.states.merged, data.records.tolist(), data.successors.tolist(), strict=True)
        ):
            drawn = self._calibrations.get(i)
            how = (None, None, None) if drawn is None else (drawn.floor, drawn.concentration, row_rmse(drawn))
            yield RowForecast(state, records, size, *how)


class CountTableNoise:
    """Integer noise on the counts, for each part its share of the budget."""

    def __init__(self, data: ChainData, asked: Request, mechanism: Mechanism) -> None:
        self._data, self._unit = data, asked.unit
        self._sum_is_public = asked.number_of_words_is_public
        self._noises = count_noises(
            mechanism, asked.epsilon, asked.delta or 0.0, asked.unit, asked.max_length, asked.shares, asked.whole
        )

    def draw(self, source: RandomSource) -> Drawn:
        data, found = self._data, self._data.drawn(source)
        table = found.transitions if isinstance(found, WordCounts) else found
        sizes = data.records if self._unit == "transition" else None
        rows = noisy_rows(source, table, data.inside, self._noises["transitions"], sizes)
        if not isinstance(found, WordCounts):
            return Drawn(rows)
        histograms = {
            part: self._noisy_histogram(source, counts, self._noises[part])
            for part, counts in (("first", found.first), ("lengths", found.lengths))
            if part in self._noises
        }
        return Drawn(rows, **histograms)

    def forecasts(self) -> Iterator[RowForecast]:
        data, noise = self._data, self._noises["transitions"]
        for state, size, records in zip(data.states.merged, data.successors, data.records, strict=True):
            if self._unit != "transition":
                yield RowForecast(state, None, int(size), None, None, None)
            else:
                rmse = noise.variance**0.5 / int(records) if records > 0 and size > 1 else None
                yield RowForecast(state, int(records), int(size), None, None, rmse)

    def _noisy_histogram(self, source: RandomSource, found: Counts, noise: CountNoise) -> FloatArray:
        """Probabilities; every word counts once, so their sum is the number of words, which may be private."""
        everywhere = np.ones((1, len(found)), dtype=bool)
        total = found.sum(keepdims=True) if self._sum_is_public else None
        return np.asarray(noisy_rows(source, found[None, :], everywhere, noise, total)[0])
