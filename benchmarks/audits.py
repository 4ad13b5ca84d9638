"""How near audits come to the truth, and how often they are wrong: every number measured in this run.

    .venv-bench/bin/python benchmarks/audits.py [--draws 200000] [--runs 1000]

1. For each word mechanism the true worst loss of four symbols (by enumeration) and what a statistical audit finds from
   drawn words alone, with a search for word and neighbour. For Dirichlet vectors the exact ε of their profile.
2. False alarms: `--runs` audits of correct mechanisms at confidence 0.99, 2,000 draws each. Alarms are counted against
   the claim, and against the true loss of the pair that was tested, which leaves no room.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy import stats

import pathveil as pv
from pathveil.audit.exhaustive import feasible_codes
from pathveil.systems.system import Word

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from tests.audit.planted import CHAIN, dirichlet_rows  # noqa: E402

LENGTH, EPSILON = 4, 2.0
WORLDS = {"3 symbols": pv.Alphabet("abc"), "chain": CHAIN}


def mechanisms() -> Iterator[tuple[str, pv.WordMechanism]]:
    """Every word mechanism on both worlds."""
    for where, world in WORLDS.items():
        for kind in (pv.CertifiedExponential, pv.PermuteAndFlip, pv.Exponential, pv.Online):
            yield f"{kind.__name__}, {where}", kind(world, EPSILON)
        yield f"Exponential (inverse utility), {where}", pv.Exponential(world, EPSILON, utility=pv.InverseUtility())


def words(draws: int) -> None:
    print(f"{'mechanism':44}{'claimed':>8}{'true':>8}{'found':>8}{'share':>7}{'seconds':>9}")
    for name, mechanism in mechanisms():
        true = pv.audit_exhaustively(mechanism, LENGTH).loss
        start = perf_counter()
        found = pv.audit_statistically(mechanism, draws=draws, length=LENGTH).epsilon_lower
        seconds = perf_counter() - start
        print(f"{name:44}{EPSILON:8.3f}{true:8.3f}{found:8.3f}{found / true:7.0%}{seconds:9.1f}")


def dirichlet(draws: int) -> None:
    print(f"\n{'Dirichlet, floor 0.1, shift 0.0125, k = 9.87':44}{'δ':>8}{'exact ε':>8}{'found':>8}{'share':>7}")
    first, second = np.array([0.1125, 0.1, 0.7875]), np.array([0.1, 0.1125, 0.7875])
    profile = pv.DirichletProfile(floor=0.1, concentration=9.87, shift=0.0125)
    for rows in (1, 32):
        for delta in (0.001, 0.011):
            exact = pv.ComposedProfile([profile] * rows).epsilon(delta)
            found = pv.audit_statistically(
                dirichlet_rows(9.87, seed=1),
                np.tile(first, (rows, 1)),
                np.tile(second, (rows, 1)),
                draws=draws,
                delta=delta,
                batched=True,
            ).epsilon_lower
            print(f"{f'{rows} rows change':44}{delta:8.3f}{exact:8.3f}{found:8.3f}{found / exact:7.0%}")


def false_alarms(runs: int, confidence: float = 0.99, draws: int = 2000) -> None:
    most = int(stats.binom.isf(1e-6, runs, 1 - confidence))
    print(f"\nfalse alarms in {runs} audits at confidence {confidence} (more than {most}: one in a million if correct)")
    print(f"{'mechanism':44}{'claim':>12}{'true loss of the pair':>24}")
    for name, mechanism in mechanisms():
        word = mechanism.world.random_word(LENGTH, pv.insecure_seed(1))
        against_claim = against_truth = 0
        losses: dict[tuple[object, object], float] = {}
        for _ in range(runs):
            audit = pv.audit_statistically(mechanism, word, draws=draws, confidence=confidence)
            pair = (audit.word, audit.neighbour)
            if pair not in losses:
                losses[pair] = loss_of(mechanism, *pair)
            against_claim += not audit.holds
            against_truth += audit.epsilon_lower > losses[pair]
        print(f"{name:44}{against_claim:12d}{against_truth:24d}")


def loss_of(mechanism: pv.WordMechanism, word: Word, neighbour: Word) -> float:
    """The largest log ratio over all outputs, for one pair."""
    world = mechanism.world
    outputs = feasible_codes(world.compiled, LENGTH)
    first, second = (mechanism.log_probabilities(world.encode(one), outputs) for one in (word, neighbour))
    return float(np.max(first - second))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=1000)
    asked = parser.parse_args()
    words(asked.draws)
    dirichlet(asked.draws)
    false_alarms(asked.runs)
