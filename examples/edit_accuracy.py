"""What protecting the length costs: edit distance against substitutions on the example town, as a Markdown table.

    python examples/edit_accuracy.py

The town has 43 road segments and is synthetic. All numbers are exact expectations, averaged over trips of 14 segments
drawn from a fixed seed. Errors are wrong segments in a private trip of the same length; edits are insertions,
deletions and substitutions between the trip and a private one of 10 to 18 segments. No cap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pathveil as pv

EPSILONS = (1.0, 3.0, 4.0, 5.0, 6.0, 8.0)
LENGTH, LENGTHS = 14, (10, 18)
TRIPS, SEED = 8, 14


def table(epsilons: Sequence[float] = EPSILONS, trips: int = TRIPS, cap: int | None = None) -> Iterator[str]:
    """The lines of the table, one by one as they are ready."""
    town = pv.example_town()
    rng = pv.insecure_seed(SEED)
    sample = [town.random_word(LENGTH, rng) for _ in range(trips)]
    yield "| ε | errors: P&F | errors: certified | edits: P&F | edits: certified | its θ | length kept |"
    yield "|--:|--:|--:|--:|--:|--:|--:|"
    for epsilon in epsilons:
        certified = pv.CertifiedEditExponential(town, epsilon, lengths=LENGTHS, cap=cap)
        mechanisms: list[pv.WordMechanism] = [
            pv.PermuteAndFlip(town, epsilon),
            pv.CertifiedExponential(town, epsilon),
            pv.EditPermuteAndFlip(town, epsilon, lengths=LENGTHS, cap=cap),
            certified,
        ]
        means = [sum(m.error_law(trip).mean for trip in sample) / trips for m in mechanisms]
        kept = certified.length_law(sample[0])[LENGTH]
        listed = " | ".join(f"{mean:.3g}" for mean in means)
        yield f"| {epsilon:g} | {listed} | {certified.theta():.2f} | {kept:.1%} |"
    yield ""
    yield f"Means over {trips} trips of {LENGTH} segments, b = 1; private lengths {LENGTHS[0]} to {LENGTHS[1]}."
    yield "The last column is the probability that the certified edit mechanism keeps the length of the first trip."


def main() -> None:
    for line in table():
        print(line, flush=True)


if __name__ == "__main__":
    main()
