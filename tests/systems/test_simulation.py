from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

import pathveil as pv
from pathveil.systems import simulation
from pathveil.systems.simulation import AliasTables
from tests.reference import chains as reference
from tests.sizes import given_few_and_many

STORAGES = [np.array, sparse.csr_array]
in_every_storage = pytest.mark.parametrize("stored", STORAGES, ids=["dense", "sparse"])

WEATHER = np.array([[0.6, 0.3, 0.1, 0.0], [0.2, 0.5, 0.25, 0.05], [0.0, 0.7, 0.0, 0.3], [0.25, 0.25, 0.25, 0.25]])


def table_probabilities(tables: AliasTables, n: int) -> np.ndarray:
    """The transition matrix that the cells amount to."""
    P = np.zeros((n, n))
    for i in range(n):
        row = slice(tables.offsets[i], tables.offsets[i + 1])
        size = row.stop - row.start
        np.add.at(P[i], tables.own[row], tables.cuts[row] / size)
        np.add.at(P[i], tables.cells["other"][row].astype(int), (1 - tables.cuts[row]) / size)
    return P


def transition_p_value(paths: np.ndarray, P: np.ndarray) -> float:
    """Chi-square test of all transitions of the paths, given where each began."""
    counts = np.zeros(P.shape)
    np.add.at(counts, (paths[:, :-1].ravel(), paths[:, 1:].ravel()), 1)
    expected = counts.sum(axis=1, keepdims=True) * P
    assert not counts[P == 0].any()
    assert expected[P > 0].min() > 20
    statistic = ((counts - expected)[P > 0] ** 2 / expected[P > 0]).sum()
    freedom = (P > 0).sum() - len(P)
    return float(stats.chi2.sf(statistic, freedom))


@in_every_storage
@pytest.mark.parametrize(("length", "size"), [(30_000, 1), (300, 100), (10, 3_000)])
def test_simulated_transitions_follow_the_matrix(stored: Callable[[Any], Any], length: int, size: int) -> None:
    paths = pv.MarkovChain("abcd", stored(WEATHER)).simulate(length, size, pv.insecure_seed(11))
    assert paths.shape == (size, length)
    # False-alarm probability over the choice of the seed: 1e-6.
    assert transition_p_value(paths, WEATHER) > 1e-6


def test_the_test_of_transitions_notices_a_row_that_is_off_by_a_twentieth() -> None:
    wrong = WEATHER.copy()
    wrong[1] = [0.25, 0.45, 0.25, 0.05]
    paths = pv.MarkovChain("abcd", wrong).simulate(30_000, 1, pv.insecure_seed(11))
    assert transition_p_value(paths, WEATHER) < 1e-6


@st.composite
def weight_rows(draw: st.DrawFn) -> np.ndarray:
    n = draw(st.integers(1, 12))
    weight = st.one_of(st.just(0.0), st.floats(1e-12, 1.0), st.sampled_from([0.5, 1.0, 1e-9]))
    row = st.lists(weight, min_size=n, max_size=n).filter(any)
    weights = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    return weights / weights.sum(axis=1, keepdims=True)


@given_few_and_many(40, 100, P=weight_rows())
def test_the_cells_amount_to_the_matrix(P: np.ndarray) -> None:
    tables = AliasTables.from_matrix(pv.MarkovChain(range(len(P)), P).matrix)
    found = table_probabilities(tables, len(P))
    np.testing.assert_allclose(found, P, rtol=1e-9, atol=1e-15)
    assert not found[P == 0].any()


def test_the_order_in_which_a_row_is_stored_does_not_matter() -> None:
    # Full rows with certain outcomes, columns stored backwards: 0 → 2 → 1 → 0 → ...
    tiny = 1e-300
    values = [1.0, tiny, tiny, tiny, tiny, 1.0, tiny, 1.0, tiny]
    backwards = sparse.csr_array((np.array(values), np.array([2, 1, 0] * 3), np.array([0, 3, 6, 9])), shape=(3, 3))
    source: Any = Given(np.array([0.1, 0.5, 0.9] * 2))  # the cells where the certain outcomes are stored
    path = simulation.simulate(AliasTables.from_matrix(backwards), np.array([0]), 7, source)
    assert path.tolist() == [[0, 2, 1, 0, 2, 1, 0]]


class Given(pv.RandomSource):
    """A source that hands out the uniform numbers it was given."""

    def __init__(self, numbers: np.ndarray) -> None:
        super().__init__(bytes(32))
        self.numbers = numbers

    def uniform(self, count: int) -> np.ndarray:
        taken, self.numbers = self.numbers[:count], self.numbers[count:]
        return taken


@given(weight_rows(), st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_each_step_goes_where_the_full_cut_says(P: np.ndarray, seed: int) -> None:
    n = len(P)
    tables = AliasTables.from_matrix(pv.MarkovChain(range(n), P).matrix)
    random = np.random.default_rng(seed)
    state = int(random.integers(n))
    wanted, numbers = [state], []
    for step in range(200):
        row = slice(tables.offsets[state], tables.offsets[state + 1])
        cuts, size = tables.cuts[row], row.stop - row.start
        u = random.random()
        if step % 2:  # right at a cut, and just below and above it: where sixteen bits do not decide
            cell = int(random.integers(size))
            u = (cell + min(cuts[cell], 0.999)) / size + random.choice([-1e-15, -1e-7, 0, 1e-15, 1e-7])
            u = min(max(u, 1e-17), 1 - 1e-16)
        state = reference.alias_step(
            tables.own[row].tolist(), tables.cells["other"][row].tolist(), cuts.tolist(), float(u)
        )
        numbers.append(u)
        wanted.append(state)
    source: Any = Given(np.array(numbers))
    path = simulation.simulate(tables, np.array(wanted[:1]), len(wanted), source)
    assert path[0].tolist() == wanted


def test_more_states_than_sixteen_bits_can_number() -> None:
    n = 70_000
    ring = sparse.eye_array(n, k=1) + sparse.eye_array(n, k=1 - n)
    chain = pv.MarkovChain(range(n), ring, initial={n - 3})
    assert chain.simulate(6, 1, pv.insecure_seed(1)).tolist() == [[n - 3, n - 2, n - 1, 0, 1, 2]]


def test_first_states_are_the_possible_ones_and_equally_likely() -> None:
    chain = pv.MarkovChain("abcd", WEATHER, initial={"b", "d"})
    first = chain.simulate(1, 10_000, pv.insecure_seed(3))[:, 0]
    assert set(first.tolist()) == {1, 3}
    # Binomial(10000, 1/2), 4.9 standard deviations to each side: false alarms 1e-6.
    assert abs((first == 1).sum() - 5_000) < 4.9 * 50


def test_first_states_follow_the_distribution_given() -> None:
    chain = pv.MarkovChain("abcd", WEATHER)
    first = chain.simulate(1, 10_000, pv.insecure_seed(3), start=[0, 0.9, 0, 0.1])[:, 0]
    assert set(first.tolist()) == {1, 3}
    # Binomial(10000, 0.9), 4.9 standard deviations to each side: false alarms 1e-6. Equal chances would fail.
    assert abs((first == 1).sum() - 9_000) < 4.9 * 30


def test_the_largest_uniform_number_still_leads_to_a_possible_first_state() -> None:
    # Added up one by one, these weights end below 1; a uniform number may lie between.
    n = 1_000
    start = np.append(np.full(n - 1, 1 / (n - 1)), 0)
    chain = pv.MarkovChain(range(n), sparse.eye_array(n))
    source: Any = Given(np.array([np.nextafter(1, 0), np.nextafter(0, 1)]))
    assert chain.simulate(1, 2, source, start=start).tolist() == [[n - 2], [0]]


def test_paths_after_a_public_state_begin_with_one_of_its_successors() -> None:
    chain = pv.MarkovChain("abcd", WEATHER, initial="c")
    paths = chain.simulate(3, 500, pv.insecure_seed(3))
    assert paths.shape == (500, 3)
    assert set(paths[:, 0].tolist()) == {1, 3}
    assert all(chain.is_feasible(chain.decode(path)) for path in paths)


def test_the_same_seed_gives_the_same_paths_and_another_seed_others() -> None:
    chain = pv.MarkovChain("abcd", WEATHER)
    paths = chain.simulate(50, 70, pv.insecure_seed(5))
    assert (paths == chain.simulate(50, 70, pv.insecure_seed(5))).all()
    assert (paths != chain.simulate(50, 70, pv.insecure_seed(6))).any()
    assert (chain.simulate(50, 70) != chain.simulate(50, 70)).any()


def test_different_paths_of_one_call_are_different() -> None:
    paths = pv.MarkovChain("abcd", WEATHER).simulate(60, 200, pv.insecure_seed(5))
    assert len({tuple(path) for path in paths.tolist()}) == 200


def test_a_state_without_successor_cannot_be_simulated() -> None:
    with pytest.raises(pv.DeadEndError, match="'b'"):
        pv.MarkovChain.from_edges([("a", "b")]).simulate(3)


@pytest.mark.parametrize("length", [0, -1, 1.5, True, None])
def test_a_length_that_is_none_is_refused(length: Any) -> None:
    with pytest.raises(pv.InvalidParameterError, match="length"):
        pv.MarkovChain("abcd", WEATHER).simulate(length)


@pytest.mark.parametrize("size", [0, -1, 1.5, True, None])
def test_a_number_of_paths_that_is_none_is_refused(size: Any) -> None:
    with pytest.raises(pv.InvalidParameterError, match="size"):
        pv.MarkovChain("abcd", WEATHER).simulate(3, size)


@pytest.mark.parametrize("start", [[1, 0], [0.5, 0.5, 0.5, 0], [1.5, -0.5, 0, 0], [np.nan, 1, 0, 0], "abcd"])
def test_a_start_that_is_no_distribution_is_refused(start: Any) -> None:
    with pytest.raises(pv.InvalidParameterError, match="start"):
        pv.MarkovChain("abcd", WEATHER).simulate(3, 2, start=start)
