"""Engines: loops that draw from the exponential mechanism on a system, each ready for words of one length at one tilt.

All of them draw from the same law, with one keystream value for each symbol. What an engine cannot be sure of is drawn
again in ball arithmetic (`exact`), and a word whose weights span more than it can hold by logarithms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from math import isqrt, log

import numpy as np

from pathveil.numerics.arrays import AnyIntArray, BoolArray, FloatArray, IntArray, UintArray
from pathveil.randomness.lazy import LazyUniform
from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import draw_block, rounding_margin, tilt_factor
from pathveil.words.local import LocalDraw, LocalWorld, draw_exactly_by_marks
from pathveil.words.tilted.exact import LARGEST_EXACT_DRAW, draw_exactly, fits
from pathveil.words.tilted.logs import draw_rows, log_normalisers, rows_at_once
from pathveil.words.tilted.reachable_states import ReachableRows, ReachableStates

_LARGEST_LANE_TABLE = 1 << 28  # bytes, for each thread
_CACHED_LANE_TABLE = 1 << 23  # bytes: a larger one pays only where several groups of words use it
_SEVERAL = 4  # groups

Drawn = tuple[FloatArray, BoolArray, BoolArray]
"""For each word log Z; is its private word in doubt; and is there none, because its weights lie too far apart?"""


class Engine(ABC):
    """A loop that is ready for words of one length at one tilt."""

    def __init__(self, compiled: CompiledSystem, length: int, theta: float) -> None:
        self._compiled, self._length, self._theta = compiled, length, theta
        self._z = tilt_factor(theta)

    @abstractmethod
    def _loop(self, values: AnyIntArray, begins: IntArray, keystream: UintArray, private: AnyIntArray) -> Drawn:
        """Private words in floating point, one for each row of the keystream."""

    def draw(self, values: AnyIntArray, begins: IntArray, private: AnyIntArray, source: RandomSource) -> FloatArray:
        """Private words for the words that begin at these cells, written to the same cells; returns each log Z."""
        log_z, undrawn = np.empty(len(begins)), np.empty(len(begins), dtype=bool)

        def loop(keystream: UintArray) -> BoolArray:
            log_z[:], in_doubt, undrawn[:] = self._loop(values, begins, keystream, private)
            in_doubt &= ~undrawn
            return in_doubt

        draw_block(
            values,
            begins,
            self._length,
            private,
            source,
            keystream_values=self._keystream_values,
            loop=loop,
            exactly=self._exactly if self._can_be_exact else None,
        )
        if undrawn.any():
            # Which words these are depends on the words alone: they may be drawn from other bits.
            extreme = np.flatnonzero(undrawn)
            log_z[extreme] = self._for_undrawn().draw(values, begins[extreme], private, source)
        return log_z

    @property
    def _keystream_values(self) -> int:
        """How many of them a word takes."""
        return self._length

    @property
    def _can_be_exact(self) -> bool:
        """Is there room to draw a word once more without rounding?"""
        return fits(self._compiled, self._length, LARGEST_EXACT_DRAW)

    def _for_undrawn(self) -> Engine:
        """What draws words that this loop cannot hold."""
        return LogEngine(self._compiled, self._length, self._theta)

    def _exactly(self, codes: IntArray, uniforms: Sequence[LazyUniform]) -> list[int]:
        return draw_exactly(self._compiled, self._reachable, codes.tolist(), self._z, uniforms)

    @cached_property
    def _reachable(self) -> ReachableStates:
        return ReachableStates.of(self._compiled, self._length)


class RenewalEngine(Engine):
    """Short words on Markov chains; see renewal_kernel.py. Up to six times as fast as `LaneEngine` (n < 30 or so)."""

    def __init__(self, compiled: CompiledSystem, length: int, theta: float) -> None:
        super().__init__(compiled, length, theta)
        # A way through the table multiplies at most n steps of d additions, and adds at most n sums of n terms.
        self._margin = rounding_margin((length + 2) * (length + compiled.largest_degree + 4))
        assert compiled.symbol_states is not None
        self._entered = np.maximum(compiled.symbol_states, 0)  # a symbol without an edge has weight 0 anyway
        count = compiled.state_count
        enters = np.zeros((count, compiled.symbol_count))
        enters[compiled.sources, compiled.labels] = 1.0 - self._z
        self._table = np.empty((length, compiled.symbol_count, count))
        self._ends = np.empty((length + 1, count))
        self._ends[0] = compiled.accepting
        for k in range(length):
            self._table[k] = enters.T
            enters = self._z * (compiled.adjacency @ enters)
            self._ends[k + 1] = self._z * (compiled.adjacency @ self._ends[k])

    def _loop(self, values: AnyIntArray, begins: IntArray, keystream: UintArray, private: AnyIntArray) -> Drawn:
        from pathveil.words.tilted.renewal_kernel import draw_by_renewal

        compiled, log_z, in_doubt = self._compiled, np.empty(len(begins)), np.empty(len(begins), dtype=bool)
        draw_by_renewal(
            values, begins, self._length, compiled.start, compiled.offsets, compiled.labels, compiled.targets,
            compiled.step_table, self._entered, self._table.reshape(-1), self._ends, self._z, keystream.reshape(-1),
            log_z, private, self._margin, in_doubt,
        )  # fmt: skip
        return log_z, in_doubt, np.zeros(len(begins), dtype=bool)


class MarksEngine(Engine):
    """Large sparse systems where the symbol decides the state, by local work; see pathveil.words.local.

    Above the growth rate of walks 5 to 100 times as fast as any loop over all edges of a map like Oldenburg.
    """

    def __init__(
        self,
        compiled: CompiledSystem,
        length: int,
        theta: float,
        reach: int,
        *,
        longer_reach: int | None = None,
        over_all: Callable[[CompiledSystem, int, float], Engine] | None = None,
        margin: float | None = None,
    ) -> None:
        """`over_all` makes what draws words that jump; `margin` if not the one for the roundings that there are.

        With a `longer_reach` words that the first one leaves in doubt are drawn once more with that, from the same
        bits: it takes a hundredth of what it takes to draw them exactly.
        """
        super().__init__(compiled, length, theta)
        self._over_all = over_all or LaneEngine
        world = LocalWorld.of(compiled)
        assert world is not None
        self._world, self._draw = world, LocalDraw(world, length, self._z, reach)
        self._longer_reach = longer_reach
        if margin is not None:
            self._draw.margin = margin

    def _loop(self, values: AnyIntArray, begins: IntArray, keystream: UintArray, private: AnyIntArray) -> Drawn:
        drawn = self._draw.draw(values, begins, keystream, private)
        again = np.flatnonzero(drawn.in_doubt | drawn.undrawn)
        if self._further is not None and len(again):
            drawn.replace(again, self._further.draw(values, begins[again], keystream[again], private))
        return drawn.log_z, drawn.in_doubt, drawn.undrawn

    @cached_property
    def _further(self) -> LocalDraw | None:
        """Made when it is needed, since what it counts beforehand takes memory for the whole system."""
        reach = self._longer_reach
        return None if reach is None else LocalDraw(self._world, self._length, self._z, reach)

    def log_partition(self, values: AnyIntArray, begins: IntArray) -> FloatArray:
        """log Z of each word, without a draw; nan where everything has to be looked at."""
        some = values[begins[:, None] + np.arange(self._length)].reshape(-1)
        keystream = np.zeros((len(begins), self._keystream_values), dtype=np.uint64)
        drawn = self._draw.draw(some, np.arange(len(begins)) * self._length, keystream, np.empty_like(some))
        return np.where(drawn.undrawn, np.nan, drawn.log_z)

    @property
    def _keystream_values(self) -> int:
        return self._length + 1

    @property
    def _can_be_exact(self) -> bool:
        return True

    def _exactly(self, codes: IntArray, uniforms: Sequence[LazyUniform]) -> list[int]:
        return draw_exactly_by_marks(self._world, codes, self._z, self._draw.reach, uniforms)

    def _for_undrawn(self) -> Engine:
        """A word that jumps is far from all others: everything has to be looked at."""
        return self._over_all(self._compiled, self._length, self._theta)


def lanes_fit(compiled: CompiledSystem, positions: int) -> bool:
    """Is there room for so many messages of sixteen words?"""
    return positions * compiled.state_count * 16 * 8 <= _LARGEST_LANE_TABLE


def lane_messages(compiled: CompiledSystem, length: int) -> int | None:
    """How many messages of sixteen words `LaneEngine` holds at most: all, or some, or None if there is no room."""
    return next((held for held in (length, 2 * isqrt(length) + 3) if lanes_fit(compiled, held)), None)


class LaneEngine(Engine):
    """Any system that is not huge; see lane_kernels.py. Of long words some messages are made twice, to save memory.

    The fastest for sixteen words and more that are neither short nor local: 20 to 60 times as fast as `LogEngine`.
    """

    def __init__(
        self,
        compiled: CompiledSystem,
        length: int,
        theta: float,
        reachable: ReachableRows | None = None,
        far_apart: Callable[[CompiledSystem, int, float], Engine] | None = None,
        step: int | None = None,
    ) -> None:
        """`far_apart` makes what draws words whose weights lie too far apart for this loop.

        `step`: of how many positions messages are held at a time, if not of as many as pay.
        """
        super().__init__(compiled, length, theta)
        self._far_apart, self._step = far_apart or LogEngine, step
        reachable = reachable or ReachableRows.of(compiled, length)
        order, label_offsets = compiled.edges_by_label
        growth = theta + log(compiled.largest_degree)
        every = max(1, int(200 / growth))  # positions in which no weight changes by more than e^200
        self._margin = rounding_margin((length + 2) * (compiled.largest_degree + 4))
        system = (
            reachable.states, reachable.offsets, reachable.marks, reachable.rows, compiled.offsets, compiled.targets,
            label_offsets, compiled.sources[order], compiled.targets[order],
        )  # fmt: skip
        self._arguments = length, system, self._z, 1.0 - self._z, every

    def _loop(self, values: AnyIntArray, begins: IntArray, keystream: UintArray, private: AnyIntArray) -> Drawn:
        from pathveil.words.tilted.lane_kernels import draw_in_lanes

        compiled, log_z = self._compiled, np.empty(len(begins))
        sound, in_doubt = np.empty(len(begins), dtype=bool), np.empty(len(begins), dtype=bool)
        draw_in_lanes(
            values, begins, *self._arguments, log_z, sound, self._step or self._best_step(len(begins)), compiled.labels,
            compiled.step_table, keystream.reshape(-1), private, self._margin, in_doubt,
        )  # fmt: skip
        return log_z, in_doubt, ~sound

    def _best_step(self, words: int) -> int:
        """Of how many positions messages are held at a time: those of others are made twice, to the same digits."""
        table = self._length * self._compiled.state_count * 16 * 8
        pays = table <= _CACHED_LANE_TABLE or words > 16 * (_SEVERAL - 1)
        return self._length if pays and lanes_fit(self._compiled, self._length) else isqrt(self._length)

    def _for_undrawn(self) -> Engine:
        return self._far_apart(self._compiled, self._length, self._theta)

    def log_partition(self, values: AnyIntArray, begins: IntArray) -> FloatArray:
        """log Z of each word, without a draw."""
        from pathveil.words.tilted.lane_kernels import partition_functions

        log_z, sound = np.empty(len(begins)), np.empty(len(begins), dtype=bool)
        partition_functions(values, begins, *self._arguments, log_z, sound)
        if not sound.all():
            extreme = np.flatnonzero(~sound)
            logs = LogEngine(self._compiled, self._length, self._theta)
            log_z[extreme] = logs.log_partition(values, begins[extreme])
        return log_z


class LogEngine(Engine):
    """Any system, any tilt, any length; see logs.py.

    Needs no compiled code, and takes two to eight times less than `SparseEngine` for four words and more of a small
    batch on a small system. It is the only one that holds weights of any size.
    """

    def draw(self, values: AnyIntArray, begins: IntArray, private: AnyIntArray, source: RandomSource) -> FloatArray:
        """As above, so many words at a time that memory holds their messages."""
        log_z, step = np.empty(len(begins)), rows_at_once(self._compiled, self._length)
        for k in range(0, len(begins), step):
            log_z[k : k + step] = super().draw(values, begins[k : k + step], private, source)
        return log_z

    def _loop(self, values: AnyIntArray, begins: IntArray, keystream: UintArray, private: AnyIntArray) -> Drawn:
        cells = self._cells(begins)
        codes = values[cells].astype(np.int64)
        private[cells], log_z, in_doubt = draw_rows(self._compiled, codes, self._z, keystream)
        return log_z, in_doubt, np.zeros(len(begins), dtype=bool)

    def log_partition(self, values: AnyIntArray, begins: IntArray) -> FloatArray:
        """log Z of each word, without a draw; as many words at a time."""
        log_z, step = np.empty(len(begins)), rows_at_once(self._compiled, 1)
        for k in range(0, len(begins), step):
            codes = values[self._cells(begins[k : k + step])].astype(np.int64)
            log_z[k : k + step] = log_normalisers(self._compiled, codes, self._theta)
        return log_z

    def _cells(self, begins: IntArray) -> IntArray:
        cells: IntArray = begins[:, None] + np.arange(self._length)
        return cells
