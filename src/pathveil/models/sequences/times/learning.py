"""Learn times with noise: three tables of counts over public bins, each with its own share of the budget.

- *Starts*: in which hour of the week each word begins. A word adds 1.
- *Durations*: how long it took from a symbol to the next. A word adds 1 for each duration that is counted, and no more
  than a number of them, from its first, that is chosen without a look at the times.
- *Durations by symbol*: the same for each symbol by itself. Their sum says the same as the table before, but with the
  noise of all symbols.

What is done with the noisy counts reads nothing else. Hours of the week are drawn towards days times hours of the day,
durations after a symbol towards those of all symbols, and these and the days and hours towards equal counts, as far as
noise hides the difference (`drawn_to_expected`).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from pathveil.models.laplace import laplace_noise
from pathveil.models.people import WholeWords
from pathveil.models.sequences import budget
from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.contexts import drawn_to_expected
from pathveil.models.sequences.times.bins import DURATIONS, HOURS, duration_bin, hour_of_week
from pathveil.models.sequences.times.learned import LearnedTimes
from pathveil.models.sequences.times.moments import WordTimes
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.randomness.source import RandomSource


def learn_times(
    words: CodedWords,
    times: WordTimes,
    symbols: int,
    epsilon: Fraction,
    whole: WholeWords,
    known: tuple[float, FloatArray],
    source: RandomSource,
) -> LearnedTimes:
    """All tables. `epsilon` is that of the whole model, `known` its number of words and their lengths, both noisy."""
    number, lengths = known
    noise = laplace_noise(epsilon * budget.STARTS, whole.sensitivity(1)[0])
    hours = count_starts(times) + noise.draw(source, HOURS)
    starts = smooth_hours(hours.astype(float), noise.variance, number)
    if times.symbols is None or len(lengths) < 2:
        return LearnedTimes(starts, None, 0)
    share_of_all = epsilon * budget.DURATIONS * budget.OF_ALL_SYMBOLS
    share, sides = epsilon * budget.DURATIONS - share_of_all, whole.sensitivity(1)[0]
    # A word of n symbols has n - 1 durations.
    counted = budget.events_to_count(float(share), number, sides, symbols * DURATIONS, lengths[1:])
    exact = count_durations(words, times, symbols, counted)
    of_all = laplace_noise(share_of_all, whole.sensitivity(counted)[0])
    by_symbol = laplace_noise(share, whole.sensitivity(counted)[0])
    together = exact.sum(axis=0) + of_all.draw(source, DURATIONS)
    noisy = exact + by_symbol.draw(source, exact.size).reshape(exact.shape)
    gaps = number * float(np.minimum(np.arange(len(lengths)), counted) @ lengths)
    pooled = smooth_all(together.astype(float), of_all.variance, noisy.astype(float), by_symbol.variance, gaps)
    return LearnedTimes(starts, smooth_by_symbol(noisy.astype(float), by_symbol.variance, pooled), counted)


def count_starts(times: WordTimes) -> IntArray:
    """How many words begin in each hour of the week."""
    return np.bincount(hour_of_week(times.starts), minlength=HOURS)


def count_durations(words: CodedWords, times: WordTimes, symbols: int, counted: int) -> IntArray:
    """[x, d]: how often it took a duration of bin d from the symbol x to the next, in the first `counted` of a word."""
    assert times.symbols is not None
    lengths = words.lengths
    position = np.arange(len(words.values)) - np.repeat(words.offsets[:-1], lengths)
    used = (position < counted) & (position + 1 < np.repeat(lengths, lengths))
    here = np.flatnonzero(used)
    bins = duration_bin(times.symbols[here + 1] - times.symbols[here])
    cells = words.values[here] * DURATIONS + bins
    return np.bincount(cells, minlength=symbols * DURATIONS).reshape(symbols, DURATIONS)


def smooth_hours(noisy: FloatArray, variance: float, number: float) -> FloatArray:
    """Probabilities of the hours of a week."""
    table = noisy.reshape(7, 24)
    days = _smooth(table.sum(axis=1), 24 * variance, np.full(7, 1 / 7), number)
    hours = _smooth(table.sum(axis=0), 7 * variance, np.full(24, 1 / 24), number)
    return _smooth(noisy, variance, np.outer(days, hours).ravel(), number)


def smooth_all(
    together: FloatArray, variance: float, by_symbol: FloatArray, variance_by_symbol: float, number: float
) -> FloatArray:
    """Probabilities of durations after any symbol, from the table of all and the sum of those by symbol."""
    other = len(by_symbol) * variance_by_symbol
    weight = other / (variance + other)
    count = weight * together + (1 - weight) * by_symbol.sum(axis=0)
    return _smooth(count, weight * variance, np.full(DURATIONS, 1 / DURATIONS), number)


def smooth_by_symbol(noisy: FloatArray, variance: float, pooled: FloatArray) -> FloatArray:
    """Probabilities of durations after each symbol, drawn towards those after any."""
    symbols = len(noisy)
    row = np.repeat(np.arange(symbols), DURATIONS)
    sizes = np.maximum(noisy.sum(axis=1), 0.0)
    flat, spread = noisy.ravel(), np.full(noisy.size, variance)
    shares, _ = drawn_to_expected(row, symbols, flat, spread, np.tile(pooled, symbols), sizes)
    return shares.reshape(symbols, DURATIONS)


def _smooth(noisy: FloatArray, variance: float, expected: FloatArray, number: float) -> FloatArray:
    """Probabilities from noisy counts of `number` things in all, drawn towards what is expected."""
    size, one_row = len(noisy), np.zeros(len(noisy), dtype=np.int64)
    total = np.array([max(number, 1.0)])
    shares, _ = drawn_to_expected(one_row, 1, noisy, np.full(size, variance), expected, total)
    return shares
