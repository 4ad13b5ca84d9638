"""How fast Markov models are, against other libraries in the same run.

    python benchmarks/models.py

The flights are looked for in the folder that the environment variable PATHVEIL_DATA names, otherwise in `shared/data`
beside the repository; without them that table is left out.

Times are the best of several, taken in turns so that a busy machine slows both sides. Ratios are what to read.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse
from timing import in_turns

import pathveil as pv
from pathveil.models.dirichlet import DirichletRows, draw_on_grid

DATA = Path(os.environ.get("PATHVEIL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
FLIGHTS, AIRPORTS = DATA / "flights3m_od.parquet", 229


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


def fitting() -> Table:
    """From the file with 3,000,000 flights to a private chain of 229 airports, against DuckDB's counting alone."""
    import duckdb
    import pyarrow.parquet as parquet

    query = f"SELECT o, d, count(*) AS flights FROM '{FLIGHTS}' GROUP BY ALL"

    def count() -> dict[str, np.ndarray]:
        return duckdb.sql(query).fetchnumpy()

    def fit_pairs(mechanism: str) -> pv.PrivateChain:
        table = parquet.read_table(FLIGHTS)
        pairs = np.column_stack([table["o"].to_numpy(), table["d"].to_numpy()])
        return private_chain(mechanism, pairs=pairs)

    def fit_counts(mechanism: str) -> pv.PrivateChain:
        found = count()
        counts = np.zeros((AIRPORTS, AIRPORTS), dtype=np.int64)
        counts[found["o"], found["d"]] = found["flights"]
        return private_chain(mechanism, counts=counts)

    def private_chain(mechanism: str, **data: Any) -> pv.PrivateChain:
        return pv.fit_private_chain(
            **data,
            states=range(AIRPORTS),
            epsilon=1.0,
            delta=1e-6,
            mechanism=mechanism,  # type: ignore[arg-type]
        )

    table = Table("mechanism", "read with", "PathVeil", "DuckDB counts", "times", title="fit 3,000,000 flights")
    for mechanism in ("dirichlet", "laplace", "gaussian"):
        for name, fit in (("pyarrow", fit_pairs), ("DuckDB", fit_counts)):
            ours, theirs = in_turns(lambda m=mechanism, f=fit: f(m), count, rounds=20)  # type: ignore[misc]
            table.add_row(mechanism, name, f"{ours * 1e3:.0f} ms", f"{theirs * 1e3:.0f} ms", f"{ours / theirs:.2f}")
    return table


def floating_dirichlet(random: np.random.Generator, parameters: np.ndarray) -> np.ndarray:
    """The usual way, in floating point: gamma variates over their sum."""
    variates = random.standard_gamma(parameters)
    return variates / variates.sum(axis=1, keepdims=True)


def exact_rows(n: int, base: float) -> DirichletRows:
    """n rows of n entries with parameters between base and 2·base."""
    counts = np.random.default_rng(3).integers(0, 1000, (n, n))
    return DirichletRows(np.full(n, base), np.full(n, base / 1000), counts, np.full((n, n), True))


def exactness() -> Table:
    """What exact sampling on a public grid costs, against floating point with numpy and no proof."""
    table = Table("matrix", "parameters", "exact", "floating point", "times as long", title="Dirichlet rows")
    random = np.random.default_rng(4)
    for n, base in ((40, 1e5), (40, 0.5), (229, 1e5), (1_000, 1e4)):
        rows = exact_rows(n, base)
        parameters = rows.base[:, None] + rows.step[:, None] * rows.data
        exact, floating = in_turns(
            lambda r=rows: draw_on_grid(pv.insecure_seed(1), r),  # type: ignore[misc]
            lambda p=parameters: floating_dirichlet(random, p),  # type: ignore[misc]
            rounds=3,
        )
        table.add_row(
            f"{n:,} × {n:,}",
            f"{base:g}",
            f"{exact * 1e3:.1f} ms",
            f"{floating * 1e3:.1f} ms",
            f"{exact / floating:.1f}",
        )
    return table


def goals() -> list[dict[str, Any]]:
    """Every goal of this file, measured now."""
    import quantecon

    from pathveil.models.synthesize import synthetic_codes

    count, length, states = 100_000, 64, 300
    matrix = dense_chain(states)
    ours, theirs = pv.MarkovChain(range(states), matrix), quantecon.MarkovChain(matrix)
    ours.simulate(2)
    theirs.simulate_indices(2)
    fast, slow = in_turns(
        lambda: synthetic_codes(ours, count, length, first=None, lengths=None, rng=None),
        lambda: theirs.simulate_indices(length, num_reps=count),
    )
    return [
        {
            "work": f"synthesize {count:,} words of {length} symbols, {states} states",
            "compared_with": "QuantEcon simulating the same",
            "ratio": slow / fast,
            "goal": 1.0,
            "met": slow >= fast,
            "detail": f"{fast * 1e3:.0f} ms against {slow * 1e3:.0f} ms; codes, not yet names of states",
        }
    ]


def main() -> int:
    console = Console()
    if FLIGHTS.exists():
        console.print(fitting())
    else:
        console.print(
            f"No {FLIGHTS.name} in {DATA.parent.name}/{DATA.name}, so fitting is left out: set PATHVEIL_DATA."
        )
    console.print(exactness())
    console.print(simulation())
    console.print(long_run())
    return 0


if __name__ == "__main__":
    sys.exit(main())
