"""The exponential mechanism with the Hamming utility: P(w'|w) ∝ e^(-θ d(w, w')) over the feasible words.

On a free alphabet that is independent randomized response at each position. On any other system it is an
inhomogeneous Markov chain: one pass backwards gives the weights, and the word is drawn forwards, in O(n · edges).
(docs/mathematics.md, "Exponential mechanism")

This file decides which loop does the work, from public quantities and the size of the batch; all of them draw from the
same law. docs/development/kernels.md has the measurements behind the limits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import exp, log

import numpy as np

from pathveil.numerics.arrays import AnyIntArray, IntArray
from pathveil.randomness.blocks import cuts, run_blocks
from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import Batch, SameLength, tilt_factor
from pathveil.words.local import MOST_BYTES, LocalWorld
from pathveil.words.tilted.engines import Engine, LaneEngine, LogEngine, MarksEngine, RenewalEngine, lane_messages
from pathveil.words.tilted.logs import log_normalisers
from pathveil.words.tilted.response import respond_randomly
from pathveil.words.tilted.sparse import SparseEngine

_SMALL = 1 << 20  # cells times edges: less is done before the compiled loops would be loaded
_FEW = 4  # words, on a system that is not small
_PRODUCT, _PRODUCT_EDGE = 60e-6, 4e-9  # seconds for a position of a single word, and for each edge
_LOADING, _SIXTEEN_EDGES = 0.5, 5e-9  # seconds until compiled loops are there, and for a position and edge then
_BLOCK_CELLS = 1 << 16  # cells, and keystream values, for a thread at a time
_LARGEST_RENEWAL_TABLE = 1 << 22  # bytes
_RENEWAL_READ = ((1 << 15, 0.2), (1 << 20, 0.4), (_LARGEST_RENEWAL_TABLE, 0.6))  # bytes, and nanoseconds a read then
_LANE_EDGE = 0.25  # nanoseconds for each edge at a position of one word of sixteen
_LOG_POSITION, _LOG_EDGE = 44.0, 0.014  # microseconds: of all words together, and for an edge and a word
_SPARSE_POSITION, _SPARSE_EDGE = 26.0, 0.0016  # the same of a single word, and for an edge
_LOCAL_SYMBOL, _LOCAL_GAP = 120, 60  # what a symbol takes in the local loop, and each step of its reach, in edges
_LOCAL_STATE, _COUNTING = 2.4, 90.0  # each state in its lists, and to make the lists anew, for each of these states
_LEFT_OUT = 5e-4  # of all weight, for any feasible word, at most: draws that it could decide are made again,
_LEFT_OUT_TIMES_LENGTH = 0.5  # so that of long words, too, hardly one is;
_LEFT_OUT_THEN = 1e-8, 1e-6  # with as little as possible of these left out; and what even that could decide, exactly
_SAFE = 600.0  # no product of that many e's leaves the range of floating point


def draw_tilted(
    compiled: CompiledSystem, words: Batch, theta: Callable[[int], float], source: RandomSource
) -> AnyIntArray:
    """A private word for each word; theta(n) is the tilt for words of n symbols."""
    thetas = [theta(length) for length in words.lengths]
    private = np.empty_like(words.values)
    if compiled.is_free:
        if len(set(thetas)) == 1:
            respond_randomly(compiled.symbol_count, words.values, thetas[0], source, private)
        else:
            for part, tilt in zip(words.by_length, thetas, strict=True):
                drawn = np.empty(part.cells.shape, dtype=private.dtype).reshape(-1)
                respond_randomly(compiled.symbol_count, words.values[part.cells].reshape(-1), tilt, source, drawn)
                private[part.cells] = drawn.reshape(part.cells.shape)
        return private
    local = [local_engine(compiled, part.length, tilt) for part, tilt in zip(words.by_length, thetas, strict=True)]
    if words.values.size * compiled.edge_count < _SMALL and not any(local):
        for part, tilt in zip(words.by_length, thetas, strict=True):
            small = SparseEngine if _sparse_pays(compiled, len(part.begins)) else LogEngine
            small(compiled, part.length, tilt).draw(words.values, part.begins, private, source)
        return private

    def draw(engine: Engine, begins: IntArray, branch: RandomSource) -> None:
        engine.draw(words.values, begins, private, branch)

    blocks = []
    for part, tilt, near in zip(words.by_length, thetas, local, strict=True):
        over_all = SparseEngine if _one_by_one(compiled, part) else engine_for
        engine = near or over_all(compiled, part.length, tilt)
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


def engine_for(compiled: CompiledSystem, length: int, theta: float) -> Engine:
    """The fastest loop that passes over the whole system."""
    if _renewal_pays(compiled, length, theta):
        return RenewalEngine(compiled, length, theta)
    if lane_messages(compiled, length) is not None:
        return LaneEngine(compiled, length, theta, far_apart=SparseEngine)
    return SparseEngine(compiled, length, theta)


def local_engine(compiled: CompiledSystem, length: int, theta: float) -> MarksEngine | None:
    """The loop that looks at the surroundings of words only; None where it does not pay, or cannot be used."""
    reach = local_reach(compiled, length, theta)
    if reach is None:
        return None
    longer = _longer_reach(compiled, length, theta)
    return MarksEngine(compiled, length, theta, reach, longer_reach=longer, over_all=engine_for)


def _one_by_one(compiled: CompiledSystem, part: SameLength) -> bool:
    """Are these so few words that they are drawn before sixteen at a time would be, compiled loops loaded?"""
    alone = len(part.begins) * part.length * (_PRODUCT + compiled.edge_count * _PRODUCT_EDGE)
    return len(part.begins) < _FEW and alone < _LOADING + part.length * compiled.edge_count * _SIXTEEN_EDGES


def _sparse_pays(compiled: CompiledSystem, words: int) -> bool:
    """Does one product after the other take less than logarithms of all words of a small batch together?"""
    one_by_one = words * (_SPARSE_POSITION + compiled.edge_count * _SPARSE_EDGE)
    return one_by_one < _LOG_POSITION + words * compiled.edge_count * _LOG_EDGE


def may_be_local(compiled: CompiledSystem) -> bool:
    """Is it used on this system at some tilt?"""
    pays = compiled.edge_count > _LOCAL_SYMBOL + _LOCAL_GAP
    return pays and not compiled.is_free and compiled.symbol_states is not None


def local_reach(compiled: CompiledSystem, length: int, theta: float) -> int | None:
    """The longest excursion that it looks at, but for a few words; None as above. Public, like all it depends on."""
    left_out = min(_LEFT_OUT, _LEFT_OUT_TIMES_LENGTH / max(length, 1))
    reach = precise_local_reach(compiled, length, theta, left_out)
    return None if reach is None or _longer_reach(compiled, length, theta) is None else reach


def precise_local_reach(compiled: CompiledSystem, length: int, theta: float, left_out: float) -> int | None:
    """The same if longer excursions may have no more than the share `left_out` of all weight, for any feasible word."""
    if not may_be_local(compiled):
        return None
    world = LocalWorld.of(compiled)
    reach = None if world is None else world.reach_for(left_out, length, tilt_factor(theta))
    return reach if reach is not None and local_edges(compiled, reach) < compiled.edge_count else None


def local_edges(compiled: CompiledSystem, reach: int) -> float:
    """What a symbol takes in the local loop: as much as passing over so many edges, sixteen words side by side."""
    world = LocalWorld.of(compiled)
    assert world is not None
    states = world.states_in_lists(reach)
    again = world.bytes_of_lists(reach) > MOST_BYTES  # then much is listed again and again
    return _LOCAL_SYMBOL + reach * _LOCAL_GAP + states * (_LOCAL_STATE + (_COUNTING if again else 0.0))


def _longer_reach(compiled: CompiledSystem, length: int, theta: float) -> int | None:
    """For words that are in doubt otherwise."""
    world, z = LocalWorld.of(compiled), tilt_factor(theta)
    if world is None:
        return None
    reaches = (world.reach_for(left_out, length, z) for left_out in _LEFT_OUT_THEN)
    return next((reach for reach in reaches if reach is not None), None)


def _renewal_pays(compiled: CompiledSystem, length: int, theta: float) -> bool:
    degree = compiled.edge_count / compiled.state_count
    table = 8 * length * compiled.symbol_count * compiled.state_count
    if compiled.symbol_states is None or not compiled.step_table.size or table > _LARGEST_RENEWAL_TABLE:
        return False
    if length * (theta + log(compiled.largest_degree)) > _SAFE:
        return False
    # An error makes the draw look at successors, at half of them on average.
    errors = degree * exp(-theta) / (1 + degree * exp(-theta))
    a_read = next(time for size, time in _RENEWAL_READ if table <= size)
    return a_read * length * (1 + degree * errors / 2) < _LANE_EDGE * compiled.edge_count
