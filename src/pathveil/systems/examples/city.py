"""Street networks of any size, for tests, benchmarks and trying out: `pv.example_city`.

Junctions lie on a grid of blocks. The city is made up, and the same number of junctions with the same seed is always
the same city, on every machine.
"""

from __future__ import annotations

import operator
from math import isqrt
from typing import Any

import numpy as np
from scipy import sparse

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import BoolArray, IntArray
from pathveil.systems.markov_chain import MarkovChain

_SMALLEST, _LARGEST = 4, 10_000_000
_MISSING = 0.35  # of the streets that are not needed to get everywhere
_ONE_WAY = 0.5  # of the rows and columns of the grid


def example_city(junctions: int = 10_000, seed: int = 0, **options: Any) -> MarkovChain:
    """A made-up city of so many junctions (4 to 10,000,000) as a Markov chain: a word is a sequence of junctions.

    Junctions are the numbers 0, 1, …, row after row of a grid. Half of the streets are one-way, links between
    neighbouring junctions are missing here and there, and some streets end blindly, so that one can only turn round.
    Still, every junction can be reached from every other: a tree of two-way streets leads everywhere. `seed` gives
    another city. Options (`initial`, `final`) are those of `MarkovChain`.

    A million junctions take a few seconds.

    >>> import pathveil as pv
    >>> pv.example_city(10_000)
    MarkovChain(10000 states, 29489 transitions; words begin anywhere)
    """
    count = _checked_junctions(junctions)
    columns = isqrt(count - 1) + 1
    here, there, forth, back = _streets(count, columns, _Bits(_checked_seed(seed)))
    rows = np.concatenate([here[forth], there[back]])
    ends = np.concatenate([there[forth], here[back]])
    weights = sparse.csr_array((np.ones(len(rows)), (rows, ends)), shape=(count, count))
    return MarkovChain.from_counts(range(count), weights, **options)


def _streets(count: int, columns: int, bits: _Bits) -> tuple[IntArray, IntArray, BoolArray, BoolArray]:
    """All links of the grid: where they begin and end, and whether they may be used forth and back."""
    junction = np.arange(count)
    row, column = junction // columns, junction % columns
    # Each junction is joined for good to the one above it or to its left, so that all of them hang together.
    upwards = bits.chosen(count, 0.5)
    upwards[column == 0] = True
    upwards[row == 0] = False
    above, left = junction[row > 0], junction[column > 0]
    here, there = np.concatenate([above, left]), np.concatenate([above - columns, left - 1])
    kept = np.concatenate([upwards[above], ~upwards[left]])
    # The other links are missing here and there; those along a one-way street can be used in its direction only.
    streets = bits.chosen(int(row[-1]) + 1, _ONE_WAY)
    avenues = bits.chosen(columns, _ONE_WAY)
    one_way = np.concatenate([avenues[column[above]], streets[row[left]]])
    direction = np.concatenate([column[above], row[left]]) % 2 == 0
    there_is_one = kept | ~bits.chosen(len(here), _MISSING)
    forth = there_is_one & (kept | ~one_way | direction)
    back = there_is_one & (kept | ~one_way | ~direction)
    return here, there, forth, back


class _Bits:
    """Public pseudo-random choices that are the same on every machine and with every version of NumPy."""

    def __init__(self, seed: int) -> None:
        self._next = seed << 40

    def chosen(self, count: int, share: float) -> BoolArray:
        """So many choices, each of them true with this probability: the next numbers, well mixed (splitmix64)."""
        x = (np.arange(count, dtype=np.uint64) + np.uint64(self._next)) * np.uint64(0x9E3779B97F4A7C15)
        self._next += count
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        chosen: BoolArray = (x ^ (x >> np.uint64(31))) < np.uint64(int(share * 2.0**64))
        return chosen


def _checked_junctions(junctions: Any) -> int:
    try:
        count = operator.index(junctions)
    except TypeError:
        count = 0
    if not _SMALLEST <= count <= _LARGEST or isinstance(junctions, bool):
        raise InvalidParameterError(
            f"junctions: a city has a whole number of them from {_SMALLEST} to {_LARGEST:,}, not {junctions!r}"
        )
    return count


def _checked_seed(seed: Any) -> int:
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if not 0 <= number < 1 << 20:
        raise InvalidParameterError(f"the seed of a city is a whole number from 0 to {(1 << 20) - 1:,}, not {seed!r}")
    return number
