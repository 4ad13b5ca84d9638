"""How many contexts there are and what they cost, beside listed walks and counted additions."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.certificate.contexts import context_levels, least_work
from pathveil.words.certificate.symbol_chain import SymbolChain
from tests.reference.literal_nodes import words_of
from tests.worlds import CHAIN, LETTER_CHAIN, TOWN, UNEVEN


def chain_of(world: pv.System) -> SymbolChain:
    found = SymbolChain.of(world.compiled)
    assert found is not None
    return found


def additions(chain: SymbolChain) -> int:
    """For one position: every pair of symbols, each symbol before the second one, and each symbol after that."""
    follows = chain.successors.matrix.toarray() > 0
    m = chain.symbol_count
    pairs = [(c, new) for c in range(m) for new in range(m) if follows[c, new]]
    return sum(int(follows[x].sum()) for _, new in pairs for x in range(m) if follows[x, new])


@pytest.mark.parametrize("world", [CHAIN, LETTER_CHAIN, UNEVEN, TOWN])
def test_the_least_work_is_that_of_counted_additions_at_each_position_until_boxes_settle(world: pv.System) -> None:
    chain = chain_of(world)
    once = additions(chain)
    assert [least_work(chain, length) for length in (1, 2, 9, 30)] == [once, 2 * once, 9 * once, 30 * once]
    long = [least_work(chain, length) for length in (30, 100, 1_000, 100_000)]
    assert long == sorted(long)
    assert long[-2] == long[-1] < 100 * once


@pytest.mark.parametrize("memory", [1, 2, 3])
@pytest.mark.parametrize("world", [CHAIN, LETTER_CHAIN, UNEVEN])
def test_contexts_are_the_longest_ends_of_words_whose_walks_the_budget_holds(world: pv.System, memory: int) -> None:
    chain, length = chain_of(world), 6
    words = np.array(words_of(chain, length))
    ends = [len(np.unique(words[:, max(0, i - memory + 1) : i + 1], axis=0)) for i in range(length)]
    walks = int(np.linalg.matrix_power(chain.successors.matrix.toarray(), memory - 1).sum())
    levels = context_levels(chain, chain.alive(length, up_to=False), length * walks)
    assert [len(level.last_symbol) for level in levels] == ends
    if memory > 1:  # with one context less there is room for a shorter memory only
        fewer = context_levels(chain, chain.alive(length, up_to=False), length * walks - 1)
        assert len(fewer[-1].last_symbol) < ends[-1]
