"""What a person can check about a public system: how large it is, and where words get stuck."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, dijkstra

from pathveil.numerics.arrays import BoolArray
from pathveil.systems.system import Symbol, System

LENGTH = 10


@dataclass(frozen=True)
class Overview:
    """`transitions` are edges of the system, `words` is the number of words of 10 symbols.

    `dead_ends` are symbols that nothing can follow, `unreachable` those that no word comes to, and `never_end` those
    that words come to but never get from there to a possible end: these, too, are in no word.
    """

    symbols: int
    states: int
    transitions: int
    mean_successors: float
    dead_ends: tuple[Symbol, ...]
    unreachable: tuple[Symbol, ...]
    never_end: tuple[Symbol, ...]
    words: int


def overview_of(system: System) -> Overview:
    """Look at a system from all sides."""
    compiled = system.compiled
    reached = np.zeros(compiled.state_count, dtype=bool)
    reached[breadth_first_order(compiled.adjacency, compiled.start, return_predecessors=False)] = True
    ends = np.flatnonzero(compiled.accepting)
    ending = np.isfinite(dijkstra(compiled.adjacency.T, unweighted=True, indices=ends, min_only=True))
    degrees = np.diff(compiled.offsets)
    begun = np.ones(
        compiled.state_count, dtype=bool
    )  # without a state that is left when a word begins, and never again
    begun[compiled.start] = compiled.start in compiled.targets
    written, followed, arrived, finished = np.zeros((4, compiled.symbol_count), dtype=bool)
    written[compiled.labels] = True
    followed[compiled.labels[degrees[compiled.targets] > 0]] = True
    arrived[compiled.labels[reached[compiled.sources]]] = True
    finished[compiled.labels[reached[compiled.sources] & ending[compiled.targets]]] = True

    def named(chosen: BoolArray) -> tuple[Symbol, ...]:
        return tuple(system.symbols[code] for code in np.flatnonzero(chosen))

    return Overview(
        symbols=len(system.symbols),
        states=int(begun.sum()),
        transitions=int(degrees[begun].sum()),
        mean_successors=float(degrees[begun].mean()),
        dead_ends=named(written & ~followed),
        unreachable=named(~arrived),
        never_end=named(arrived & ~finished),
        words=system.count(LENGTH),
    )
