"""The pictures on models of sequences: PNG files, in examples/output/ or where the argument says.

    python examples/sequence_figures.py docs/pictures

All words are made up, from fixed seeds: cases of a process, most of which take one of a few usual ways, and visits that
wander from page to page. Distances are total variation (0: alike, 1: nothing in common).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from os.path import relpath
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # no window: the pictures go to files

import matplotlib.pyplot as plt
import numpy as np
from pf_figures import BLUE, GREEN, GREY, ORANGE, OUTPUT

import pathveil as pv
from pathveil.models.sequences import CodedWords, Comparison, WordStatistics, compare, side_by_side

STATES, LONGEST = 8, 10
SEED = pv.insecure_seed(5)


def cases(count: int, seed: int = 1) -> CodedWords:
    """Four in five cases take one of six usual ways, the others any way from the first step to the last."""
    rng = np.random.default_rng(seed)
    usual = [[0, 1, 2, 7], [0, 1, 3, 7], [0, 2, 3, 4, 7], [0, 1, 2, 2, 7], [0, 5, 7], [0, 1, 4, 5, 7]]
    chosen = rng.choice(6, size=count, p=[0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    wander = rng.random(count) < 0.2
    lengths = rng.integers(1, 7, size=count)
    words = [
        [0, *rng.integers(1, 7, size=length).tolist(), 7] if free else usual[which]
        for free, which, length in zip(wander, chosen, lengths, strict=True)
    ]
    return CodedWords.from_codes(words)


def visits(count: int, seed: int = 2) -> CodedWords:
    """The next page depends on the last two; hardly two visits are alike."""
    rng = np.random.default_rng(seed)
    following = np.cumsum(rng.dirichlet(np.full(STATES, 0.3), size=(STATES + 1, STATES)), axis=2)
    words = []
    for draws, starts in zip(rng.random((count, LONGEST)), rng.random((count, LONGEST)), strict=True):
        word = [int(starts[0] * STATES)]
        while len(word) < LONGEST and starts[len(word)] > 0.15:
            before = word[-2] if len(word) > 1 else STATES
            word.append(min(int(np.searchsorted(following[before, word[-1]], draws[len(word)])), STATES - 1))
        words.append(word)
    return CodedWords.from_codes(words)


def fitted(words: CodedWords, epsilon: float, delta: float | None, order: int | str = "auto") -> pv.PrivateSequences:
    return pv.fit_private_sequences(
        words, states=range(STATES), epsilon=epsilon, delta=delta, max_length=LONGEST, order=order, rng=SEED
    )


def draw_losses(path: Path, count: int = 20_000, epsilons: Sequence[float] = (0.1, 0.3, 1, 3, 10)) -> None:
    """What visits lose to privacy and to modelling, against ε, for orders 1 and 2."""
    words = visits(count)
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
    for ax, order in zip(panels, (1, 2), strict=True):
        found = [side_by_side(words, fitted(words, epsilon, None, order), SEED).comparisons for epsilon in epsilons]
        for part, colour in (("pairs", BLUE), ("triples", ORANGE)):
            private = [getattr(one["private"], part) for one in found]
            model = [getattr(one["unprotected"], part) for one in found]
            ax.plot(epsilons, private, "o-", color=colour, lw=2, label=f"{part}, private")
            ax.plot(epsilons, model, "--", color=colour, lw=2, label=f"{part}, no privacy")
        ax.set(title=f"order {order}", xlabel="ε", xscale="log", ylim=(0, None))
        ax.grid(alpha=0.25)
    panels[0].set_ylabel("distance to the original")
    panels[1].legend(frameon=False)
    figure.suptitle(f"{count:,} made-up visits whose next page depends on the last two")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_ways(path: Path, count: int = 5_000, epsilon: float = 2.0) -> None:
    """Frequent words alone, a model alone, and both: on cases that repeat, and on visits that do not."""
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
    parts = {"ends": "last symbols", "pairs": "pairs", "triples": "triples", "words": "whole words"}
    for ax, (title, words) in zip(
        panels, (("cases of a process", cases(count)), ("visits", visits(count))), strict=True
    ):
        ways = compared(words, epsilon)
        for place, ((name, found), colour) in enumerate(zip(ways.items(), (GREY, BLUE, GREEN), strict=True)):
            heights = [getattr(found, part) for part in parts]
            ax.bar(np.arange(len(parts)) + (place - 1) * 0.27, heights, 0.25, color=colour, label=name)
        ax.set(title=title, ylim=(0, 1))
        ax.set_xticks(range(len(parts)), list(parts.values()))
        ax.grid(alpha=0.25, axis="y")
    panels[0].set_ylabel("distance to the original")
    panels[0].legend(frameon=False)
    figure.suptitle(f"{count:,} made-up words at ε = {epsilon:g} (δ = 1e-6 where words are kept whole)")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def compared(words: CodedWords, epsilon: float) -> dict[str, Comparison]:
    """How far three ways are from the original words; frequent words alone are those of the model with δ."""
    original = WordStatistics(words, STATES)
    both, alone = fitted(words, epsilon, 1e-6), fitted(words, epsilon, None)
    kept = [list(word) for word, _ in both.frequent]
    counts = np.array([max(1, round(count)) for _, count in both.frequent], dtype=np.int64)
    frequent = CodedWords.from_codes(kept or [[0]], counts if kept else None)
    made = {"frequent words alone": frequent}
    for name, model in (("model alone", alone), ("both", both)):
        codes = [list(word) for word in model.synthesize(int(words.times.sum()), SEED)]
        made[name] = CodedWords.from_codes(codes)
    return {name: compare(original, WordStatistics(one, STATES)) for name, one in made.items()}


def main(output: Path = OUTPUT) -> None:
    output.mkdir(parents=True, exist_ok=True)
    for name, draw in (("losses", draw_losses), ("ways", draw_ways)):
        path = output / f"sequences-{name}.png"
        draw(path)
        print(f"{relpath(path)}: {draw.__doc__.splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
