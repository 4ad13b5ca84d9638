"""Bounds on how the weight of prefixes is spread over the symbols, whatever the word was so far.

Setting: a *symbol chain*, where the last symbol alone decides which symbols may follow. For a word w, α_i(y) is the
weight Σ z^(errors) of all prefixes that end in y at position i, the error at i itself left out, and

    s_i(y) = α_i(y) / α_i(w_i).

From c = w_i to the next symbol c' of the word, with z = e^-θ,

    g(y) = [c→y] + z Σ_{x→y, x≠c} s_i(x),      s_{i+1}(y) = g(y) / g(c').

A *box* is an entrywise interval [lo, hi] that contains s_i for every prefix that ends alike. We carry one box for
each *context*, the last h symbols of a prefix, and h is as large as a budget allows: a longer memory gives narrower
boxes. Suffixes are the same thing on the reversed chain.

- A predecessor x shared by y and c' has one value, not its upper bound in g(y) and its lower bound in g(c'): the
  ratio (N+U)/(D+U) is largest at one end of U.
- A context that no feasible word can have at this position is left out.
- Only the y that are related to c have an interval of their own (`kept_pairs`). For all other y, s_i(y) lies between
  0 and `dropped[y]`, one number for all words.
- Once a box is found that a few steps map into itself, it serves all later positions and no more steps are needed.

Rounding is outward at every step. (docs/certified.md, "Boxes that hold everywhere")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate

import numpy as np

from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.words.base import rounding_margin
from pathveil.words.certificate.contexts import ContextLevel
from pathveil.words.certificate.kept_pairs import KeptPairs
from pathveil.words.certificate.symbol_chain import SymbolChain

_TINY = 1e-250  # upper ends are never below it, lower ends are 0 below it
_HUGE = 1e30  # upper ends beyond it know nothing any more and count as infinite
_WIDENING = 1e-6  # how much wider, relatively, a box is made that shall hold at all later positions
_WIDENING_AT_ZERO = 1e-9  # and absolutely
_RETURN = 32  # steps within which it must come back into itself


@dataclass(frozen=True)
class Box:
    """Bounds for one position: an interval for each kept pair (c, y), and one upper bound for all dropped (·, y).

    Rows of symbols c that cannot stand at that position are empty intervals: lo = inf, hi = 0.
    """

    lo: FloatArray
    hi: FloatArray
    dropped: FloatArray

    def unite(self, other: Box) -> Box:
        """The smallest box that contains both; one of the two themselves where it contains the other."""
        for outer, inner in ((self, other), (other, self)):
            if inner.is_inside(outer):
                return outer
        return Box(
            np.minimum(self.lo, other.lo), np.maximum(self.hi, other.hi), np.maximum(self.dropped, other.dropped)
        )

    def is_inside(self, other: Box) -> bool:
        return bool(
            np.all(self.lo >= other.lo) and np.all(self.hi <= other.hi) and np.all(self.dropped <= other.dropped)
        )

    def widened(self) -> Box:
        return Box(
            np.maximum(self.lo * (1 - _WIDENING) - _WIDENING_AT_ZERO, 0.0),
            self.hi * (1 + _WIDENING) + _WIDENING_AT_ZERO,
            self.dropped * (1 + _WIDENING) + _WIDENING_AT_ZERO,
        )

    def has_settled(self, before: Box) -> bool:
        """Has so little changed since the position before that it is worth trying whether a wider box will do?"""
        return all(
            np.allclose(new, old, rtol=_WIDENING / 8, atol=_WIDENING_AT_ZERO / 8)  # infinite ends may be equal
            for new, old in ((self.hi, before.hi), (self.lo, before.lo), (self.dropped, before.dropped))
        )


class RatioBounds:
    """The boxes of a symbol chain for every position; all that does not depend on θ is prepared once."""

    def __init__(self, chain: SymbolChain, levels: Sequence[ContextLevel], kept: KeptPairs) -> None:
        self.chain = chain
        self.kept = kept
        self._levels = levels
        rows = {id(level): self._row_offsets(level) for level in levels}
        self._rows = [rows[id(level)] for level in levels]
        d = int(chain.predecessors.degrees.max(initial=0))
        # Sums of at most d non-negative terms, a few products and one quotient: more than their rounding error.
        self._slack = rounding_margin(d + 64)

    @property
    def contexts(self) -> int:
        return sum(len(level.last_symbol) for level in self._levels)

    def _row_offsets(self, level: ContextLevel) -> IntArray:
        return np.concatenate([[0], np.cumsum(self.kept.pairs.degrees[level.last_symbol])])

    def boxes(self, z: float) -> list[Box]:
        """For every position the box of s_i for each current symbol, over all prefixes.

        Consecutive positions may share one object.
        """
        box = self._first()
        boxes = [self._by_symbol(box, 0)]
        settled, next_try, patience = False, 0, 1
        for i in range(1, len(self._levels)):
            alike = i > 1 and self._levels[i] is self._levels[i - 1]
            if settled and alike:
                boxes.append(boxes[-1])
                continue
            before, box = box, self._step(box, boxes[-1], i, z)
            settled = False
            if alike and i >= next_try and box.has_settled(before):
                lasting = self._lasting(box, i, z)
                settled = lasting is not None
                box = lasting or box
                next_try, patience = i + patience, 2 * patience
            boxes.append(self._by_symbol(box, i))
        return boxes

    def _lasting(self, box: Box, i: int, z: float) -> Box | None:
        """A box that contains this one and holds at all later positions like position i, if one is found.

        If k steps lead from a box back into it, the union of the box and of what the steps before passed through
        contains whatever comes later.
        """
        start = now = united = box.widened()
        for _ in range(_RETURN):
            now = self._step(now, self._by_symbol(now, i), i, z)
            if now.is_inside(start):
                return united
            united = united.unite(now)
        return None

    def _first(self) -> Box:
        """At the first position s = 1 on the possible first symbols."""
        first = self.chain.first.astype(float)
        pairs, c = self.kept.pairs, self._levels[0].last_symbol
        entries = _slices(pairs.offsets[c], pairs.degrees[c])
        ones = first[pairs.symbols[entries]]
        return Box(ones, ones, np.maximum(first, _TINY) if self._drops else np.zeros_like(first))

    def _step(self, box: Box, united: Box, i: int, z: float) -> Box:
        """From position i-1 to i (counted from 0). `united` is the same box by current symbol."""
        from pathveil.words.certificate.ratio_kernels import step_boxes

        before, level, chain = self._levels[i - 1], self._levels[i], self.chain
        lo, hi = step_boxes(
            self._arrays(box),
            self._rows[i - 1],
            before.last_symbol,
            (level.parent, level.current, level.child),
            self._rows[i],
            (chain.successors.offsets, chain.successors.symbols),
            (chain.predecessors.offsets, chain.predecessors.symbols),
            z,
            self._slack,
            _TINY,
            _HUGE,
        )
        return Box(lo, hi, self._step_dropped(box.dropped, united, z))

    def _step_dropped(self, dropped: FloatArray, united: Box, z: float) -> FloatArray:
        """The bound for all dropped (c', y): what dropped pairs and kept pairs at the edge can hand on to y.

        The denominator g(c') is at least 1.
        """
        if not self._drops:
            return dropped
        symbols, begins, pairs = self._edge_by_symbol
        reaching = dropped.copy()
        if len(symbols):
            reaching[symbols] = np.maximum(reaching[symbols], np.maximum.reduceat(united.hi[pairs], begins))
        new = self.kept.is_direct + z * (self.chain.predecessors.matrix @ reaching)
        bound: FloatArray = np.maximum(new * (1 + self._slack), _TINY)
        return np.where(bound < _HUGE, bound, np.inf)

    @cached_property
    def _edge_by_symbol(self) -> tuple[IntArray, IntArray, IntArray]:
        """The kept pairs (c', y) at the edge, those of one y together: each y, where its pairs begin, the pairs."""
        pairs = np.flatnonzero(self.kept.is_edge)
        pairs = pairs[np.argsort(self.kept.pairs.symbols[pairs], kind="stable")]
        symbols, begins = np.unique(self.kept.pairs.symbols[pairs], return_index=True)
        return symbols, begins, pairs

    @property
    def _drops(self) -> bool:
        return self.kept.pairs.count < self.chain.symbol_count**2

    def _by_symbol(self, box: Box, i: int) -> Box:
        from pathveil.words.certificate.ratio_kernels import unite_rows

        lower, upper = unite_rows(self._arrays(box), self._rows[i], self._levels[i].last_symbol)
        return Box(lower, upper, box.dropped)

    def _arrays(self, box: Box) -> tuple[FloatArray, FloatArray, FloatArray, IntArray, IntArray]:
        """A box as the compiled loops take it."""
        return box.lo, box.hi, box.dropped, self.kept.pairs.offsets, self.kept.pairs.symbols


def united_so_far(boxes: Sequence[Box]) -> list[Box]:
    """For each position the union with all boxes before it; objects stay shared where nothing is added."""
    return list(accumulate(boxes, Box.unite))


def united(boxes: Sequence[Box]) -> Box:
    """One box that holds at every position."""
    return reduce(Box.unite, {id(box): box for box in boxes}.values())


def _slices(starts: IntArray, lengths: IntArray) -> IntArray:
    """The numbers of several ranges, one after the other."""
    ends = np.cumsum(lengths)
    numbers: IntArray = np.arange(lengths.sum()) + np.repeat(starts - (ends - lengths), lengths)
    return numbers
