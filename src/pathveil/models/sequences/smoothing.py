"""Noisy counts of lengths, smoothed as far as the noise asks for it. Post-processing: only noisy numbers are read.

Neighbouring lengths are about equally common, but for differences that are the larger, the more words there are. So
the counts are taken for a random walk whose steps have a standard deviation in proportion to the level around, seen
through noise of known variance. How rough the walk is comes from the noisy counts themselves: of some values the one is
taken that makes them likeliest. Where noise is small against the counts, nothing is changed.
"""

from __future__ import annotations

import numpy as np

from pathveil.numerics.arrays import FloatArray

_ROUGHNESS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 6.4)
"""Standard deviations of a step, as parts of the level."""

_WINDOW = 2  # lengths to each side that the level is averaged over


def smoothed(counts: FloatArray, variances: FloatArray) -> FloatArray:
    """The counts of the lengths 1, 2, … without the part of their differences that noise explains.

    The last one is left alone: it counts all words that were cut there.
    """
    inner = len(counts) - 1
    if inner < 3:
        return counts
    level = _level(counts[:inner], variances[:inner])
    best, found = -np.inf, counts[:inner]
    for roughness in _ROUGHNESS:
        fits, walk = _walk(counts[:inner], variances[:inner], (roughness * level) ** 2)
        if fits > best:
            best, found = fits, walk
    return np.append(found, counts[inner:])


def _level(counts: FloatArray, variances: FloatArray) -> FloatArray:
    """About how many words there are of each length and the next, never less than noise could hide."""
    sums = np.append(0.0, np.cumsum(counts))
    at = np.arange(len(counts) - 1)
    low, high = np.maximum(at - _WINDOW + 1, 0), np.minimum(at + _WINDOW + 1, len(counts))
    spread = np.append(0.0, np.cumsum(variances))
    hidden = np.sqrt(spread[high] - spread[low]) / (high - low)
    level: FloatArray = np.maximum((sums[high] - sums[low]) / (high - low), hidden / 2 + 1e-9)
    return level


def _walk(counts: FloatArray, variances: FloatArray, steps: FloatArray) -> tuple[float, FloatArray]:
    """How likely such a walk makes the counts (a logarithm, up to a constant), and its most likely course."""
    from scipy import linalg

    banded = np.zeros((2, len(counts)))
    banded[1] = 1 / variances
    banded[1, :-1] += 1 / steps
    banded[1, 1:] += 1 / steps
    banded[0, 1:] = -1 / steps
    root = linalg.cholesky_banded(banded)
    walk: FloatArray = linalg.cho_solve_banded((root, False), counts / variances)
    fits = -0.5 * float(np.log(steps).sum()) - float(np.log(root[1]).sum())
    return fits - 0.5 * float((counts * (counts - walk) / variances).sum()), walk
