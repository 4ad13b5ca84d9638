"""Large batches: what was aimed at, and what came out in this run.

Ours against the same mechanism written down plainly (benchmarks/naive.py), against the keystream alone, and against
itself at other lengths. Each function returns a list of goals. What is compared is measured in turns, so that other
programs on the machine disturb both alike.

    .venv-bench/bin/python benchmarks/batches.py
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

import pathveil as pv
from pathveil.randomness.blocks import run_blocks
from pathveil.randomness.source import system_source
from pathveil.words.classes.batches import class_blocks
from pathveil.words.tilted.rejection import FlipByRejection

sys.path[:0] = [str(Path(__file__).resolve().parent)]

import naive  # noqa: E402


def best_time(
    action: Callable[[], Any], words: int = 1, repeats: int = 5, clock: Callable[[], float] = perf_counter
) -> float:
    """Seconds for each word: the best of several repeats, so that other programs disturb least."""
    seconds = []
    for _ in range(repeats):
        gc.collect()
        start = clock()
        action()
        seconds.append(clock() - start)
    return min(seconds) / words


def in_turns(first: Callable[[], Any], second: Callable[[], Any], repeats: int = 7) -> tuple[float, float]:
    """The best time of each of two actions that take turns, in seconds."""
    times = [(best_time(first, repeats=1), best_time(second, repeats=1)) for _ in range(repeats)]
    mine, others = zip(*times, strict=True)
    return min(mine), min(others)


Goal = dict[str, Any]
"""{work, compared_with, ratio, goal, met, detail}."""


def as_goal(work: str, compared_with: str, ratio: float, goal: float, detail: str, *, at_most: bool = False) -> Goal:
    met = ratio <= goal if at_most else ratio >= goal
    return {
        "work": work,
        "compared_with": compared_with,
        "ratio": ratio,
        "goal": goal,
        "met": bool(met),
        "detail": detail,
    }


def town_goals(batch: int = 400_000, length: int = 14) -> list[Goal]:
    """Certified words on the town's 43 road segments, against the plain version."""
    town, source = pv.example_town(), pv.insecure_seed(1)
    codes = np.array([town.encode(town.random_word(length, source)) for _ in range(2_000)])
    codes = codes[np.random.default_rng(1).integers(0, len(codes), batch)]
    few = codes[: batch // 8]

    def goal(epsilon: float) -> Goal:
        mechanism = pv.CertifiedExponential(town, epsilon)
        theta = mechanism.theta(length)
        ours, plain = in_turns(lambda: mechanism.privatize_array(codes), lambda: naive.draw(town.compiled, few, theta))
        return as_goal(
            f"certified words, town of 43 segments, n = {length}, ε = {epsilon:g}",
            "plain compiled version on the same processors",
            (plain / len(few)) / (ours / batch),
            8.0,
            f"{batch / ours:,.0f} words/s against {len(few) / plain:,.0f}",
        )

    return [goal(5.0), goal(2.0)]


def free_goals(batch: int = 200_000, length: int = 32, symbols: int = 20) -> list[Goal]:
    """Randomized response against the keystream alone: how much of the time is the unavoidable part."""
    alphabet = pv.Alphabet(range(symbols))
    codes = np.random.default_rng(1).integers(0, symbols, (batch, length))
    source, words = system_source(), np.empty(1 << 16, dtype=np.uint64)

    def keystream() -> None:
        for _ in range(codes.size // len(words)):
            source.fill(words)

    def goal(epsilon: float) -> Goal:
        mechanism = pv.CertifiedExponential(alphabet, epsilon)
        ours, alone = in_turns(lambda: mechanism.privatize_array(codes), keystream)
        return as_goal(
            f"certified words, free alphabet, n = {length}, m = {symbols}, ε = {epsilon:g}",
            "rate of the keystream alone, 64 bits a symbol",
            alone / ours,
            0.4,
            f"{1e-6 * codes.size / ours:,.0f} million symbols/s against {1e-6 * codes.size / alone:,.0f}",
        )

    return [goal(1.0), goal(5.0)]


def growth_goals(states: int = 300, epsilon: float = 4.0) -> list[Goal]:
    """Permute-and-flip on a chain: the exponent with which the time for a word grows from n = 50 to n = 200.

    Processor time: on a busy machine long tasks are interrupted more often than short ones.
    """
    rng = np.random.default_rng(1)
    edges = {(a, int(b)) for a in range(states) for b in (*rng.integers(0, states, 3), (a + 1) % states)}
    chain = pv.MarkovChain.from_edges(sorted(edges))
    compiled, theta, lengths = chain.compiled, epsilon / 2, (50, 100, 200)

    def times(length: int) -> tuple[float, float]:
        source = pv.insecure_seed(length)
        codes = np.array([chain.encode(chain.random_word(length, source)) for _ in range(64)])
        values, begins, private = codes.ravel(), np.arange(len(codes)) * length, np.empty(codes.size, dtype=np.int64)
        few, scores = begins[: 400 // length], -theta * np.arange(length + 1.0)
        flip = FlipByRejection(compiled, length, theta, feasible=True)

        def by_class() -> None:
            run_blocks(class_blocks(compiled, values, few, scores, private), source)

        def by_rejection() -> None:
            flip.draw(values, begins, private, source)

        by_class()
        by_rejection()
        by_class_time, by_rejection_time = (
            best_time(action, words, repeats=9, clock=process_time)
            for action, words in ((by_class, len(few)), (by_rejection, len(begins)))
        )
        return by_class_time, by_rejection_time

    measured = zip(*map(times, lengths), strict=True)
    return [
        as_goal(
            f"{how}, chain of {states} states, ε = {epsilon:g}: growth exponent in n",
            f"itself, n = {lengths[0]} to {lengths[-1]}",
            float(np.polyfit(np.log(lengths), np.log(seconds), 1)[0]),
            limit,
            ", ".join(f"n = {n}: {1e6 * t:,.0f} µs" for n, t in zip(lengths, seconds, strict=True)),
            at_most=True,
        )
        for how, limit, seconds in zip(
            ("words by class", "permute-and-flip by rejection"), (2.1, 1.2), measured, strict=True
        )
    ]


def goals() -> list[Goal]:
    """Every goal of this file, measured now."""
    return [*town_goals(), *free_goals(), *growth_goals()]


def line(goal: Goal) -> str:
    """One goal as a line of text."""
    verdict = "met" if goal["met"] else "MISSED"
    ratio = f"{goal['ratio']:,.0f}" if goal["ratio"] >= 100 else f"{goal['ratio']:.3g}"
    return f"{verdict}: {goal['work']}; {goal['compared_with']}: {ratio}, goal {goal['goal']:,g} ({goal['detail']})"


if __name__ == "__main__":
    print("\n".join(map(line, goals())))
