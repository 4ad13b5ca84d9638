"""Random numbers whose bits are drawn when they are looked at.

A real number that is uniform on [0, 1) has infinitely many bits. To decide whether it lies below a probability, the
first few are nearly always enough; where they are not, more of them settle it. Decisions made like that have *exactly*
the probabilities they are compared with, however those are computed, as long as no decision is taken in doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pathveil.randomness.source import RandomSource

if TYPE_CHECKING:
    from flint import arb


EXACT = "drawn exactly: no rounding of probabilities"


class LazyUniform:
    """A uniform number in [0, 1): known to lie in [numerator, numerator + 1) / 2^bits, and better on demand."""

    def __init__(self, word: int, source: RandomSource, bits: int = 64) -> None:
        """`word` holds the first `bits` bits, which have been drawn already."""
        self.numerator = word
        self.bits = bits
        self._source = source

    def refine(self) -> None:
        """Draw 64 more bits."""
        self.numerator = self.numerator << 64 | int.from_bytes(self._source.bytes(8), "little")
        self.bits += 64

    def ball(self) -> arb:
        """The interval that is known to hold the number."""
        from flint import arb

        return arb(2 * self.numerator + 1, 1) * arb(2) ** -(self.bits + 1)

    def pick(self, weights: Sequence[int]) -> int:
        """Index i with probability weights[i] / sum(weights), by exact integers: where the number cuts their sum."""
        total = sum(weights)
        while True:
            low, high = self.numerator * total, (self.numerator + 1) * total
            reached = 0
            for index, weight in enumerate(weights):
                reached += weight << self.bits
                if high <= reached:
                    return index
                if low < reached:
                    break  # the bits so far allow for this index and for a later one
            self.refine()
