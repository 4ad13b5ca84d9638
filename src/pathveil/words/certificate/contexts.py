"""Contexts: the last h symbols of a prefix. Bounds are kept for each of them; a longer memory gives narrower bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray, distinct_rows
from pathveil.words.certificate.symbol_chain import SymbolChain

_POSITIONS = 50  # bounds of long words settle after some positions, which are then no longer counted
_MOST_WORK = 2_000_000_000  # additions for all positions; in dense chains every extension of a context costs many


@dataclass(frozen=True)
class ContextLevel:
    """The contexts of one position, and how they arise from those of the position before (absent at the first).

    `parent`, `current` and `child` have one entry for each way to extend a context of the previous position by one
    symbol, sorted by parent: the context extended, the symbol, and the context that results. Positions that are
    alike share one object.
    """

    last_symbol: IntArray
    parent: IntArray
    current: IntArray
    child: IntArray


def context_levels(chain: SymbolChain, alive: BoolArray, budget: int) -> list[ContextLevel]:
    """Contexts for every position, about `budget` of them altogether (but at least one for each symbol).

    Of long words only the first positions count, because the later ones are alike.
    """
    length = len(alive)
    memory = _memory(chain, length, budget)
    none = np.empty(0, dtype=np.int64)
    contexts = np.flatnonzero(alive[0])[:, None]
    levels = [ContextLevel(contexts.ravel(), none, none, none)]
    known: dict[tuple[int, bytes], tuple[IntArray, ContextLevel]] = {}
    kept = [contexts]  # so that the ids below stay unique
    for i in range(1, length):
        place = (id(contexts), alive[i].tobytes())
        if place not in known:
            new, level = _extended(chain, contexts, alive[i], memory)
            if new.shape == contexts.shape and np.array_equal(new, contexts):
                new = contexts
            known[place] = new, level
            kept.append(new)
        contexts, level = known[place]
        levels.append(level)
    return levels


def _extended(chain: SymbolChain, contexts: IntArray, alive: BoolArray, memory: int) -> tuple[IntArray, ContextLevel]:
    """The contexts of the next position."""
    parent, current = chain.successors.expand(contexts[:, -1])
    usable = alive[current]
    parent, current = parent[usable], current[usable]
    extended = np.hstack([contexts[parent], current[:, None]])[:, -memory:]
    new, child = distinct_rows(extended, chain.symbol_count)
    return new, ContextLevel(np.ascontiguousarray(new[:, -1]), parent, current, child)


def least_work(chain: SymbolChain, length: int) -> float:
    """Additions for all positions with the shortest memory, one symbol."""
    return _additions(chain, np.ones(chain.symbol_count)) * min(length, _POSITIONS)


def _additions(chain: SymbolChain, contexts: FloatArray) -> float:
    """Additions for one position, given the number of contexts by last symbol.

    Every extension looks at all successors of all predecessors of its symbol.
    """
    looked_at = np.asarray(chain.predecessors.matrix @ chain.successors.degrees)
    return float(looked_at @ np.asarray(chain.predecessors.matrix @ contexts))


def _memory(chain: SymbolChain, length: int, budget: int) -> int:
    """The largest h for which the walks of h symbols, once for each position, stay within the budget."""
    positions = min(length, _POSITIONS)
    walks: FloatArray = np.ones(chain.symbol_count)  # by their last symbol
    memory = 1
    while memory < length:
        walks = np.asarray(chain.predecessors.matrix @ walks)
        if walks.sum() * positions > budget or _additions(chain, walks) * positions > _MOST_WORK:
            break
        memory += 1
    return memory
