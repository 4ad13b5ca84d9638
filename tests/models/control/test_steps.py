"""Counting steps: every unit's sensitivity by brute force, limits, rewards on their grid, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.control.request import MdpRequest
from pathveil.models.control.steps import GRID

STATES, ACTIONS, RANGE = ("s", "t"), ("a", "b"), (-1.0, 3.0)
STEPS = [(*where, paid) for where in itertools.product(STATES, ACTIONS, STATES) for paid in RANGE]


def _counted(steps, **more) -> pv.StepCounts:
    return pv.count_steps(steps, states=STATES, actions=ACTIONS, rewards=RANGE, **more)


def _change(one: pv.StepCounts, other: pv.StepCounts) -> tuple[int, int, int]:
    """By how much counts (1-norm, squared 2-norm) and sums of rewards differ."""
    counts = np.abs(one.transitions - other.transitions)
    return int(counts.sum()), int((counts**2).sum()), int(np.abs(one.reward_sums - other.reward_sums).sum())


def _request(unit: str, neighbours: str = "replace", max_steps: int | None = None) -> MdpRequest:
    return MdpRequest(1.0, None, None, unit, neighbours, max_steps, 0.5)


def _largest(pairs) -> tuple[int, ...]:
    return tuple(np.array([_change(one, other) for one, other in pairs]).max(axis=0))


def _require_exactly(request: MdpRequest, found: tuple[int, ...], *, squares_attained: bool = True) -> None:
    """The noise covers the largest change there is, and no more than that."""
    l1, l2_squared = request.count_sensitivity
    assert found[0] == l1
    assert found[1] == l2_squared if squares_attained else found[1] <= l2_squared
    assert found[2] == request.reward_sensitivity


def test_a_transition_with_another_destination_and_reward():
    pairs = [
        (_counted([one]), _counted([other])) for one, other in itertools.product(STEPS, STEPS) if one[:2] == other[:2]
    ]
    _require_exactly(_request("transition"), _largest(pairs))


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_one_step(neighbours):
    others = [[step] for step in STEPS] if neighbours == "replace" else [[]]
    pairs = [(_counted([one]), _counted(other)) for one, other in itertools.product(STEPS, others)]
    _require_exactly(_request("step", neighbours), _largest(pairs))


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("unit", ["episode", "user"])
def test_one_episode_or_person(unit, neighbours):
    rng = np.random.default_rng(0)
    # Two of three steps are used; all in one place is the worst, and is among them.
    own = [[step] * 3 for step in STEPS] + [[STEPS[i] for i in rng.integers(0, len(STEPS), 3)] for _ in range(20)]
    others = own if neighbours == "replace" else [[]]

    def counted(steps):
        names = {f"{unit}s": ["somebody"] * len(steps)}
        return _counted(steps, **names, max_steps=2, rng=pv.insecure_seed(1))

    made = {id(steps): counted(steps) for steps in own} | {id(others[0]): counted(others[0])}
    pairs = [(made[id(one)], made[id(other)]) for one, other in itertools.product(own, others)]
    _require_exactly(_request(unit, neighbours, 2), _largest(pairs))


def test_only_the_first_steps_of_an_episode_count_and_as_many_of_a_person():
    steps = [("s", "a", "s", 0.0), ("s", "a", "t", 0.0), ("t", "b", "s", 0.0), ("s", "b", "s", 0.0)]
    cut = _counted(steps, episodes=[1, 1, 1, 2], max_steps=2)
    assert cut.transitions.sum() == 3
    assert cut.transitions[1, 1, 0] == 0
    assert cut.steps_left_out == 1
    seen = {
        tuple(_counted(steps, users=[1, 1, 1, 2], max_steps=1, rng=pv.insecure_seed(k)).transitions.ravel())
        for k in range(40)
    }
    assert len(seen) == 3  # any of the first person's three steps; a miss in 40 draws has a chance below 1e-6


def test_rewards_outside_their_range_are_held_to_it_and_counted():
    counted = _counted([("s", "a", "t", -5.0), ("s", "a", "t", 3.0), ("s", "a", "t", 1.0)])
    assert counted.rewards_clipped == 1
    assert counted.reward_sums[0, 0] == -GRID // 2 + GRID // 2 + 0
    assert "curator" in repr(counted)


def test_no_reward_counts_more_than_half_of_the_grid_however_narrow_the_range():
    for low, high in ((1.0, 1.0 + 1e-8), (-1e10, -1e10 + 20.0), (0.1, 0.3), (1e-300, 3e-300)):
        for paid in (low, high):
            sums = pv.count_steps(
                [("s", "a", "t", paid)], states=STATES, actions=ACTIONS, rewards=(low, high)
            ).reward_sums
            assert np.abs(sums).max() <= GRID // 2
    with pytest.raises(pv.InvalidParameterError, match="wide enough"):
        pv.count_steps([], states=STATES, actions=ACTIONS, rewards=(1.0, 1.0 + 2**-52))


def test_columns_and_tuples_count_alike():
    columns = dict(zip(("state", "action", "next", "reward"), map(list, zip(*STEPS, strict=True)), strict=True))
    one, other = _counted(STEPS), _counted({name: np.array(values) for name, values in columns.items()})
    assert _change(one, other) == (0, 0, 0)


@pytest.mark.parametrize(
    ("steps", "more", "told"),
    [
        ([("s", "a")], {}, "step 1 is"),
        ([("s", "a", "t", 0.0), ("s", "c", "t", 0.0)], {}, "step 2: action is 'c'"),
        ([("s", "a", "x", 0.0)], {}, "next is 'x'"),
        ([("s", "a", "t", float("nan"))], {}, "reward of step 1"),
        ([("s", "a", "t", "much")], {}, "rewards cannot be read"),
        ({"state": ["s"], "action": ["a"]}, {}, "no column 'next'"),
        ([("s", "a", "t", 0.0)], {"rewards": (1, 0)}, "public range"),
        ([("s", "a", "t", 0.0)], {"max_steps": 2}, "max_steps"),
        ([("s", "a", "t", 0.0)], {"episodes": [1]}, "max_steps"),
        ([("s", "a", "t", 0.0)], {"episodes": [1], "users": [1], "max_steps": 1}, "not both"),
        ([("s", "a", "t", 0.0)], {"users": [None], "max_steps": 1}, "missing"),
    ],
)
def test_what_is_refused(steps, more, told):
    with pytest.raises(pv.PathVeilError, match=told):
        pv.count_steps(steps, **({"states": STATES, "actions": ACTIONS, "rewards": RANGE} | more))
