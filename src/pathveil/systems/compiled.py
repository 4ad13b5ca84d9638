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
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from pathveil.numerics.arrays import AnyIntArray, BoolArray, IntArray
from pathveil.randomness.blocks import cuts, run_all

_COMPILED_FROM = 1 << 16  # cells; smaller batches are done before the compiled loops would be loaded
_LARGEST_STEP_TABLE = 1 << 20  # entries: 4 MiB
_BLOCK_CELLS = 1 << 20  # cells for a thread at a time
_MOST_MOVES = 1 << 17  # edges: dictionaries for more of them would take longer to make than they save


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
        table = np.fromiter(chain.from_iterable(edges), dtype=np.int64).reshape(-1, 3)
        return cls.from_arrays(symbol_count, start, table[:, 0], table[:, 1], table[:, 2], accepting)

    @classmethod
    def from_arrays(
        cls,
        symbol_count: int,
        start: int,
        sources: IntArray,
        labels: IntArray,
        targets: IntArray,
        accepting: BoolArray,
    ) -> CompiledSystem:
        """Build from the sources, labels and targets of the edges, in any order."""
        order = np.argsort(sources * symbol_count + labels, kind="stable")
        offsets = np.zeros(len(accepting) + 1, dtype=np.int64)
        np.cumsum(np.bincount(sources, minlength=len(accepting)), out=offsets[1:])
        return cls(symbol_count, start, offsets, labels[order], targets[order], accepting)

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """What others have computed from this system alone and want to find again, each under a key of its own."""
        return {}

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
    def largest_degree(self) -> int:
        """The largest number of edges that leave one state."""
        return int(np.diff(self.offsets).max(initial=0))

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
    def step_table(self) -> npt.NDArray[np.int32]:
        """The target of each (state, symbol), -1 where there is no such edge; of size 0 where it would be too large.

        One look instead of a bisection among the edges of the state, which would wait for every wrong guess.
        """
        if self.state_count * self.symbol_count > _LARGEST_STEP_TABLE:
            return np.empty((0, 0), dtype=np.int32)
        table = np.full((self.state_count, self.symbol_count), -1, dtype=np.int32)
        table.reshape(-1)[self.sources * self.symbol_count + self.labels] = self.targets
        return table

    @cached_property
    def edges_by_label(self) -> tuple[IntArray, IntArray]:
        """(order, offsets): the edges that carry label a are `order[offsets[a]:offsets[a+1]]`."""
        return _grouped(self.labels, self.symbol_count)

    @cached_property
    def edges_by_target(self) -> tuple[IntArray, IntArray]:
        """(order, offsets): the edges that enter state y are `order[offsets[y]:offsets[y+1]]`."""
        return _grouped(self.targets, self.state_count)

    def edges_with_label(self, label: int) -> tuple[IntArray, IntArray]:
        """Sources and targets of all edges that carry `label`."""
        order, offsets = self.edges_by_label
        chosen = order[offsets[label] : offsets[label + 1]]
        return self.sources[chosen], self.targets[chosen]

    def path(self, codes: Iterable[int]) -> list[int]:
        """The states visited, `start` first; shorter than the word + 1 where the word has no path."""
        states = [self.start]
        for code in codes:
            following = self.step(states[-1], code)
            if following is None:
                break
            states.append(following)
        return states

    def step(self, state: int, code: int) -> int | None:
        """The state that is entered from this one with this symbol; None if there is none."""
        if self.edge_count <= _MOST_MOVES:
            return self.moves[state].get(code)
        first, last = int(self.offsets[state]), int(self.offsets[state + 1])
        edge = first + int(np.searchsorted(self.labels[first:last], code))
        return int(self.targets[edge]) if edge < last and self.labels[edge] == code else None

    def feasible_rows(self, codes: IntArray) -> BoolArray:
        """For each row of a 2-D array of codes: is that word feasible?"""
        batch, length = codes.shape
        return self.feasible_words(codes.reshape(-1), np.arange(batch + 1, dtype=np.int64) * length)

    def feasible_words(self, values: AnyIntArray, offsets: AnyIntArray) -> BoolArray:
        """For each word of a batch, which has the codes `values[offsets[i]:offsets[i + 1]]`: is it feasible?"""
        if self.is_free:
            return np.ones(len(offsets) - 1, dtype=bool)
        feasible = np.empty(len(offsets) - 1, dtype=bool)
        if len(values) < _COMPILED_FROM:
            lengths = np.diff(offsets)
            if self.step_table.size and len(values) and lengths.min() == lengths.max():
                return self._feasible_rows(values.reshape(len(feasible), -1))
            codes, bounds = values.tolist(), offsets.tolist()
            for word, (begin, end) in enumerate(pairwise(bounds)):
                path = self.path(codes[begin:end])
                feasible[word] = len(path) == end - begin + 1 and self.accepting[path[-1]]
            return feasible
        from pathveil.systems.feasible_kernel import mark_feasible

        entered = np.empty(0, dtype=np.int64) if self.symbol_states is None else self.symbol_states
        system = (self.offsets, self.labels, self.targets, self.start, self.accepting, self.step_table, entered)
        size = 1 + _BLOCK_CELLS * len(feasible) // len(values)  # words
        run_all([partial(mark_feasible, values, offsets, *cut, *system, feasible) for cut in cuts(len(feasible), size)])
        return feasible

    def _feasible_rows(self, codes: AnyIntArray) -> BoolArray:
        """Rows of equal length take each step together."""
        # One more state, not accepting, from which all steps lead back to it: its number is -1 or, seen from the front,
        # the number of the others. States are counted in rows of the table, so that a step is one sum and one look.
        dead = np.full((1, self.symbol_count), -1, dtype=np.int32)
        steps = np.concatenate([self.step_table, dead]).reshape(-1).astype(np.int64) * self.symbol_count
        columns = np.ascontiguousarray(codes.T, dtype=np.int64)
        places = np.full(len(codes), self.start * self.symbol_count)
        for column in columns:
            places = steps.take(places + column, mode="wrap")
        feasible: BoolArray = np.append(self.accepting, False)[places // self.symbol_count]
        return feasible

    def first_outside(self, values: AnyIntArray) -> int:
        """The first cell that holds no symbol code; -1 if there is none."""
        if len(values) < _COMPILED_FROM:
            outside = np.flatnonzero((values < 0) | (values >= self.symbol_count))
            return int(outside[0]) if len(outside) else -1
        from pathveil.systems.feasible_kernel import first_outside

        pieces = cuts(len(values), _BLOCK_CELLS)
        found = np.full(len(pieces), -1)

        def look(piece: int) -> None:
            found[piece] = first_outside(values, *pieces[piece], self.symbol_count)

        run_all([partial(look, piece) for piece in range(len(pieces))])
        bad = found[found >= 0]
        return int(bad[0]) if len(bad) else -1

    def completable(self, length: int) -> BoolArray:
        """Row i: the states from which `length - i` more symbols can lead to an accepting state."""
        table = np.zeros((length + 1, self.state_count), dtype=bool)
        table[length] = self.accepting
        for i in range(length - 1, -1, -1):
            table[i, self.sources[table[i + 1, self.targets]]] = True
            if np.array_equal(table[i], table[i + 1]):  # then nothing changes any more
                table[:i] = table[i]
                break
        return table

    def reachable(self, length: int) -> BoolArray:
        """Row i: the states in which a word can be after i symbols."""
        table = np.zeros((length + 1, self.state_count), dtype=bool)
        table[0, self.start] = True
        for i in range(length):
            table[i + 1, self.targets[table[i, self.sources]]] = True
            if np.array_equal(table[i + 1], table[i]):  # then nothing changes any more
                table[i + 2 :] = table[i]
                break
        return table

    def has_words(self, length: int) -> bool:
        """Is there a feasible word of this length?"""
        states = self.accepting
        for _ in range(length):
            before = np.zeros_like(states)
            before[self.sources[states[self.targets]]] = True
            if np.array_equal(before, states):  # then nothing changes any more
                break
            states = before
        return bool(states[self.start])

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


def _grouped(keys: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """(order, offsets): the places of key k, in ascending order, are `order[offsets[k]:offsets[k+1]]`."""
    order = np.argsort(keys, kind="stable")
    return order, np.searchsorted(keys[order], np.arange(count + 1)).astype(np.int64)
