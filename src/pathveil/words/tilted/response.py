"""Randomized response: the exponential mechanism on a free alphabet, independent at each position.

Every symbol owns a number of keystream values, so that only integers are compared.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from math import ceil, floor

import numpy as np

from pathveil.numerics.arrays import AnyIntArray, UintArray
from pathveil.randomness.blocks import cuts, run_blocks
from pathveil.randomness.source import RandomSource
from pathveil.words.base import tilt_factor

_SMALL = 1 << 16  # cells: less is done before the compiled loops would be loaded
_THREAD_CELLS = 1 << 20  # cells for a thread at a time
_BLOCK_CELLS = 1 << 16  # keystream values at a time

LAST_VALUE = 2**64 - 1


@lru_cache
def keystream_values_per_symbol(symbol_count: int, theta: float) -> tuple[int, int]:
    """(each, last): in randomized response every wrong symbol owns `each` keystream values, from 0 on, and the right
    one all others up to `last`. Values above `last` belong to nobody and are drawn again.

    No symbol owns more than e^θ times as many as another, as exact numbers. With `each` rounded up from what a z not
    below e^-θ asks for, the right symbol never owns more than e^θ times as many values as a wrong one, and none is left
    over. But if θ is tiny or there are very many symbols, wrong ones may then own too many. In that case both are
    rounded down, the right one from each/z, so that it owns at least `each` and at most `each`·e^θ values.
    """
    z = Fraction(tilt_factor(theta))
    ideal = 2**64 * z / (1 + (symbol_count - 1) * z)
    each = ceil(ideal)
    right = 2**64 - (symbol_count - 1) * each
    if each <= right * (1 + Fraction(theta)):  # which is below e^θ
        return each, LAST_VALUE
    each = floor(ideal)
    return each, (symbol_count - 1) * each + floor(each / z) - 1


def redraw_unowned(keystream: UintArray, last: int | UintArray, source: RandomSource) -> None:
    """Draw the keystream values again that are above `last`, one bound for all or one for each, until none is."""
    bounds = np.broadcast_to(np.asarray(last, dtype=np.uint64), keystream.shape)
    again = np.flatnonzero(keystream > bounds)
    while len(again):
        keystream[again] = source.keystream(len(again))
        again = again[keystream[again] > bounds[again]]


def respond_randomly(
    symbol_count: int,
    values: AnyIntArray,
    theta: float,
    source: RandomSource,
    private: AnyIntArray,
    *,
    small: int = _SMALL,
) -> None:
    """A private symbol for each symbol, written to the same cell of `private`; `small` batches by plain loops."""
    if symbol_count == 1:
        private[:] = values
        return
    share, last = keystream_values_per_symbol(symbol_count, theta)
    each = np.uint64(share)
    if len(values) < small:
        keystream = source.keystream(len(values))
        if last < LAST_VALUE:
            redraw_unowned(keystream, last, source)
        wrong = keystream < np.uint64(symbol_count - 1) * each
        private[:] = values
        private[wrong] = (
            values[wrong].astype(np.int64) + 1 + (keystream[wrong] // each).astype(np.int64)
        ) % symbol_count
        return
    from pathveil.words.free_kernels import respond

    def draw(begin: int, end: int, branch: RandomSource) -> None:
        keystream = np.empty(min(_BLOCK_CELLS, end - begin), dtype=np.uint64)
        for low in range(begin, end, _BLOCK_CELLS):
            high = min(low + _BLOCK_CELLS, end)
            branch.fill(keystream[: high - low])
            if last < LAST_VALUE:
                redraw_unowned(keystream[: high - low], last, branch)
            respond(values, low, high, symbol_count, each, keystream, private)

    run_blocks([partial(draw, *cut) for cut in cuts(len(values), _THREAD_CELLS)], source)
