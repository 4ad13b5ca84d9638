"""Error classes: the feasible words at exactly ℓ errors from a word, counted and drawn from exactly.

N(ℓ) is the number of feasible words of the same length at Hamming distance ℓ. On a free alphabet it is
C(n, ℓ)(m-1)^ℓ. On any other system one backward table gives all of them: R_i(r, y) is the number of ways to write
the symbols after position i, standing in state y, with exactly r errors among them. Then N(ℓ) = R_0(ℓ, start), and
walking forward with successors weighted by R draws uniformly from any class. (docs/mathematics.md, "Error classes")

The table is kept in exact integers. All R_i(·, y) of one state are packed into a single Python integer, `width` bits
for each r: adding such integers adds all counts at once, and one more error is a shift by `width` bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from pathveil.errors import TooLargeError
from pathveil.numerics.arrays import AnyIntArray, BoolArray, FloatArray, IntArray
from pathveil.randomness.blocks import cuts
from pathveil.randomness.exact import draw_below_each, draw_index
from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import System, Word
from pathveil.words.base import Words
from pathveil.words.classes.counter import ClassCounter
from pathveil.words.classes.selection import Selection

LARGEST_TABLE_BITS = 1 << 35  # 4 GiB
_LARGEST_COUNTS_BITS = 1 << 32
_CHUNK = 1 << 18  # cells worked on at a time


class ErrorClasses(ClassCounter):
    """The feasible words around one word, by number of errors. Sensitive: it belongs to the curator.

    >>> import pathveil as pv
    >>> pv.error_classes(pv.Alphabet("abc"), "abca").counts
    (1, 8, 24, 32, 16)
    """

    what = "errors"

    def __init__(self, codes: IntArray) -> None:
        self._codes = codes

    def distances(self, outputs: Iterable[IntArray]) -> IntArray:
        return np.array([np.count_nonzero(output != self._codes) for output in outputs], dtype=np.int64)


def error_classes(world: System, word: Word) -> ErrorClasses:
    """The error classes of a word, which need not be feasible itself."""
    return classes_of_codes(world.compiled, world.encode(word))


def classes_of_codes(compiled: CompiledSystem, codes: IntArray) -> ErrorClasses:
    """The error classes of a word given by its symbol codes."""
    return FreeClasses(compiled.symbol_count, codes) if compiled.is_free else SystemClasses(compiled, codes)


class FreeClasses(ErrorClasses):
    """Every word over m symbols is feasible."""

    def __init__(self, symbol_count: int, codes: IntArray) -> None:
        super().__init__(codes)
        self._symbol_count = symbol_count
        self.counts = free_counts(symbol_count, len(codes))

    def _draw(self, distance: int, source: RandomSource) -> IntArray:
        private: IntArray = draw_free(self._codes[None, :], np.array([distance]), self._symbol_count, source)[0]
        return private


def free_counts(symbol_count: int, length: int) -> tuple[int, ...]:
    """N(0..n) on a free alphabet: choose the wrong positions, then one of m-1 wrong symbols for each."""
    bits = length * length * symbol_count.bit_length()
    if bits > _LARGEST_COUNTS_BITS:
        raise TooLargeError(
            f"counting the error classes of a word of {length} symbols would take about {bits / 2**33:.0f} GiB. "
            "CertifiedExponential and Online need no such counts."
        )
    counts, count = [1], 1
    for errors in range(length):
        count = count * ((length - errors) * (symbol_count - 1)) // (errors + 1)
        counts.append(count)
    return tuple(counts)


def draw_free(codes: IntArray, errors: IntArray, symbol_count: int, source: RandomSource) -> IntArray:
    """For each row of codes a uniform word with exactly the given number of errors, over a free alphabet.

    Positions are visited once. With r errors left to place on k positions, this one is wrong with probability r/k.
    """
    batch, length = codes.shape
    wrong = np.empty((batch, length), dtype=bool)
    left = errors.astype(np.uint64)
    for i in range(length):
        wrong[:, i] = draw_below_each(source, np.full(batch, length - i, dtype=np.uint64)) < left
        left -= wrong[:, i]
    return replace(codes, wrong, symbol_count, source)


def replace(codes: IntArray, wrong: BoolArray, symbol_count: int, source: RandomSource) -> IntArray:
    """Every marked symbol replaced by one of the m-1 others, uniformly."""
    private = codes.copy()
    others = np.full(np.count_nonzero(wrong), max(symbol_count - 1, 1), dtype=np.uint64)
    steps = draw_below_each(source, others).astype(np.int64) + 1
    private[wrong] = (codes[wrong] + steps) % symbol_count
    return private


def draw_by_class(
    compiled: CompiledSystem,
    words: Words,
    selection: Selection,
    scores: Callable[[int], FloatArray],
    source: RandomSource,
) -> AnyIntArray:
    """A private word for each word: first its number of errors, then a word of that class.

    `scores(n)` has the scores of the classes of a word of n symbols. Equal words share one table.
    """
    private = np.empty_like(words.values)

    def choose(counts: tuple[int, ...], size: int) -> IntArray:
        noise = source.words64(size * len(counts)).reshape(size, len(counts))
        return selection.choose([counts], scores(len(counts) - 1), noise, source)

    for part in words.by_length:
        cells = part.cells
        codes = words.values[cells].astype(np.int64)
        if compiled.is_free:
            counts = free_counts(compiled.symbol_count, part.length)
            for begin, end in cuts(len(codes), 1 + _CHUNK // part.length):
                errors = choose(counts, end - begin)
                private[cells[begin:end]] = draw_free(codes[begin:end], errors, compiled.symbol_count, source)
            continue
        for word, rows in equal_rows(codes):
            classes = SystemClasses(compiled, word)
            for row, errors in zip(rows, choose(classes.counts, len(rows)).tolist(), strict=True):
                private[cells[row]] = classes.draw(errors, source)
    return private


def equal_rows(codes: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Each different row, and where it stands."""
    rows, which = np.unique(codes, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    return zip(rows, np.split(order, np.cumsum(np.bincount(which.ravel()))[:-1]), strict=True)


def _digit_width(compiled: CompiledSystem, length: int) -> int:
    """Bits for one count. None exceeds (largest number of successors)^n, so a digit never carries over."""
    largest: int = int(np.diff(compiled.offsets).max()) ** length
    return largest.bit_length()


def exact_table_bits(compiled: CompiledSystem, length: int) -> int:
    """The size of the exact table for a word of this length, about."""
    return _digit_width(compiled, length) * length * length * compiled.state_count // 2


class SystemClasses(ErrorClasses):
    """Error classes on any compiled system, from the packed backward table."""

    def __init__(self, compiled: CompiledSystem, codes: IntArray) -> None:
        super().__init__(codes)
        self._compiled = compiled
        length = len(codes)
        self._width = _digit_width(compiled, length)
        bits = exact_table_bits(compiled, length)
        if bits > LARGEST_TABLE_BITS:
            raise TooLargeError(
                f"counting the error classes of a word of {length} symbols on {compiled.state_count} states exactly "
                f"would take about {bits / 2**33:.0f} GiB. Use Exponential, CertifiedExponential or Online, which "
                "need no such table, or cut the word into shorter ones."
            )
        self._table = self._backward()
        self.counts = tuple(self._digit(self._table[0][compiled.start], r) for r in range(length + 1))

    def _backward(self) -> list[list[int]]:
        """Row i holds R_i(·, y) for every state y."""
        compiled, width = self._compiled, self._width
        after = [int(accepted) for accepted in compiled.accepting]
        table = [after]
        for code in reversed(self._codes.tolist()):
            # Count every edge as an error first, then take the edge with the word's own symbol out of that.
            row = [sum(map(after.__getitem__, targets)) << width for targets in compiled.successors]
            for source, target in zip(*(ends.tolist() for ends in compiled.edges_with_label(code)), strict=True):
                right = after[target]
                row[source] += right - (right << width)
            table.append(row)
            after = row
        table.reverse()
        return table

    def _digit(self, packed: int, errors: int) -> int:
        count: int = (packed >> (errors * self._width)) & ((1 << self._width) - 1)
        return count

    def _draw(self, distance: int, source: RandomSource) -> IntArray:
        return self.walk(distance, partial(draw_index, source))

    def walk(self, distance: int, pick: Callable[[list[int]], int]) -> IntArray:
        """A word of a class; `pick(weights)` says which of the symbols that may follow is taken, at each position."""
        state, left, private = self._compiled.start, distance, []
        for code, after in zip(self._codes.tolist(), self._table[1:], strict=True):
            edges = list(self._compiled.moves[state].items())
            weights = [
                self._digit(after[target], left - (label != code)) if left or label == code else 0
                for label, target in edges
            ]
            label, state = edges[pick(weights)]
            left -= label != code
            private.append(label)
        return np.array(private, dtype=np.int64)
