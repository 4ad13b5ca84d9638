"""Many uniform real numbers at a time, known by their first bits; `LazyUniform` continues single ones of them."""

from __future__ import annotations

import numpy as np

from pathveil.numerics.arrays import UintArray
from pathveil.numerics.balls import Balls
from pathveil.randomness.source import RandomSource

FIRST_BITS = 52  # so many that the centre of a cell is a float, exactly


def first_bits(source: RandomSource, count: int) -> UintArray:
    """The first 52 bits of `count` uniform numbers."""
    return source.words64(count) >> np.uint64(64 - FIRST_BITS)


def enclosed(bits: UintArray) -> Balls:
    """All numbers in (0, 1) that begin with these 52 bits."""
    mid = (bits.astype(np.float64) + 0.5) * 2.0**-FIRST_BITS
    return Balls(mid, np.full(mid.shape, 2.0 ** -(FIRST_BITS + 1)))
