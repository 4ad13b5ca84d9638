"""A model in the form that the compiled loops read: where contexts lead, and how likely what follows is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.contexts import ContextTree
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.randomness.blocks import cuts, run_blocks
from pathveil.randomness.source import RandomSource

_NUMBERS = 1 << 16  # random numbers at a time, few enough to stay in the processor's cache
_BLOCK = 1 << 15  # words for a thread at a time


@dataclass(frozen=True, eq=False)
class KernelArrays:
    """The cells of a row without its end come first; `inner` says how many they are."""

    slots: IntArray
    children: IntArray
    offsets: IntArray
    symbols: IntArray
    inner: IntArray
    cumulative: FloatArray
    """Over the inner cells of each row, up to 1."""
    logs: FloatArray
    """Logarithms of the probabilities of cells, given that the word does not end."""
    odds: FloatArray
    """The odds that a word ends in each row; infinite where nothing else can happen."""

    @classmethod
    def of(cls, tree: ContextTree, probabilities: FloatArray) -> KernelArrays:
        """Probabilities sum to 1 in each row that has cells."""
        end = tree.grammar.symbols
        row, is_end = tree.row_of_cell, tree.symbols == end
        ending = np.bincount(row, np.where(is_end, probabilities, 0.0), tree.row_count)
        inside = np.where(is_end, 0.0, probabilities)
        going_on = np.bincount(row, inside, tree.row_count)
        shares = inside / np.maximum(going_on, 1e-300)[row]
        running = np.cumsum(shares)
        before = (running - shares)[np.minimum(tree.cell_offsets[:-1], max(len(shares) - 1, 0))]
        with np.errstate(divide="ignore"):
            logs, odds = np.log(shares), np.where(going_on > 0, ending / np.maximum(going_on, 1e-300), np.inf)
        inner = np.bincount(row, ~is_end & (probabilities > 0), tree.row_count).astype(np.int64)
        has_inner = np.bincount(row, ~is_end, tree.row_count).astype(np.int64)
        return cls(
            tree.slots,
            tree.children,
            tree.cell_offsets,
            tree.symbols,
            np.where(inner > 0, has_inner, 0),
            running - before[row],
            logs,
            odds,
        )

    def rows(self, words: IntArray, chosen: IntArray, position: int) -> IntArray:
        """The row at a position of each of the chosen words (one a line)."""
        from pathveil.models.sequences import kernels

        rows = np.empty(len(chosen), dtype=np.int64)
        kernels.find_rows(words, chosen, position, self.slots, self.children, rows)
        return rows

    def extend(self, words: IntArray, chosen: IntArray, position: int, rows: IntArray, numbers: FloatArray) -> None:
        """Write the next symbol of each of the chosen words."""
        from pathveil.models.sequences import kernels

        kernels.extend(words, chosen, position, rows, self.offsets, self.symbols, self.inner, self.cumulative, numbers)

    def draw(
        self, count: int, factors: FloatArray, source: RandomSource, prefix: IntArray | None = None
    ) -> tuple[IntArray, IntArray]:
        """`count` words, one a line, and their lengths; all of them begin with `prefix`."""
        longest = len(factors) - 1
        given = 0 if prefix is None else len(prefix)
        words, lengths = np.zeros((count, longest), dtype=np.int64), np.zeros(count, dtype=np.int64)
        if prefix is not None:
            words[:, :given] = prefix
        blocks = [partial(self._draw_block, words[a:b], lengths[a:b], given, factors) for a, b in cuts(count, _BLOCK)]
        run_blocks(blocks, source)
        return words, lengths

    def _draw_block(
        self, words: IntArray, lengths: IntArray, given: int, factors: FloatArray, source: RandomSource
    ) -> None:
        """Complete these words, which begin with `given` symbols."""
        from pathveil.models.sequences import kernels

        done, longest = 0, len(factors) - 1
        while done < len(words):
            numbers = source.uniform(max(min(_NUMBERS, (len(words) - done) * (longest + 1)), 2 * (longest + 1)))
            done = kernels.draw_words(
                words, lengths, done, given, self.slots, self.children, self.offsets, self.symbols, self.inner,
                self.cumulative, self.odds, factors, numbers,
            )  # fmt: skip

    def log_probabilities(self, words: CodedWords, factors: FloatArray) -> FloatArray:
        """The logarithm of the probability of each word; those of the greatest length stand for all that go on."""
        from pathveil.models.sequences import kernels

        totals = np.empty(len(words))
        kernels.add_logarithms(
            words.values, words.offsets, len(factors) - 1, self.slots, self.children, self.offsets, self.symbols,
            self.logs, self.odds, factors, totals,
        )  # fmt: skip
        return totals
