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
from pathveil.planning.effort import edit_efforts
from pathveil.words.edit.classes import EditClasses
from pathveil.words.edit.length_range import LengthRange

GOAL = 20_000.0  # words a second: 43 segments, n = 14, c = 5, two processors
WITHOUT_CAP = 60.0  # seconds: 3,500 words of 12 kinds


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
        kind(town, epsilon=5.0, lengths=(10, 18), cap=5).privatize_many(batch[:8])  # compiled before the clock starts
        best = worked = inf
        gc.collect()
        for _ in range(repeats):
            mechanism = kind(town, epsilon=5.0, lengths=(10, 18), cap=5)  # which keeps no tables yet
            start, began = perf_counter(), process_time()
            mechanism.privatize_many(batch)
            best, worked = min(best, perf_counter() - start), min(worked, process_time() - began)
        speeds[kind.__name__] = words / best, worked / words
    return speeds


def seconds_without_cap(longest: int, words: int = 3_500, kinds: int = 12) -> tuple[float, float]:
    """So many words of few kinds over 11 letters, from 5 symbols on, no cap: seconds, and those of some of them again.

    Every kind has one symbol less than the one before, and after 5 come the longest once more. Those that are drawn
    again have at most 13 symbols.
    """
    letters, source = pv.Alphabet("abcdefghijk"), pv.insecure_seed(5)
    different = [letters.random_word(longest - kind % (longest - 4), source) for kind in range(kinds)]
    batch = [different[number % kinds] for number in range(words)]
    mechanism = pv.EditExponential(letters, epsilon=5.0, lengths=(5, longest))
    pv.EditExponential(letters, epsilon=5.0, lengths=(5, longest)).privatize("abcde")  # compiled
    start = perf_counter()
    mechanism.privatize_many(batch)
    between = perf_counter()
    mechanism.privatize_many([word for word in batch if len(word) < 14])
    return between - start, perf_counter() - between


def estimates(lengths: tuple[int, ...] = (13,), caps: tuple[int, ...] = (4, 7, 9, 11, 13)) -> list[dict[str, float]]:
    """Seconds and bytes of a table beside what was estimated for another word: 11 letters, words of up to n symbols."""
    letters = pv.Alphabet("abcdefghijk")
    found = []
    for n in lengths:
        words, codes = LengthRange(letters.compiled, 5, n), letters.encode(letters.random_word(n, pv.insecure_seed(9)))
        for cap in caps:
            EditClasses(words, codes[:5], cap)
            estimated = edit_efforts(letters, (5, n)).at(cap)
            start = process_time()
            made = EditClasses(words, codes, cap)
            found.append(
                {
                    "n": float(n),
                    "c": float(cap),
                    "seconds": process_time() - start,
                    "estimated seconds": estimated.seconds,
                    "megabytes": made.size / 1e6,
                    "estimated megabytes": estimated.memory / 1e6,
                }
            )
    return found


def goals(words: int = 4_000, repeats: int = 8, longest: int = 17) -> list[dict[str, Any]]:
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
    seconds, again = seconds_without_cap(longest)
    found.append(
        {
            "work": f"3,500 words of 12 kinds, 11 letters, lengths 5 to {longest}, no cap",
            "compared_with": f"the goal of {WITHOUT_CAP:.0f} seconds",
            "ratio": WITHOUT_CAP / seconds,
            "goal": 1.0,
            "met": seconds <= WITHOUT_CAP,
            "detail": f"{seconds:.1f} s; those of up to 13 symbols once more {again:.2f} s",
        }
    )
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
    print("| n | c | seconds | estimated | megabytes | estimated |\n|--:|--:|--:|--:|--:|--:|")
    for one in estimates():
        print(f"| {' | '.join(f'{value:.2g}' for value in one.values())} |")
    if len(sys.argv) > 1:
        draw(Path(sys.argv[1]), measured)


if __name__ == "__main__":
    main()
