"""Random numbers whose bits are drawn when they are looked at.

A real number that is uniform on [0, 1) has infinitely many bits. To decide whether it lies below a probability, the
first few are nearly always enough; where they are not, more of them settle it. Decisions made like that have *exactly*
the probabilities they are compared with, however those are computed, as long as no decision is taken in doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pathveil.randomness.decisions import InDoubtError
from pathveil.randomness.source import RandomSource

if TYPE_CHECKING:
    from flint import arb


EXACT = "drawn exactly: no rounding of probabilities"


class LazyUniform:
    """A uniform number in [0, 1): known to lie in [numerator, numerator + 1) / 2^bits, and better on demand."""

    def __init__(self, first_bits: int, source: RandomSource, bits: int = 64) -> None:
        """`first_bits` holds the first `bits` bits, which have been drawn already."""
        self.numerator = first_bits
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

    def to(self, bits: int) -> arb:
        """The same from at least so many bits, drawn if they are not there yet."""
        while self.bits < bits:
            self.refine()
        return self.ball()

    def cut(self, weights: Sequence[arb], bits: int) -> int:
        """Index i with probability weights[i] / sum(weights): where the number cuts their sum.

        An `InDoubtError` where balls of so many bits are too wide to tell.
        """
        total = sum(weights[1:], weights[0])
        while True:
            mark, reached = self.ball() * total, 0 * total
            for index, weight in enumerate(weights[:-1]):
                reached += weight
                if mark < reached:
                    return index
                if not mark >= reached:
                    break
            else:
                return len(weights) - 1
            if self.bits >= bits:
                raise InDoubtError
            self.refine()

    def pick(self, weights: Sequence[int]) -> int:
        """The same for exact integers, which need no balls."""
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
