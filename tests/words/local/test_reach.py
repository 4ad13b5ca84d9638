"""How far around a word one has to look: the numbers of `growth`, beside listed walks and summed series."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.base import tilt_factor
from pathveil.words.local import LocalWorld
from pathveil.words.local.walk_counts import WalkCounts
from tests.worlds import CHAIN, RING, TOWN, UNEVEN

WORLDS = {"chain": CHAIN, "ring": RING, "uneven": UNEVEN, "town": TOWN}


def local(world: pv.System) -> LocalWorld:
    found = LocalWorld.of(world.compiled)
    assert found is not None
    return found


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_bounds_of_walks_are_attained_for_short_walks_and_grow_no_faster_than_their_longest(world: pv.System) -> None:
    compiled = world.compiled
    entered = np.isin(np.arange(compiled.state_count), compiled.targets)
    ahead = compiled.adjacency.toarray()
    back = np.where(entered[:, None], ahead, 0).T  # no walk leads back to a start that nothing enters
    for growth, matrix, counted in ((local(world).forward, ahead, entered), (local(world).backward, back, 1)):
        walks = np.ones(compiled.state_count)
        for steps in range(64):
            largest = (walks * counted).max()
            assert largest * (1 - 1e-12) <= growth.bound(steps) <= largest * (1 + 1e-8)
            walks = matrix @ walks
        longest = (walks * counted).max()
        assert growth.rate == pytest.approx(longest ** (1 / 64), rel=1e-8)


@pytest.mark.parametrize("theta", [2.0, 4.0])
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_what_is_left_out_is_bounded_by_the_sum_over_all_longer_gaps(world: pv.System, theta: float) -> None:
    found, z, length = local(world), tilt_factor(theta), 30
    ahead, behind = found.forward, found.backward
    assert z * max(ahead.rate, behind.rate) < 0.95
    for reach in (1, 3, 8):
        later = [
            growth.bound(reach)
            * growth.factor
            * sum(growth.rate ** (g - reach) * z ** (g - 1) for g in range(reach + 1, 400))
            for growth in (ahead, behind)
        ]
        unmarked = found.first_states * z * ahead.factor * (z * ahead.rate) ** (length - 1)
        # Twice, since what may follow a gap is itself known up to so much only.
        share = 2 * (length * later[0] + later[1] + unmarked)
        expected = pytest.approx(share, rel=1e-6) if share < 0.5 else inf
        assert found.remainder(reach, length, z) == expected
    assert found.remainder(30, length, z) == inf  # no gap is longer than the word


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_the_reach_is_the_smallest_that_leaves_out_little_enough(world: pv.System) -> None:
    found, z = local(world), tilt_factor(4.0)
    for share in (1e-2, 1e-6, 1e-14):
        reach = found.reach_for(share, 40, z)
        assert reach is not None
        assert found.remainder(reach, 40, z) <= share
        assert reach == 1 or found.remainder(reach - 1, 40, z) > share
    assert found.reach_for(1e-30, 4, z) is None


@pytest.mark.parametrize("world", [CHAIN, RING, UNEVEN])
def test_the_surroundings_of_a_state_are_those_that_lead_to_it(world: pv.System) -> None:
    found, compiled = local(world), world.compiled
    assert compiled.state_count <= 16  # so that every state is looked at
    follows = compiled.adjacency.toarray() > 0
    if not np.isin(compiled.start, compiled.targets):
        follows[compiled.start] = False  # walks never lead back to it
    for reach in (0, 1, 2, 5):
        near = np.linalg.matrix_power(np.eye(len(follows)) + follows, reach) > 0
        chosen = np.linspace(0, compiled.state_count - 1, 16).astype(int)
        assert found.states_around(reach) == pytest.approx(near.sum(axis=0)[chosen].mean())


def test_lists_of_walks_take_as_much_memory_as_was_estimated() -> None:
    city = pv.example_city(900)
    found, reach = local(city), 10
    counts = WalkCounts(found, reach)
    counts.around(np.arange(city.compiled.state_count))
    assert counts._bytes / 1.5 <= found.bytes_of_lists(reach) <= 1.5 * counts._bytes


def test_symbols_and_states_belong_together_where_some_symbols_are_never_reached() -> None:
    world = pv.MarkovChain.from_edges([(0, 1), (1, 2), (2, 0), (3, 0), (1, 4)], initial={1, 4})
    found = local(world)
    reached = np.flatnonzero(found.entered >= 0)
    assert len(reached) < len(world.symbols)
    assert found.symbols[found.entered[reached]].tolist() == reached.tolist()
