"""The exponential draw with distances: P(w'|w) ∝ z^cost(w, w') over the feasible words of a system."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from math import log

import numpy as np

from pathveil.numerics.arrays import AnyIntArray, BoolArray, FloatArray, IntArray, UintArray
from pathveil.randomness.blocks import cuts, run_blocks
from pathveil.randomness.lazy import LazyUniform
from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import Batch, draw_block
from pathveil.words.distances.corridor import Corridor
from pathveil.words.distances.exact import draw_exactly
from pathveil.words.distances.prices import Prices
from pathveil.words.distances.word_passes import WordPasses
from pathveil.words.tilted import LARGEST_EXACT_DRAW, ReachableStates, block_size, lanes_fit

_SMALL = 1 << 11  # symbols: fewer are drawn before the compiled loop would be loaded
_SAFE = 200.0  # e^200 times what floating point loses is still nothing beside the weight of the word itself, 1
_LARGEST_TABLE = 256  # symbols: half a megabyte


class DistanceEngine:
    """Ready for words of one length at one weight z of a step; `feasible` says that all of them are."""

    def __init__(
        self,
        compiled: CompiledSystem,
        prices: Prices,
        length: int,
        z: float,
        *,
        feasible: bool,
        multiple: int = 1,
        reachable: ReachableStates | None = None,
        corridor: Corridor | None = None,
    ) -> None:
        """With a `corridor`, which is for feasible words, most words are drawn inside of it; then log Z is left out."""
        self._compiled, self._prices, self._length, self._z, self._multiple = compiled, prices, length, z, multiple
        self._feasible, self._corridor = feasible, corridor
        self.reachable = reachable or ReachableStates.of(compiled, length)

    def draw(
        self, values: AnyIntArray, begins: IntArray, private: AnyIntArray, source: RandomSource, *, small: bool = False
    ) -> FloatArray:
        """Private words for the words that begin at these cells, written to the same cells; returns each log Z."""
        log_z = np.full(len(begins), np.nan)
        compiled_loop = not small and lanes_fit(self._compiled, self._length)

        def loop(keystream: UintArray) -> BoolArray:
            open_, in_doubt = np.arange(len(begins)), np.zeros(len(begins), dtype=bool)
            if self._corridor is not None:
                near = self._corridor.draw(values, begins, self._length, keystream, private, self.margin)
                open_ = np.flatnonzero(near)
            undrawn = np.ones(len(open_), dtype=bool)
            if compiled_loop and len(open_):
                logs, doubts = np.empty(len(open_)), np.empty(len(open_), dtype=bool)
                self._run(
                    values,
                    begins[open_],
                    keystream[open_].reshape(-1),
                    private,
                    logs,
                    doubts,
                    undrawn,
                    only_log_z=False,
                )
                log_z[open_], in_doubt[open_] = logs, doubts
            for number in open_[undrawn].tolist():
                cells = slice(begins[number], begins[number] + self._length)
                passes = self._passes(values[cells])
                private[cells], in_doubt[number] = passes.draw(keystream[number])
                log_z[number] = passes.log_normaliser
            return in_doubt

        draw_block(
            values,
            begins,
            self._length,
            private,
            source,
            keystream_values=self._length,
            loop=loop,
            exactly=self._exactly if self.can_be_exact else None,
        )
        return log_z

    def log_partition(self, values: AnyIntArray, begins: IntArray) -> FloatArray:
        """log Z of each word, without a draw."""
        log_z = np.full(len(begins), -np.inf)
        if len(begins) * self._length >= _SMALL:
            nothing, unused = np.empty(0, dtype=np.uint64), np.zeros(len(begins), dtype=bool)
            self._run(values, begins, nothing, values, log_z, unused, unused, only_log_z=True)
        return self._mended(values, begins, log_z)

    @property
    def can_be_exact(self) -> bool:
        """Is there room to draw a word once more without rounding?"""
        return (self._length + 1) * self._compiled.state_count <= LARGEST_EXACT_DRAW

    def _passes(self, codes: AnyIntArray) -> WordPasses:
        return WordPasses(self._compiled, self._prices, codes.astype(np.int64), self._z, self._multiple)

    def _mended(self, values: AnyIntArray, begins: IntArray, log_z: FloatArray) -> FloatArray:
        """Where the loop could not hold Z, logarithms do."""
        for number in np.flatnonzero(log_z == -np.inf).tolist():
            begin = begins[number]
            log_z[number] = self._passes(values[begin : begin + self._length]).log_normaliser
        return log_z

    def _run(
        self,
        values: AnyIntArray,
        begins: IntArray,
        keystream: UintArray,
        private: AnyIntArray,
        log_z: FloatArray,
        in_doubt: BoolArray,
        undrawn: BoolArray,
        *,
        only_log_z: bool,
    ) -> None:
        from pathveil.words.distances.lane_kernel import LANES, draw_with_distances

        compiled, reachable = self._compiled, self.reachable
        lanes = LANES if lanes_fit(compiled, 2 * self._length) else LANES // 2
        degree = max(compiled.largest_degree, 2)
        every = max(1, int(200 / log(degree))) if self._feasible else 1  # positions in which nothing grows beyond e^200
        draw_with_distances(
            values, begins, reachable.states, reachable.offsets, compiled.offsets, compiled.labels,
            compiled.targets, self._entered, self._prices.costs, self._powers, self._table,
            self._growth, every, self.margin,
            keystream, private, log_z, in_doubt, undrawn, only_log_z, min(lanes, len(begins)),
        )  # fmt: skip

    @cached_property
    def _powers(self) -> FloatArray:
        return self._prices.powers(self._z, self._multiple)

    @cached_property
    def _table(self) -> FloatArray:
        """The weights of all pairs of symbols, where the cache of a processor holds them."""
        if len(self._prices.costs) > _LARGEST_TABLE:
            return np.empty((0, 0))
        table: FloatArray = self._powers[self._prices.costs]
        return table

    @cached_property
    def _entered(self) -> IntArray:
        states = self._compiled.symbol_states
        return np.empty(0, dtype=np.int64) if states is None else states

    @cached_property
    def _growth(self) -> float:
        """What a state's edges weigh together at most; for feasible words of moderate length, their number will do."""
        from pathveil.words.distances.lane_kernel import growth

        compiled = self._compiled
        if self._feasible and self._length * log(max(compiled.largest_degree, 2)) <= _SAFE:
            return float(compiled.largest_degree)
        return float(growth(compiled.offsets, compiled.labels, self._prices.costs, self._powers)) * (1 + 1e-9)

    @property
    def margin(self) -> float:
        """How far rounding can carry a sum of weights, relatively."""
        return self._prices.margin(self._compiled.largest_degree + 8, self._length)

    def _exactly(self, codes: IntArray, uniforms: Sequence[LazyUniform]) -> list[int]:
        return draw_exactly(self._compiled, self._prices, self.reachable, codes.tolist(), self._z, uniforms)


def draw_priced(
    compiled: CompiledSystem,
    prices: Prices,
    words: Batch,
    theta: Callable[[int], float],
    source: RandomSource,
    *,
    feasible: bool,
) -> AnyIntArray:
    """A private word for each word of a batch on a system; theta(n) is the tilt for words of n symbols."""
    private = np.empty_like(words.values)
    small = words.values.size < _SMALL

    def draw(engine: DistanceEngine, begins: IntArray, branch: RandomSource) -> None:
        engine.draw(words.values, begins, private, branch, small=small)

    blocks = []
    for part in words.by_length:
        z = prices.z(theta(part.length))
        corridor = (
            None if small or not feasible else Corridor.if_it_pays(compiled, prices, part.length, z, len(part.begins))
        )
        engine = DistanceEngine(compiled, prices, part.length, z, feasible=feasible, corridor=corridor)
        for begin, end in cuts(len(part.begins), block_size(part.length)):
            blocks.append(partial(draw, engine, part.begins[begin:end]))
    run_blocks(blocks, source)
    return private
