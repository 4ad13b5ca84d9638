"""All word mechanisms, and the law of each by listing words, for tests that hold for each of them."""

from __future__ import annotations

import math
from collections.abc import Callable

import pathveil as pv
from tests.reference.enumeration import Word, exponential_law, permute_and_flip_law

Build = Callable[..., pv.WordMechanism]


def lev(world: pv.System, epsilon: float, adjacency: int = 1, **options: str) -> pv.WordMechanism:
    return pv.Exponential(world, epsilon, adjacency, pv.InverseUtility(alpha=1.0), **options)  # type: ignore[arg-type]


MECHANISMS: dict[str, Build] = {
    "exponential": pv.Exponential,
    "inverse utility": lev,
    "permute-and-flip": pv.PermuteAndFlip,
    "certified": pv.CertifiedExponential,
    "online": pv.Online,
}


def build(name: str, world: pv.System, epsilon: float, adjacency: int = 1, **options: str) -> pv.WordMechanism | None:
    """The mechanism, or None where `Online` rightly refuses the system."""
    try:
        return MECHANISMS[name](world, epsilon, adjacency, **options)
    except (pv.DeadEndError, pv.InvalidSystemError):
        assert name == "online"
        return None


def reference_law(name: str, mechanism: pv.WordMechanism, word: Word) -> dict[Word, float]:
    world, theta = mechanism.world, mechanism.theta(len(word))
    if name == "permute-and-flip":
        return permute_and_flip_law(world, word, theta)
    if name == "inverse utility":
        return exponential_law(world, word, theta, utility=lambda d: 1 / (d + 1))
    if name == "online":
        return online_law(world, word, theta)
    return exponential_law(world, word, theta)


def online_law(world: pv.System, word: Word, theta: float) -> dict[Word, float]:
    """The online rule as it is told: look at what may follow the output so far, then roll the dice."""
    law: dict[Word, float] = {(): 1.0}
    for symbol in word:
        following: dict[Word, float] = {}
        for output, probability in law.items():
            possible = [s for s in world.symbols if world.is_feasible((*output, s))]
            weights = [1.0 if s == symbol or symbol not in possible else math.exp(-theta) for s in possible]
            for s, weight in zip(possible, weights, strict=True):
                following[(*output, s)] = following.get((*output, s), 0.0) + probability * weight / sum(weights)
        law = following
    return law
