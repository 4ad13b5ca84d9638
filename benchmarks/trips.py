"""Synthetic trips of a made-up crowd on the streets of Oldenburg, beside the sensitive ones: one table.

    python benchmarks/trips.py [--seeds 3] [--trips 10000] [--cells 10] [--epsilon 1]
    python benchmarks/trips.py --points 10000000       # points to words: seconds and memory

Words are the cells of trips (`crowds.py` makes them). First the unit of a word: 10,000 trips, each of another person.
Then that of a person: 10,000 people with three trips each on average, of whom at most three count. "Another crowd" are
as many trips of other people of the same town, without any privacy: what sampling alone costs. A figure in bold misses
its goal.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from crowds import Town, crowd

import pathveil as pv
from pathveil import data

GOALS = {"trips": 0.09, "diameters": 0.025, "density": 0.05, "patterns": 0.82}
HIGHER = ("patterns", "hot_spots", "ranks")
COLUMNS = ("density", "trips", "lengths", "diameters", "range_queries", "hot_spots", "patterns", "ranks")
LONGEST = 20

Words = list[tuple[Any, ...]]


def figure(name: str, values: list[float]) -> str:
    """The mean over the seeds, in bold where it misses its goal."""
    mean = float(np.mean(values))
    goal = GOALS.get(name)
    missed = goal is not None and (mean < goal if name in HIGHER else mean > goal)
    return f"**{mean:.3f}**" if missed else f"{mean:.3f}"


def row(name: str, sensitive: Words, cells: pv.places.Grid, make: Callable[[int], Words], seeds: int) -> None:
    begun = time.perf_counter()
    found = [pv.trip_metrics(sensitive, make(seed), cells).as_dict() for seed in range(1, seeds + 1)]
    figures = " | ".join(figure(one, [each[one] for each in found]) for one in COLUMNS)
    print(f"| {name} | {figures} | {(time.perf_counter() - begun) / seeds:.1f} |", flush=True)


def table(town: Town, cells: pv.places.Grid, seeds: int, epsilon: float, trips: int, per_person: int) -> None:
    """One unit: a word, or a person with several."""
    by_person = per_person > 1
    people, count = trips, trips * per_person
    sensitive = cells.words(crowd(town, count, people).table(town))
    unit: dict[str, Any] = {"epsilon": epsilon, "max_length": LONGEST, "neighbours": "add-remove"}
    if by_person:
        unit |= {"unit": "user", "users": sensitive.users, "max_words_per_user": per_person}
    support = cells.system.matrix.toarray() > 0

    def sequences(order: Any, delta: float | None = None, *, ends: bool = False) -> Callable[[int], Words]:
        def make(seed: int) -> Words:
            model = pv.fit_private_sequences(
                sensitive,
                states=cells.symbols,
                order=order,
                delta=delta,
                ends=ends,
                support=cells.system,
                rng=pv.insecure_seed(seed),
                **unit,
            )
            return model.synthesize(len(sensitive), rng=pv.insecure_seed(1000 + seed))

        return make

    def chain(seed: int) -> Words:
        words = unit if by_person else {"unit": "word", **unit}
        model = pv.fit_private_chain(
            words=[list(word) for word in sensitive],
            states=cells.symbols,
            support=support,
            split={"transitions": 0.6, "first": 0.2, "lengths": 0.2},
            rng=pv.insecure_seed(seed),
            **words,
        )
        return model.synthesize(len(sensitive), rng=pv.insecure_seed(1000 + seed))

    def another(seed: int) -> Words:
        return list(cells.words(crowd(town, count, people, seed=1, draw=100 + seed).table(town)))

    print(
        f"\n{len(sensitive):,} trips of {people:,} people, unit: a {'person' if by_person else 'word'}, ε = {epsilon:g}"
    )
    print(f"\n| | {' | '.join(COLUMNS)} | seconds |\n|---|{'--:|' * (len(COLUMNS) + 1)}")
    for name, make in (
        ("another crowd, no privacy", another),
        ("fit_private_chain", chain),
        ("fit_private_sequences, order 1", sequences(1)),
        ("fit_private_sequences", sequences("auto")),
        ("fit_private_sequences, ends", sequences("auto", ends=True)),
        ("fit_private_sequences, δ = 1e-6", sequences("auto", 1e-6)),
    ):
        row(name, sensitive, cells, make, seeds)


def points_to_words(count: int) -> None:
    """People who walk about in Chicago, in a file; how long the way to words takes."""
    rng = np.random.default_rng(1)
    people = max(1, count // 500)
    who = np.sort(rng.integers(0, people, count))
    begins = np.maximum.accumulate(np.where(np.diff(who, prepend=-1) != 0, np.arange(count), 0))
    walk = np.cumsum(rng.normal(0, 8e-4, (count, 2)), axis=0)
    homes = np.column_stack([rng.uniform(41.65, 42.05, people), rng.uniform(-87.85, -87.55, people)])
    place = homes[who] + walk - walk[begins]
    step = np.arange(count) - begins
    seconds = step * 20 + step // 60 * 3600
    shuffled = np.argsort(step, kind="stable")
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "points.parquet", Path(folder) / "words.parquet"
        columns = {
            "who": pa.array(who[shuffled].astype(str)),
            "when": pa.array(seconds[shuffled] * 1_000_000, pa.timestamp("us")),
            "lat": place[shuffled, 0],
            "lon": place[shuffled, 1],
        }
        pq.write_table(pa.table(columns), source)
        del columns, place, walk, shuffled, seconds, step, begins, who
        with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
            found, words, spent, memory = fresh.submit(measured, source, output).result()
    print(f"{found:,} points to {words:,} words: {spent:.1f} s and {memory:.2f} GB (goals for 10^7: 60 s, 1.5 GB)")


def measured(source: Path, output: Path) -> tuple[int, int, float, float]:
    """Points, words, seconds and gigabytes of a process that does nothing else."""
    cells = pv.places.Grid((41.6, -87.9, 42.1, -87.5), 500.0)
    begun = time.perf_counter()
    counts = data.write_words_of_points(source, output, cells, data.PointColumns("lat", "lon", "who", "when"))
    spent = time.perf_counter() - begun
    # Not `ru_maxrss`, which a process inherits from the one that started it.
    lines = Path("/proc/self/status").read_text().splitlines()
    kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    return counts.points, counts.words, spent, kilobytes / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trips", type=int, default=10_000)
    parser.add_argument("--cells", type=int, default=10, help="in each direction")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--points", type=int, help="measure the way from so many points to words instead")
    asked = parser.parse_args()
    if asked.points:
        points_to_words(asked.points)
        return
    town = Town.oldenburg()
    for per_person in (1, 3):
        table(town, town.cells(asked.cells), asked.seeds, asked.epsilon, asked.trips, per_person)


if __name__ == "__main__":
    main()
