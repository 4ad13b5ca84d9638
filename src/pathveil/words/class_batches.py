"""Large batches drawn by error class: first the number of errors, then a word with that many.

The compiled counterpart of `classes.draw_by_class`. Counts are floating-point numbers here, so a word of a class is
drawn with probabilities that are equal to about 15 digits.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import log

import numpy as np

from pathveil.randomness.source import RandomSource
from pathveil.systems.blocks import cuts
from pathveil.systems.compiled import AnyIntArray, CompiledSystem, IntArray
from pathveil.words.classes import LARGEST_TABLE_BITS, exact_table_bits
from pathveil.words.law import FloatArray
from pathveil.words.ragged import SameLength, Words

_LARGEST_TABLE = 1 << 28  # bytes, for each thread
_LARGEST_COUNT = 1e300
_BLOCK_CELLS = 1 << 16
_SMALL_FREE = 1 << 16  # cells
_SMALL = 1 << 20  # cells times edges
_HASH = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio

Block = Callable[[RandomSource], None]


def is_small(compiled: CompiledSystem, words: Words) -> bool:
    """Is the batch done in plain Python before the compiled loops would be loaded, or can only be done there?"""
    if compiled.is_free:
        return len(words.values) < _SMALL_FREE or max(words.lengths) * compiled.symbol_count >= 2**32
    if len(words.values) * compiled.edge_count >= _SMALL:
        return False
    return all(exact_table_bits(compiled, length) <= LARGEST_TABLE_BITS for length in words.lengths)


def table_fits(compiled: CompiledSystem, length: int) -> bool:
    """Can the classes of a word of this length be counted in floating point, in reasonable memory?"""
    if 4 * compiled.state_count * (length + 2) * (length + 17) > _LARGEST_TABLE:  # made in strips of 16 numbers
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
    *,
    flip: bool,
) -> list[Block]:
    """The work for words of one length on a system, in blocks; equal words should follow each other."""
    from pathveil.words.class_kernels import draw_words

    length = len(scores) - 1

    def draw(begins: IntArray, source: RandomSource) -> None:
        words = source.words64(len(begins) * (2 * length + 1))
        draw_words(
            values, begins, length, compiled.symbol_count, compiled.start, compiled.accepting, compiled.offsets,
            compiled.labels, compiled.targets, scores, flip, words, private,
        )  # fmt: skip

    return [partial(draw, begins[begin:end]) for begin, end in cuts(len(begins), 1 + _BLOCK_CELLS // length)]


def free_blocks(
    symbol_count: int, values: AnyIntArray, part: SameLength, pmf: FloatArray, private: AnyIntArray
) -> list[Block]:
    """The same on a free alphabet, where all words of one length have the same law `pmf` of the number of errors."""
    from pathveil.words.free_kernels import place_errors

    bounds = word_bounds(pmf)

    def draw(begins: IntArray, source: RandomSource) -> None:
        words = np.empty(len(begins) * (part.length + 1), dtype=np.uint64)
        again = np.empty(len(begins), dtype=bool)
        while len(begins):
            words = words[: len(begins) * (part.length + 1)]
            source.fill(words)
            place_errors(values, begins, part.length, symbol_count, bounds, words, private, again[: len(begins)])
            begins = begins[again[: len(begins)]]

    size = 1 + _BLOCK_CELLS // (part.length + 1)
    return [partial(draw, part.begins[begin:end]) for begin, end in cuts(len(part.begins), size)]


def word_bounds(pmf: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """bounds[ℓ]: how many of the 2^64 keystream words mean at most ℓ errors, for every ℓ but the last.

    Each class gets its share as an integer, to the last digit of its probability, so that rare classes are as precise
    as common ones. What rounding leaves over, or takes too much, falls to the most likely class.
    """
    shares = [int(Fraction(float(p)) * 2**64) for p in pmf]
    shares[int(np.argmax(pmf))] += 2**64 - sum(shares)
    bounds, total = [], 0
    for share in shares[:-1]:
        total += share
        bounds.append(min(total, 2**64 - 1))  # a class of probability 1 misses one word of 2^64
    return np.array(bounds, dtype=np.uint64)


def equal_together(values: AnyIntArray, part: SameLength) -> tuple[IntArray, int]:
    """The words' first cells in an order in which equal words follow each other, and the number of different words."""
    powers = np.full(part.length, _HASH)
    powers[-1] = 1
    powers = np.multiply.accumulate(powers[::-1])[::-1]  # of _HASH, modulo 2^64
    keys = np.empty(len(part.begins), dtype=np.uint64)
    for begin, end in cuts(len(keys), 1 + _BLOCK_CELLS // part.length):
        cells = part.begins[begin:end, None] + np.arange(part.length)
        keys[begin:end] = values[cells].astype(np.uint64) @ powers
    order = np.argsort(keys, kind="stable")
    # Different words with one key would only be counted as one, and be given a table each all the same.
    return part.begins[order], 1 + int(np.count_nonzero(np.diff(keys[order])))
