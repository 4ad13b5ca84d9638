"""Small processes and matrices by hand: what is simulated, read and refused, and where weights go."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.control.birkhoff import possible_entries, shortest_cycle
from pathveil.models.control.consensus import metropolis_weights, settling

# Processes.


def small_world() -> pv.DecisionProcess:
    transitions = np.array([[[0.2, 0.8], [1.0, 0.0]], [[0.5, 0.5], [0.0, 0.0]]])
    possible = np.array([[True, True], [True, False]])
    return pv.DecisionProcess(("x", "y"), ("go", "stay"), transitions, np.array([[1.0, 2.0], [3.0, 0.0]]), possible)


def test_simulated_episodes_begin_anywhere_alike_and_take_what_is_possible():
    """Each share of 4,000 is off by 0.04 with a probability below 1e-6."""
    columns = small_world().simulate(length=3, size=4000, rng=pv.insecure_seed(1))
    assert columns["episode"].tolist() == [i // 3 for i in range(12_000)]
    assert (columns["state"][::3] == "x").mean() == pytest.approx(0.5, abs=0.04)
    at_x = columns["state"] == "x"
    assert (columns["action"][at_x] == "go").mean() == pytest.approx(0.5, abs=0.04)
    assert (columns["next"][at_x & (columns["action"] == "go")] == "x").mean() == pytest.approx(0.2, abs=0.04)
    assert (columns["next"][at_x & (columns["action"] == "stay")] == "x").all()
    paid = {("x", "go"): 1.0, ("x", "stay"): 2.0, ("y", "go"): 3.0}
    expected = [paid[where] for where in zip(columns["state"], columns["action"], strict=True)]
    assert columns["reward"].tolist() == expected
    assert len(small_world().simulate(length=1)["state"]) == 1
    for wrong in ({"length": 0}, {"length": 1, "size": 0}):
        with pytest.raises(pv.InvalidParameterError, match="at least 1"):
            small_world().simulate(**wrong)


def test_rewards_by_state_and_tables_of_quantecon_are_read():
    P = np.array(
        [[[0.2, 0.8], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]], [[0.3, 0.7], [0.6, 0.4]]]
    )  # [action, state, next]
    read = pv.DecisionProcess.from_arrays(P, [4.0, 9.0])
    assert read.rewards.tolist() == [[4.0] * 3, [9.0] * 3]
    assert (read.states, read.actions) == ((0, 1), (0, 1, 2))
    assert read.transitions[1, 2].tolist() == [0.6, 0.4]
    for wrong in (P[0], P[:, :1]):
        with pytest.raises(pv.InvalidSystemError, match=r"P\[action, state, next state\]"):
            pv.DecisionProcess.from_arrays(wrong, [4.0, 9.0])
    arrays, rewards = small_world().to_arrays()
    assert arrays[1, 1].tolist() == [0.0, 1.0]  # what cannot be done stays
    assert rewards[1, 1] < -1e6
    assert rewards[0].tolist() == [1.0, 2.0]
    dense = pytest.importorskip("quantecon").markov.DiscreteDP(
        np.array([[1.0, 2.0], [3.0, -np.inf]]), arrays.transpose(1, 0, 2), 0.9
    )
    again = pv.DecisionProcess.from_quantecon(dense, states="xy", actions=["go", "stay"])
    assert (again.possible == small_world().possible).all()
    assert (again.transitions == small_world().transitions).all()
    assert (again.rewards == small_world().rewards).all()


def test_rows_may_miss_one_by_a_rounding_and_no_more():
    world = small_world()
    for off, fine in ((5e-9, True), (-5e-9, True), (2e-8, False), (-2e-8, False)):
        changed = world.transitions.copy()
        changed[0, 0, 0] += off
        if fine:
            assert dataclasses.replace(world, transitions=changed).states == world.states
        else:
            with pytest.raises(pv.InvalidSystemError, match="action 'go' in state 'x'"):
                dataclasses.replace(world, transitions=changed)
    negative = world.transitions.copy()
    negative[0, 0] = [-0.1, 1.1]
    with pytest.raises(pv.InvalidSystemError, match="a negative one"):
        dataclasses.replace(world, transitions=negative)


# Weights.


def test_with_hardly_any_noise_every_weight_stays_in_its_place():
    rng = np.random.default_rng(4)
    W = np.zeros((5, 5))
    for _ in range(6):  # a mixture of permutations and their inverses
        P = np.eye(5)[rng.permutation(5)]
        W += (P + P.T) / 12
    symmetric = pv.private_doubly_stochastic(W, epsilon=1e7, change=0.01, symmetric=True, rng=pv.insecure_seed(1))
    assert np.abs(symmetric.values - W).max() < 1e-6
    assert np.abs(symmetric.noisy - W).max() < 1e-6
    assert (symmetric.guarantee.protects.amount, symmetric.guarantee.protects.symmetric) == (0.01, True)
    P = np.array([[0.7, 0.2, 0.1], [0.1, 0.5, 0.4], [0.2, 0.3, 0.5]])
    release = pv.private_doubly_stochastic(P, epsilon=200.0, delta=1e-3, change=1e-6, rng=pv.insecure_seed(1))
    assert np.abs(release.values - P).max() < 0.01
    assert release.forecast.frobenius < 0.01
    assert release.forecast.entry == pytest.approx(release.forecast.frobenius / 3)


def test_the_noise_on_edges_stands_in_four_entries():
    """The mean over 60 releases of 5 edges; its relative standard deviation is below 0.15."""
    ring = np.roll(np.eye(5, dtype=bool), 1, axis=1)
    W, squares = metropolis_weights(ring | ring.T), []
    for seed in range(60):
        release = pv.private_doubly_stochastic(
            W, epsilon=1.0, change=1e-3, symmetric=True, support=ring | ring.T, rng=pv.insecure_seed(seed)
        )
        squares.append(np.linalg.norm(release.noisy - W) ** 2)
    assert np.mean(squares) == pytest.approx(release.forecast.frobenius**2, rel=0.6)
    assert release.forecast.frobenius == pytest.approx(math.sqrt(4 * 5 * 2 * 1e-6), rel=1e-3)
    assert release.forecast.entry == pytest.approx(release.forecast.frobenius / math.sqrt(15))


def test_metropolis_weights_of_a_path_by_hand_and_when_they_are_mixed_in():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)
    weights = metropolis_weights(path)
    assert weights == pytest.approx(np.array([[2, 1, 0], [1, 1, 1], [0, 1, 2]]) / 3)
    mixed, guarded = settling(np.eye(3), path, pv.convergence_factor)
    assert guarded
    assert mixed == pytest.approx(0.95 * np.eye(3) + 0.05 * weights)
    kept, guarded = settling(weights, path, pv.convergence_factor)
    assert not guarded
    assert (kept == weights).all()
    parts = np.zeros((3, 3), dtype=bool)  # nothing helps where the public graph itself is in parts
    assert settling(np.eye(3), parts, pv.convergence_factor)[1] is False


@pytest.mark.parametrize("seed", range(6))
def test_shortest_cycles_of_sparse_supports_are_those_of_networkx(seed):
    """Rows and columns as the two sides of a graph, whose girth is twice the number of rows."""
    networkx = pytest.importorskip("networkx")
    rng = np.random.default_rng(seed)
    n = 9
    support = np.eye(n, dtype=bool) | np.roll(np.eye(n, dtype=bool), 1, axis=1)  # one cycle through all rows
    for _ in range(seed):
        support[rng.integers(n), rng.integers(n)] = True
    graph = networkx.Graph([(int(i), n + int(j)) for i, j in np.argwhere(support)])
    assert shortest_cycle(support) == networkx.girth(graph) / 2
    assert (possible_entries(support) == support).all()


def test_many_rows_that_have_too_few_columns_are_not_all_listed():
    support = np.zeros((15, 15), dtype=bool)
    support[:, :12] = True
    with pytest.raises(pv.InvalidParameterError, match=r"1, 2, .*, 10, … \(1\d in all\) have only the columns 1, 2, 3"):
        possible_entries(support)
