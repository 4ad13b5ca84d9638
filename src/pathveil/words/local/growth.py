"""How fast walks multiply on a system, and what can be left out of a sum over words because of it.

A private word that leaves the sensitive one has to come back, or to end elsewhere. Every position at which it is not
led by the sensitive word costs a factor z = e^-θ, and ρ, the growth rate of walks, says how many ways there are to go
on. Where zρ < 1, long excursions hardly count, and only the surroundings of a word have to be looked at. This file has
the numbers behind that, all of them public. (docs/mathematics.md, "Large systems and long words")

Terms. The *marks* of a private word are positions where it is led by the sensitive word; multiplying out
z^[x ≠ c] = z + (1-z)[x = c] over all positions turns the sum over words into one over sets of marks, all terms of which
are positive. A *gap* is the number of steps from one mark to the next. `reach` is the largest gap that is summed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log

import numpy as np
from scipy import sparse

from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.systems.compiled import CompiledSystem

_STEPS = 64  # walks of so many steps are counted; longer ones are composed of them
_SLACK = 1.0 + 1e-9  # more than all roundings of these sums of positive numbers
LONGEST_REACH = 64
_SAMPLE = 16  # states
_MANY = 1 << 13  # states: as good as all of them


@dataclass(frozen=True)
class Growth:
    """For every j the number of walks of j steps from (or to) any one state is at most factor · rate^j."""

    factor: float
    rate: float
    largest: FloatArray
    """Entry j, for j up to 64: the largest number of walks of j steps from (or to) one state; inf where unknown."""

    def bound(self, steps: int) -> float:
        """The number of walks of so many steps from (or to) one state is at most this."""
        known = float(self.largest[steps]) if steps < len(self.largest) else inf
        composed = log(self.factor) + steps * log(self.rate)
        return min(known, exp(composed) if composed < 700 else inf)


class LocalWorld:
    """What the surroundings of words on a system are computed from, kept between words.

    For systems where the symbol decides the state. `start` is where words begin; walks never lead back to it unless it
    is a state like the others.
    """

    def __init__(self, compiled: CompiledSystem) -> None:
        if compiled.symbol_states is None:
            raise ValueError("the symbol does not decide the state")
        self.compiled = compiled
        self.entered: IntArray = compiled.symbol_states
        self._around: dict[int, float] = {}
        self._reaches: dict[tuple[float, int, float], int | None] = {}
        self.first_states = int(compiled.offsets[compiled.start + 1] - compiled.offsets[compiled.start])

    @classmethod
    def of(cls, compiled: CompiledSystem) -> LocalWorld | None:
        """The same object for the same system; None where the symbol does not decide the state."""
        if compiled.symbol_states is None or compiled.is_free:
            return None
        found = compiled.kept.get(cls)
        if found is None:
            found = compiled.kept[cls] = cls(compiled)
        assert isinstance(found, cls)
        return found

    @cached_property
    def forward(self) -> Growth:
        """Walks from a state that words can be in."""
        return _growth(self.compiled.adjacency, self._can_be_entered)

    @cached_property
    def backward(self) -> Growth:
        """Walks to a state."""
        compiled = self.compiled
        inside = compiled.sources != compiled.start if not self._can_be_entered[compiled.start] else slice(None)
        shape = (compiled.state_count, compiled.state_count)
        reverse = sparse.csr_array(
            (np.ones(len(compiled.sources[inside])), (compiled.targets[inside], compiled.sources[inside])), shape=shape
        )
        return _growth(reverse, np.ones(compiled.state_count))

    @cached_property
    def _can_be_entered(self) -> FloatArray:
        entered = np.zeros(self.compiled.state_count)
        entered[self.compiled.targets] = 1.0
        return entered

    @cached_property
    def _by_target(self) -> tuple[IntArray, IntArray]:
        compiled = self.compiled
        order, _ = compiled.edges_by_target
        if not self._can_be_entered[compiled.start]:
            order = order[compiled.sources[order] != compiled.start]
        offsets = np.zeros(compiled.state_count + 1, dtype=np.int64)
        np.cumsum(np.bincount(compiled.targets[order], minlength=compiled.state_count), out=offsets[1:])
        return offsets, compiled.sources[order]

    @property
    def forward_edges(self) -> tuple[IntArray, IntArray]:
        """(offsets, ends): one step from x leads to `ends[offsets[x] : offsets[x + 1]]`."""
        return self.compiled.offsets, self.compiled.targets

    @property
    def backward_edges(self) -> tuple[IntArray, IntArray]:
        """The same the other way round; a start that walks never lead back to is left out."""
        return self._by_target

    def remainder(self, reach: int, length: int, z: float) -> float:
        """Of Z(w) at most this share is left out, for every feasible word w of this length, when gaps are at most
        `reach`; and of the weight of what may follow any mark on the word.

        B_i, the weight of what may follow position i of a feasible word, is at least that of any later position, and
        at least 1. A gap of more than k steps from a mark multiplies at most M_k walks by C ρ^(g-k) others, and z for
        each position in between. With no mark at all, every word counts.
        """
        if length <= reach:
            return inf
        ahead, behind = self.forward, self.backward
        one, two = z * ahead.rate, z * behind.rate
        if max(one, two) >= 0.99:
            return inf
        gaps = length * ahead.bound(reach) * ahead.factor * z ** (reach - 1) * one / (1 - one)
        first = behind.bound(reach) * behind.factor * z ** (reach - 1) * two / (1 - two)
        unmarked = log(self.first_states * z * ahead.factor) + (length - 1) * log(one) if one else -inf
        share = 2 * (gaps + first + exp(min(unmarked, 700.0)))  # twice: what may follow is itself off by less than that
        return share * _SLACK if share < 0.5 else inf

    @cached_property
    def largest_degree(self) -> int:
        """The largest number of successors of a state that words can be in."""
        return int(np.diff(self.compiled.offsets)[self.compiled.targets].max(initial=0))

    @cached_property
    def symbols(self) -> IntArray:
        """The symbol with which each state is entered."""
        symbols = np.zeros(self.compiled.state_count, dtype=np.int64)
        symbols[self.entered[self.entered >= 0]] = np.flatnonzero(self.entered >= 0)
        return symbols

    def states_around(self, reach: int) -> float:
        """How many states lead to one within so many steps, on average over some that stand for all."""
        if reach not in self._around:
            offsets, before = self.backward_edges
            sizes = []
            for state in np.linspace(0, self.compiled.state_count - 1, _SAMPLE).astype(np.int64).tolist():
                found = new = np.array([state])
                for _ in range(reach):
                    if (offsets[new + 1] - offsets[new]).sum() > _MANY:
                        found = np.empty(_MANY)
                        break
                    edges = [before[offsets[x] : offsets[x + 1]] for x in new.tolist()]
                    new = np.setdiff1d(np.concatenate(edges), found)
                    found = np.concatenate([found, new])
                    if not len(new) or len(found) > _MANY:
                        break
                sizes.append(len(found))
            self._around[reach] = sum(sizes) / len(sizes)
        return self._around[reach]

    def states_in_lists(self, reach: int) -> float:
        """About so many states are in the lists of one: for each number of steps up to half of this, both ways."""
        return reach * self.states_around((reach + 1) // 2) / 3  # the last lists are the longest

    def bytes_of_lists(self, reach: int) -> float:
        """About so many bytes take the lists of all states."""
        return self.compiled.state_count * (4 * (reach + 1) + 12 * self.states_in_lists(reach))

    def reach_for(self, share: float, length: int, z: float) -> int | None:
        """The smallest reach at which no more than this share of Z is left out; None where there is none."""
        if (share, length, z) not in self._reaches:
            some = range(1, min(LONGEST_REACH, length - 1) + 1)
            found = next((reach for reach in some if self.remainder(reach, length, z) <= share), None)
            self._reaches[share, length, z] = found
        return self._reaches[share, length, z]


def _growth(adjacency: sparse.csr_array, counted: FloatArray) -> Growth:
    """From the largest numbers M_j of walks of j = 0..J steps: M_(aJ+b) ≤ M_J^a M_b, so rate = M_J^(1/J) will do."""
    walks: FloatArray = np.ones(adjacency.shape[0])
    largest = [1.0]
    for _ in range(_STEPS):
        walks = adjacency @ walks
        largest.append(float((walks * counted).max()) * _SLACK)
        if largest[-1] > 1e280:
            break
    rate = largest[-1] ** (1 / (len(largest) - 1)) * _SLACK
    if not rate:
        # Walks come to an end: there are none of so many steps, and any rate will do for what is left.
        rate = 1.0
    factor = max(count / rate**j for j, count in enumerate(largest)) * _SLACK
    return Growth(factor, rate, np.array(largest))
