"""The generator of large towns."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

import pathveil as pv


@pytest.mark.parametrize("junctions", [4, 5, 17, 100, 997])
def test_a_city_has_as_many_junctions_as_asked_for_and_hangs_together(junctions: int) -> None:
    city = pv.example_city(junctions)
    assert city.symbols == tuple(range(junctions))
    assert connected_components(city.matrix, directed=True, connection="strong")[0] == 1
    pv.Online(city, epsilon=1.0)  # no junction without a way out


def test_streets_join_neighbours_on_the_grid_only() -> None:
    columns = 32
    city = pv.example_city(columns**2)
    here, there = city.matrix.nonzero()
    steps = np.stack([abs(here // columns - there // columns), abs(here % columns - there % columns)])
    assert set(map(tuple, steps.T.tolist())) == {(0, 1), (1, 0)}


def test_a_city_has_one_way_streets_missing_links_and_dead_ends() -> None:
    columns = 32
    city = pv.example_city(columns**2)
    links = city.matrix.astype(bool)
    both_ways = links.multiply(links.T).nnz / 2
    one_way = links.nnz - 2 * both_ways
    missing = 2 * columns * (columns - 1) - both_ways - one_way
    assert min(both_ways, one_way, missing) > 100
    neighbours = np.diff((links + links.T).tocsr().indptr)
    assert np.count_nonzero(neighbours == 1) > 5  # one can only turn round there


def test_a_city_is_the_same_each_time_and_another_one_with_another_seed() -> None:
    one, same, other = pv.example_city(500), pv.example_city(500), pv.example_city(500, seed=1)
    assert (one.matrix != same.matrix).nnz == 0
    assert (one.matrix != other.matrix).nnz > 100


def test_first_and_last_junctions_can_be_given() -> None:
    city = pv.example_city(100, initial={0, 1}, final={1})
    assert (city.first, city.final) == ({0, 1}, {1})


@pytest.mark.parametrize("junctions", [3, 10_000_001, 5.5, "many", True, None])
def test_another_number_of_junctions_is_refused(junctions: object) -> None:
    with pytest.raises(pv.PathVeilError, match="junctions: a city has a whole number of them from 4 to 10,000,000"):
        pv.example_city(junctions)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 1 << 20, 0.5, "a"])
def test_another_seed_is_refused(seed: object) -> None:
    with pytest.raises(pv.PathVeilError, match="the seed of a city is a whole number"):
        pv.example_city(100, seed=seed)  # type: ignore[arg-type]


def test_a_large_city_is_made_without_a_loop_over_its_junctions() -> None:
    """Two hundred thousand junctions, compiled, in 5 seconds of processor time: half a second where it was measured."""
    begin = process_time()
    assert pv.example_city(200_000).compiled.state_count == 200_001
    assert process_time() - begin < 5
