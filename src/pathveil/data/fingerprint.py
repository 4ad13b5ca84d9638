"""A short name for a public system: equal for systems that differ only in how they were written down."""

from __future__ import annotations

import hashlib

import numpy as np

from pathveil.data.symbols import SymbolTable
from pathveil.numerics.arrays import IntArray
from pathveil.systems.system import System


def system_fingerprint(world: System) -> str:
    """SHA-256 of the symbols and of which may follow which.

    The order of the symbols, the names of states, and probabilities do not count: which words are feasible, and the
    texts of their symbols, is all that a private word depends on.
    """
    names = SymbolTable(world.symbols).names
    by_name = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), dtype=np.int64)
    rank[by_name] = np.arange(len(names))
    compiled = world.compiled
    # Edges of each state in the order of their symbols' names.
    labels = rank[compiled.labels]
    order = np.lexsort((labels, compiled.sources))
    labels, targets = labels[order], compiled.targets[order]
    visited = _breadth_first(compiled.start, compiled.offsets, targets)
    number = np.full(compiled.state_count, -1, dtype=np.int64)
    number[visited] = np.arange(len(visited))
    edges = _edges_of(visited, compiled.offsets)
    degrees = np.diff(compiled.offsets)[visited]
    digest = hashlib.sha256(b"pathveil system 1")
    for part in (
        "\0".join(f"{len(names[i])}:{names[i]}" for i in by_name).encode(),
        degrees.astype("<i8").tobytes(),
        labels[edges].astype("<i8").tobytes(),
        number[targets[edges]].astype("<i8").tobytes(),
        compiled.accepting[visited].tobytes(),
    ):
        digest.update(len(part).to_bytes(8, "little") + part)
    return "sha256:" + digest.hexdigest()


def _breadth_first(start: int, offsets: IntArray, targets: IntArray) -> IntArray:
    """The states that can be reached, in an order that does not depend on how they are numbered."""
    seen = np.zeros(len(offsets) - 1, dtype=bool)
    seen[start] = True
    frontier = np.array([start], dtype=np.int64)
    found = [frontier]
    while len(frontier):
        reached = targets[_edges_of(frontier, offsets)]
        states, first = np.unique(reached, return_index=True)
        fresh = ~seen[states]
        frontier = states[fresh][np.argsort(first[fresh])]
        seen[frontier] = True
        found.append(frontier)
    return np.concatenate(found)


def _edges_of(states: IntArray, offsets: IntArray) -> IntArray:
    """The edges of these states, one state after the other."""
    first, degrees = offsets[states], np.diff(offsets)[states]
    before = np.cumsum(degrees) - degrees
    edges: IntArray = np.arange(degrees.sum()) + np.repeat(first - before, degrees)
    return edges
