"""Margins against rounding: enough for every operation that a loop counts, and small beside what is drawn."""

from __future__ import annotations

from collections.abc import Callable
from math import log

import pytest

import pathveil as pv
from pathveil.words.base import rounding_margin, tilt_factor
from pathveil.words.certificate.contexts import context_levels
from pathveil.words.certificate.kept_pairs import KeptPairs
from pathveil.words.certificate.ratio_bounds import RatioBounds
from pathveil.words.certificate.runs import Runs
from pathveil.words.certificate.symbol_chain import SymbolChain
from pathveil.words.distances.engine import DistanceEngine
from pathveil.words.distances.flip import DistanceFlip
from pathveil.words.distances.prices import Prices
from pathveil.words.distances.word_passes import WordPasses
from pathveil.words.local import LocalDraw, LocalWorld
from pathveil.words.tilted.engines import LaneEngine, RenewalEngine
from pathveil.words.tilted.logs import log_margin
from pathveil.words.tilted.rejection import FlipByRejection
from pathveil.words.tilted.sparse import SparseEngine

DEGREE, LENGTH, THETA = 24, 60, 1.5
WORLD = pv.MarkovChain.from_edges([(a, (a + step) % 30) for a in range(30) for step in range(1, DEGREE + 1)])
COMPILED = WORLD.compiled
POINTS = {a: (float(a), 0.0) for a in range(30)}
PRICES = Prices(WORLD, pv.SymbolDistance.from_coordinates(POINTS, steps=100), None)
STEP = PRICES.z(THETA)
STEP_SIZE = PRICES.steps * -log(STEP)  # of the logarithm of the smallest weight of a symbol


def local_margin(reach: int) -> float:
    world = LocalWorld.of(COMPILED)
    assert world is not None
    return LocalDraw(world, LENGTH, tilt_factor(THETA), reach).margin


def chain() -> SymbolChain:
    found = SymbolChain.of(COMPILED)
    assert found is not None
    return found


def of_logarithms(size: float) -> float:
    """Each time, logarithms are added, shifted and rounded, `exp` and `log` off by 16 units, and weights added."""
    return LENGTH * (3 * size + 2 * 16 + DEGREE)


def log_size(step: float) -> float:
    """The logarithm of the smallest weight of a word, beside that of all words."""
    return LENGTH * (step + log(DEGREE))


MARGINS: dict[str, tuple[Callable[[], float], float]] = {
    # The margin, and how many roundings there are at least, each of which may go the same way.
    "lanes": (lambda: LaneEngine(COMPILED, LENGTH, THETA)._margin, LENGTH * DEGREE),
    "one word": (lambda: SparseEngine(COMPILED, LENGTH, THETA)._margin, LENGTH * DEGREE),
    "renewal": (lambda: RenewalEngine(COMPILED, LENGTH, THETA)._margin, LENGTH * (LENGTH + DEGREE)),
    "logarithms": (lambda: log_margin(COMPILED, LENGTH, THETA), of_logarithms(log_size(THETA))),
    "marks, near": (lambda: local_margin(2), LENGTH * 2 + 2 * DEGREE),
    "marks, far": (lambda: local_margin(30), LENGTH * 30 + 30 * DEGREE),
    "flip": (
        lambda: FlipByRejection(COMPILED, LENGTH, THETA, feasible=False).margin(3),
        of_logarithms(log_size(3 * THETA)) + 3 * LENGTH,
    ),
    "distances": (
        lambda: DistanceEngine(COMPILED, PRICES, LENGTH, STEP, feasible=True).margin,
        LENGTH * DEGREE,
    ),
    "distances, logarithms": (
        lambda: (
            WordPasses(COMPILED, PRICES, WORLD.encode(WORLD.random_word(LENGTH, pv.insecure_seed(1))), STEP, 3).margin
        ),
        of_logarithms(log_size(3 * STEP_SIZE)),
    ),
    "distances, flip": (
        lambda: DistanceFlip(COMPILED, PRICES, LENGTH, THETA).margin(3),
        of_logarithms(log_size(3 * STEP_SIZE)),
    ),
    "runs": (lambda: Runs(chain(), chain().alive(LENGTH, up_to=False), 3, up_to=False)._slack, 4 * 30),
    "boxes": (lambda: boxes()._slack, DEGREE),
}


def boxes() -> RatioBounds:
    return RatioBounds(
        chain(), context_levels(chain(), chain().alive(9, up_to=False), 1), KeptPairs.within(chain(), 99)
    )


@pytest.mark.parametrize("name", MARGINS)
def test_a_margin_allows_for_all_roundings_and_for_little_else(name: str) -> None:
    margin, roundings = MARGINS[name]
    assert rounding_margin(int(roundings)) <= margin() <= 1e-9
