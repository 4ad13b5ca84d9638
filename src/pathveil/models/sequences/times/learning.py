"""Learn times with noise: two tables of counts over public bins, each with its own share of the budget.

- *Starts*: in which hour of the week each word begins. A word adds 1.
- *Durations*: how long it took from a symbol to the next, by symbol. A word adds at most 1 for each duration that is
  counted, and no more than a number of them, from its first, that is chosen without a look at the times.

What is done with the noisy counts reads nothing else. A table of hours is drawn towards days times hours of the day,
each line of durations towards the durations of all symbols, as far as noise hides the difference.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from pathveil.models.laplace import laplace_noise
from pathveil.models.people import WholeWords
from pathveil.models.sequences import budget
from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.estimate import drawn_to_expected
from pathveil.models.sequences.lengths import as_distribution
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
    """Both tables. `epsilon` is that of the whole model, `known` its number of words and their lengths, both noisy."""
    number, lengths = known
    noise = laplace_noise(epsilon * budget.STARTS, whole.sensitivity(1)[0])
    hours = count_starts(times) + noise.draw(source, HOURS)
    starts = smooth_hours(hours.astype(float), noise.variance, number)
    if times.symbols is None or len(lengths) < 2:
        return LearnedTimes(starts, None, 0)
    share = epsilon * budget.DURATIONS
    counted = budget.events_to_count(
        float(share), number, whole.sensitivity(1)[0], symbols * DURATIONS, lengths[1:]
    )  # a word of n symbols has n - 1 durations
    noise = laplace_noise(share, whole.sensitivity(counted)[0])
    exact = count_durations(words, times, symbols, counted)
    noisy = exact + noise.draw(source, exact.size).reshape(exact.shape)
    return LearnedTimes(starts, smooth_durations(noisy.astype(float), noise.variance), counted)


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
    expected = np.outer(as_distribution(table.sum(axis=1)), as_distribution(table.sum(axis=0))).ravel()
    one_row = np.zeros(HOURS, dtype=np.int64)
    shares, _ = drawn_to_expected(one_row, 1, noisy, np.full(HOURS, variance), expected, np.array([max(number, 1.0)]))
    return shares


def smooth_durations(noisy: FloatArray, variance: float) -> FloatArray:
    """Probabilities of durations after each symbol."""
    symbols = len(noisy)
    pooled = np.tile(as_distribution(noisy.sum(axis=0)), symbols)
    row = np.repeat(np.arange(symbols), DURATIONS)
    sizes = np.maximum(noisy.sum(axis=1), 0.0)
    shares, _ = drawn_to_expected(row, symbols, noisy.ravel(), np.full(noisy.size, variance), pooled, sizes)
    return shares.reshape(symbols, DURATIONS)
