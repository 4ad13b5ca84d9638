"""Processor time of a word in a large batch, beside what `pv.forecast` estimates from public sizes.

    python benchmarks/effort.py

The constants in src/pathveil/planning/effort.py come from this table. A ratio is measured time to estimate.
"""

from __future__ import annotations

from time import process_time

import numpy as np

import pathveil as pv
from pathveil.planning.effort import seconds_for_a_word
from pathveil.words.by_name import MECHANISMS

ENOUGH = 0.4  # seconds of processor time
LARGEST_BATCH = 400_000


def ring(states: int, ways: int) -> pv.MarkovChain:
    """Streets in a ring, each of which leads to some others."""
    return pv.MarkovChain.from_edges([(i, (i + 1 + k * k) % states) for i in range(states) for k in range(ways)])


WORLDS = [*map(pv.Alphabet, (range(3), range(20))), *(ring(*size) for size in ((40, 3), (40, 10), (400, 3), (400, 20)))]


def seconds(name: str, world: pv.System, length: int, epsilon: float) -> float:
    """The processor time of one word. Private words are privatized once more, so that hardly two of them are equal."""
    quick = {"contexts": 500} if name == "certified" else {}  # a proof is not what is measured
    mechanism, source = MECHANISMS[name](world, epsilon, **quick), pv.insecure_seed(1)
    words = np.array([world.encode(world.random_word(length, source)) for _ in range(200)])
    mechanism.privatize_array(words, rng=source)  # proved and compiled
    size = len(words)
    while True:
        private = mechanism.privatize_array(np.resize(words, (size, length)), rng=source)
        begin = process_time()
        mechanism.privatize_array(private, rng=source)
        spent = process_time() - begin
        if spent > ENOUGH or size == LARGEST_BATCH:
            return spent / size
        size = min(4 * size, LARGEST_BATCH)


def main() -> None:
    print(f"{'system':58} {'n':>4} {'ε':>3} " + " ".join(f"{name:>26}" for name in MECHANISMS))
    for world in WORLDS:
        for length in (8, 30, 100):
            for epsilon in (2.0, 5.0):
                cells = []
                for name in MECHANISMS:
                    spent = seconds(name, world, length, epsilon)
                    ratio = spent / seconds_for_a_word(name, world.compiled, length)
                    cells.append(f"{spent * 1e6:12.3f} µs, ratio {ratio:4.2f}")
                print(f"{world!r:58} {length:4} {epsilon:3g} " + " ".join(f"{cell:>26}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
