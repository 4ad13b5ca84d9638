"""Words with few errors, counted around a word: as many as classes say, after no more work than is allowed."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.classes import classes_of_codes, counts_near
from tests.worlds import CHAIN, DEAD_END_PLANS, PLANS, TOWN, UNEVEN


@pytest.mark.parametrize("world", [CHAIN, PLANS, DEAD_END_PLANS, UNEVEN, TOWN, pv.Alphabet("abc")])
@pytest.mark.parametrize("most", [1, 2, 5])
def test_as_many_words_have_few_errors_as_their_classes_say(world: pv.System, most: int) -> None:
    for seed in range(4):
        codes = world.encode(world.random_word(5, pv.insecure_seed(seed)))
        counts, moves = counts_near(world.compiled, codes.tolist(), most, most_moves=10**6)
        assert counts == classes_of_codes(world.compiled, codes).counts[1 : most + 1]
        assert 0 < moves <= 4 * (most + 1) * 5 * world.compiled.edge_count


@pytest.mark.parametrize("world", [CHAIN, PLANS, DEAD_END_PLANS, UNEVEN, TOWN])
def test_words_around_one_that_is_not_feasible_are_counted_as_well(world: pv.System) -> None:
    rng = np.random.default_rng(1)
    for codes in rng.integers(0, len(world.symbols), (6, 4)):
        expected = classes_of_codes(world.compiled, codes).counts
        assert counts_near(world.compiled, codes.tolist(), 3, most_moves=10**6)[0] == expected[1:4]


def test_the_moves_that_were_looked_at_are_the_least_that_must_be_allowed() -> None:
    codes = UNEVEN.encode(UNEVEN.random_word(6, pv.insecure_seed(1))).tolist()
    counts, moves = counts_near(UNEVEN.compiled, codes, 2, most_moves=10**6)
    assert counts_near(UNEVEN.compiled, codes, 2, most_moves=moves) == (counts, moves)
    with pytest.raises(pv.TooLargeError, match="up to 2 of 6 symbols"):
        counts_near(UNEVEN.compiled, codes, 2, most_moves=moves - 1)


def test_on_a_hub_every_wrong_spoke_counts_once() -> None:
    """So many states may lead back that no list of them is kept."""
    spokes = 17_000
    hub = pv.MarkovChain.from_edges([(0, k) for k in range(1, spokes + 1)] + [(k, 0) for k in range(1, spokes + 1)])
    found, _ = counts_near(hub.compiled, hub.encode([0, 5, 0, 7, 0]).tolist(), 2, most_moves=10**8)
    assert found == (2 * (spokes - 1), (spokes - 1) ** 2)
