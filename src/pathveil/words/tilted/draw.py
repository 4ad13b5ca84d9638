"""The exponential mechanism with the Hamming utility: P(w'|w) ∝ e^(-θ d(w, w')) over the feasible words.

On a free alphabet that is independent randomized response at each position. On any other system it is an
inhomogeneous Markov chain: one pass backwards gives the weights, and the word is drawn forwards, in O(n · edges).
(docs/mathematics.md, "Exponential mechanism")

This file decides which loop does the work, from public quantities and the size of the batch; all of them draw from the
same law. docs/kernels.md has the measurements behind the limits.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from math import ceil, exp, floor, log
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pathveil.numerics.arrays import AnyIntArray, FloatArray, IntArray
from pathveil.randomness.blocks import cuts, run_blocks
from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import Words, doubt, tilt_factor
from pathveil.words.tilted.exact import settle
from pathveil.words.tilted.logs import draw_with_logs, log_normalisers
from pathveil.words.tilted.sparse import SparseEngine
from pathveil.words.tilted.visited import Visited

_SMALL_FREE = 1 << 16  # cells: less is done before the compiled loops would be loaded
_SMALL = 1 << 20  # cells times edges: likewise
_FEW = 4  # words, on a system that is not small
_BLOCK_CELLS = 1 << 16  # cells, and words of keystream, for a thread at a time
_FREE_BLOCK_CELLS = 1 << 20
_LARGEST_RENEWAL_TABLE = 1 << 22  # bytes
_CACHED_RENEWAL_TABLE = 1 << 19  # bytes: it is read all over; what no longer stays near a processor costs more
_LARGEST_LANE_TABLE = 1 << 28  # bytes, for each thread
_SAFE = 600.0  # no product of that many e's leaves the range of floating point


def draw_tilted(
    compiled: CompiledSystem, words: Words, theta: Callable[[int], float], source: RandomSource
) -> AnyIntArray:
    """A private word for each word; theta(n) is the tilt for words of n symbols."""
    thetas = [theta(length) for length in words.lengths]
    private = np.empty_like(words.values)
    if compiled.is_free:
        if len(set(thetas)) == 1:
            _respond(compiled.symbol_count, words.values, thetas[0], source, private)
        else:
            for part, tilt in zip(words.by_length, thetas, strict=True):
                drawn = np.empty(part.cells.shape, dtype=private.dtype).reshape(-1)
                _respond(compiled.symbol_count, words.values[part.cells].reshape(-1), tilt, source, drawn)
                private[part.cells] = drawn.reshape(part.cells.shape)
        return private
    if words.values.size * compiled.edge_count < _SMALL:
        for part, tilt in zip(words.by_length, thetas, strict=True):
            private[part.cells] = draw_with_logs(compiled, words.values[part.cells].astype(np.int64), tilt, source)
        return private

    def draw(engine: Engine, begins: IntArray, branch: RandomSource) -> None:
        engine.draw(words.values, begins, private, branch)

    blocks = []
    for part, tilt in zip(words.by_length, thetas, strict=True):
        engine = (SparseEngine if len(part.begins) < _FEW else engine_for)(compiled, part.length, tilt)
        for begin, end in cuts(len(part.begins), block_size(part.length)):
            blocks.append(partial(draw, engine, part.begins[begin:end]))
    run_blocks(blocks, source)
    return private


def log_normaliser(compiled: CompiledSystem, codes: IntArray, theta: float) -> float:
    """log Z(w) = log Σ e^(-θ d(w, w')) over the feasible words w'."""
    if compiled.is_free:
        return len(codes) * float(np.log1p((compiled.symbol_count - 1) * exp(-theta)))
    return float(log_normalisers(compiled, codes[None, :], theta)[0])


def block_size(length: int) -> int:
    """How many words of this length a thread gets at a time: a multiple of sixteen."""
    return 16 * (1 + _BLOCK_CELLS // (16 * length))


# ------------------------------------------------------------------------------------------------- free alphabets


LAST_WORD = 2**64 - 1


@lru_cache
def shares(symbol_count: int, theta: float) -> tuple[int, int]:
    """(each, last): in randomized response every wrong symbol owns `each` keystream words, from 0 on, and the right one
    all others up to `last`. Words above `last` belong to nobody and are drawn again.

    No symbol owns more than e^θ times as many as another, as exact numbers. With `each` rounded up from what a z not
    below e^-θ asks for, the right symbol never owns more than e^θ times as many words as a wrong one, and none is left
    over. But if θ is tiny or there are very many symbols, wrong ones may then own too many. In that case both are
    rounded down, the right one from each/z, so that it owns at least `each` and at most `each`·e^θ words.
    """
    z = Fraction(tilt_factor(theta))
    ideal = 2**64 * z / (1 + (symbol_count - 1) * z)
    each = ceil(ideal)
    right = 2**64 - (symbol_count - 1) * each
    if each <= right * (1 + Fraction(theta)):  # which is below e^θ
        return each, LAST_WORD
    each = floor(ideal)
    return each, (symbol_count - 1) * each + floor(each / z) - 1


def words_for_each(symbol_count: int, theta: float) -> int:
    """How many of the 2^64 keystream words stand for each wrong symbol in randomized response."""
    return shares(symbol_count, theta)[0]


def redraw_unowned(words: npt.NDArray[np.uint64], last: int | npt.NDArray[np.uint64], source: RandomSource) -> None:
    """Draw the keystream words again that are above `last`, one bound for all or one for each, until none is."""
    bounds = np.broadcast_to(np.asarray(last, dtype=np.uint64), words.shape)
    again = np.flatnonzero(words > bounds)
    while len(again):
        words[again] = source.words64(len(again))
        again = again[words[again] > bounds[again]]


def _respond(symbol_count: int, values: AnyIntArray, theta: float, source: RandomSource, private: AnyIntArray) -> None:
    if symbol_count == 1:
        private[:] = values
        return
    share, last = shares(symbol_count, theta)
    each = np.uint64(share)
    if len(values) < _SMALL_FREE:
        words = source.words64(len(values))
        if last < LAST_WORD:
            redraw_unowned(words, last, source)
        wrong = words < np.uint64(symbol_count - 1) * each
        private[:] = values
        private[wrong] = (values[wrong].astype(np.int64) + 1 + (words[wrong] // each).astype(np.int64)) % symbol_count
        return
    from pathveil.words.free_kernels import respond

    def draw(begin: int, end: int, branch: RandomSource) -> None:
        words = np.empty(min(_BLOCK_CELLS, end - begin), dtype=np.uint64)
        for low in range(begin, end, _BLOCK_CELLS):
            high = min(low + _BLOCK_CELLS, end)
            branch.fill(words[: high - low])
            if last < LAST_WORD:
                redraw_unowned(words[: high - low], last, branch)
            respond(values, low, high, symbol_count, each, words, private)

    run_blocks([partial(draw, *cut) for cut in cuts(len(values), _FREE_BLOCK_CELLS)], source)


# --------------------------------------------------------------------------------------------------- other systems


class Engine(Protocol):
    """A loop that is ready for words of one length at one tilt."""

    def draw(self, values: AnyIntArray, begins: IntArray, private: AnyIntArray, source: RandomSource) -> FloatArray:
        """Private words for the words that begin at these cells, written to the same cells; returns each log Z."""


def engine_for(compiled: CompiledSystem, length: int, theta: float) -> Engine:
    """The fastest loop that can do it."""
    if _renewal_pays(compiled, length, theta):
        return RenewalEngine(compiled, length, theta)
    if lanes_fit(compiled, length):
        return LaneEngine(compiled, length, theta)
    return LogEngine(compiled, length, theta)


def lanes_fit(compiled: CompiledSystem, positions: int) -> bool:
    """Is there room for so many messages of sixteen words?"""
    return positions * compiled.state_count * 16 * 8 <= _LARGEST_LANE_TABLE


def _renewal_pays(compiled: CompiledSystem, length: int, theta: float) -> bool:
    degree = compiled.edge_count / compiled.state_count
    table = 8 * length * compiled.symbol_count * compiled.state_count
    if compiled.symbol_states is None or not compiled.step_table.size or table > _LARGEST_RENEWAL_TABLE:
        return False
    if length * (theta + log(compiled.largest_degree)) > _SAFE:
        return False
    # An error makes the draw look at every successor.
    errors = degree * exp(-theta) / (1 + degree * exp(-theta))
    reads = length * (1 + degree * errors) * (1 if table <= _CACHED_RENEWAL_TABLE else 3)
    return reads < 0.6 * compiled.edge_count


class RenewalEngine:
    """Short words on Markov chains; see renewal_kernel.py."""

    def __init__(self, compiled: CompiledSystem, length: int, theta: float) -> None:
        self._compiled, self._length, self._z = compiled, length, tilt_factor(theta)
        # A way through the table multiplies at most n steps of d additions, and adds at most n sums of n terms.
        self._margin = doubt((length + 2) * (length + compiled.largest_degree + 4))
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

    def draw(self, values: AnyIntArray, begins: IntArray, private: AnyIntArray, source: RandomSource) -> FloatArray:
        from pathveil.words.tilted.renewal_kernel import draw_words

        compiled, log_z, in_doubt = self._compiled, np.empty(len(begins)), np.empty(len(begins), dtype=bool)
        words = source.words64(len(begins) * self._length)
        draw_words(
            values, begins, self._length, compiled.start, compiled.offsets, compiled.labels, compiled.targets,
            compiled.step_table, self._entered, self._table.reshape(-1), self._ends, self._z, words, log_z, private,
            self._margin, in_doubt,
        )  # fmt: skip
        settle(compiled, values, begins, in_doubt, self._z, words.reshape(-1, self._length), private, source)
        return log_z


class LaneEngine:
    """Any system; see lane_kernels.py."""

    def __init__(self, compiled: CompiledSystem, length: int, theta: float, visited: Visited | None = None) -> None:
        self._compiled, self._length, self._theta = compiled, length, theta
        visited = visited or Visited.of(compiled, length)
        order, label_offsets = compiled.edges_by_label
        growth = theta + log(compiled.largest_degree)
        every = max(1, int(200 / growth))  # positions in which no weight changes by more than e^200
        self._z = tilt_factor(theta)
        self._margin = doubt((length + 2) * (compiled.largest_degree + 4))
        self._arguments = (
            length, visited.states, visited.offsets, visited.marks, compiled.offsets, compiled.targets,
            label_offsets, compiled.sources[order], compiled.targets[order], self._z, 1.0 - self._z, every,
        )  # fmt: skip

    def draw(self, values: AnyIntArray, begins: IntArray, private: AnyIntArray, source: RandomSource) -> FloatArray:
        from pathveil.words.tilted.lane_kernels import draw_words

        compiled, log_z = self._compiled, np.empty(len(begins))
        sound, in_doubt = np.empty(len(begins), dtype=bool), np.empty(len(begins), dtype=bool)
        words = source.words64(len(begins) * self._length)
        draw_words(
            values, begins, *self._arguments, log_z, sound, compiled.labels, compiled.step_table, words, private,
            self._margin, in_doubt,
        )  # fmt: skip
        settle(compiled, values, begins, in_doubt, self._z, words.reshape(-1, self._length), private, source)
        if not sound.all():
            extreme = np.flatnonzero(~sound)
            logs = LogEngine(compiled, self._length, self._theta)
            log_z[extreme] = logs.draw(values, begins[extreme], private, source)
        return log_z

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


class LogEngine:
    """Any system, any tilt, any length; see logs.py."""

    def __init__(self, compiled: CompiledSystem, length: int, theta: float) -> None:
        self._compiled, self._length, self._theta = compiled, length, theta

    def _rows(self, values: AnyIntArray, begins: IntArray) -> tuple[IntArray, IntArray]:
        cells = begins[:, None] + np.arange(self._length)
        return cells, values[cells].astype(np.int64)

    def draw(self, values: AnyIntArray, begins: IntArray, private: AnyIntArray, source: RandomSource) -> FloatArray:
        cells, codes = self._rows(values, begins)
        private[cells] = draw_with_logs(self._compiled, codes, self._theta, source)
        return self.log_partition(values, begins)

    def log_partition(self, values: AnyIntArray, begins: IntArray) -> FloatArray:
        """log Z of each word, without a draw."""
        return log_normalisers(self._compiled, self._rows(values, begins)[1], self._theta)
