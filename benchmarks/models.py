"""How fast Markov models are, against other libraries in the same run.

    python benchmarks/models.py

Times are the best of several, taken in turns so that a busy machine slows both sides. Ratios are what to read.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse

import pathveil as pv

ROUNDS = 5


def in_turns(*tasks: Callable[[], Any]) -> list[float]:
    """The best time of each task in seconds."""
    best = [float("inf")] * len(tasks)
    for _ in range(ROUNDS):
        for i, task in enumerate(tasks):
            begin = time.perf_counter()
            task()
            best[i] = min(best[i], time.perf_counter() - begin)
    return best


def dense_chain(n: int) -> np.ndarray:
    return np.random.default_rng(1).dirichlet(np.ones(n), size=n)


def sparse_chain(n: int, degree: int) -> sparse.csr_array:
    random = np.random.default_rng(2)
    columns = np.array([np.sort(random.choice(n, degree, replace=False)) for _ in range(n)])
    values = random.dirichlet(np.ones(degree), size=n)
    return sparse.csr_array((values.ravel(), columns.ravel(), np.arange(n + 1) * degree), shape=(n, n))


def simulation() -> Table:
    """10^6 steps and more, both libraries with their tables built; then from the matrix to the first path."""
    import quantecon

    table = Table("chain", "paths × steps", "PathVeil", "QuantEcon", "times as fast", title="simulate")

    def compare(name: str, paths: int, steps: int, ours: Callable[[], Any], theirs: Callable[[], Any]) -> None:
        fast, slow = in_turns(ours, theirs)
        shape = f"{paths:,} × {steps:,}"
        table.add_row(name, shape, f"{fast * 1e3:.1f} ms", f"{slow * 1e3:.1f} ms", f"{slow / fast:.1f}")

    for name, matrix in [
        ("1,000 states, dense", dense_chain(1_000)),
        ("1,000 states, 10 successors", sparse_chain(1_000, 10)),
        ("20,000 states, 10 successors", sparse_chain(20_000, 10)),
    ]:
        n = matrix.shape[0]
        ours, theirs = pv.MarkovChain(range(n), matrix), quantecon.MarkovChain(matrix)
        ours.simulate(2)
        theirs.simulate_indices(2)
        for paths, steps in [(1, 1_000_000), (100, 10_000), (100_000, 14)]:
            compare(
                name,
                paths,
                steps,
                lambda p=paths, s=steps, chain=ours: chain.simulate(s, p),  # type: ignore[misc]
                lambda p=paths, s=steps, chain=theirs: chain.simulate_indices(s, num_reps=p),  # type: ignore[misc]
            )
        compare(
            name + ", building included",
            1,
            1_000_000,
            lambda m=matrix, n=n: pv.MarkovChain(range(n), m).simulate(1_000_000),  # type: ignore[misc]
            lambda m=matrix: quantecon.MarkovChain(m).simulate_indices(1_000_000),  # type: ignore[misc]
        )
    return table


def long_run() -> Table:
    """Stationary distributions, both by elimination without subtraction."""
    import quantecon

    table = Table("states", "PathVeil", "QuantEcon", "times as fast", title="stationary distribution, dense")
    for n in (100, 1_000):
        matrix = dense_chain(n)
        fast, slow = in_turns(
            lambda m=matrix, n=n: pv.MarkovChain(range(n), m).stationary_distribution,  # type: ignore[misc]
            lambda m=matrix: quantecon.MarkovChain(m).stationary_distributions,  # type: ignore[misc]
        )
        table.add_row(f"{n:,}", f"{fast * 1e3:.1f} ms", f"{slow * 1e3:.1f} ms", f"{slow / fast:.1f}")
    return table


def main() -> int:
    console = Console()
    console.print(simulation())
    console.print(long_run())
    return 0


if __name__ == "__main__":
    sys.exit(main())
