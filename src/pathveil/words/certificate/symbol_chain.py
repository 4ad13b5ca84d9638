"""A system in which the last symbol alone decides what may follow, as lists of neighbours.

Road networks have thousands of symbols and a handful of successors each, so nothing here is a table of symbols by
symbols.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from pathveil.numerics.arrays import BoolArray, IntArray
from pathveil.systems.compiled import CompiledSystem


@dataclass(frozen=True)
class Links:
    """For each symbol a sorted list of symbols: those of symbol c are `symbols[offsets[c]:offsets[c+1]]`."""

    offsets: IntArray
    symbols: IntArray

    @classmethod
    def of(cls, matrix: sparse.csr_array) -> Links:
        """The places of the non-zero entries of a square matrix."""
        matrix.sum_duplicates()
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64))

    @property
    def count(self) -> int:
        return len(self.symbols)

    @property
    def degrees(self) -> IntArray:
        return np.diff(self.offsets)

    @property
    def owners(self) -> IntArray:
        """The symbol to which each entry of `symbols` belongs."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.degrees)

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """Ones where there is a link."""
        m = len(self.offsets) - 1
        return sparse.csr_array((np.ones(self.count), self.symbols, self.offsets), shape=(m, m))

    @cached_property
    def numbers(self) -> IntArray:
        """c·m + y for each link c, y, in increasing order."""
        return self.owners * (len(self.offsets) - 1) + self.symbols

    def contains(self, c: IntArray, y: IntArray) -> BoolArray:
        """Is y in the list of c? For each entry of two arrays."""
        if not self.count:
            return np.zeros(len(c), dtype=bool)
        wanted = c * (len(self.offsets) - 1) + y
        places = np.minimum(np.searchsorted(self.numbers, wanted), self.count - 1)
        found: BoolArray = self.numbers[places] == wanted
        return found

    def expand(self, c: IntArray) -> tuple[IntArray, IntArray]:
        """(number of the entry of c, linked symbol) for every link of every entry of c."""
        degrees = self.degrees[c]
        parent = np.repeat(np.arange(len(c)), degrees)
        before = np.repeat(np.cumsum(degrees) - degrees, degrees)
        return parent, self.symbols[np.repeat(self.offsets[c], degrees) + np.arange(len(parent)) - before]


@dataclass(frozen=True)
class SymbolChain:
    """Which symbols may follow which, which may come first and which last."""

    successors: Links
    predecessors: Links
    first: BoolArray
    last: BoolArray

    @classmethod
    def of(cls, compiled: CompiledSystem) -> SymbolChain | None:
        """The symbol chain of a system; None where equal symbols do not imply equal states."""
        entered = compiled.symbol_states
        if entered is None:
            return None
        m = compiled.symbol_count
        used = np.flatnonzero(entered >= 0)
        by_state = Links(compiled.offsets, compiled.labels)
        parent, following = by_state.expand(entered[used])
        follows = sparse.csr_array((np.ones(len(parent)), (used[parent], following)), shape=(m, m))
        first, last = np.zeros(m, dtype=bool), np.zeros(m, dtype=bool)
        first[compiled.labels[compiled.offsets[compiled.start] : compiled.offsets[compiled.start + 1]]] = True
        last[used] = compiled.accepting[entered[used]]
        return cls(Links.of(follows), Links.of(follows.T.tocsr()), first, last)

    @property
    def symbol_count(self) -> int:
        return len(self.first)

    def reversed(self) -> SymbolChain:
        return SymbolChain(self.predecessors, self.successors, self.last, self.first)

    def alive(self, length: int, *, up_to: bool) -> BoolArray:
        """Row i-1: the symbols that position i of some feasible word can have.

        The word has the given length, or with `up_to` any length up to it.
        """
        forward = np.zeros((length, self.symbol_count), dtype=bool)
        forward[0] = self.first
        for i in range(1, length):
            forward[i] = self.predecessors.matrix @ forward[i - 1] > 0
        backward = self.last.copy()
        for i in range(length - 1, -1, -1):
            forward[i] &= backward
            backward = (self.successors.matrix @ backward > 0) | (self.last if up_to else False)
        return forward

    @cached_property
    def share_predecessor(self) -> Links:
        """Pairs of symbols that may follow the same symbol."""
        return Links.of(self.predecessors.matrix @ self.successors.matrix)

    @cached_property
    def share_successor(self) -> Links:
        """Pairs of symbols that the same symbol may follow."""
        return Links.of(self.successors.matrix @ self.predecessors.matrix)
