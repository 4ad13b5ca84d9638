"""All loops that draw from the exponential mechanism, and words to try them on."""

from __future__ import annotations

import numpy as np

import pathveil as pv
from pathveil.words.tilted.engines import Engine, LaneEngine, LogEngine, RenewalEngine
from pathveil.words.tilted.sparse import SparseEngine


def engines(world: pv.System, length: int, theta: float) -> list[Engine]:
    found: list[Engine] = [make(world.compiled, length, theta) for make in (LaneEngine, LogEngine, SparseEngine)]
    if world.compiled.symbol_states is not None:
        found.append(RenewalEngine(world.compiled, length, theta))
    return found


def without_step_table(world: pv.MarkovChain) -> pv.MarkovChain:
    """The same system as if it were so large that symbols are looked for by bisection."""
    vars(world.compiled)["step_table"] = np.empty((0, 0), dtype=np.int32)
    return world


def words_of(world: pv.System, length: int, count: int) -> np.ndarray:
    """Random words, feasible or not, and feasible ones among them."""
    rng, source = np.random.default_rng(length), pv.insecure_seed(length)
    words = rng.integers(0, len(world.symbols), (count, length))
    for row in range(0, count, 3):
        words[row] = world.encode(world.random_word(length, source))
    return words
