"""Which states a feasible word of a given length can be in at each position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pathveil.numerics.arrays import BoolArray, IntArray
from pathveil.systems.compiled import CompiledSystem


@dataclass(frozen=True)
class ReachableStates:
    """`states[offsets[i]:offsets[i + 1]]` are the states after i symbols; `marks[i]` marks the same ones."""

    states: IntArray
    offsets: IntArray
    marks: BoolArray

    @classmethod
    def of(cls, compiled: CompiledSystem, length: int) -> ReachableStates:
        """From the start in i steps, and from there to an accepting state in the others."""
        marks = compiled.reachable(length) & compiled.completable(length)
        positions, states = np.nonzero(marks)
        offsets = np.searchsorted(positions, np.arange(length + 2))
        return cls(states.astype(np.int64), offsets.astype(np.int64), marks)


@dataclass(frozen=True)
class ReachableRows:
    """The same with each set of states held once: on most systems it is the same at nearly all positions of a word.

    After i symbols these are `states[offsets[r]:offsets[r + 1]]`, marked in `marks[r]`, with r = rows[i].
    """

    states: IntArray
    offsets: IntArray
    marks: BoolArray
    rows: IntArray

    @classmethod
    def of(cls, compiled: CompiledSystem, length: int) -> ReachableRows:
        start = np.zeros(compiled.state_count, dtype=bool)
        start[compiled.start] = True
        ahead, after = _sets(start, _step(compiled.sources, compiled.targets), length)
        behind, before = _sets(compiled.accepting, _step(compiled.targets, compiled.sources), length)
        pairs: dict[tuple[int, int], int] = {}
        both = zip(after.tolist(), before[::-1].tolist(), strict=True)
        rows = np.array([pairs.setdefault(pair, len(pairs)) for pair in both], dtype=np.int64)
        marks = np.array([ahead[i] & behind[j] for i, j in pairs])
        numbers, states = np.nonzero(marks)
        offsets = np.searchsorted(numbers, np.arange(len(pairs) + 1))
        return cls(states.astype(np.int64), offsets.astype(np.int64), marks, rows)


def _step(sources: IntArray, targets: IntArray) -> Callable[[BoolArray], BoolArray]:
    def following(states: BoolArray) -> BoolArray:
        reached = np.zeros_like(states)
        reached[targets[states[sources]]] = True
        return reached

    return following


def _sets(
    first: BoolArray, following: Callable[[BoolArray], BoolArray], steps: int
) -> tuple[list[BoolArray], IntArray]:
    """The different sets of states after 0, 1, … steps, and which of them it is after each number of steps."""
    found, numbers = [first], np.arange(steps + 1)
    known = {first.tobytes(): 0}
    for i in range(1, steps + 1):
        states = following(found[-1])
        begin = known.setdefault(states.tobytes(), i)
        if begin < i:  # from here on everything repeats
            numbers[i:] = begin + np.arange(steps + 1 - i) % (i - begin)
            break
        found.append(states)
    return found, numbers
