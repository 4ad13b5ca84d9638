"""How long words are, and what makes the words of a model as long.

The odds of ending are multiplied by one factor for each length, the same for all contexts: so the model keeps which
contexts end words. A factor only goes so far: more would end words where none ends, or keep words that are about to end
from doing so. What is missing then is done by *weights*: a word of n symbols is as likely as the model with its factors
says, times the weight of n. All words of a length keep their proportions, so their ends are right, too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pathveil.models.frequencies import project_to_simplex
from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.kernel_arrays import KernelArrays
from pathveil.numerics.arrays import FloatArray

_SMALLEST, _LARGEST = 0.5, 1.5  # of a factor
_LEAST_WEIGHT, _LARGEST_WEIGHT = 1e-3, 8.0  # no length becomes impossible, and none too common
_MOST_IN_VAIN = 32.0  # words are drawn at most so often for one that is taken
_LEFT_OUT = 0.5  # of the words of a length, at most: where nearly all are kept whole, what is left is not known well
_NEGLIGIBLE = 0.02  # weights that are all as near to 1 are not worth having
_MOST_STEPS = 2**32  # over all cells and positions; from there on, contexts are taken to be as common as before


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


class Corrections(NamedTuple):
    """What makes the words of a model as long as those of the data."""

    factors: FloatArray
    """For the odds of ending after so many symbols (0: before the first symbol, where no word ends)."""
    weights: FloatArray
    """[k]: for words of k + 1 symbols; on average 1 over all words of the model."""
    of_kept: FloatArray
    """How likely the model makes each of the words that are kept whole, as far as these are left out of its words."""
    ends: FloatArray | None = None
    """[a, b]: for words from a to b, where ends were counted; on average 1, together with the weights."""


def length_corrections(arrays: KernelArrays, lengths: FloatArray, kept: CodedWords) -> Corrections:
    """Factors, and weights where they do not go far enough; `lengths` are those of the words that are not kept whole.

    All words of the model are followed at once, a symbol at a time: which part of them is in each row.
    """
    longest = len(lengths)
    factors, made = np.zeros(longest + 1), np.zeros(longest)
    here = np.zeros(len(arrays.odds))
    here[arrays.row_after(np.zeros(0, dtype=np.int64))] = 1.0
    for position, rate in enumerate(np.append(0.0, stop_rates(lengths)[:-1])):
        going = here
        if position > 0:
            factors[position] = _factor(arrays.odds, here, float(rate))
            stops = arrays.stops(float(factors[position]))
            made[position - 1] = float((here * stops).sum())
            going = here * (1 - stops)
        if position * len(arrays.shares) < _MOST_STEPS:
            here = arrays.go_on(going)
        else:
            here = here * (going.sum() / max(float(here.sum()), 1e-300))
    made[-1] = float(here.sum())
    probabilities = np.exp(arrays.log_probabilities(kept, factors))
    of_kept = np.bincount(kept.lengths - 1, probabilities, longest)
    left_out = np.minimum(of_kept, _LEFT_OUT * made)
    weights = _weights(lengths, made, left_out)
    part = weights * left_out / np.maximum(of_kept, 1e-300)
    return Corrections(factors, weights, probabilities * part[kept.lengths - 1])


def _weights(wanted: FloatArray, made: FloatArray, left_out: FloatArray) -> FloatArray:
    """How much more common each length has to be, where some of the words that are made do not count."""
    others = (made - left_out) / (1 - float(left_out.sum()))
    weights = np.where(others > 0, wanted / np.maximum(others, 1e-300), 1.0)
    weights = np.clip(weights, _LEAST_WEIGHT, _LARGEST_WEIGHT)
    if float(np.abs(weights - 1)[made > 1e-9].max(initial=0.0)) < _NEGLIGIBLE:
        return np.ones(len(made))
    mean, top = float((made * weights).sum()), float(weights.max())
    if top > _MOST_IN_VAIN * mean:  # nearly all that is made has a length that hardly any word shall have
        raised = (top - _MOST_IN_VAIN * mean) / (_MOST_IN_VAIN - 1)
        weights, mean = weights + raised, mean + raised
    scaled: FloatArray = weights / mean
    return scaled


def _factor(odds: FloatArray, here: FloatArray, rate: float) -> float:
    """The factor f with which the part odds/(1/f + odds) of the words is `rate` in all, as near as a factor comes."""
    may = (odds > 0) & np.isfinite(odds) & (here > 0)
    open_odds, part = odds[may], here[may]
    wanted = rate * float(here.sum()) - float(here[np.isinf(odds)].sum())
    if not len(open_odds):
        return 1.0
    if wanted <= 0:
        return _SMALLEST
    if wanted >= float(part.sum()):
        return _LARGEST
    low, high = math.log(_SMALLEST), math.log(_LARGEST)
    for _ in range(50):
        middle = (low + high) / 2
        scaled = open_odds * math.exp(middle)
        if float((part * scaled / (1 + scaled)).sum()) < wanted:
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2)
