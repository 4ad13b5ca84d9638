"""Uniform real numbers whose bits are drawn as they are needed.

A real number has infinitely many random bits, but a decision that depends on it (is it below this bound?) needs only
the first few nearly always. Where they do not settle it, more are drawn; those that are there already never change. A
sampler that works with such numbers has exactly the law that its mathematics says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pathveil.balls import Balls
from pathveil.randomness.source import RandomSource

if TYPE_CHECKING:
    from flint import arb

FIRST_BITS = 52  # so many that the centre of a cell is a float, exactly


def first_bits(source: RandomSource, count: int) -> npt.NDArray[np.uint64]:
    """The first 52 bits of `count` uniform numbers."""
    return source.words64(count) >> np.uint64(64 - FIRST_BITS)


def enclosed(bits: npt.NDArray[np.uint64]) -> Balls:
    """All numbers in (0, 1) that begin with these 52 bits."""
    mid = (bits.astype(np.float64) + 0.5) * 2.0**-FIRST_BITS
    return Balls(mid, np.full(mid.shape, 2.0 ** -(FIRST_BITS + 1)))


class UniformReal:
    """One uniform number in (0, 1), of which the first bits are known already."""

    __slots__ = ("_bits", "_known", "_source")

    def __init__(self, source: RandomSource, first: int) -> None:
        self._source, self._bits, self._known = source, first, FIRST_BITS

    def to(self, count: int) -> arb:
        """An enclosure from at least `count` bits, drawn if they are not there yet."""
        from flint import arb

        if count > self._known:
            size = (count - self._known + 7) // 8
            self._bits = (self._bits << 8 * size) | int.from_bytes(self._source.bytes(size), "big")
            self._known += 8 * size
        return arb(arb((2 * self._bits + 1, -self._known - 1)), arb((1, -self._known - 1)))
