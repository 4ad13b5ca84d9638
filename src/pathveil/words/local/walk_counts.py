"""Numbers of walks around the states of words, counted once and kept between words.

All of them are public: they depend on the system alone. Which states have been counted so far depends on the words that
were drawn, but never leaves this process.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
from scipy import sparse

from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.words.local.growth import LocalWorld

_MOST_STATES = 1 << 13  # a word through a state with more of them around it is drawn by passing over the system
MOST_BYTES = 3 << 29  # of a table; then it is begun anew
_FIRST_CELLS = 1 << 16
_GROWTH = 8  # times: so little is copied from smaller tables
_MOST_KEPT = 2  # tables, each for a reach of its own,
_MOST_BESIDE = 1 << 29  # and bytes of them when another one is begun

_one_at_a_time = threading.Lock()


def _release_in_another_process() -> None:
    global _one_at_a_time
    _one_at_a_time = threading.Lock()  # the parent's may be held by a thread that does not exist here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_in_another_process)


class WalkCounts:
    """For gaps of up to `reach` steps: N_g(x, y) for the states y of words, and the ways from the start and on."""

    def __init__(self, world: LocalWorld, reach: int, most_states: int = _MOST_STATES) -> None:
        """With more than `most_states` around it, a state gets no table."""
        self._world, self._reach, self._most_states = world, reach, most_states
        self.ways = _Ways.of(world).up_to(reach)
        self._clear()

    @classmethod
    def of(cls, world: LocalWorld, reach: int) -> WalkCounts:
        """The same object for the same system and reach. Only the latest few are kept."""
        with _one_at_a_time:
            kept: dict[int, WalkCounts] = world.compiled.kept.setdefault(cls, {})
            if reach not in kept:
                while len(kept) >= _MOST_KEPT or sum(one._bytes for one in kept.values()) > _MOST_BESIDE:
                    kept.pop(next(iter(kept)))
                kept[reach] = cls(world, reach)
            return kept[reach]

    def _clear(self) -> None:
        states = self._world.compiled.state_count
        self._process = os.getpid()
        self._scratch = np.full(states, -1, dtype=np.int32)
        self._place, self._masks = np.full(states, -1, dtype=np.int32), np.zeros(states, dtype=np.int32)
        self._used = np.zeros(2, dtype=np.int64)
        self._tables = _new_tables(_FIRST_CELLS)
        self._counts = np.empty(4 * _FIRST_CELLS)

    def around(self, states: IntArray) -> tuple[Any, ...]:
        """The tables for these states, to be handed to the kernel. They stay valid when others are added."""
        from pathveil.words.local.marks_kernel import count_walks

        world = self._world
        with _one_at_a_time:
            # Whoever still uses the old tables has them. A forked process may have got them half made.
            if self._bytes > MOST_BYTES or self._process != os.getpid():
                self._clear()
            missing = np.unique(states[self._place[states] == -1])
            while len(missing):
                done = count_walks(
                    missing, self._reach, self._most_states, world.predecessor_offsets, world.predecessors,
                    self._scratch, self._place, self._masks, *self._tables, self._counts, self._used,
                )  # fmt: skip
                missing = missing[done:]
                if len(missing):
                    self._grow()
            return (self._place, self._masks, *self._tables, self._counts)

    @property
    def _bytes(self) -> int:
        return int(self._used[0]) * 9 + int(self._used[1]) * 8

    def _grow(self) -> None:
        """More room: of memory that is not used yet only addresses are taken. Older tables may still be read."""
        larger = _new_tables(_GROWTH * len(self._tables[0]))
        for old, new in zip(self._tables, larger, strict=True):
            new[: len(old)] = old
        counts = np.empty(_GROWTH * len(self._counts))
        counts[: len(self._counts)] = self._counts
        self._tables, self._counts = larger, counts


def _new_tables(cells: int) -> tuple[Any, Any, Any]:
    """Keys, the smallest number of steps, and where the counts begin."""
    return np.empty(cells, dtype=np.int32), np.empty(cells, dtype=np.int8), np.empty(cells, dtype=np.int32)


class _Ways:
    """Ways from the start and to the end, for all states, and all walks from and to each: shared by every reach."""

    def __init__(self, world: LocalWorld) -> None:
        compiled = world.compiled
        states = compiled.state_count
        self._forwards = compiled.adjacency
        self._backwards = sparse.csr_array(
            (np.ones(len(world.predecessors)), world.predecessors, world.predecessor_offsets), shape=(states, states)
        )
        first = compiled.targets[compiled.offsets[compiled.start] : compiled.offsets[compiled.start + 1]]
        self._into, self._onward = np.zeros((2, states)), np.empty((1, states))
        self._into[1, first] = 1.0
        self._onward[0] = compiled.accepting

    @classmethod
    def of(cls, world: LocalWorld) -> _Ways:
        """The same object for the same system."""
        found = world.compiled.kept.get(cls)
        if not isinstance(found, cls):
            found = world.compiled.kept[cls] = cls(world)
        return found

    def up_to(self, reach: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """into[p, x] and onward[g, x] for up to `reach` steps; all walks of `reach` steps from and to each state."""
        self._into = _extended(self._into, self._backwards, reach)
        self._onward = _extended(self._onward, self._forwards, reach)
        into, onward = self._into[: reach + 1], self._onward[: reach + 1]
        leaving: FloatArray = np.ones(into.shape[1])
        arriving: FloatArray = np.ones(into.shape[1])
        for _ in range(reach):
            leaving = np.asarray(self._forwards @ leaving)
            arriving = np.asarray(self._backwards @ arriving)
        return into, onward, leaving * (1 + 1e-9), arriving * (1 + 1e-9)


def _extended(rows: FloatArray, adjacency: sparse.csr_array, last: int) -> FloatArray:
    """Rows up to this one, each from the row before."""
    if len(rows) > last:
        return rows
    longer = np.empty((last + 1, rows.shape[1]))
    longer[: len(rows)] = rows
    for step in range(len(rows), last + 1):
        longer[step] = adjacency @ longer[step - 1]
    return longer
