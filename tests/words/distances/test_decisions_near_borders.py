"""Random numbers next to the border between two symbols: what is not in doubt is what exact arithmetic says.

Uniform bits hardly ever fall where a bound too small would matter. Here most of them are put there: a little beside a
border, from 10^-20 to a tenth of the whole. Weights are integers, so that nothing is rounded.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.distances.corridor import Corridor
from pathveil.words.distances.engine import DistanceEngine
from pathveil.words.distances.prices import Prices
from tests.sizes import small_and_large

CELLS, LENGTH, STEPS = range(12), 4, 11
SYSTEMS = {
    "both ways": pv.MarkovChain.from_edges([(a, b) for a in CELLS for b in CELLS if abs(a - b) <= 1]),
    "one way, with a dead end": pv.MarkovChain.from_edges(
        [(a, b) for a in CELLS for b in CELLS if 0 <= b - a <= 2], final=[1, 2, 3, 5, 8]
    ),
    "two parts": pv.MarkovChain.from_edges([(a, b) for a in CELLS for b in CELLS if abs(a - b) in (0, 2)]),
    "a hub": pv.MarkovChain.from_edges([(a, b) for a in CELLS for b in CELLS if abs(a - b) <= 1 or a == 6]),
}


def bits_near(borders: list[int], rng: random.Random) -> int:
    """64 bits; `borders` are the sums of weights up to each symbol."""
    border = (rng.choice(borders) << 64) // borders[-1]
    beside = int(2**64 * 10 ** rng.uniform(-20, -1)) * rng.choice((-1, 1))
    return min(max(border + beside, 0), 2**64 - 1) if rng.random() < 0.5 else rng.getrandbits(64)


def exact_draw(system, costs, word, z: float, rng: random.Random) -> tuple[list[int], list[int]]:
    """Bits for each symbol, and the symbols that these say."""
    compiled, (above, below) = system.compiled, z.as_integer_ratio()
    weight = [above**k * below ** (STEPS - k) for k in range(STEPS + 1)]
    messages = [[int(accepted) for accepted in compiled.accepting]]
    for x in reversed(word):
        after = messages[0]
        messages.insert(0, [sum(weight[costs[x][s]] * after[y] for s, y in at.items()) for at in compiled.moves])
    state, drawn, bits = compiled.start, [], []
    for x, after in zip(word, messages[1:], strict=True):
        borders, reached, moves = [], 0, list(compiled.moves[state].items())
        for s, y in moves:
            reached += weight[costs[x][s]] * after[y]
            borders.append(reached)
        bits.append(bits_near(borders, rng))
        taken = next(i for i, border in enumerate(borders) if bits[-1] * reached < border << 64)
        drawn.append(moves[taken][0])
        state = moves[taken][1]
    return bits, drawn


@small_and_large("number", 30, 120)
@pytest.mark.parametrize("theta", [3.0, 20.0, 80.0, 5000.0])
@pytest.mark.parametrize("name", SYSTEMS)
def test_no_symbol_that_is_not_in_doubt_is_another_than_the_exact_one(name, theta, number):
    system, rng = SYSTEMS[name], random.Random(f"{name} {theta}")
    prices = Prices(system, pv.SymbolDistance.from_coordinates({x: (x, 0) for x in CELLS}, steps=STEPS), None)
    z, costs = prices.z(theta), prices.costs.tolist()
    words = [list(system.encode(word)) for word in system.random_words(LENGTH, number, rng=pv.insecure_seed(1))] * 3
    bits, exact = zip(*(exact_draw(system, costs, word, z, rng) for word in words), strict=True)
    values, begins, keystream = np.array(words).reshape(-1), np.arange(len(words)) * LENGTH, np.array(bits, np.uint64)
    engine = DistanceEngine(system.compiled, prices, LENGTH, z, feasible=True)
    sure = 0
    for widest in (0, 1, 2, 3, 5, 8):
        private = np.empty_like(values)
        corridor = Corridor(system.compiled, prices, z, widest)
        in_doubt = corridor.draw(values, begins, LENGTH, keystream, private, engine.margin)
        assert np.array_equal(private.reshape(-1, LENGTH)[~in_doubt], np.array(exact)[~in_doubt])
        sure += np.count_nonzero(~in_doubt)
    assert sure or theta < 20
    private, log_z, in_doubt, undrawn = np.empty_like(values), np.empty(len(words)), *np.zeros((2, len(words)), bool)
    engine._run(values, begins, keystream.reshape(-1), private, log_z, in_doubt, undrawn, only_log_z=False)
    settled = ~(in_doubt | undrawn)
    assert np.array_equal(private.reshape(-1, LENGTH)[settled], np.array(exact)[settled])
    assert settled.mean() > 0.1


def test_bounds_that_are_ten_times_too_small_would_be_noticed(monkeypatch):
    """The negative control: what edges out of a corridor weigh, and what lies outside."""
    made = Corridor.__init__

    def careless(self, *given):
        made(self, *given)
        self._bounds, self._others = self._bounds * (1, 0.1, 0.1), self._others * 0.1

    monkeypatch.setattr(Corridor, "__init__", careless)
    wrong = 0
    for name in SYSTEMS:
        for theta in (20.0, 80.0):
            try:
                test_no_symbol_that_is_not_in_doubt_is_another_than_the_exact_one(name, theta, 60)
            except AssertionError:
                wrong += 1
    assert wrong
