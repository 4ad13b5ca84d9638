"""Drawing from integer weights without any floating-point bias.

Every function rejects and draws again instead of folding the remainder in, so each outcome has exactly the stated
probability, given uniform bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pathveil.numerics.arrays import UintArray
from pathveil.randomness.source import RandomSource


def draw_below(source: RandomSource, bound: int) -> int:
    """A uniform integer in [0, bound), for a positive bound of any size."""
    bits = (bound - 1).bit_length()
    size = (bits + 7) // 8
    excess = 8 * size - bits
    while True:
        value = int.from_bytes(source.bytes(size), "little") >> excess
        if value < bound:
            return value


def draw_index(source: RandomSource, weights: Sequence[int]) -> int:
    """Index i with probability weights[i] / sum(weights), for non-negative integer weights."""
    remaining = draw_below(source, sum(weights))
    for index, weight in enumerate(weights):
        if remaining < weight:
            return index
        remaining -= weight
    raise AssertionError("a draw below the sum of the weights always lands on one of them")


def draw_below_each(source: RandomSource, bounds: UintArray) -> UintArray:
    """For each positive bound a uniform integer below it."""
    # Words at or above the largest multiple of the bound are drawn again; 2**64 - bound ≡ 2**64 modulo the bound.
    surplus = (np.uint64(0) - bounds) % bounds
    values = source.words64(len(bounds))
    again = np.flatnonzero(values < surplus)
    while len(again):
        fresh = source.words64(len(again))
        values[again] = fresh
        again = again[fresh < surplus[again]]
    return values % bounds
