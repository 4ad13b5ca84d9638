"""The one form that every algorithm reads: a deterministic system in integer arrays.

Terms. A *state* is a number 0..S-1. An *edge* leaves a state, carries a *label* (the code of the symbol that is
written when the edge is taken) and enters a state. No two edges of one state carry the same label, so a word is at
most one path and never counts twice. A word is *feasible* if its path exists, begins in `start` and ends in an
accepting state.

Edges are sorted by source state, then by label: those of state y are the slice `offsets[y]:offsets[y+1]`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CompiledSystem:
    """A deterministic system over the symbol codes 0..m-1."""

    symbol_count: int
    start: int
    offsets: IntArray
    labels: IntArray
    targets: IntArray
    accepting: BoolArray

    @classmethod
    def from_edges(
        cls,
        symbol_count: int,
        start: int,
        edges: Iterable[tuple[int, int, int]],
        accepting: BoolArray,
    ) -> CompiledSystem:
        """Build from (source, label, target) triples in any order."""
        table = np.array(sorted(edges), dtype=np.int64).reshape(-1, 3)
        offsets = np.searchsorted(table[:, 0], np.arange(len(accepting) + 1)).astype(np.int64)
        return cls(symbol_count, start, offsets, table[:, 1].copy(), table[:, 2].copy(), accepting)

    @property
    def state_count(self) -> int:
        return len(self.accepting)

    @property
    def edge_count(self) -> int:
        return len(self.labels)

    @cached_property
    def sources(self) -> IntArray:
        """The state that each edge leaves."""
        return np.repeat(np.arange(self.state_count), np.diff(self.offsets))

    @cached_property
    def is_free(self) -> bool:
        """Every word over the symbols is feasible, and one state says so."""
        return self.state_count == 1 and self.edge_count == self.symbol_count and bool(self.accepting[0])

    @cached_property
    def adjacency(self) -> sparse.csr_array:
        """Number of edges from state to state, as floating-point numbers, for products with vectors."""
        ones = np.ones(self.edge_count)
        shape = (self.state_count, self.state_count)
        return sparse.csr_array((ones, (self.sources, self.targets)), shape=shape)

    @cached_property
    def successors(self) -> list[list[int]]:
        """For each state the target of each of its edges (with repetitions), as plain lists for plain loops."""
        targets = self.targets.tolist()
        bounds = self.offsets.tolist()
        return [targets[a:b] for a, b in pairwise(bounds)]

    @cached_property
    def moves(self) -> list[dict[int, int]]:
        """For each state {label: target}."""
        labels, targets, bounds = self.labels.tolist(), self.targets.tolist(), self.offsets.tolist()
        return [dict(zip(labels[a:b], targets[a:b], strict=True)) for a, b in pairwise(bounds)]

    @cached_property
    def edges_by_label(self) -> tuple[IntArray, IntArray]:
        """(order, offsets): the edges that carry label a are `order[offsets[a]:offsets[a+1]]`."""
        order = np.argsort(self.labels, kind="stable")
        return order, np.searchsorted(self.labels[order], np.arange(self.symbol_count + 1)).astype(np.int64)

    def edges_with_label(self, label: int) -> tuple[IntArray, IntArray]:
        """Sources and targets of all edges that carry `label`."""
        order, offsets = self.edges_by_label
        chosen = order[offsets[label] : offsets[label + 1]]
        return self.sources[chosen], self.targets[chosen]

    def path(self, codes: Iterable[int]) -> list[int]:
        """The states visited, `start` first; shorter than the word + 1 where the word has no path."""
        states = [self.start]
        for code in codes:
            following = self.moves[states[-1]].get(code)
            if following is None:
                break
            states.append(following)
        return states

    def feasible_rows(self, codes: IntArray) -> BoolArray:
        """For each row of a 2-D array of codes: is that word feasible? All rows take each step together."""
        if self.is_free:
            return np.ones(len(codes), dtype=bool)
        if not self.edge_count:
            return np.zeros(len(codes), dtype=bool)
        # Edges are sorted by source, then label, so these numbers are sorted as well, and each occurs once.
        numbers = self.sources * self.symbol_count + self.labels
        states = np.full(len(codes), self.start)
        alive = np.ones(len(codes), dtype=bool)
        for i in range(codes.shape[1]):
            wanted = states * self.symbol_count + codes[:, i]
            edges = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
            alive &= numbers[edges] == wanted
            states = self.targets[edges]
        alive &= self.accepting[states]
        return alive

    def completable(self, length: int) -> BoolArray:
        """Row i: the states from which `length - i` more symbols can lead to an accepting state."""
        table = np.zeros((length + 1, self.state_count), dtype=bool)
        table[length] = self.accepting
        for i in range(length - 1, -1, -1):
            table[i] = self.adjacency @ table[i + 1] > 0
        return table

    def completions(self, length: int) -> list[list[int]]:
        """Row i: for each state the exact number of ways to write `length - i` more symbols and be accepted."""
        rows = [[int(accepted) for accepted in self.accepting]]
        for _ in range(length):
            after = rows[-1]
            rows.append([sum(map(after.__getitem__, targets)) for targets in self.successors])
        rows.reverse()
        return rows

    @cached_property
    def symbol_states(self) -> IntArray | None:
        """The state entered with each symbol, if the symbol alone decides it; otherwise None.

        Markov chains and free alphabets are of this kind. A symbol that no edge carries gets -1.
        """
        entered = np.full(self.symbol_count, -1, dtype=np.int64)
        entered[self.labels] = self.targets
        return entered if bool(np.all(entered[self.labels] == self.targets)) else None
