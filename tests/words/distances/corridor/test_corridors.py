"""Draws inside a corridor: the same words as from passes over the whole system, or in doubt."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.base import Batch
from pathveil.words.distances.corridor import Corridor
from pathveil.words.distances.engine import DistanceEngine, draw_priced
from pathveil.words.distances.prices import Prices

SIDE, LENGTH, WORDS = 9, 6, 1500
CELLS = [(i, j) for i in range(SIDE) for j in range(SIDE)]
GRID = pv.MarkovChain.from_edges([(p, q) for p in CELLS for q in CELLS if abs(p[0] - q[0]) + abs(p[1] - q[1]) == 1])
PRICES = Prices(GRID, pv.SymbolDistance.from_coordinates({cell: cell for cell in CELLS}, steps=1000), None)
CELL = int(PRICES.costs[0, 1])  # steps


@pytest.fixture(scope="module")
def drawn():
    """Many words, and what the whole system makes of them from given bits, at a weight of e^-2.5 a cell."""
    z = float(np.exp(-2.5 / CELL))
    codes = np.array([GRID.encode(word) for word in GRID.random_words(LENGTH, WORDS, rng=pv.insecure_seed(1))])
    values, begins = codes.reshape(-1), np.arange(WORDS) * LENGTH
    keystream = np.empty((WORDS, LENGTH), dtype=np.uint64)
    pv.insecure_seed(2).fill(keystream.reshape(-1))
    engine, private = DistanceEngine(GRID.compiled, PRICES, LENGTH, z, feasible=True), np.empty_like(values)
    in_doubt, undrawn, log_z = np.zeros(WORDS, bool), np.zeros(WORDS, bool), np.empty(WORDS)
    engine._run(values, begins, keystream.reshape(-1), private, log_z, in_doubt, undrawn, only_log_z=False)
    assert not undrawn.any()
    return z, engine, values, begins, keystream, private.reshape(WORDS, LENGTH)


@pytest.mark.parametrize("cells", [3, 4, 5])
def test_words_that_are_not_in_doubt_are_those_of_the_whole_system(cells, drawn):
    z, engine, values, begins, keystream, everywhere = drawn
    corridor, private = Corridor(GRID.compiled, PRICES, z, cells * CELL), np.empty_like(values)
    in_doubt = corridor.draw(values, begins, LENGTH, keystream, private, engine.margin)
    assert np.array_equal(private.reshape(WORDS, LENGTH)[~in_doubt], everywhere[~in_doubt])
    assert in_doubt.mean() < {3: 0.5, 4: 0.01, 5: 0.001}[cells]


@pytest.mark.parametrize("cells", [2, 3, 4])
def test_what_a_corridor_leaves_out_stays_below_its_bounds(cells, drawn):
    """Messages of the literal sums over all states, and over those nearby: what is missing, and what lies outside."""
    z, _, values, _, _, _ = drawn
    growth, out_of, far = Corridor(GRID.compiled, PRICES, z, cells * CELL)._bounds
    weights, step = z ** PRICES.costs.astype(float), GRID.matrix.toarray() > 0
    closest = 0.0
    for word in values.reshape(WORDS, LENGTH)[:100]:
        nearby = PRICES.costs[word] <= cells * CELL  # [i]: the states that the corridor has after symbol i
        full = inside = step @ weights[word[-1]]
        lost, outside, highest = 0.0, far, max(full[nearby[-2]].max(), far)
        assert full[~nearby[-2]].max() <= outside
        for i in range(LENGTH - 2, 0, -1):
            full, inside = step @ (weights[word[i]] * full), step @ (weights[word[i]] * inside * nearby[i])
            lost, outside = growth * lost + out_of * outside, far * highest
            highest = max(inside[nearby[i - 1]].max() + lost, outside)
            missing = (full - inside)[nearby[i - 1]].max()
            assert missing <= lost
            assert full[~nearby[i - 1]].max() <= outside
            closest = max(closest, missing / lost)
    assert closest > 0.01  # not so far that a bound too small would not be seen


def test_without_its_bounds_a_narrow_corridor_would_draw_other_words(drawn):
    """The negative control of the test above."""
    z, engine, values, begins, keystream, everywhere = drawn
    corridor, private = Corridor(GRID.compiled, PRICES, z, CELL), np.empty_like(values)
    corridor._bounds, corridor._others = corridor._bounds * 0, corridor._others * 0
    in_doubt = corridor.draw(values, begins, LENGTH, keystream, private, engine.margin)
    assert not in_doubt.any()
    assert not np.array_equal(private.reshape(WORDS, LENGTH), everywhere)


def test_a_batch_is_the_same_with_and_without_corridors(drawn, monkeypatch):
    _, _, values, _, _, _ = drawn
    batch, made = Batch.from_rows(values.reshape(WORDS, LENGTH)), []
    built = Corridor.if_it_pays
    monkeypatch.setattr(Corridor, "if_it_pays", lambda *given: made.append(built(*given)) or made[-1])
    theta = 9.0 * PRICES.steps / CELL
    inside = draw_priced(GRID.compiled, PRICES, batch, lambda _: theta, pv.insecure_seed(3), feasible=True)
    assert made[0] is not None
    monkeypatch.setattr(Corridor, "if_it_pays", lambda *_: None)
    without = draw_priced(GRID.compiled, PRICES, batch, lambda _: theta, pv.insecure_seed(3), feasible=True)
    assert np.array_equal(inside, without)
