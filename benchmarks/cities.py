"""Real maps: does the cost of a word grow with the map, and what does a plan for one take?

    python benchmarks/cities.py
    python benchmarks/cities.py lengths     # a table: processor time a symbol over the length and ε

The map is that of Oldenburg (6,105 junctions) where the data are there, otherwise a made-up city of that size; larger
ones are `pv.example_city`. Draws are compared with a plain compiled loop that passes over all edges (naive.py), and
with themselves on other sizes and lengths, all in one run. Trips are random walks on the map, each a different one.
"""

from __future__ import annotations

import csv
import os
import resource
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

import pathveil as pv

sys.path[:0] = [str(Path(__file__).resolve().parent)]

import naive  # noqa: E402
from batches import Goal, as_goal, line  # noqa: E402
from timing import in_turns  # noqa: E402

from pathveil.planning.word_curves import word_curves  # noqa: E402
from pathveil.words.tilted.draw import engine_for, local_engine  # noqa: E402

FOLDER = Path(os.environ.get("PATHVEIL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
LENGTH = 100
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)


def map_of_a_town() -> pv.MarkovChain:
    edges = FOLDER / "oldenburg_edges.csv"
    if not edges.exists():
        return pv.example_city(6_105)
    with edges.open() as file:
        pairs = [(int(row["node_a"]), int(row["node_b"])) for row in csv.DictReader(file)]
    return pv.MarkovChain.from_edges(pairs + [(b, a) for a, b in pairs])


def trips(world: pv.MarkovChain, count: int, length: int = LENGTH) -> np.ndarray:
    """Random walks, each from a junction of its own."""
    matrix, rng = world.matrix, np.random.default_rng(1)
    degree, here = np.diff(matrix.indptr), rng.integers(0, len(world.symbols), count)
    codes = np.empty((count, length), dtype=np.int64)
    for i in range(length):
        codes[:, i] = here
        here = matrix.indices[matrix.indptr[here] + rng.integers(0, 1 << 30, count) % degree[here]]
    return codes


def draws(world: pv.MarkovChain) -> list[Goal]:
    """Words against the plain loop, at the tilts of certified words."""
    rows, codes = [], trips(world, 2_000)
    for epsilon, goal in ((3.0, 8.0), (5.0, 25.0), (8.0, 25.0), (12.0, 25.0)):
        mechanism = pv.CertifiedExponential(world, epsilon)
        theta = mechanism.theta(LENGTH)
        few, one = codes[:32], codes[:1]
        mechanism.privatize_array(codes)  # compile, and count what is around the trips
        plain, ours = in_turns(
            partial(naive.draw, world.compiled, few, theta),
            partial(mechanism.privatize_array, codes),
            rounds=3,
        )
        plain, ours = plain / len(few), ours / len(codes)
        work = f"certified words, {len(world.symbols):,} junctions, n = {LENGTH}, ε = {epsilon:g}"
        detail = f"{ours * 1e6:,.0f} µs a word, the plain loop {plain * 1e6:,.0f} µs"
        rows.append(as_goal(work, "a plain loop over all edges", plain / ours, goal, detail))
        single = min(in_turns(partial(mechanism.privatize_array, one), rounds=20))
        rows.append(as_goal(f"{work}, one word alone", "2 ms", 2e-3 / single, 1.0, f"{single * 1e6:,.0f} µs"))
    return rows


def plan(world: pv.MarkovChain) -> Goal:
    begin = time.perf_counter()
    curves = word_curves(world, LENGTH, 1)
    errors = [curves.at(name, epsilon) for epsilon in (0.5, 1.0, 2.0, 3.0, 5.0) for name in curves.mechanisms]
    seconds = time.perf_counter() - begin
    known = sum(error is not None for error in errors)
    work = f"plan of five ε, {len(world.symbols):,} junctions, n = {LENGTH}"
    return as_goal(work, "10 s", 10 / seconds, 1.0, f"{seconds:.1f} s, {known} of {len(errors)} errors known")


def sizes(epsilon: float = 10.0) -> list[Goal]:
    """The published mechanism, which needs no certificate, at θ = ε/2: the draw is the same."""
    found: dict[int, tuple[float, str]] = {}
    for size in SIZES:
        world = pv.example_city(size)
        codes, mechanism = trips(world, 2_000), pv.Exponential(world, epsilon)
        mechanism.privatize_array(codes[:10])  # compile, and count the walks of all states
        begin = time.perf_counter()
        mechanism.privatize_array(codes)
        first = (time.perf_counter() - begin) / len(codes)
        again = min(in_turns(partial(mechanism.privatize_array, codes), rounds=3)) / len(codes)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        said = f"{again * 1e6:,.0f} µs a word, {first * 1e6:,.0f} µs the first time; peak memory {peak:.1f} GB so far"
        found[size] = again, said
    base = found[10_000][0]
    return [
        as_goal(
            f"words in a city of {size:,} junctions, n = {LENGTH}, ε = {epsilon:g}",
            "three times those of 10,000 junctions", 3 * base / seconds, 1.0, said,
        )
        for size, (seconds, said) in found.items()
    ]  # fmt: skip


def lengths(world: pv.MarkovChain, name: str) -> list[Goal]:
    """Ten times the length must not take more than about ten times as long, in processor time."""
    rows = []
    for epsilon in (1.0, 3.0, 6.0, 12.0):
        mechanism, times = pv.Exponential(world, 2 * epsilon), []
        for length in (1_000, 10_000):
            codes = trips(world, 3, length)
            mechanism.privatize_array(codes)
            draw = partial(mechanism.privatize_array, codes)
            times.append(min(in_turns(draw, rounds=3, clock=time.process_time)) / len(codes))
        work = f"words of 10,000 symbols, {name}, θ = {epsilon:g}"
        detail = f"{times[1] * 1e3:,.1f} ms a word, {times[0] * 1e3:,.2f} ms at 1,000 symbols"
        rows.append(as_goal(work, "15 words of 1,000", 15 * times[0] / times[1], 1.0, detail))
    return rows


def lengths_table(
    lengths: tuple[int, ...] = (100, 300, 1_000, 3_000, 10_000),
    epsilons: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 12.0),
    symbols: int = 48_000,
) -> str:
    """Microseconds of processor time a symbol, of at least sixteen words, at θ = ε/2; and which loop draws them."""
    heads = " | ".join(f"n = {length:,}" for length in lengths)
    rows = [f"| map | ε | {heads} |", "|---|---|" + "---|" * len(lengths)]
    for name, world in (("town", pv.example_town()), ("Oldenburg", map_of_a_town())):
        for epsilon in epsilons:
            mechanism, cells = pv.Exponential(world, epsilon), []
            for length in lengths:
                codes, theta = trips(world, max(16, symbols // length), length), mechanism.theta(length)
                mechanism.privatize_array(codes[:16])  # compile, and count what is around these trips
                seconds = min(
                    in_turns(partial(mechanism.privatize_array, codes), rounds=2, clock=time.process_time)
                )  # fmt: skip
                near = local_engine(world.compiled, length, theta)
                loop = "local" if near else type(engine_for(world.compiled, length, theta)).__name__
                cells.append(f"{1e6 * seconds / codes.size:.2f} {loop.removesuffix('Engine').lower()}")
            rows.append(f"| {name} | {epsilon:g} | {' | '.join(cells)} |")
            print(rows[-1], file=sys.stderr, flush=True)
    return "\n".join(rows)


def lists() -> Goal:
    town = pv.example_town()
    words = [town.decode(row) for row in trips(town, 20_000, 14).tolist()]
    codes, mechanism = np.array([town.encode(word) for word in words]), pv.CertifiedExponential(town, 3.0)
    mechanism.privatize_array(codes)
    arrays, listed = in_turns(lambda: mechanism.privatize_array(codes), lambda: mechanism.privatize_many(words))
    detail = f"{listed / len(words) * 1e6:.1f} µs a word as lists, {arrays / len(words) * 1e6:.1f} as an array"
    return as_goal("privatize_many on lists, town, n = 14", "arrays", arrays / listed, 1 / 3, detail)


def goals() -> list[Goal]:
    world = map_of_a_town()
    return [
        *draws(world), plan(world), *sizes(), *lengths(pv.example_town(), "town"),
        *lengths(world, f"{len(world.symbols):,} junctions"), lists(),
    ]  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:] == ["lengths"]:
        print(lengths_table())
        sys.exit()
    for goal in goals():
        print(line(goal), flush=True)
