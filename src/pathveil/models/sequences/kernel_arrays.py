"""A model in the form that the compiled loops read: where contexts lead, and how likely what follows is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.contexts import NONE, ContextTree
from pathveil.numerics.arrays import AnyIntArray, FloatArray, IntArray
from pathveil.randomness.blocks import cuts, run_blocks
from pathveil.randomness.source import RandomSource

_BITS = 1 << 15  # random numbers at a time, few enough to stay in the processor's cache
_SIDE_BY_SIDE = 1 << 8  # words that are drawn together
_BLOCK = 1 << 15  # words for a thread at a time

RowArray = npt.NDArray[np.int32]


class Aliases(NamedTuple):
    """To draw the next symbol with one number; see `kernels.fill_aliases`."""

    accepted: FloatArray
    others: RowArray
    symbols: RowArray


@dataclass(frozen=True, eq=False)
class KernelArrays:
    """The cells of a row without its end come first; `inner` says how many they are."""

    tree: ContextTree
    inner: IntArray
    shares: FloatArray
    """Probabilities of cells, given that the word does not end; of an end itself 0."""
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
        odds = np.where(going_on > 0, ending / np.maximum(going_on, 1e-300), np.inf)
        inner = np.bincount(row, ~is_end & (probabilities > 0), tree.row_count).astype(np.int64)
        has_inner = np.bincount(row, ~is_end, tree.row_count).astype(np.int64)
        return cls(tree, np.where(inner > 0, has_inner, 0), shares, odds)

    @cached_property
    def following(self) -> RowArray:
        """For each cell the row that a word is in after its symbol."""
        from pathveil.models.sequences import kernels

        tree = self.tree
        following = np.zeros(tree.cell_count, dtype=np.int32)
        kernels.fill_following(
            _spelled(tree), tree.slots, tree.children, tree.cell_offsets, self.inner, tree.symbols, following
        )
        return following

    @cached_property
    def aliases(self) -> Aliases:
        """Tables to draw from; made when words are drawn."""
        from pathveil.models.sequences import kernels

        accepted, others = np.zeros(len(self.shares)), np.zeros(len(self.shares), dtype=np.int32)
        kernels.fill_aliases(self.tree.cell_offsets, self.inner, self.shares, accepted, others)
        return Aliases(accepted, others, self.tree.symbols.astype(np.int32))

    def stops(self, factor: float) -> FloatArray:
        """Which part of the words in each row ends there, where the odds of ending are multiplied by this."""
        with np.errstate(invalid="ignore"):
            scaled = self.odds * factor
            stops = np.where(np.isfinite(scaled), scaled / (1 + scaled), 1.0)
        stops[self.inner == 0] = 1.0
        return stops

    def go_on(self, going: FloatArray) -> FloatArray:
        """Which part of all words is in each row after another symbol, where `going` is in each before it."""
        from pathveil.models.sequences import kernels

        after = np.empty(len(going))
        kernels.go_on(going, self.tree.cell_offsets, self.inner, self.shares, self.following, after)
        return after

    def row_after(self, prefix: IntArray) -> int:
        """The row that words are in which begin so."""
        tree = self.tree
        beginning = tree.grammar.symbols
        back = [*prefix[::-1].tolist(), beginning]
        row, step = int(back[0]), 1
        while tree.slots[row] >= 0:
            row = int(tree.children[tree.slots[row], back[step] if step < len(back) else beginning])
            step += 1
        return row

    def draw(
        self, count: int, factors: FloatArray, source: RandomSource, prefix: IntArray | None = None
    ) -> tuple[AnyIntArray, IntArray]:
        """`count` words, one a line, and their lengths; all of them begin with `prefix`."""
        longest = len(factors) - 1
        given = np.zeros(0, dtype=np.int64) if prefix is None else prefix
        # Small numbers where there are few symbols: what is large to write is slow to write.
        kind: Any = np.int16 if self.tree.grammar.symbols < 2**15 else np.int64
        words, lengths = np.zeros((count, longest), dtype=kind), np.zeros(count, dtype=np.int64)
        words[:, : len(given)] = given
        row = self.row_after(given)
        blocks = [
            partial(self._draw_block, words[a:b], lengths[a:b], len(given), row, factors)
            for a, b in cuts(count, _BLOCK)
        ]
        _ = self.aliases, self.following  # made once, not by each thread
        run_blocks(blocks, source)
        return words, lengths

    def _draw_block(
        self, words: AnyIntArray, lengths: IntArray, given: int, row: int, factors: FloatArray, source: RandomSource
    ) -> None:
        """Complete these words, which begin with `given` symbols and are in this row."""
        from pathveil.models.sequences import kernels

        done, longest, aliases = 0, len(factors) - 1, self.aliases
        bits = np.empty(max(min(_BITS, len(words) * longest), longest), dtype=np.uint64)
        width = max(min(_SIDE_BY_SIDE, len(bits) // longest), 1)
        going, rows = np.empty(width, dtype=np.int64), np.empty(width, dtype=np.int32)
        while done < len(words):
            source.fill(bits)
            done = kernels.draw_words(
                words, lengths, done, given, row, self.tree.cell_offsets, self.inner, aliases.symbols,
                aliases.accepted, aliases.others, self.following, self.odds, factors, going, rows, bits,
            )  # fmt: skip

    def log_probabilities(self, words: CodedWords, factors: FloatArray) -> FloatArray:
        """The logarithm of the probability of each word; those of the greatest length stand for all that go on."""
        from pathveil.models.sequences import kernels

        tree, totals = self.tree, np.empty(len(words))
        with np.errstate(divide="ignore"):
            logs = np.log(self.shares)
        kernels.add_logarithms(
            words.values, words.offsets, len(factors) - 1, tree.slots, tree.children, tree.cell_offsets, tree.symbols,
            logs, self.odds, factors, totals,
        )  # fmt: skip
        return totals


def _spelled(tree: ContextTree) -> IntArray:
    """The context of each row, its last symbol first. Of the symbols that a rest stands for, the first is taken."""
    spelled = np.full((tree.row_count, tree.depth), tree.grammar.symbols)
    before = np.full(tree.row_count, tree.grammar.symbols)
    for symbol in range(tree.grammar.symbols, -1, -1):
        before[tree.children[:, symbol]] = symbol
    for depth in range(1, tree.depth + 1):
        rows = tree.rows_at(depth)
        if depth > 1:
            spelled[rows] = spelled[tree.parent[rows]]
        oldest = tree.oldest[rows]
        spelled[rows, depth - 1] = np.where(oldest == NONE, before[rows], oldest)
    return spelled
