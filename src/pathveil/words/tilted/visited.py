"""Which states a feasible word of a given length can be in at each position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pathveil.numerics.arrays import BoolArray, IntArray
from pathveil.systems.compiled import CompiledSystem


@dataclass(frozen=True)
class Visited:
    """`states[offsets[i]:offsets[i + 1]]` are the states after i symbols; `marks[i]` marks the same ones."""

    states: IntArray
    offsets: IntArray
    marks: BoolArray

    @classmethod
    def of(cls, compiled: CompiledSystem, length: int) -> Visited:
        """From the start in i steps, and from there to an accepting state in the others."""
        marks = compiled.reachable(length) & compiled.completable(length)
        positions, states = np.nonzero(marks)
        offsets = np.searchsorted(positions, np.arange(length + 2))
        return cls(states.astype(np.int64), offsets.astype(np.int64), marks)
