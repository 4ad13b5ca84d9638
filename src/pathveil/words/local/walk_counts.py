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

_MOST_STATES = 1 << 13  # in one list; a word through a state that needs a longer one is drawn over the whole system
MOST_BYTES = 3 << 29  # of all lists; then they are begun anew
_FIRST_CELLS = 1 << 16
_GROWTH = 8  # times: so little is copied from smaller arrays
_MOST_KEPT = 2  # of these, each for a reach of its own,
_MOST_BESIDE = 1 << 29  # and bytes of them when another one is begun

_one_at_a_time = threading.Lock()


def _release_in_another_process() -> None:
    global _one_at_a_time
    _one_at_a_time = threading.Lock()  # the parent's may be held by a thread that does not exist here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_in_another_process)


class WalkCounts:
    """For gaps of up to `reach` steps: lists of walks from and to the states of words, half as long, and the `ways`."""

    def __init__(self, world: LocalWorld, reach: int, most_states: int = _MOST_STATES) -> None:
        """With more than `most_states` in a list, a state gets none."""
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
        self._slots = np.full(states, -1, dtype=np.int32)
        self._place = np.full(states, -1, dtype=np.int32)
        self._used = np.zeros(2, dtype=np.int64)
        self._lists = _new_lists(_FIRST_CELLS // 8, self._reach, _FIRST_CELLS)

    def around(self, states: IntArray) -> tuple[Any, ...]:
        """The lists for these states, to be handed to the kernel. They stay valid when others are added."""
        from pathveil.words.local.marks_kernel import count_walks

        with _one_at_a_time:
            # Whoever still uses the old lists has them. A forked process may have got them half made.
            if self._bytes > MOST_BYTES or self._process != os.getpid():
                self._clear()
            done, forwards, backwards = 0, self._world.forward_edges, self._world.backward_edges
            while done < len(states):
                done += count_walks(
                    states[done:], self._reach, self._most_states, forwards, backwards, self._slots, self._place,
                    *self._lists, self._used,
                )  # fmt: skip
                if done < len(states):
                    self._grow()
            return (self._place, *self._lists)

    @property
    def _bytes(self) -> int:
        return int(self._used[0]) * 4 * (self._reach + 1) + int(self._used[1]) * 12

    def _grow(self) -> None:
        """More room: of memory that is not used yet only addresses are taken. Older lists may still be read."""
        begins, states, _ = self._lists
        larger = _new_lists(_GROWTH * len(begins), self._reach, _GROWTH * len(states))
        for old, new in zip(self._lists, larger, strict=True):
            new[: len(old)] = old
        self._lists = larger


def _new_lists(rows: int, reach: int, cells: int) -> tuple[Any, Any, Any]:
    """Where the lists of a state begin; the states in them, and the numbers of walks."""
    return np.empty((rows, reach + 1), dtype=np.int32), np.empty(cells, dtype=np.int32), np.empty(cells)


class _Ways:
    """Ways from the start and to the end, for all states, and all walks from and to each: shared by every reach."""

    def __init__(self, world: LocalWorld) -> None:
        compiled = world.compiled
        states = compiled.state_count
        self._forwards = compiled.adjacency
        offsets, before = world.backward_edges
        self._backwards = sparse.csr_array((np.ones(len(before)), before, offsets), shape=(states, states))
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
