"""The outputs of the edit mechanisms: all feasible words whose length lies in a public range.

Everything here is public. It is worked out once for a mechanism, in the form that the compiled loops read.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pathveil.errors import InvalidParameterError, LengthMismatchError, NoFeasibleWordError
from pathveil.numerics.arrays import BoolArray, IntArray, UintArray
from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import System, checked_length

_BITS = 32


class LengthRange:
    """The feasible words of `lo` to `hi` symbols: how many there are, and how each beginning can go on."""

    def __init__(self, compiled: CompiledSystem, lo: int, hi: int) -> None:
        self.compiled = compiled
        self.lo = lo
        self.hi = hi
        order = np.lexsort((compiled.labels, compiled.targets, compiled.sources)).astype(np.int64)
        ends = np.stack([compiled.sources[order], compiled.targets[order]])
        new = np.ones(len(order), dtype=bool)
        new[1:] = np.any(ends[:, 1:] != ends[:, :-1], axis=0)
        begins = np.append(np.flatnonzero(new), len(order)).astype(np.int64)
        bundles = np.searchsorted(ends[0, begins[:-1]], np.arange(compiled.state_count + 1)).astype(np.int64)
        self.edges: tuple[IntArray, ...] = (
            compiled.offsets,
            compiled.labels,
            compiled.targets,
            bundles,
            begins,
            order,
        )
        """Edges by source and label, and again in bundles that join the same two states."""
        self._counts = self._count()

    def _count(self) -> list[list[int]]:
        """Row i: for each state the number of ways to go on from there after i symbols, stopping included."""
        _, _, targets, bundles, begins, order = self.edges
        size = np.diff(begins).tolist()
        target = targets[order[begins[:-1]]].tolist()
        bounds = bundles.tolist()
        accepting = [int(accepted) for accepted in self.compiled.accepting]
        rows = [accepting]
        for i in range(self.hi - 1, -1, -1):
            after = rows[-1]
            rows.append(
                [
                    stop * (i >= self.lo) + sum(size[k] * after[target[k]] for k in range(bounds[y], bounds[y + 1]))
                    for y, stop in enumerate(accepting)
                ]
            )
        rows.reverse()
        return rows

    @property
    def total(self) -> int:
        """The exact number of feasible words in the range."""
        return self._counts[0][self.compiled.start]

    @cached_property
    def limbs(self) -> int:
        """How many limbs a number of words needs: a single one up to 63 bits, otherwise one for every 32."""
        bits = self.total.bit_length()
        return 1 if bits < 64 else -(-bits // _BITS)

    @cached_property
    def completions(self) -> UintArray:
        """The same numbers as `_count`, in limbs; zero where no word passes, so that no number exceeds `total`."""
        table = np.zeros((self.hi + 1, self.compiled.state_count, self.limbs), dtype=np.uint64)
        for i, row in enumerate(self._counts):
            alive = self.alive[i].tolist()
            table[i] = self.limbs_of([count if passed else 0 for count, passed in zip(row, alive, strict=True)])
        return table

    @cached_property
    def alive(self) -> BoolArray:
        """alive[i, y]: a word of the range can pass through y after i symbols and be completed."""
        table = np.array([[count > 0 for count in row] for row in self._counts])
        reached = np.zeros_like(table[0])
        reached[self.compiled.start] = True
        for i in range(self.hi + 1):
            table[i] &= reached
            following = np.zeros_like(reached)
            following[self.compiled.targets[table[i][self.compiled.sources]]] = True
            reached = following
        return table

    def limbs_of(self, numbers: Sequence[int]) -> UintArray:
        """Numbers of words, each as a row of limbs."""
        if self.limbs == 1:
            return np.array(numbers, dtype=np.uint64).reshape(-1, 1)
        mask = (1 << _BITS) - 1
        places = range(0, self.limbs * _BITS, _BITS)
        return np.array([[(number >> place) & mask for place in places] for number in numbers], dtype=np.uint64)

    def numbers(self, limbs: UintArray) -> tuple[int, ...]:
        """Rows of limbs as integers."""
        if limbs.shape[-1] == 1:
            return tuple(limbs[:, 0].tolist())
        return tuple(sum(limb << (_BITS * place) for place, limb in enumerate(row)) for row in limbs.tolist())


def checked_range(world: System, lengths: Any) -> tuple[int, int]:
    """(lo, hi) from what the caller gave: a pair, whose second number may be None where the language is finite."""
    if lengths is None:
        lengths = (1, None)
    try:
        lo, hi = lengths
    except (TypeError, ValueError):
        raise InvalidParameterError(
            f"`lengths` is a pair (lo, hi): the shortest and the longest private word; not {lengths!r}"
        ) from None
    lo = checked_length(lo)
    if hi is None:
        hi = _longest(world)
    hi = checked_length(hi)
    if lo > hi:
        raise InvalidParameterError(
            f"`lengths`: the shortest length, {lo}, is greater than the longest, {hi}; give the shortest first"
        )
    return lo, hi


def require_length(length: int, lengths: tuple[int, int]) -> None:
    """Raise an error unless a sensitive word of this length is one that the range allows."""
    lo, hi = lengths
    if not lo <= length <= hi:
        raise LengthMismatchError(
            f"the word has {length} symbols, but words of {lo} to {hi} symbols are promised. Choose `lengths` that "
            "every word can have, without looking at the data, or cut words by a rule of your own."
        )


def _longest(world: System) -> int:
    """The length of the longest feasible word; an error where there is none."""
    compiled = world.compiled
    useful = _reached(compiled, forward=True) & _reached(compiled, forward=False)
    edges = useful[compiled.sources] & useful[compiled.targets]
    sources, targets = compiled.sources[edges], compiled.targets[edges]
    alive = useful.copy()
    length = -1
    # Peel off the states that nothing leads to; on a cycle there is always something that does.
    while alive.any():
        entered = np.zeros_like(alive)
        entered[targets[alive[sources]]] = True
        entered &= alive
        if np.array_equal(entered, alive):
            raise InvalidParameterError(
                "this system has words of any length, so the longest one must be given: `lengths=(lo, hi)`"
            )
        alive = entered
        length += 1
    if length < 1:
        raise NoFeasibleWordError("the system has no feasible word at all")
    return length


def _reached(compiled: CompiledSystem, forward: bool) -> BoolArray:
    """The states on some path from the start, or (backward) to an accepting state."""
    sources, targets = (compiled.sources, compiled.targets) if forward else (compiled.targets, compiled.sources)
    reached = compiled.accepting.copy()
    if forward:
        reached[:] = False
        reached[compiled.start] = True
    while True:
        wider = reached.copy()
        wider[targets[reached[sources]]] = True
        if np.array_equal(wider, reached):
            return reached
        reached = wider


def checked_cap(cap: Any, hi: int) -> int:
    """c, at most hi: no two words of at most hi symbols are farther apart."""
    if cap is None:
        return hi
    try:
        value = operator.index(cap)
    except TypeError:
        value = 0
    if value < 1 or isinstance(cap, bool):
        raise InvalidParameterError(
            f"`cap` is the distance from which on words count as equally far: a whole number of at least 1, or none "
            f"at all; not {cap!r}"
        )
    return min(value, hi)
