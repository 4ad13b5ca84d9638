"""How long private words take when their length is private too: speed against the goal, cost against n and c.

    python benchmarks/edits.py [plot.png]

Trips on the example town (43 road segments), every word different, one table for each. `rows()` has the comparisons,
`cost()` the measurements behind the plot.
"""

from __future__ import annotations

import gc
import sys
from math import inf
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

import pathveil as pv
from pathveil.words.edit.classes import EditClasses
from pathveil.words.edit.length_range import LengthRange

GOAL = 5_000.0  # words a second: 43 segments, n = 14, c = 5, two processors


def trips(length: int, count: int) -> list[tuple[Any, ...]]:
    """Different feasible trips, from a fixed seed."""
    town, rng = pv.example_town(), pv.insecure_seed(length)
    return [tuple(town.random_word(length, rng)) for _ in range(count)]


def words_a_second(words: int = 4_000, repeats: int = 3) -> dict[str, tuple[float, float]]:
    """Both mechanisms on different trips of 14 segments, lengths 10 to 18, cap 5: speed, and processor time a word.

    The best of some repeats, in a process that has warmed up. On a busy machine the processor time says more.
    """
    town, batch = pv.example_town(), trips(14, words)
    speeds = {}
    for kind in (pv.EditExponential, pv.EditPermuteAndFlip):
        mechanism = kind(town, epsilon=5.0, lengths=(10, 18), cap=5)
        mechanism.privatize_many(batch[:8])  # compiled before the clock starts
        best = worked = inf
        gc.collect()
        for _ in range(repeats):
            start, began = perf_counter(), process_time()
            mechanism.privatize_many(batch)
            best, worked = min(best, perf_counter() - start), min(worked, process_time() - began)
        speeds[kind.__name__] = words / best, worked / words
    return speeds


def goals(words: int = 4_000, repeats: int = 8) -> list[dict[str, Any]]:
    """The comparisons: work, compared_with, ratio (ours over the other, larger is better), goal, met, detail."""
    found = [
        {
            "work": f"{name}: 43 segments, n = 14, lengths 10 to 18, c = 5, {words:,} different words",
            "compared_with": f"the goal of {GOAL:,.0f} words a second on two processors",
            "ratio": speed / GOAL,
            "goal": 1.0,
            "met": speed >= GOAL,
            "detail": f"{speed:,.0f} words a second, {1e6 * seconds:.0f} µs of processor time a word",
        }
        for name, (speed, seconds) in words_a_second(words, repeats).items()
    ]
    small, large = cost(lengths=(14,), caps=(5, 9), repeats=repeats)
    a_node = [measured["bytes"] / measured["nodes"] for measured in (small, large)]
    ratio = a_node[0] / a_node[1]
    found.append(
        {
            "work": "memory a live node at c = 5, against c = 9",
            "compared_with": "memory in proportion to nodes and classes",
            "ratio": ratio,
            "goal": 0.5,
            "met": ratio >= 0.5,
            "detail": f"{a_node[0]:.0f} and {a_node[1]:.0f} bytes a node ({small['nodes']:.0f}, {large['nodes']:.0f})",
        }
    )
    return found


def cost(
    lengths: tuple[int, ...] = (6, 10, 14, 20, 30), caps: tuple[int, ...] = (2, 3, 4, 5, 6, 8), repeats: int = 3
) -> list[dict[str, float]]:
    """Milliseconds, nodes and bytes of a table, means over a few trips, for each n and c; lengths n - 4 to n + 4."""
    town = pv.example_town()
    measured = []
    for n in lengths:
        words = LengthRange(town.compiled, max(n - 4, 1), n + 4)
        batch = [town.encode(trip) for trip in trips(n, 8)]
        for cap in caps:
            EditClasses(words, batch[0], cap)
            best = inf
            for _ in range(repeats):
                start = perf_counter()
                made = [EditClasses(words, codes, cap) for codes in batch]
                best = min(best, (perf_counter() - start) / len(batch))
            measured.append(
                {
                    "n": float(n),
                    "c": float(cap),
                    "milliseconds": 1e3 * best,
                    "nodes": float(np.mean([classes.node_count for classes in made])),
                    "bytes": float(np.mean([classes.size for classes in made])),
                }
            )
    return measured


def draw(path: Path, measured: list[dict[str, float]]) -> None:
    """Time and nodes of a table against n, a line for each c."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots(1, 2)
    for ax, what in zip(axes, ("milliseconds", "nodes"), strict=True):
        for cap in sorted({one["c"] for one in measured}):
            line = [(one["n"], one[what]) for one in measured if one["c"] == cap]
            ax.plot(*zip(*line, strict=True), marker="o", ms=3, label=f"c = {cap:g}")
        ax.set(xlabel="n, symbols of the word", ylabel=f"{what} a word", yscale="log")
    axes[0].legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    for row in goals():
        print(f"{row['work']}: {row['detail']} ({'meets' if row['met'] else 'MISSES'} {row['compared_with']})")
    measured = cost()
    print("| n | c | milliseconds a word | nodes | kilobytes |\n|--:|--:|--:|--:|--:|")
    for one in measured:
        shown = (f"{one['n']:g}", f"{one['c']:g}", f"{one['milliseconds']:.2f}", f"{one['nodes']:.0f}")
        print(f"| {' | '.join(shown)} | {one['bytes'] / 1e3:.0f} |")
    if len(sys.argv) > 1:
        draw(Path(sys.argv[1]), measured)


if __name__ == "__main__":
    main()
