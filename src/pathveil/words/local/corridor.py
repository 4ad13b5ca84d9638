"""The part of a large system that matters for one word: the streets around its route.

Excursions of more than `reach` steps are left out; `LocalWorld.remainder` bounds what they weigh together. What is left
is a small system of its own, on which everything can be computed as usual, at a cost that does not depend on the size
of the map.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pathveil.numerics.arrays import BoolArray, IntArray
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.local.growth import LocalWorld


@dataclass(frozen=True)
class Corridor:
    """The surroundings of one word, as a system of its own."""

    compiled: CompiledSystem
    codes: IntArray
    """The word, in the symbol codes of this system."""
    reached: BoolArray
    """Entry (i, y): can a private word be in state y after i symbols?"""


def surroundings(world: LocalWorld, codes: IntArray, reach: int) -> Corridor:
    """The surroundings of a feasible word.

    A way from one mark to the next, of at most `reach` steps, is near the first in its first half and near the second
    in its second. Before the first mark and after the last, ways come from anywhere and end anywhere.
    """
    compiled, length = world.compiled, len(codes)
    positions, route = np.arange(1, length + 1), world.entered[codes]
    half = reach // 2
    cells = np.unique(
        np.concatenate(
            [
                _walked(world, positions, route, half, length, forwards=True),
                _walked(world, positions, route, reach - half, length, forwards=False),
                _walked(world, positions[:reach], route[:reach], reach, length, forwards=False),
                _walked(world, positions[-reach:], route[-reach:], reach, length, forwards=True),
            ]
        )
    )
    positions, visited = np.divmod(cells, compiled.state_count)
    states = np.union1d(visited, [compiled.start])
    small, recoded = _restricted(compiled, states, codes)
    reached = np.zeros((length + 1, len(states)), dtype=bool)
    reached[0, np.searchsorted(states, compiled.start)] = True
    reached[positions, np.searchsorted(states, visited)] = True
    return Corridor(small, recoded, reached)


def _walked(
    world: LocalWorld, positions: IntArray, states: IntArray, steps: int, length: int, *, forwards: bool
) -> IntArray:
    """position · states + state for everything within so many steps from (or to) these states at these positions."""
    compiled = world.compiled
    offsets, ends = world.forward_edges if forwards else world.backward_edges
    new = positions * compiled.state_count + states
    found = [new]
    for _ in range(steps):
        here, state = np.divmod(new, compiled.state_count)
        count = offsets[state + 1] - offsets[state]
        there = np.repeat(here + (1 if forwards else -1), count)
        cells = there * compiled.state_count + ends[_edges(offsets[state], count)]
        new = np.unique(cells[(there >= 1) & (there <= length)])
        found.append(new)
    return np.concatenate(found)


def _edges(first: IntArray, count: IntArray) -> IntArray:
    """first[0], first[0] + 1, …, so many of each."""
    edges: IntArray = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
    return edges


def _restricted(compiled: CompiledSystem, states: IntArray, codes: IntArray) -> tuple[CompiledSystem, IntArray]:
    """The system with these states only, and the word in the codes of the symbols that are left."""
    first, count = compiled.offsets[states], compiled.offsets[states + 1] - compiled.offsets[states]
    edges = _edges(first, count)
    sources = np.repeat(np.arange(len(states)), count)
    place = np.minimum(np.searchsorted(states, compiled.targets[edges]), len(states) - 1)
    inside = states[place] == compiled.targets[edges]
    symbols, labels = np.unique(compiled.labels[edges][inside], return_inverse=True)
    small = CompiledSystem.from_arrays(
        len(symbols),
        int(np.searchsorted(states, compiled.start)),
        sources[inside],
        labels.astype(np.int64),
        place[inside],
        compiled.accepting[states],
    )
    return small, np.searchsorted(symbols, codes)
