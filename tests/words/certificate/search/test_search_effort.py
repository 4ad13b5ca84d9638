"""How soon searches end: what is found comes close to what is proved, after few nodes."""

from __future__ import annotations

import pytest

import pathveil as pv
from pathveil.words.base import tilt_factor
from pathveil.words.certificate.certificate import ChainCertifier
from pathveil.words.certificate.search import BranchAndBound
from tests.worlds import CHAIN, LETTER_CHAIN, TOWN, UNEVEN

ENOUGH = 100_000  # nodes: no search below takes a tenth of them


def search_for(world: pv.System, length: int, theta: float, run: int) -> BranchAndBound:
    certifier = ChainCertifier.of(world.compiled, length, 1, up_to=False, budget=300)
    assert isinstance(certifier, ChainCertifier)
    pairs = certifier._runs(run).pairs
    assert pairs is not None
    return BranchAndBound(*pairs, *certifier._trees(theta), certifier._lengths, theta, tilt_factor(theta))


@pytest.mark.parametrize(
    ("world", "length", "theta", "run", "nodes"),
    [
        (LETTER_CHAIN, 12, 0.5, 1, 101),
        (LETTER_CHAIN, 12, 0.5, 2, 92),
        (CHAIN, 14, 0.7, 1, 170),
        (CHAIN, 14, 0.7, 2, 163),
        (TOWN, 14, 2.5, 1, 310),
        (TOWN, 14, 2.5, 2, 2_609),
        (TOWN, 14, 1.5, 1, 5_600),
        (UNEVEN, 12, 1.5, 1, 8_000),
        (UNEVEN, 12, 1.5, 2, 2_282),
        (UNEVEN, 12, 2.5, 1, 296),
        (TOWN, 14, 4.5, 1, 199),
        (TOWN, 14, 3.5, 3, 6_805),
    ],
)
def test_a_search_ends_after_few_nodes_with_a_change_that_is_nearly_the_bound(
    world: pv.System, length: int, theta: float, run: int, nodes: int
) -> None:
    """Nodes are as many as were needed when this was written: a change of the search may take a quarter more."""
    outcome = search_for(world, length, theta, run).search(run * theta, budget=ENOUGH)
    assert outcome.found <= outcome.bound <= 1.05 * outcome.found
    assert outcome.nodes <= 1.25 * nodes


@pytest.mark.parametrize("world", [LETTER_CHAIN, CHAIN])
def test_a_search_ends_with_the_first_bound_that_is_enough_or_a_change_that_is_too_much(world: pv.System) -> None:
    search = search_for(world, 12, 0.7, 1)
    whole = search.search(0.7, budget=ENOUGH)
    rough = search.search(0.7, enough=1.3 * whole.found, budget=ENOUGH)
    assert rough.bound <= 1.3 * whole.found
    assert rough.nodes < whole.nodes
    stopped = search.search(0.7, too_much=whole.found / 2, budget=ENOUGH)
    assert stopped.found > whole.found / 2
    assert stopped.nodes < whole.nodes
    known = search.search(whole.found, budget=ENOUGH)  # nothing better than this bound is possible
    assert known.bound == whole.found
    assert known.nodes <= whole.nodes
