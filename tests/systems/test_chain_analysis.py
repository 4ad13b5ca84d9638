from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import pathveil as pv
from pathveil.systems import chain_analysis
from tests.reference import chains as reference
from tests.sizes import given_few_and_many

STORAGES = [np.array, sparse.csr_array, sparse.coo_array, sparse.csc_matrix]
in_every_storage = pytest.mark.parametrize("stored", STORAGES, ids=["dense", "csr", "coo", "csc-matrix"])


class Known(NamedTuple):
    """A chain on the states 0..n-1 and what is known about it."""

    matrix: list[list[float]]
    classes: list[tuple[int, ...]]
    recurrent: list[tuple[int, ...]]
    aperiodic: bool
    stationary: list[list[float]]
    tau: float
    second: float


KNOWN = {
    "one state": Known([[1]], [(0,)], [(0,)], True, [[1]], 0, 0),
    "two states": Known([[0.7, 0.3], [0.4, 0.6]], [(0, 1)], [(0, 1)], True, [[4 / 7, 3 / 7]], 0.3, 0.3),
    "two states taking turns": Known([[0, 1], [1, 0]], [(0, 1)], [(0, 1)], False, [[0.5, 0.5]], 1, 1),
    "a ring of three": Known(
        [[0, 1, 0], [0, 0, 1], [1, 0, 0]], [(0, 1, 2)], [(0, 1, 2)], False, [[1 / 3, 1 / 3, 1 / 3]], 1, 1
    ),
    "independent draws": Known([[0.2, 0.3, 0.5]] * 3, [(0, 1, 2)], [(0, 1, 2)], True, [[0.2, 0.3, 0.5]], 0, 0),
    # Hamilton's US unemployment chain: normal growth, mild recession, severe recession.
    "business cycle": Known(
        [[0.971, 0.029, 0], [0.145, 0.778, 0.077], [0, 0.508, 0.492]],
        [(0, 1, 2)],
        [(0, 1, 2)],
        True,
        [[0.8128, 0.16256, 0.02464]],
        0.971,
        (1.241 + math.sqrt(1.241**2 - 4 * 0.331625)) / 2,  # from the trace and the determinant
    ),
    "a transient state": Known(
        [[0.5, 0.25, 0.25], [0, 0.5, 0.5], [0, 0.5, 0.5]], [(0,), (1, 2)], [(1, 2)], True, [[0, 0.5, 0.5]], 0.5, 0.5
    ),
    "gambler's ruin": Known(
        [[1, 0, 0, 0], [0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5], [0, 0, 0, 1]],
        [(0,), (1, 2), (3,)],
        [(0,), (3,)],
        True,
        [[1, 0, 0, 0], [0, 0, 0, 1]],
        1.5,
        1,
    ),
    "two separate pairs": Known(
        [[0, 0, 1, 0], [0, 0.5, 0, 0.5], [1, 0, 0, 0], [0, 0.25, 0, 0.75]],
        [(0, 2), (1, 3)],
        [(0, 2), (1, 3)],
        False,
        [[0.5, 0, 0.5, 0], [0, 1 / 3, 0, 2 / 3]],
        1.25,
        1,
    ),
}
every_known_chain = pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN.keys())


def build(known: Known, stored: Callable[[Any], Any] = np.array) -> pv.MarkovChain:
    return pv.MarkovChain(range(len(known.matrix)), stored(np.array(known.matrix, dtype=float)))


@in_every_storage
@every_known_chain
def test_classes_are_those_known(known: Known, stored: Callable[[Any], Any]) -> None:
    chain = build(known, stored)
    assert chain.communication_classes == tuple(known.classes)
    assert chain.recurrent_classes == tuple(known.recurrent)
    assert chain.is_irreducible == (len(known.classes) == 1)
    assert chain.is_aperiodic == known.aperiodic


@in_every_storage
@every_known_chain
def test_stationary_distributions_are_those_known(known: Known, stored: Callable[[Any], Any]) -> None:
    chain = build(known, stored)
    np.testing.assert_allclose(chain.stationary_distributions, known.stationary, rtol=1e-14, atol=0)
    if len(known.recurrent) == 1:
        np.testing.assert_allclose(chain.stationary_distribution, known.stationary[0], rtol=1e-14, atol=0)


@in_every_storage
@every_known_chain
def test_speeds_of_convergence_are_those_known(known: Known, stored: Callable[[Any], Any]) -> None:
    chain = build(known, stored)
    assert chain.ergodicity_coefficient == pytest.approx(known.tau, rel=1e-12)
    assert chain.second_eigenvalue == pytest.approx(known.second, rel=1e-12, abs=1e-12)


def test_several_recurrent_classes_are_named_with_their_states() -> None:
    chain = pv.MarkovChain("abc", [[1, 0, 0], [0.5, 0, 0.5], [0, 0, 1]])
    with pytest.raises(
        pv.ReducibleChainError, match=r"2 recurrent classes, \{'a'\}; \{'c'\}.*stationary_distributions"
    ):
        _ = chain.stationary_distribution
    with pytest.raises(pv.ReducibleChainError):
        _ = chain.fundamental_matrix
    with pytest.raises(pv.ReducibleChainError):
        chain.kl_rate(chain)


@pytest.mark.parametrize(
    "question",
    [
        "recurrent_classes",
        "is_aperiodic",
        "stationary_distribution",
        "stationary_distributions",
        "fundamental_matrix",
        "ergodicity_coefficient",
        "second_eigenvalue",
    ],
)
def test_a_state_without_successor_is_named(question: str) -> None:
    chain = pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "end")])
    assert chain.communication_classes == (("a", "b"), ("end",))
    assert not chain.is_irreducible
    with pytest.raises(pv.DeadEndError, match="'end'"):
        getattr(chain, question)


def test_a_lonely_dead_end_is_not_irreducible() -> None:
    assert not pv.MarkovChain.from_counts("a", [[0]]).is_irreducible


def birth_and_death(up: np.ndarray, down: np.ndarray) -> np.ndarray:
    """State i goes to i+1 with probability up[i] and back from i+1 to i with down[i]."""
    P = np.diag(up, 1) + np.diag(down, -1)
    return P + np.diag(1 - P.sum(axis=1))


@in_every_storage
def test_tiny_stationary_probabilities_are_right_to_the_last_digits(stored: Callable[[Any], Any]) -> None:
    # Ratios of a millionth, 40 times over: probabilities down to 1e-240. Detailed balance gives them exactly.
    steps = 40
    P = birth_and_death(np.full(steps, 1e-7), np.full(steps, 0.1))
    wanted = (1e-7 / 0.1) ** np.arange(steps + 1.0)
    chain = pv.MarkovChain(range(steps + 1), stored(P))
    np.testing.assert_allclose(chain.stationary_distribution, wanted / wanted.sum(), rtol=1e-12)


def nearly_separate() -> np.ndarray:
    """Two groups of states that see each other once in 1e13 steps or so."""
    P = np.array(
        [
            [0.0, 0.4, 0.6, 0.0, 0.0],
            [0.5, 0.3, 0.2, 0.0, 0.0],
            [0.1, 0.8, 0.0, 3e-14, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.9],
            [0.0, 1e-13, 0.0, 0.7, 0.0],
        ]
    )
    return P + np.diag(1 - P.sum(axis=1))


@in_every_storage
def test_an_ill_conditioned_chain_gets_every_digit(stored: Callable[[Any], Any]) -> None:
    P = nearly_separate()
    wanted = [float(p) for p in reference.stationary_distribution(P)]
    chain = pv.MarkovChain(range(5), stored(P))
    np.testing.assert_allclose(chain.stationary_distribution, wanted, rtol=1e-13)


def test_the_ill_conditioned_chain_is_too_hard_for_a_plain_solver() -> None:
    P = nearly_separate()
    wanted = [float(p) for p in reference.stationary_distribution(P)]
    system = np.vstack([(np.eye(5) - P).T[:-1], np.ones(5)])
    assert np.abs(np.linalg.solve(system, [0, 0, 0, 0, 1]) / wanted - 1).max() > 1e-6


@pytest.mark.parametrize("n", [2, 63, 64, 65, 66, 129, 200])
def test_elimination_in_blocks_equals_detailed_balance(n: int) -> None:
    random = np.random.default_rng(n)
    up, down = random.uniform(0.01, 0.4, (2, n - 1))
    P = birth_and_death(up, down)
    order = random.permutation(n)
    wanted = np.concatenate([[1.0], np.cumprod(up / down)])
    chain = pv.MarkovChain(range(n), P[np.ix_(order, order)])
    np.testing.assert_allclose(chain.stationary_distribution, (wanted / wanted.sum())[order], rtol=1e-12)


def test_ratios_beyond_the_range_of_floating_point_come_out_as_far_as_they_fit() -> None:
    # Unnormalised: 1, 2e-300, 1, 5e299.
    P = birth_and_death(np.array([1e-300, 0.5, 0.5]), np.array([0.5, 1e-300, 1e-300]))
    π = pv.MarkovChain(range(4), P).stationary_distribution
    np.testing.assert_allclose(π, [2e-300, 0, 2e-300, 1], rtol=1e-12, atol=0)


def test_ratios_that_overflow_are_an_error_not_a_wrong_number() -> None:
    chain = pv.MarkovChain(range(3), [[0, 1, 0], [5e-324, 0, 1], [0, 5e-324, 1]])
    with pytest.raises(pv.TooLargeError, match="orders of magnitude"):
        _ = chain.stationary_distribution


def test_a_large_sparse_chain_equals_detailed_balance() -> None:
    n = chain_analysis.LARGEST_DENSE + 500
    random = np.random.default_rng(5)
    up, down = random.uniform(0.2, 0.21, (2, n - 1))
    stay = 1 - np.append(up, 0) - np.insert(down, 0, 0)
    P = sparse.diags_array([down, stay, up], offsets=[-1, 0, 1])
    wanted = np.exp(np.concatenate([[0.0], np.cumsum(np.log(up / down))]))
    π = pv.MarkovChain(range(n), P).stationary_distribution
    np.testing.assert_allclose(π, wanted / wanted.sum(), rtol=1e-8)


def test_the_second_eigenvalue_of_a_large_chain_is_found_by_iteration() -> None:
    # A random walk on a ring with a lazy coin, coupled with a jump anywhere: eigenvalues are 0.9 times the ring's.
    n = 1_201
    ring = sparse.diags_array([1 / 4, 1 / 2, 1 / 4, 1 / 4, 1 / 4], offsets=[-1, 0, 1, n - 1, 1 - n], shape=(n, n))
    hub = np.zeros((n, n))
    hub[:, 0] = 0.1
    chain = pv.MarkovChain(range(n), sparse.csr_array(0.9 * ring) + sparse.csr_array(hub))
    assert chain.second_eigenvalue == pytest.approx(0.9 * (1 + math.cos(2 * math.pi / n)) / 2, rel=1e-9)


def test_repeated_eigenvalues_of_modulus_one_are_not_missed_in_large_chains() -> None:
    block = np.random.default_rng(1).dirichlet(np.ones(600), size=600)
    twice = sparse.block_diag([block, block], format="csr")
    assert pv.MarkovChain(range(1_200), twice).second_eigenvalue == 1
    taking_turns = sparse.block_array([[None, sparse.csr_array(block)], [sparse.csr_array(block), None]])
    assert pv.MarkovChain(range(1_200), taking_turns).second_eigenvalue == 1


def test_full_matrices_of_too_many_states_are_refused() -> None:
    n = chain_analysis.LARGEST_DENSE + 1
    chain = pv.MarkovChain(range(n), sparse.eye_array(n, k=1) + sparse.eye_array(n, k=1 - n))
    with pytest.raises(pv.TooLargeError, match=f"{n} × {n}"):
        _ = chain.fundamental_matrix


@st.composite
def stochastic_matrices(draw: st.DrawFn, smallest: int = 1, largest: int = 6) -> np.ndarray:
    n = draw(st.integers(smallest, largest))
    weight = st.integers(0, 5)
    rows = st.lists(weight, min_size=n, max_size=n).filter(any)
    weights = np.array(draw(st.lists(rows, min_size=n, max_size=n)), dtype=float)
    return weights / weights.sum(axis=1, keepdims=True)


@given_few_and_many(40, 100, P=stochastic_matrices())
def test_every_recurrent_class_has_its_stationary_distribution(P: np.ndarray) -> None:
    chain = pv.MarkovChain(range(len(P)), P)
    rows = chain.stationary_distributions
    np.testing.assert_allclose(rows @ P, rows, atol=1e-14)
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-14)
    assert [tuple(np.flatnonzero(row)) for row in rows] == list(chain.recurrent_classes)


@given_few_and_many(40, 100, P=stochastic_matrices())
def test_irreducible_chains_agree_with_exact_fractions_and_powers(P: np.ndarray) -> None:
    chain = pv.MarkovChain(range(len(P)), P)
    assume(chain.is_irreducible)
    wanted = [float(p) for p in reference.stationary_distribution(P)]
    np.testing.assert_allclose(chain.stationary_distribution, wanted, rtol=1e-13)
    assert chain.is_aperiodic == reference.is_aperiodic(P)


@given(stochastic_matrices())
@settings(max_examples=50)
def test_the_ergodicity_coefficient_equals_its_definition_and_bounds_the_second_eigenvalue(P: np.ndarray) -> None:
    chain = pv.MarkovChain(range(len(P)), P)
    assert chain.ergodicity_coefficient == pytest.approx(reference.ergodicity_coefficient(P), rel=1e-12, abs=1e-15)
    # A multiple eigenvalue is known to a root of the rounding only.
    assert chain.second_eigenvalue <= chain.ergodicity_coefficient + 2e-3


@given_few_and_many(
    40,
    100,
    matrices=st.integers(1, 5).flatmap(lambda n: st.tuples(stochastic_matrices(n, n), stochastic_matrices(n, n))),
)
def test_the_fundamental_matrix_turns_changes_of_the_matrix_into_changes_of_the_long_run(
    matrices: tuple[np.ndarray, np.ndarray],
) -> None:
    n = len(matrices[0])
    P = 0.9 * matrices[0] + 0.1 / n  # every transition is possible, so the chain is irreducible
    other = matrices[1]
    changed = 0.7 * P + 0.3 * other
    before, after = pv.MarkovChain(range(n), P), pv.MarkovChain(range(n), changed)
    Z = before.fundamental_matrix
    np.testing.assert_allclose(Z.sum(axis=1), 1, rtol=1e-12)
    π, π_changed = before.stationary_distribution, after.stationary_distribution
    np.testing.assert_allclose(π_changed - π, π_changed @ (changed - P) @ Z, atol=1e-13)
    np.testing.assert_allclose(Z @ (np.eye(n) - P + np.outer(np.ones(n), π)), np.eye(n), atol=1e-12)


@in_every_storage
def test_the_fundamental_matrix_of_two_states_is_known(stored: Callable[[Any], Any]) -> None:
    # Z = 1πᵀ + (I - 1πᵀ)/(a + b) with a = 0.3 and b = 0.4.
    chain = build(KNOWN["two states"], stored)
    limit = np.tile([4 / 7, 3 / 7], (2, 1))
    np.testing.assert_allclose(chain.fundamental_matrix, limit + (np.eye(2) - limit) / 0.7, rtol=1e-13)


@in_every_storage
def test_the_kl_rate_of_two_states_is_known(stored: Callable[[Any], Any]) -> None:
    chain = build(KNOWN["two states"], stored)
    coin = pv.MarkovChain(range(2), stored(np.full((2, 2), 0.5)))
    wanted = 4 / 7 * (0.7 * math.log(1.4) + 0.3 * math.log(0.6)) + 3 / 7 * (0.4 * math.log(0.8) + 0.6 * math.log(1.2))
    assert chain.kl_rate(coin) == pytest.approx(wanted, rel=1e-13)
    assert chain.kl_rate(chain) == 0


@given_few_and_many(
    40,
    100,
    matrices=st.integers(1, 5).flatmap(lambda n: st.tuples(stochastic_matrices(n, n), stochastic_matrices(n, n))),
)
def test_the_kl_rate_equals_its_definition(matrices: tuple[np.ndarray, np.ndarray]) -> None:
    P, Q = matrices
    chain, other = pv.MarkovChain(range(len(P)), P), pv.MarkovChain(range(len(Q)), Q)
    assume(len(chain.recurrent_classes) == 1)
    wanted = reference.kl_rate(P, Q, chain.stationary_distribution)
    assert chain.kl_rate(other) == pytest.approx(max(wanted, 0), rel=1e-12, abs=1e-15)


def test_the_kl_rate_matches_states_by_name_not_by_position() -> None:
    chain = pv.MarkovChain("ab", [[0.7, 0.3], [0.4, 0.6]])
    swapped = pv.MarkovChain("ba", [[0.6, 0.4], [0.3, 0.7]])
    assert chain.kl_rate(swapped) == 0


def test_the_kl_rate_ignores_states_that_the_chain_leaves_for_good() -> None:
    chain = pv.MarkovChain("ab", [[0.5, 0.5], [0, 1]])
    assert chain.kl_rate(pv.MarkovChain("ab", [[1, 0], [0, 1]])) == 0


def test_the_kl_rate_refuses_other_states_and_dead_ends() -> None:
    chain = pv.MarkovChain("ab", [[0.7, 0.3], [0.4, 0.6]])
    with pytest.raises(pv.InvalidParameterError, match="same states"):
        chain.kl_rate(pv.MarkovChain("ac", [[0.7, 0.3], [0.4, 0.6]]))
    with pytest.raises(pv.DeadEndError, match="'b'"):
        chain.kl_rate(pv.MarkovChain.from_edges([("a", "b")]))


def test_what_is_remembered_cannot_be_changed_by_accident() -> None:
    chain = build(KNOWN["two states"])
    with pytest.raises(ValueError, match="read-only"):
        chain.stationary_distribution[0] = 1
