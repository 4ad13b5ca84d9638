"""What offering a δ does to a private model of two real event logs: the total variation distance of pairs.

    python benchmarks/offered_delta.py

The logs are looked for in the folder that the environment variable PATHVEIL_DATA names, otherwise in `shared/data`
beside the repository. Gaussian noise is what a δ led to before the mechanism was chosen by forecast.
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import pathveil as pv

DATA = Path(os.environ.get("PATHVEIL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
LOGS = {"helpdesk": 14, "bpic2013_incidents": 4}
DRAWS, DELTA = 20, 1e-6
WAYS: dict[str, dict[str, Any]] = {
    "no δ": {},
    "δ offered": {"delta": DELTA},
    "δ offered, gaussian": {"delta": DELTA, "mechanism": "gaussian"},
}


def pairs(words: list[list[int]], states: int) -> np.ndarray:
    table = np.zeros((states, states))
    for word in words:
        for x, y in pairwise(word):
            table[x, y] += 1
    return table


def distance(words: list[list[int]], states: int, **options: Any) -> float:
    """The mean over some fits, with the rows in their true proportions."""
    truth = pairs(words, states)
    first = np.bincount([word[0] for word in words], minlength=states)
    counted = pv.WordCounts(truth, first, np.bincount([len(word) - 1 for word in words]))
    source, found = pv.insecure_seed(1), []
    for _ in range(DRAWS):
        chain = pv.fit_private_chain(counted, states=range(states), rng=source, **options).chain
        expected = truth.sum(axis=1, keepdims=True) * chain.matrix.toarray()
        found.append(np.abs(expected - truth).sum() / truth.sum() / 2)
    return float(np.mean(found))


def compared() -> Table:
    import pyarrow.parquet as parquet

    table = Table("log", "unit", "ε", *WAYS, title=f"total variation distance of pairs, mean of {DRAWS} fits")
    for name, states in LOGS.items():
        whole = parquet.read_table(DATA / f"{name}.parquet")["seq"].to_pylist()
        longest = max(map(len, whole))
        for unit, cut in (("transition", None), ("symbol", None), ("word", 20), ("word", longest)):
            words = [word[:cut] for word in whole]
            for epsilon in (1.0, 3.0):
                options = {"epsilon": epsilon, "unit": unit, "max_length": cut}
                found = [f"{distance(words, states, **options, **way):.4f}" for way in WAYS.values()]
                table.add_row(name, unit if cut is None else f"{unit} of {cut}", f"{epsilon:g}", *found)
    return table


def main() -> int:
    if not DATA.is_dir():
        print(f"No {DATA}: set PATHVEIL_DATA.")
        return 1
    Console().print(compared())
    return 0


if __name__ == "__main__":
    sys.exit(main())
