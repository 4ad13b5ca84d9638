"""How many errors each mechanism makes on the example town, as a Markdown table.

    python examples/accuracy_table.py

The town has 43 road segments and is synthetic. All expected errors are exact (no sampling): means of the mechanisms'
laws over 20 trips of 14 segments, drawn uniformly among the feasible ones from a fixed seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, log10

import pathveil as pv
from pathveil.systems.system import Word

EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
LENGTH = 14
TRIPS = 20
SEED = 14


def sample_trips(town: pv.MarkovChain, count: int = TRIPS, seed: int = SEED) -> list[Word]:
    """Feasible trips, each equally likely; public, since they come from the system alone."""
    rng = pv.insecure_seed(seed)
    return [town.random_word(LENGTH, rng) for _ in range(count)]


def expected_errors(mechanism: pv.WordMechanism, trips: Sequence[Word]) -> float:
    """The exact expected number of errors, averaged over the trips."""
    return sum(mechanism.error_law(trip).mean for trip in trips) / len(trips)


def table(epsilons: Sequence[float] = EPSILONS, trips: int = TRIPS, contexts: int = 40_000) -> Iterator[str]:
    """The lines of the table, one by one as they are ready, and what has to be said about it."""
    town = pv.example_town()
    sample = sample_trips(town, trips)
    unchanged: dict[float, float] = {}
    yield "| ε | θ, certified | permute-and-flip | exponential, published | certified | online | P&F ÷ certified |"
    yield "|--:|--:|--:|--:|--:|--:|--:|"
    for epsilon in epsilons:
        certified = pv.CertifiedExponential(town, epsilon, contexts=contexts)
        flip, published, ours, online = (
            expected_errors(mechanism, sample)
            for mechanism in (
                pv.PermuteAndFlip(town, epsilon),
                pv.Exponential(town, epsilon),
                certified,
                pv.Online(town, epsilon),
            )
        )
        yield (
            f"| {epsilon:g} | {certified.theta(LENGTH):.3f} | {_short(flip)} | {_short(published)} | {_short(ours)} "
            f"| {_short(online)} | {flip / ours:.1f} |"
        )
        unchanged[epsilon] = sum(certified.error_law(trip).pmf[0] for trip in sample) / len(sample)
    free = sum(len(town.neighbour_positions(trip)) for trip in sample) / len(sample)
    yield ""
    yield f"Expected wrong segments in a trip of {LENGTH}, mean over {len(sample)} random trips, b = 1, {town!r}."
    yield f"On average {free:.1f} of the {LENGTH} positions of a trip have a feasible neighbour."
    shares = ", ".join(f"{100 * share:.3g}% at ε = {epsilon:g}" for epsilon, share in unchanged.items())
    yield f"The certified release is the true trip in {shares}."
    yield (
        "The units differ: the certified column protects among feasible words that differ in at most one symbol; "
        "permute-and-flip, the published exponential mechanism and the online one protect among all words of that "
        "length, feasible or not."
    )


def _short(errors: float) -> str:
    """Two decimals or three significant digits, never in scientific notation."""
    digits = 2 if errors >= 1 else 2 - floor(log10(errors))
    return f"{errors:.{digits}f}"


def main() -> None:
    for line in table():
        print(line, flush=True)


if __name__ == "__main__":
    main()
