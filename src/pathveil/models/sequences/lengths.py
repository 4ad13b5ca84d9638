"""How long words are, and the factors that make a model end its words at the right rate.

The odds of ending are multiplied by one factor for each length, the same for all contexts: so the model keeps which
contexts end words, and its lengths are those of the private histogram.
"""

from __future__ import annotations

import numpy as np

from pathveil.models.frequencies import project_to_simplex
from pathveil.models.sequences.kernel_arrays import KernelArrays
from pathveil.numerics.arrays import FloatArray
from pathveil.randomness.source import RandomSource

_WALKERS = 2**17  # words that are made to see in which contexts the words of a length are
_SYMBOLS = 2**27  # of all of them together
_SMALLEST = 1e-3  # of a factor: no length becomes impossible
_LARGEST = 3.0  # of a factor: larger ones would end words in contexts that hardly ever end one


def as_distribution(counts: FloatArray) -> FloatArray:
    """Probabilities from noisy counts; all lengths alike where noise has left nothing."""
    total = float(counts.sum())
    if total <= 0 or not (counts > 0).any():
        return np.full(len(counts), 1 / len(counts))
    projected: FloatArray = project_to_simplex((counts / total)[None, :], np.ones((1, len(counts)), dtype=bool))[0]
    return projected


def stop_rates(lengths: FloatArray) -> FloatArray:
    """[k]: which part of the words with at least k + 1 symbols has no more."""
    left = np.cumsum(lengths[::-1])[::-1]
    rates: FloatArray = np.where(left > 1e-12, lengths / np.maximum(left, 1e-300), 1.0)
    return np.clip(rates, 0.0, 1.0)


def events_counted(lengths: FloatArray, events: int) -> tuple[float, float]:
    """Of the first `events` events of a word: how many there are on average, and how many of them are no end."""
    left = np.cumsum(lengths[::-1])[::-1]  # [k]: words with at least k + 1 symbols
    longest = min(events, len(lengths))
    going_on = float(left[:longest].sum())
    return 1.0 + float(left[: longest - 1].sum()), going_on


def end_factors(arrays: KernelArrays, lengths: FloatArray, source: RandomSource) -> FloatArray:
    """The factor for the odds of ending at each position (0: before the first symbol, where no word ends).

    So many words are made side by side; at each position the factor is the one with which as many of them end as the
    lengths say. Contexts that never or always end are left as they are.
    """
    longest = len(lengths)
    walkers = min(_WALKERS, max(_SYMBOLS // longest, 1))
    words = np.zeros((walkers, longest), dtype=np.int64)
    going = np.arange(walkers)
    factors = np.zeros(longest + 1)
    rates = stop_rates(lengths)
    for position in range(longest):
        rows = arrays.rows(words, going, position)
        if position > 0:
            odds = arrays.odds[rows]
            factors[position] = _factor(odds, float(rates[position - 1]))
            with np.errstate(invalid="ignore"):
                scaled = odds * factors[position]
                stops = np.where(np.isfinite(scaled), scaled / (1 + scaled), 1.0)
            goes_on = (source.uniform(len(going)) >= stops) & (arrays.inner[rows] > 0)
            going, rows = going[goes_on], rows[goes_on]
        if not len(going):
            factors[position + 1 :] = 1.0
            break
        arrays.extend(words, going, position, rows, source.uniform(len(going)))
    return factors


def _factor(odds: FloatArray, rate: float) -> float:
    """The factor f with which odds/(1/f + odds) is `rate` on average, as near as a factor can come to it."""
    open_odds = odds[(odds > 0) & np.isfinite(odds)]
    always = float(np.isinf(odds).sum())
    wanted = rate * len(odds) - always
    if not len(open_odds):
        return 1.0
    if wanted <= 0:
        return _SMALLEST
    if wanted >= len(open_odds):
        return _LARGEST
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        scaled = open_odds * np.exp(middle)
        if float((scaled / (1 + scaled)).sum()) < wanted:
            low = middle
        else:
            high = middle
    return min(max(float(np.exp((low + high) / 2)), _SMALLEST), _LARGEST)
