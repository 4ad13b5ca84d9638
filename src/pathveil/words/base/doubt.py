"""Rounding, settled in one place: loops draw in floating point, and what they cannot be sure of is drawn exactly.

A loop compares the bits of random numbers with sums that carry a rounding error. It writes private words, and says
which of them are *in doubt*: a number came closer to the border between two outcomes than rounding can be trusted,
which happens about once in 10^12 symbols. Those words are drawn once more, from the same bits, continued as far as
needed, in exact integers or ball arithmetic. So every word has exactly the probability it should have.
(docs/exact-sampling.md)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from pathveil.numerics.arrays import AnyIntArray, BoolArray, IntArray, UintArray
from pathveil.randomness.lazy import LazyUniform
from pathveil.randomness.source import RandomSource

SAFETY = 4.0
"""How many times the largest possible rounding error is held to be doubtful."""

Loop = Callable[[UintArray], BoolArray]
"""Writes a private word for each row of keystream values, and says which of them are in doubt."""

Exactly = Callable[[IntArray, Sequence[LazyUniform]], npt.ArrayLike]
"""A private word for one word, from the random numbers that begin with its row of the keystream."""


def rounding_margin(roundings: int) -> float:
    """Relative margin inside which a comparison of sums of positive terms is not trusted after so many roundings."""
    return SAFETY * roundings * 2.0**-53


def draw_block(
    values: AnyIntArray,
    begins: IntArray,
    length: int,
    private: AnyIntArray,
    source: RandomSource,
    *,
    keystream_values: int,
    loop: Loop,
    exactly: Exactly | None,
) -> None:
    """Private words for the words of this length that begin at these cells, written to the same cells.

    `loop` draws all of them, `exactly` those that it leaves in doubt, both from so many keystream values for each word.
    Without `exactly`, where there is no room for it, floating point has the last word.
    """
    keystream = np.empty((len(begins), keystream_values), dtype=np.uint64)
    source.fill(keystream.reshape(-1))
    in_doubt = loop(keystream)
    if exactly is None:
        return
    for number in np.flatnonzero(in_doubt).tolist():
        cells = slice(begins[number], begins[number] + length)
        uniforms = [LazyUniform(bits, source) for bits in keystream[number].tolist()]
        private[cells] = exactly(values[cells].astype(np.int64), uniforms)
