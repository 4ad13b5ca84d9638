"""Decision processes: known answers, simulation, and the shapes of other libraries, there and back."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.control.process import END
from tests.statistics import FALSE_ALARM, chi_square_p_value


def _process(seed: int = 0) -> pv.DecisionProcess:
    rng = np.random.default_rng(seed)
    possible = np.array([[True, True], [True, False], [True, True]])
    transitions = rng.dirichlet(np.ones(3), size=(3, 2)) * possible[:, :, None]
    return pv.DecisionProcess(("x", "y", "z"), ("go", "stay"), transitions, rng.random((3, 2)) * possible, possible)


def _same(one: pv.DecisionProcess, other: pv.DecisionProcess) -> bool:
    return bool(
        (one.possible == other.possible).all()
        and np.allclose(one.transitions, other.transitions)
        and np.allclose(one.rewards, other.rewards)
    )


def test_a_known_policy():
    # Staying pays 1 for ever, 1/(1-γ) = 10; going pays 5 once and leads to nothing.
    transitions = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])
    world = pv.DecisionProcess(
        ("work", "over"), ("stay", "go"), transitions, np.array([[1.0, 5.0], [0, 0]]), np.ones((2, 2), dtype=bool)
    )
    best = world.policy(0.9)
    assert best.actions["work"] == "stay"
    assert best.values == pytest.approx([10.0, 0.0])
    assert world.policy(0.5).actions["work"] == "go"
    assert world.value({"work": "go", "over": "stay"}, 0.9) == pytest.approx([5.0, 0.0])


def test_quantecon_and_arrays_there_and_back():
    world = _process()
    assert _same(pv.DecisionProcess.from_quantecon(world.to_quantecon(0.9)), world)
    best, arrays = world.policy(0.9), pv.DecisionProcess.from_arrays(*world.to_arrays())
    # What is impossible is there in the arrays, but no policy takes it.
    assert arrays.policy(0.9).values == pytest.approx(best.values)
    assert arrays.policy(0.9).codes.tolist() == best.codes.tolist()
    by_next = np.random.default_rng(1).random((2, 3, 3))
    P = np.random.default_rng(2).dirichlet(np.ones(3), size=(2, 3))
    read = pv.DecisionProcess.from_arrays(P, by_next, states="xyz", actions="ab")
    assert read.rewards[1, 0] == pytest.approx(P[0, 1] @ by_next[0, 1])


def test_a_table_of_gymnasium_there_and_back():
    # A corridor of three: an end that the table leaves again, as some of that library's tables do.
    table = {
        0: {0: [(1.0, 0, 0.0, False)], 1: [(0.9, 1, 0.0, False), (0.1, 0, 0.0, False)]},
        1: {0: [(1.0, 0, 0.0, False)], 1: [(1.0, 2, 1.0, True)]},
        2: {0: [(1.0, 1, 0.0, False)], 1: [(1.0, 2, 0.0, False)]},
    }
    world = pv.DecisionProcess.from_gymnasium(table)
    assert world.states == (0, 1, 2, END)
    assert world.policy(0.9).values[1] == pytest.approx(1.0)  # paid once, and over
    again = pv.DecisionProcess.from_gymnasium(world.to_gymnasium())
    assert again.policy(0.9).values == pytest.approx(world.policy(0.9).values)


def test_a_step_has_ended_where_nothing_is_left_and_nothing_paid():
    stays, pays = np.eye(3)[:, None, :], np.array([[0.0], [-1.0], [0.0]])
    stays[2, 0] = [0.5, 0.5, 0.0]
    world = pv.DecisionProcess((0, 1, 2), ("go",), stays, pays, np.ones((3, 1), dtype=bool))
    assert world.to_gymnasium()[2][0] == [(0.5, 0, 0.0, True), (0.5, 1, 0.0, False)]


def test_simulated_steps_follow_the_process():
    world = _process()
    columns = world.simulate({"x": "go", "y": "go", "z": "stay"}, length=50, size=400, rng=pv.insecure_seed(1))
    assert (
        columns["state"][1:][np.diff(columns["episode"]) == 0] == columns["next"][:-1][np.diff(columns["episode"]) == 0]
    ).all()
    after = columns["next"][columns["state"] == "z"]
    law = dict(zip(world.states, world.transitions[2, 1], strict=True))
    assert chi_square_p_value(after.tolist(), law) > FALSE_ALARM
    assert (
        chi_square_p_value(after.tolist(), dict(zip(world.states, world.transitions[2, 0], strict=True))) < FALSE_ALARM
    )
    assert set(columns["action"][columns["state"] == "z"]) == {"stay"}
    free = world.simulate(length=20, size=50, initial="x", rng=pv.insecure_seed(2))
    assert set(free["state"][::20]) == {"x"}
    assert set(free["action"][free["state"] == "y"]) == {"go"}  # the other is not possible there


def test_what_is_refused():
    world = _process()
    with pytest.raises(pv.InvalidSystemError, match="state 'y' has no action"):
        pv.DecisionProcess(
            world.states, world.actions, world.transitions, world.rewards, world.possible & [[1], [0], [1]]
        )
    with pytest.raises(pv.InvalidSystemError, match="sum to"):
        pv.DecisionProcess(world.states, world.actions, world.transitions * 0.9, world.rewards, world.possible)
    with pytest.raises(pv.InvalidSystemError, match="shape"):
        pv.DecisionProcess(world.states, world.actions[:1], world.transitions, world.rewards, world.possible)
    for discount in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(pv.InvalidParameterError, match="discount"):
            world.policy(discount)
    with pytest.raises(pv.InvalidParameterError, match="no action that can be taken"):
        world.value({"x": "go", "y": "stay", "z": "go"}, 0.9)
    with pytest.raises(pv.InvalidParameterError, match="initial"):
        world.simulate(length=1, initial="nowhere")
