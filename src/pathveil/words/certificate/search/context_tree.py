"""Contexts that grow where they matter: what is known of the symbols before a run, and the box that follows from it.

A *context* of depth h says which h symbols stand right before the run. It is *open* if anything may come before these,
nothing included, and *closed* if the word begins with them. Every word that has an open context has exactly one of its
children: the closed context of the same symbols, or an open one with a further symbol in front.

From the first symbol of a context to the run the weights are multiplied by a known matrix M: α_run = α_start M, the
product over the symbols of the context of the steps and the factors z^[x≠p]. α_start lies in a box that holds for
every word and position (`ratio_bounds`, `free_walks`), or is exactly the set of first symbols. So

    α_run(y)/α_run(c) = Σ_x α_start(x) M(x, y) / Σ_x α_start(x) M(x, c)

is a quotient of two linear functions over a box, and its largest and smallest values are the box at the run. This
narrows as contexts grow, at any θ. Suffixes are the same on the reversed chain. (docs/certified.md)
"""

from __future__ import annotations

import numpy as np

from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.words.certificate.kept_pairs import KeptPairs
from pathveil.words.certificate.ratio_bounds import Box
from pathveil.words.certificate.search.free_walks import FreeBox
from pathveil.words.certificate.symbol_chain import Links, SymbolChain

_LARGEST_BALL = 20_000  # symbols from which a run is reached; contexts with more are not made longer


class ContextTree:
    """The contexts of one side, as arrays with one entry for each context; the first m are empty and open.

    Context e belongs to words with the symbol `current[e]` at the end of the run that it touches; its box is one
    interval for each symbol near that, from `row[e]` on in `lo` and `hi`.
    """

    def __init__(self, chain: SymbolChain, near: Links, start: Box, kept: KeptPairs, free: FreeBox, z: float) -> None:
        self.chain = chain
        self.near = near
        self._z = z
        self._free = free
        self._start = (start.lo, start.hi, start.dropped, kept.pairs.offsets, kept.pairs.symbols)
        m = chain.symbol_count
        ball = min(m, _LARGEST_BALL)
        self._most = int(chain.predecessors.degrees.max(initial=0))
        lists = np.empty(ball, dtype=np.int64), np.empty(ball, dtype=np.int64)
        self._work = (np.full(m, -1), np.zeros(m), start.dropped.copy(), *lists)
        self.lo, self.hi = _without_context(near, start, kept, free)
        self.beyond: FloatArray = start.dropped
        """Upper bounds for all symbols that are not near."""
        self._used = near.count
        self.current: IntArray = np.arange(m)
        self.symbol: IntArray = np.arange(m)
        """The outermost symbol of the context; of an empty one, the symbol of the run."""
        self.parent: IntArray = np.full(m, -1)
        self.depth: IntArray = np.zeros(m, dtype=np.int64)
        self.is_closed: BoolArray = np.zeros(m, dtype=bool)
        self.row: IntArray = near.offsets[:-1].copy()
        self.work = 0
        """What the contexts that were split in this search cost, whether or not an earlier one had made the parts:
        intervals, times the number of weights that each of them depends on."""
        self._was_split: BoolArray = np.zeros(m, dtype=bool)
        self.children: IntArray = np.zeros(m, dtype=np.int64)
        self.first_child: IntArray = np.full(m, -1)
        """-1: not made yet, -2: not to be made, there would be too much work."""

    def __len__(self) -> int:
        return len(self.current)

    def begin(self) -> None:
        """A search begins: what earlier ones made is kept, and counts as if it were not there."""
        self.work = 0
        self._was_split[:] = False

    def can_grow(self, contexts: IntArray) -> BoolArray:
        """Are there children, or may there be, as far as this search can know?"""
        tried = self._was_split[contexts]
        answer: BoolArray = ~self.is_closed[contexts] & ~(tried & (self.first_child[contexts] == -2))
        return answer

    def symbols_of(self, context: int) -> list[int]:
        """The symbols of one context, the one next to the run first."""
        found: list[int] = []
        while self.depth[context]:
            if not self.is_closed[context]:
                found.append(int(self.symbol[context]))
            context = int(self.parent[context])
        return found[::-1]

    def grow(self, contexts: IntArray) -> None:
        """Make the children of these contexts, where they are not there yet."""
        from pathveil.words.certificate.search.context_kernel import expand_contexts

        e = np.unique(contexts[~self._was_split[contexts] & ~self.is_closed[contexts]])
        self._was_split[e] = True
        self.work += int((self._children(e).sum(axis=0)) @ self.near.degrees[self.current[e]] ** 2)
        e = e[self.first_child[e] == -1]
        if not len(e):
            return
        chain = self.chain
        closed, before = self._children(e)
        number, width = closed + before, self.near.degrees[self.current[e]]
        rows = self._used + np.concatenate([[0], np.cumsum(number * width)])
        self._make_room(int(rows[-1]))
        done = expand_contexts(
            self.current[e],
            self.paths(e),
            self.depth[e],
            self.row[e],
            rows[:-1],
            (self.near.offsets, self.near.symbols),
            self._start,
            self._free,
            chain.first,
            (chain.predecessors.offsets, chain.predecessors.symbols),
            self._z,
            self._most,
            self._work,
            self.lo,
            self.hi,
        )
        self._used = int(rows[-1])
        self.first_child[e] = -2
        self._append(e[done], rows[:-1][done], closed[done], before[done], width[done])

    def _children(self, e: IntArray) -> IntArray:
        """How many closed and how many open contexts each of these is split into."""
        last = self.symbol[e]
        return np.array([self.chain.first[last].astype(np.int64), self.chain.predecessors.degrees[last]])

    @property
    def is_free(self) -> bool:
        """Is there a box from walks that ignore the word?"""
        return len(self._free[0]) > 0

    def starts(self, contexts: IntArray) -> FreeBox:
        """(lo, hi) of the weights where each of these contexts begins, one row for each."""
        closed, at_first = self.is_closed[contexts, None], self.chain.first.astype(float)
        lo, hi = (np.where(closed, at_first, end[self.symbol[contexts]]) for end in self._free)
        return lo, hi

    def _append(self, e: IntArray, rows: IntArray, closed: IntArray, before: IntArray, width: IntArray) -> None:
        """Enter the children of the contexts e: the closed one, if there is one, then the open ones."""
        number = closed + before
        begin = np.cumsum(number) - number
        owner = np.repeat(np.arange(len(e)), number)
        place = np.arange(len(owner)) - begin[owner]
        is_closed = place < closed[owner]
        symbol, of = self.symbol[e][owner], self.chain.predecessors
        opened = np.flatnonzero(~is_closed)
        from_open = owner[opened]
        symbol[opened] = of.symbols[of.offsets[symbol[opened]] + place[opened] - closed[from_open]]
        self.first_child[e], self.children[e] = len(self) + begin, number
        none = np.full(len(owner), -1)
        for name, new in (
            ("parent", e[owner]),
            ("depth", self.depth[e][owner] + ~is_closed),
            ("is_closed", is_closed),
            ("row", rows[owner] + place * width[owner]),
            ("symbol", symbol),
            ("children", np.zeros_like(none)),
            ("first_child", none),
            ("_was_split", np.zeros(len(owner), dtype=bool)),
            ("current", self.current[e][owner]),
        ):
            setattr(self, name, np.concatenate([getattr(self, name), new]))

    def _make_room(self, size: int) -> None:
        if size > len(self.lo):
            more = max(size, 2 * len(self.lo)) - len(self.lo)
            self.lo, self.hi = (np.concatenate([ends, np.zeros(more)]) for ends in (self.lo, self.hi))

    def paths(self, e: IntArray) -> IntArray:
        """One row of symbols for each open context, the one next to the run first."""
        paths = np.zeros((len(e), max(int(self.depth[e].max(initial=0)), 1)), dtype=np.int64)
        rows = np.arange(len(e))
        while len(rows):
            deeper = self.depth[e] > 0
            e, rows = e[deeper], rows[deeper]
            paths[rows, self.depth[e] - 1] = self.symbol[e]
            e = self.parent[e]
        return paths


def _without_context(near: Links, start: Box, kept: KeptPairs, free: FreeBox) -> tuple[FloatArray, FloatArray]:
    """What is known of every α(y)/α(c), whatever comes before."""
    owners, symbols = near.owners, near.symbols
    lo, hi = np.zeros(near.count), start.dropped[symbols].copy()
    own = kept.pairs.contains(owners, symbols)
    places = np.searchsorted(kept.pairs.numbers, (owners * len(start.dropped) + symbols)[own])
    lo[own], hi[own] = start.lo[places], start.hi[places]
    free_lo, free_hi = free
    if len(free_lo):
        below, above = free_lo[owners, owners], free_hi[owners, owners]
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            hi = np.fmin(hi, free_hi[owners, symbols] / below * (1 + 1e-14))
            lo = np.fmax(lo, free_lo[owners, symbols] / above * (1 - 1e-14))
        lo[owners == symbols] = hi[owners == symbols] = 1.0
    return lo, hi
