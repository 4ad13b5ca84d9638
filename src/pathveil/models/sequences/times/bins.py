"""The public bins of times: the 168 hours of a week, and durations by powers of two from one second to 97 days.

Bins are declared here and not read off the data. A duration below one second is in bin 0, one of at least 2^(k-1) and
less than 2^k seconds in bin k. Longer ones than the last bin has are counted in it.
"""

from __future__ import annotations

import numpy as np

from pathveil.numerics.arrays import FloatArray, IntArray

HOURS = 168
DURATIONS = 24

_THURSDAY = 72  # 1970-01-01, where seconds are counted from, was a Thursday; weeks begin on Monday


def hour_of_week(seconds: FloatArray) -> IntArray:
    """0 is the hour after midnight of a Monday; `seconds` are counted from the beginning of 1970."""
    hours = (np.floor(seconds / 3600) + _THURSDAY) % HOURS
    return hours.astype(np.int64)


def duration_bin(seconds: FloatArray) -> IntArray:
    """The bin of each duration (in seconds, none of them negative)."""
    _, exponent = np.frexp(seconds)
    found = np.where(seconds < 1, 0, np.minimum(exponent, DURATIONS - 1))
    return found.astype(np.int64)


def duration_in(bins: IntArray, numbers: FloatArray) -> IntArray:
    """A whole number of seconds in each bin, from a number in (0, 1): its logarithm is uniform."""
    return np.where(bins == 0, 0, np.floor(2.0 ** (bins - 1 + numbers))).astype(np.int64)
