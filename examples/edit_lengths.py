"""How often a private word has another length, and by how much: two real logs under edit distance.

    python examples/edit_lengths.py

Reads the help-desk log (4,580 cases, 14 activities) and the bike-days of Bay Area Bike Share (the first 1,000 of
115,186 days, 70 stations) from `shared/data` beside the repository, or from the folder that PATHVEIL_DATA names. The
public world is the free alphabet of the activities or stations, with words of 2 to 10 symbols; longer ones are cut
first. Nothing is learnt from the words. Each line is one private release, with operating-system entropy, so the last
digits differ from run to run.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import pathveil as pv
from pathveil.words.edit.mechanism import EditMechanism

FOLDER = Path(os.environ.get("PATHVEIL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
EPSILONS = (1.0, 3.0, 5.0, 8.0, 12.0)
LOGS = {"help desk": ("helpdesk", (2, 10)), "bike-days": ("bikeshare2014_bike_day", (2, 10))}
MECHANISMS: dict[str, type[EditMechanism]] = {
    "exponential, published": pv.EditExponential,
    "permute-and-flip": pv.EditPermuteAndFlip,
    "exponential, certified": pv.CertifiedEditExponential,
}


def read(name: str, most: int) -> tuple[pv.Alphabet, list[tuple[str, ...]]]:
    """The public alphabet and the sensitive words of a log."""
    with open(FOLDER / f"{name}_vocab.csv", encoding="utf-8") as file:
        symbols = [row[1] for row in csv.reader(file)][1:]
    words = pq.read_table(FOLDER / f"{name}.parquet")["seq"].slice(0, most).to_pylist()
    longest = max(hi for _, (_, hi) in LOGS.values())
    return pv.Alphabet(symbols), [tuple(symbols[code] for code in word[:longest]) for word in words]


def lines(
    log: str, epsilons: Sequence[float] = EPSILONS, most: int = 5_000, rng: pv.RandomSource | None = None
) -> Iterator[str]:
    """A table line for each mechanism and ε: one private release of the log."""
    name, lengths = LOGS[log]
    world, words = read(name, most)
    for title, kind in MECHANISMS.items():
        for epsilon in epsilons:
            mechanism = kind(world, epsilon, lengths=lengths)
            private = mechanism.privatize_many(words, rng=rng)
            change = np.array([len(after) - len(before) for before, after in zip(words, private, strict=True)])
            same = np.mean([after == before for before, after in zip(words, private, strict=True)])
            yield (
                f"| {log} | {title} | {epsilon:g} | {mechanism.theta():.2f} | {np.mean(change != 0):.1%} "
                f"| {np.mean(change):+.2f} | {np.mean(np.abs(change)):.2f} | {same:.1%} |"
            )


def main() -> None:
    print("| log | mechanism | ε | θ | length changed | mean change | mean size of change | word unchanged |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for line in lines("help desk"):
        print(line, flush=True)
    for line in lines("bike-days", most=1_000):
        print(line, flush=True)


if __name__ == "__main__":
    main()
