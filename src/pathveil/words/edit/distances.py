"""Edit distances of many words at once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pathveil.numerics.arrays import IntArray
from pathveil.numerics.jit import compiled


def distances_from(word: IntArray, others: Iterable[IntArray]) -> IntArray:
    """The smallest number of insertions, deletions and substitutions that turn the word into each of the others."""
    listed = list(others)
    offsets = np.cumsum([0, *map(len, listed)])
    values = np.concatenate([np.empty(0, dtype=np.int64), *listed])
    return edit_distances(word, np.array([0, len(word)]), values, offsets)


def edit_distances(values: IntArray, offsets: IntArray, other_values: IntArray, other_offsets: IntArray) -> IntArray:
    """The smallest number of insertions, deletions and substitutions between word i and other word i, for every i.

    Words lie one after the other in `values`, word i from offsets[i] to offsets[i + 1]; a single first word is compared
    with all others.
    """
    distances: IntArray = compiled(_edit_distances)(values, offsets, other_values, other_offsets)
    return distances


def _edit_distances(values: IntArray, offsets: IntArray, other_values: IntArray, other_offsets: IntArray) -> IntArray:
    count = len(other_offsets) - 1
    longest = 0
    for i in range(len(offsets) - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    row = np.empty(longest + 1, dtype=np.int64)
    distances = np.empty(count, dtype=np.int64)
    for i in range(count):
        first = i if len(offsets) > 2 else 0
        begin, n = offsets[first], offsets[first + 1] - offsets[first]
        for j in range(n + 1):
            row[j] = j
        for place in range(other_offsets[i], other_offsets[i + 1]):
            symbol, diagonal = other_values[place], row[0]
            row[0] += 1
            for j in range(1, n + 1):
                above = row[j]
                replaced = diagonal + (1 if values[begin + j - 1] != symbol else 0)
                row[j] = min(replaced, above + 1, row[j - 1] + 1)
                diagonal = above
        distances[i] = row[n]
    return distances
