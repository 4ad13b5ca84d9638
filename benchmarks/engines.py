"""Two loops for the exponential mechanism on a Markov chain: which is faster, and which does the library choose?

    python benchmarks/engines.py

One row for each chain and tilt, one column for each length. An entry is the processor time of one word in the renewal
form and with sixteen words side by side, in nanoseconds, keystream included; a star marks the loop that `engine_for`
chooses. The limits in src/pathveil/words/tilted/draw.py come from this table.
"""

from __future__ import annotations

from time import process_time

import numpy as np

import pathveil as pv
from pathveil.randomness.source import RandomSource, system_source
from pathveil.words.tilted.draw import engine_for
from pathveil.words.tilted.engines import Engine, LaneEngine, RenewalEngine

LENGTHS = (4, 14, 30, 60)
CASES = ((10, 3, 4.0), (10, 3, 1.0), (43, 3, 4.0), (43, 3, 1.0), (43, 10, 4.0), (100, 3, 4.0), (100, 3, 1.0))
WORDS, DIFFERENT = 4096, 1024


def nanoseconds(engine: Engine, words: np.ndarray, source: RandomSource) -> float:
    """Processor time of one word: the best of five batches."""
    begins = np.arange(len(words), dtype=np.int64) * words.shape[1]
    values, private = words.reshape(-1), np.empty_like(words.reshape(-1))
    times = []
    for _ in range(6):  # the first one may compile
        begin = process_time()
        engine.draw(values, begins, private, source)
        times.append(process_time() - begin)
    return 1e9 * min(times[1:]) / len(words)


def main() -> None:
    source = system_source()
    print("| states, successors | θ | " + " | ".join(f"n = {length}" for length in LENGTHS) + " |")
    print("|---|---|" + "---|" * len(LENGTHS))
    for states, ways, theta in CASES:
        edges = [(i, (i + 1 + k * k) % states) for i in range(states) for k in range(ways)]
        world = pv.MarkovChain.from_edges(edges)
        cells = []
        for length in LENGTHS:
            words = np.array([world.encode(world.random_word(length, source)) for _ in range(DIFFERENT)])
            words = np.tile(words, (WORDS // DIFFERENT, 1))
            chosen = type(engine_for(world.compiled, length, theta))
            times = []
            for engine in (RenewalEngine, LaneEngine):
                time = nanoseconds(engine(world.compiled, length, theta), words, source)
                times.append(f"{time:,.0f}{'*' if chosen is engine else ''}")
            cells.append(" / ".join(times))
        print(f"| {world.compiled.symbol_count}, {ways} | {theta:g} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
