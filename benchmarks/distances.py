"""Distances between symbols: errors in metres against Hamming distance, speed, and a sweep over random systems.

    python benchmarks/distances.py [places|grid|speed|sweep]

Places are junctions of Oldenburg where the data are there, otherwise random points in a rectangle of that size.
Means over five samples of 1,000 places: single samples differ by a tenth.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np

import pathveil as pv

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]

from tests.real_data import FOLDER  # noqa: E402
from tests.words.distances.checking import check  # noqa: E402
from timing import in_turns  # noqa: E402

from pathveil.planning.distances import public_distances  # noqa: E402

TOWN = np.array([24_000.0, 27_000.0])  # metres
PLACES, SAMPLES = 1_000, 5
FAR_GOALS = {2.0: 0.86, 4.0: 0.70, 6.0: 0.67}  # of Hamming's
NEAR_GOALS = {(1000.0, 1.0): 2750, (1000.0, 2.0): 1270, (1000.0, 4.0): 450, (500.0, 2.0): 480}  # metres


def points() -> np.ndarray:
    file = FOLDER / "oldenburg_nodes.csv"
    if not file.exists():
        print("(no map of Oldenburg here: random points instead)")
        return np.random.default_rng(0).uniform(0, 1, (6_105, 2)) * TOWN
    with file.open() as lines:
        found = np.array([(float(row["x"]), float(row["y"])) for row in csv.DictReader(lines)])
    found -= found.min(axis=0)
    return found * TOWN / found.max(axis=0)


def best_mean(world: pv.System, distance: pv.SymbolDistance, epsilon: float, within: float | None) -> tuple[float, ...]:
    """The smallest mean distance over all radii but Hamming's, and that of Hamming distance."""
    curve = pv.radius_curve(world, 1, epsilon, distance=distance, within=within)
    return min(mean for radius, mean in curve.means.items() if radius > 0), curve.means[0.0]


def places() -> None:
    """A free alphabet of 1,000 places, one symbol, exact calibration."""
    everywhere, world = points(), pv.Alphabet(range(PLACES))
    samples = []
    for sample in range(SAMPLES):
        chosen = np.random.default_rng(sample).choice(len(everywhere), PLACES, replace=False)
        samples.append(pv.SymbolDistance.from_coordinates(dict(enumerate(everywhere[chosen].tolist()))))

    def means(epsilon: float, within: float | None) -> np.ndarray:
        return np.mean([best_mean(world, distance, epsilon, within) for distance in samples], axis=0)

    print("1,000 places, one symbol: mean distance in metres over five samples")
    for epsilon, goal in FAR_GOALS.items():
        best, hamming = means(epsilon, None)
        verdict = "met" if best / hamming <= goal else "MISSED"
        print(
            f"  however far, ε = {epsilon:g}: Hamming {hamming:,.0f}, best R {best:,.0f}, {best / hamming:.3f} of it",
            end="",
        )
        print(f" (goal {goal}: {verdict})")
    for (within, epsilon), goal in NEAR_GOALS.items():
        best, _ = means(epsilon, within)
        verdict = "met" if best <= goal else "MISSED"
        print(f"  within {within:g} m, ε = {epsilon:g}: {best:,.0f} (goal {goal:,}: {verdict})")


def king_grid(size: int) -> tuple[pv.MarkovChain, pv.SymbolDistance]:
    """Cells from which one moves like a king at chess."""
    cells = [(i, j) for i in range(size) for j in range(size)]
    moves = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]
    known = set(cells)
    edges = [((i, j), (i + a, j + b)) for i, j in cells for a, b in moves if (i + a, j + b) in known]
    return pv.MarkovChain.from_edges(edges), pv.SymbolDistance.from_coordinates({cell: cell for cell in cells})


def grid() -> None:
    """A 30 × 30 grid, words of 20 cells, each moved by at most two cells: mean distance in cells."""
    world, distance = king_grid(30)
    print("30 × 30 cells, king moves, n = 20, within two cells: mean distance of a symbol, in cells (R = 0: Hamming)")
    for epsilon in (1.0, 2.0, 4.0):
        for radius in (0.0, 2.0, 4.0, 8.0, None):
            said = []
            for kind in (pv.CertifiedExponential, pv.PermuteAndFlip, pv.Exponential, pv.Online):
                mechanism = kind(world, epsilon, distance=distance.with_radius(radius), within=2.0)
                said.append(f"{kind.__name__} {public_distances(mechanism, 20, 4).mean:.3f}")
            print(f"  ε = {epsilon:g}, R = {radius}: {', '.join(said)}", flush=True)


def speed() -> None:
    """Time of a batch against that of Hamming distance, the exponential mechanism."""
    town = pv.example_town()
    rng = np.random.default_rng(0)
    somewhere = pv.SymbolDistance.from_coordinates({street: tuple(rng.uniform(0, 5, 2)) for street in town.symbols})
    print("Speed: words in a second of processor time, as a share of those with Hamming distance (goal: a third)")
    for name, (world, distance), length, count in (
        ("town", (town, somewhere), 14, 20_000),
        ("50 × 50 grid", king_grid(50), 20, 1_600),
    ):
        words = world.random_words(length, count, rng=pv.insecure_seed(1))
        codes = np.array([world.encode(word) for word in words])
        for epsilon in (1.0, 2.0, 4.0, 8.0):
            plain = pv.Exponential(world, epsilon)
            near = pv.Exponential(world, epsilon, distance=distance, within=2.0)
            tasks: list[Callable[[], object]] = [partial(m.privatize_array, codes) for m in (plain, near)]
            for task in tasks:
                task()
            one, other = in_turns(*tasks, clock=time.process_time)
            print(f"  {name}, ε = {epsilon:g}: {one / other:.2f} ({count / other:,.0f} words/s)", flush=True)


def sweep(count: int = 300) -> None:
    """Laws, losses, errors and certificates of all mechanisms on so many random systems, by enumeration."""
    shares = [check(seed) for seed in range(1_000, 1_000 + count)]
    print(f"{count} random systems with random metrics: all laws agree, no loss above ε; the largest as a share of ε:")
    for name in shares[0]:
        print(f"  {name}: {max(one[name] for one in shares):.6f}")


def main(asked: Iterable[str]) -> None:
    parts = {"places": places, "grid": grid, "speed": speed, "sweep": sweep}
    for name in list(asked) or parts:
        parts[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
