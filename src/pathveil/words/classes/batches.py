"""Large batches drawn by error class: first the number of errors, then a word with that many.

The compiled counterpart of `hamming.draw_by_class`. Counts are floating-point numbers here; what their rounding could
decide is decided again, from the same random numbers, by exact integers and ball arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from math import ceil, log

import numpy as np

from pathveil.numerics.arrays import AnyIntArray, BoolArray, FloatArray, IntArray, UintArray
from pathveil.randomness.blocks import cuts
from pathveil.randomness.decisions import InDoubtError, with_enough_digits
from pathveil.randomness.lazy import LazyUniform
from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import Batch, SameLength, draw_block, rounding_margin
from pathveil.words.classes.hamming import (
    LARGEST_TABLE_BITS,
    SystemClasses,
    draw_free,
    exact_table_bits,
    free_counts,
)
from pathveil.words.classes.selection import EXPONENTIAL, Selection

_LARGEST_FLOAT_TABLE = 1 << 28  # bytes, for each thread
_LARGEST_COUNT = 1e300
_BLOCK_CELLS = 1 << 16
_SMALL_FREE = 1 << 16  # cells
_SMALL = 1 << 20  # cells times edges
LONGEST_LAW = 64  # symbols: it takes n + 1 integrals over n + 1 factors
_LONGEST_COUNTS = 1_000  # symbols: their classes are counted for every batch
_HASH = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio

Block = Callable[[RandomSource], None]


def is_small(compiled: CompiledSystem, words: Batch) -> bool:
    """Is the batch done in plain Python before the compiled loops would be loaded, or can only be done there?"""
    if compiled.is_free:
        few = len(words.values) < _SMALL_FREE or compiled.symbol_count >= 2**24
        return LONGEST_LAW < max(words.lengths) <= _LONGEST_COUNTS or (few and max(words.lengths) <= LONGEST_LAW)
    if len(words.values) * compiled.edge_count >= _SMALL:
        return False
    return all(exact_table_bits(compiled, length) <= LARGEST_TABLE_BITS for length in words.lengths)


def table_fits(compiled: CompiledSystem, length: int) -> bool:
    """Can the classes of a word of this length be counted in floating point, in reasonable memory?"""
    if 4 * compiled.state_count * (length + 2) * (length + 17) > _LARGEST_FLOAT_TABLE:  # made in strips of 16 numbers
        return False
    if length * log(int(np.diff(compiled.offsets).max())) < log(_LARGEST_COUNT):  # each symbol so many choices at most
        return True
    words = compiled.accepting.astype(float)
    for _ in range(length):
        words = np.bincount(compiled.sources, words[compiled.targets], compiled.state_count)
        if words.max() > _LARGEST_COUNT:
            return False
    return True


def class_blocks(
    compiled: CompiledSystem,
    values: AnyIntArray,
    begins: IntArray,
    scores: FloatArray,
    private: AnyIntArray,
) -> list[Block]:
    """The exponential mechanism for words of one length on a system, in blocks; equal words should follow each other.

    For utilities other than the Hamming utility, whose words need no classes (`tilted`).
    """
    from pathveil.words.classes.kernels import draw_from_tables

    length = len(scores) - 1
    margin = rounding_margin((length + 2) * (compiled.largest_degree + 4))
    # Logarithms of counts are below 700; `exp` and `log` are taken to be right to 16 units in the last place.
    weight_margin = margin + rounding_margin(16 * (1400 + 2 * ceil(np.abs(scores).max()) + length))

    def draw(begins: IntArray, source: RandomSource) -> None:
        def loop(keystream: UintArray) -> BoolArray:
            # Always 64-bit integers, whatever the batch has: for each kind of them the loop would be compiled anew.
            cells = begins[:, None] + np.arange(length)
            codes = values[cells].astype(np.int64)
            drawn, in_doubt = np.empty_like(codes), np.empty(len(begins), dtype=bool)
            draw_from_tables(
                codes.reshape(-1), np.arange(len(begins)) * length, length, compiled.symbol_count, compiled.start,
                compiled.accepting, compiled.offsets, compiled.labels, compiled.targets, scores,
                keystream.reshape(-1), drawn.reshape(-1), margin, weight_margin, in_doubt,
            )  # fmt: skip
            private[cells] = drawn
            return in_doubt

        draw_block(values, begins, length, private, source, keystream_values=length + 1, loop=loop, exactly=exactly)

    def exactly(codes: IntArray, uniforms: Sequence[LazyUniform]) -> IntArray:
        classes = SystemClasses(compiled, codes)
        errors = cut_law(EXPONENTIAL, classes.counts, scores, uniforms[0])
        others = iter(uniforms[1:])
        return classes.walk(errors, lambda weights: next(others).pick(weights))

    return [partial(draw, begins[begin:end]) for begin, end in cuts(len(begins), 1 + _BLOCK_CELLS // length)]


def free_blocks(
    symbol_count: int,
    values: AnyIntArray,
    part: SameLength,
    scores: FloatArray,
    private: AnyIntArray,
    selection: Selection,
) -> list[Block]:
    """The same on a free alphabet, where all words of one length have the same law of the number of errors."""
    from pathveil.words.free_kernels import place_errors

    length = part.length
    counts = free_counts(symbol_count, length)
    bounds = np.array(keystream_bounds(selection, counts, tuple(scores.tolist())), dtype=np.uint64)

    def draw(begins: IntArray, source: RandomSource) -> None:
        def loop(keystream: UintArray) -> BoolArray:
            again, in_doubt = place(begins, keystream)
            repeated = np.flatnonzero(again & ~in_doubt)
            if len(repeated):
                usable = keystream[repeated]
                _redraw_biased(usable[:, 1:], symbol_count, source)
                place(begins[repeated], usable)
            return in_doubt

        def exactly(codes: IntArray, uniforms: Sequence[LazyUniform]) -> IntArray:
            errors = cut_law(selection, counts, scores, uniforms[0])
            drawn: IntArray = draw_free(codes[None, :], np.array([errors]), symbol_count, source)[0]
            return drawn

        draw_block(values, begins, length, private, source, keystream_values=length + 1, loop=loop, exactly=exactly)

    def place(begins: IntArray, keystream: UintArray) -> tuple[BoolArray, BoolArray]:
        again, in_doubt = np.empty(len(begins), dtype=bool), np.empty(len(begins), dtype=bool)
        place_errors(values, begins, length, symbol_count, bounds, keystream.reshape(-1), private, again, in_doubt)
        return again, in_doubt

    size = 1 + _BLOCK_CELLS // (length + 1)
    return [partial(draw, part.begins[begin:end]) for begin, end in cuts(len(part.begins), size)]


def _redraw_biased(keystream: UintArray, symbol_count: int, source: RandomSource) -> None:
    """Draw those keystream values for positions again that `place_errors` would not use, until it uses all of them.

    Only those. The number of errors stays: words with many errors look at more keystream values, and drawing their
    number again would make it less likely than it should be. The other positions stay for the same reason: words that
    have all their errors early look at fewer.
    """
    length = keystream.shape[1]
    for i in range(length):
        bound = (length - i) * (symbol_count - 1)
        for row in range(len(keystream)):
            while int(keystream[row, i]) * bound % 2**64 < 2**64 % bound:
                keystream[row, i] = source.keystream(1)[0]


def cut_law(selection: Selection, counts: Sequence[int], scores: FloatArray, uniform: LazyUniform) -> int:
    """The class on which a random number falls when the law is cumulated."""
    return with_enough_digits(lambda bits: uniform.cut(selection.law_balls(counts, scores.tolist()), bits))


@lru_cache
def keystream_bounds(selection: Selection, counts: tuple[int, ...], scores: tuple[float, ...]) -> list[int]:
    """bounds[ℓ] for every ℓ but the last: values below it mean at most ℓ errors, those more than 1 above mean more.

    Those in between, two of 2^64, begin like a number that may fall on either side.
    """

    def decide(_: int) -> list[int]:
        from flint import arb

        bounds, reached = [], arb(0)
        for probability in selection.law_balls(counts, scores)[:-1]:
            reached += probability * 2**64
            if not reached.rad() < 0.25:
                raise InDoubtError
            mantissa, exponent = reached.lower().floor().man_exp()
            lowest = int(mantissa) << int(exponent)
            bounds.append(min(max(lowest, 0), 2**64 - 1))
        return bounds

    return with_enough_digits(decide)


def equal_together(values: AnyIntArray, part: SameLength) -> IntArray:
    """The words' first cells in an order in which equal words follow each other."""
    powers = np.full(part.length, _HASH)
    powers[-1] = 1
    powers = np.multiply.accumulate(powers[::-1])[::-1]  # of _HASH, modulo 2^64
    keys = np.empty(len(part.begins), dtype=np.uint64)
    for begin, end in cuts(len(keys), 1 + _BLOCK_CELLS // part.length):
        cells = part.begins[begin:end, None] + np.arange(part.length)
        keys[begin:end] = values[cells].astype(np.uint64) @ powers
    # Different words with one key would be mixed, and be given a table each time they change: slower, and as right.
    return part.begins[np.argsort(keys, kind="stable")]
