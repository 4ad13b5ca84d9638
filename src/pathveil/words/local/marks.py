"""Draws by marks and gaps: words of one length at one tilt, on a system that is large and sparse."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from math import log
from typing import Any

import numpy as np

from pathveil.numerics.arrays import AnyIntArray, BoolArray, FloatArray, IntArray, UintArray
from pathveil.words.base import rounding_margin
from pathveil.words.local.growth import LocalWorld
from pathveil.words.local.walk_counts import WalkCounts

_AT_ONCE = 1 << 21  # symbols times reach squared: the surroundings of so many are looked for together
LARGEST_REMAINDER = 2.0**-10
"""Words of which longer gaps could add more than this, relatively, are drawn by passing over the whole system."""


@dataclass(frozen=True)
class LocallyDrawn:
    """What is known about each word after its draw."""

    log_z: FloatArray
    """log Z without longer gaps, which would make Z larger by at most"""
    remainders: FloatArray
    """this share of it."""
    in_doubt: BoolArray
    undrawn: BoolArray
    """Because of the words themselves: their remainder is too large, or a state has too many others around it."""

    def replace(self, some: IntArray, again: LocallyDrawn) -> None:
        """Put in what became of some of the words when they were drawn again."""
        for field in fields(self):
            getattr(self, field.name)[some] = getattr(again, field.name)


class LocalDraw:
    """Ready to draw; `margin` is the rounding that is allowed for, relatively."""

    def __init__(
        self, world: LocalWorld, length: int, z: float, reach: int, *, largest_remainder: float = LARGEST_REMAINDER
    ) -> None:
        self._world, self._length, self._z, self.reach = world, length, z, reach
        self._largest_remainder = largest_remainder
        self._counts = WalkCounts.of(world, reach)
        ahead, behind = world.forward, world.backward
        unmarked = log(world.first_states * z * ahead.factor) + (length - 1) * log(z * ahead.rate)
        self._bounds = (ahead.factor, ahead.rate, behind.factor, behind.rate, unmarked)
        # A weight multiplies at most n sums of `reach` terms; a count multiplies `reach` sums of as many as the degree.
        self.margin = rounding_margin((length + 2) * (reach + 8) + reach * (world.largest_degree + 4))

    def draw(self, values: AnyIntArray, begins: IntArray, keystream: UintArray, private: AnyIntArray) -> LocallyDrawn:
        """Private words from rows of n + 1 keystream values."""
        from pathveil.words.local.marks_kernel import draw_by_marks

        log_z, remainders = np.empty(len(begins)), np.empty(len(begins))
        in_doubt, undrawn = np.empty(len(begins), dtype=bool), np.empty(len(begins), dtype=bool)
        step = max(1, _AT_ONCE // (self._length * self.reach**2))
        for first in range(0, len(begins), step):
            some = slice(first, first + step)
            cells = begins[some, None] + np.arange(self._length)
            states = self._world.entered[values[cells].astype(np.int64).reshape(-1)]
            lists = self._counts.around(states[states >= 0])
            draw_by_marks(
                values, begins[some], self._length, self.reach, self._system, self._counts.ways, lists, self._z,
                self._bounds, self._largest_remainder, self.margin, keystream[some].reshape(-1), private, log_z[some],
                remainders[some], in_doubt[some], undrawn[some],
            )  # fmt: skip
        return LocallyDrawn(log_z, remainders, in_doubt, undrawn)

    @cached_property
    def _system(self) -> tuple[Any, ...]:
        world = self._world
        return world.entered, world.symbols, (world.forward_edges, world.backward_edges)
