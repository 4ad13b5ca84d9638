"""What a fitted process promises and what of it is noisy, on tables that are not square; bounds by their formulas."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.calibration import calibrate
from pathveil.models.control.request import MdpRequest
from pathveil.models.control.steps import GRID
from pathveil.models.control.value_error import RowNoise, laplace_tail, value_error
from pathveil.models.laplace import CountNoise, noisy_counts
from pathveil.models.laplace import rows_of as rows_from

STATES, ACTIONS = ("home", "away", "lost"), ("stay", "go")
NAMES = {"states": STATES, "actions": ACTIONS}
RANGE = (-1.0, 3.0)


def random_steps(count: int, seed: int = 0) -> list[tuple[str, str, str, float]]:
    rng = np.random.default_rng(seed)
    return [
        (STATES[a], ACTIONS[b], STATES[c], float(paid))
        for a, b, c, paid in zip(
            rng.integers(0, 3, count), rng.integers(0, 2, count), rng.integers(0, 3, count), rng.uniform(-2, 4, count),
            strict=True,
        )
    ]  # fmt: skip


STEPS = random_steps(900)


# Counting.


def test_counts_and_sums_are_those_of_the_steps_one_by_one():
    counted = pv.count_steps(STEPS, **NAMES, rewards=RANGE)
    times, sums, clipped = Counter(), Counter(), 0
    for state, action, after, paid in STEPS:
        times[state, action, after] += 1
        held = min(max(paid, -1.0), 3.0)
        clipped += held != paid
        sums[state, action] += round((held - 1.0) / 4.0 * GRID)
    for (i, state), (j, action) in product(enumerate(STATES), enumerate(ACTIONS)):
        assert counted.reward_sums[i, j] == sums[state, action]
        for k, after in enumerate(STATES):
            assert counted.transitions[i, j, k] == times[state, action, after]
    assert counted.rewards_clipped == clipped > 0
    assert (counted.owner, counted.max_steps, counted.steps_left_out) == (None, None, 0)


def test_the_first_steps_of_each_episode_are_kept_however_episodes_are_mixed():
    episodes = np.random.default_rng(1).integers(0, 40, len(STEPS))
    counted = pv.count_steps(STEPS, **NAMES, rewards=RANGE, episodes=episodes, max_steps=5)
    seen, times = Counter(), Counter()
    for episode, (state, action, after, _) in zip(episodes.tolist(), STEPS, strict=True):
        seen[episode] += 1
        if seen[episode] <= 5:
            times[state, action, after] += 1
    table = [[[times[s, a, t] for t in STATES] for a in ACTIONS] for s in STATES]
    assert counted.transitions.tolist() == table
    assert counted.steps_left_out == len(STEPS) - times.total() > 0
    assert (counted.owner, counted.max_steps) == ("episode", 5)
    nothing = pv.count_steps([], **NAMES, episodes=[], max_steps=1)
    assert not nothing.transitions.any()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (("home", "fly", "home", 0.0), "action is 'fly', which is not one of the 2 actions"),
        (("zoo", "go", "home", 0.0), "state is 'zoo', which is not one of the 3 states"),
        (("home", "go", ["x"], 0.0), "next is .*, which is not one of the 3 states"),
        (("home", "go", "home", 0.0, 0.0), "step 2 is"),
        (("home", "go", "home"), "step 2 is"),
        ("home", "step 2 is"),
    ],
)
def test_a_step_that_cannot_be_read_is_named_and_its_content_kept_out_of_other_messages(wrong, says):
    with pytest.raises(pv.PathVeilError, match=says):
        pv.count_steps([("home", "go", "home", 0.0), wrong], **NAMES, rewards=RANGE)


def test_columns_of_different_length_and_too_large_tables_are_refused():
    columns = {"state": ["home"] * 2, "action": ["go"] * 2, "next": ["home"]}
    with pytest.raises(pv.InvalidCountsError, match="differ in length"):
        pv.count_steps(columns, **NAMES)
    with pytest.raises(pv.InvalidCountsError, match="one reward for each step"):
        pv.count_steps({**columns, "next": ["home"] * 2, "reward": [1.0]}, **NAMES, rewards=RANGE)
    with pytest.raises(pv.InvalidCountsError, match="the reward of step 2"):
        pv.count_steps({**columns, "next": ["home"] * 2, "reward": [1.0, math.inf]}, **NAMES, rewards=RANGE)
    with pytest.raises(pv.TooLargeError, match="a table of 1,000,000,000 counts"):
        pv.count_steps([], states=range(10_000), actions=range(10))
    for limit in (0, 10**9 + 1, 2.0, True):
        with pytest.raises(pv.InvalidParameterError, match="max_steps"):
            pv.count_steps([], **NAMES, episodes=[], max_steps=limit)


# What is promised.


@pytest.mark.parametrize(
    ("unit", "mechanism", "delta"),
    [
        ("transition", "laplace", 0.0),
        ("transition", "gaussian", 1e-6),
        ("transition", "dirichlet", 1e-6),
        ("step", "laplace", 0.0),
        ("step", "gaussian", 1e-6),
    ],
)
def test_the_guarantee_states_the_delta_that_the_mechanism_needs(unit, mechanism, delta):
    model = pv.fit_private_mdp(STEPS, **NAMES, epsilon=2.0, delta=1e-6, rewards=RANGE, mechanism=mechanism, unit=unit)
    assert (model.guarantee.epsilon, model.guarantee.delta) == (2.0, delta)
    assert model.mechanism == mechanism
    assert {"laplace": "Laplace", "gaussian": "Gaussian", "dirichlet": "Dirichlet"}[
        mechanism
    ] in model.guarantee.mechanism
    assert ("grid" in model.guarantee.sampling) == (mechanism == "dirichlet")
    assert not model.guarantee.seeded


@pytest.mark.parametrize(
    ("unit", "neighbours", "max_steps", "changes"),
    [
        ("transition", "replace", None, 2),
        ("step", "replace", None, 2),
        ("step", "add-remove", None, 1),
        ("episode", "replace", 3, 6),
        ("user", "add-remove", 3, 3),
    ],
)
def test_noise_is_as_large_as_what_changes_over_its_share_of_epsilon(unit, neighbours, max_steps, changes):
    asked = MdpRequest(1.0, None, None, unit, neighbours, max_steps, 0.25)
    noise = asked.count_noise("laplace")
    assert noise.kind == "laplace"
    assert 0 <= noise.scale - Fraction(changes) / Fraction(3, 4) < 1e-5  # rounded up
    # One reward more or less changes a sum by half a grid, another in its place by a whole one.
    paid = GRID if unit == "transition" else changes * GRID // 2
    assert asked.reward_noise == CountNoise("laplace", Fraction(paid) / Fraction(1, 4))
    assert (asked.epsilon_for_transitions, asked.epsilon_for_rewards) == (0.75, Fraction(1, 4))
    without = MdpRequest(1.0, None, None, unit, neighbours, max_steps, None)
    assert without.count_noise("laplace").scale == changes
    assert without.epsilon_for_transitions == 1.0


def test_without_a_mechanism_the_smaller_noise_is_taken():
    rows, seen = (np.full(6, 3), np.full(6, 150)), set()
    for epsilon in (0.1, 1.0, 4.0):
        asked = MdpRequest(epsilon, 0.01, None, "user", "replace", 3, None)
        sizes = {kind: asked.count_noise(kind).mean_size for kind in ("laplace", "gaussian")}
        seen.add(asked.chosen_mechanism(*rows))
        assert asked.chosen_mechanism(*rows) == min(sizes, key=sizes.get)
        pure = MdpRequest(epsilon, None, None, "user", "replace", 3, None)
        assert pure.chosen_mechanism(*rows) == "laplace"
    assert seen == {"laplace", "gaussian"}


def test_a_transition_moves_two_counts_by_one_and_a_step_whatever_rows_it_is_in():
    """At this promise Gaussian noise is the smaller for two counts that change together, and Laplace noise for a step,
    however large the rows are: these are not public then."""
    for records in (np.full(6, 2), np.full(6, 10**6)):
        for unit, best in (("transition", "gaussian"), ("step", "laplace")):
            asked = MdpRequest(0.5, 0.01, None, unit, "replace", None, None)
            assert asked.chosen_mechanism(np.full(6, 3), records) == best
            sizes = {kind: asked.count_noise(kind).mean_size for kind in ("laplace", "gaussian")}
            assert min(sizes, key=sizes.get) == best


@pytest.mark.parametrize("share", [0.0, -0.5, 1.0, 1.5])
def test_a_share_that_is_no_part_of_epsilon_is_refused(share):
    with pytest.raises(pv.InvalidParameterError, match="reward_share"):
        pv.fit_private_mdp(STEPS, **NAMES, epsilon=1.0, rewards=RANGE, reward_share=share)


# What is noisy.


@pytest.mark.parametrize("unit", ["transition", "step"])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_row_sizes_are_used_only_where_they_are_public(unit, mechanism):
    """The same draws, made by hand: rows come from noisy counts and, only where it is public, their size."""
    asked = MdpRequest(1.0, 1e-6, mechanism, unit, "replace", None, None)
    counts = pv.count_steps([step[:3] for step in STEPS], **NAMES).transitions
    model = pv.fit_private_mdp(
        counts=counts, **NAMES, epsilon=1.0, delta=1e-6, mechanism=mechanism, unit=unit, rng=pv.insecure_seed(5)
    )
    rows, inside = counts.reshape(6, 3), np.ones((6, 3), dtype=bool)
    sizes = rows.sum(axis=1) if unit == "transition" else None
    noisy = noisy_counts(pv.insecure_seed(5), rows, inside, asked.count_noise(mechanism), sizes)
    assert model.transitions.reshape(6, 3) == pytest.approx(rows_from(noisy, inside, sizes))
    true = rows.sum(axis=1).tolist()
    assert model.noise.sizes_are_public == (unit == "transition")
    assert (model.noise.totals.tolist() == true) == (unit == "transition")
    assert model.noise.totals.tolist() == (true if unit == "transition" else noisy.sum(axis=1).tolist())
    assert model.noise.successors.tolist() == [3] * 6
    assert model.noise.count_scale == float(asked.count_noise(mechanism).scale)


def test_rewards_are_noisy_means_in_the_units_of_the_range():
    """A mean of 150 rewards with noise of scale 2 on a sum in units of the width: 6 scales are exceeded with e^-6."""
    steps = [(s, a, t, paid) for s, a, t, _ in STEPS for paid in (0.0, 2.0)]
    model = pv.fit_private_mdp(steps, **NAMES, epsilon=4.0, rewards=RANGE, rng=pv.insecure_seed(2))
    assert model.reward_scale == pytest.approx(4.0 / 2.0)  # one grid over half of ε, times the width
    assert np.abs(model.rewards - 1.0).max() < 0.2
    assert len(set(model.rewards.ravel().tolist())) == 6
    high = pv.fit_private_mdp([(*step[:3], 3.0) for step in steps], **NAMES, epsilon=4.0, rewards=RANGE)
    low = pv.fit_private_mdp([(*step[:3], -1.0) for step in steps], **NAMES, epsilon=4.0, rewards=RANGE)
    assert high.rewards.min() > 2.7
    assert high.rewards.max() <= 3.0
    assert low.rewards.max() < -0.7
    assert low.rewards.min() >= -1.0
    # Too few to tell from noise: the lowest reward is assumed.
    few = pv.fit_private_mdp(steps[:40], **NAMES, epsilon=0.1, rewards=RANGE, rng=pv.insecure_seed(3))
    assert (few.rewards == -1.0).all()


def test_steps_counted_for_one_limit_serve_no_smaller_one_and_no_other_unit():
    who = [i // 6 for i in range(len(STEPS))]
    counted = pv.count_steps(STEPS, **NAMES, rewards=RANGE, episodes=who, max_steps=3)
    promise = {**NAMES, "epsilon": 1.0, "rewards": RANGE}
    for limit in (3, 4):
        assert pv.fit_private_mdp(counted, **promise, unit="episode", max_steps=limit).guarantee.epsilon == 1.0
    for unit, limit in (("episode", 2), ("user", 3)):
        with pytest.raises(pv.InvalidParameterError, match="not counted so"):
            pv.fit_private_mdp(counted, **promise, unit=unit, max_steps=limit)
    for other in ({"rewards": (0.0, 1.0)}, {"states": STATES[::-1]}, {"actions": ACTIONS[::-1]}, {"rewards": None}):
        with pytest.raises(pv.InvalidParameterError, match="counted with other"):
            pv.fit_private_mdp(counted, **(promise | other), unit="episode", max_steps=3)
    with pytest.raises(pv.InvalidParameterError, match="needs `users`"):
        pv.fit_private_mdp(STEPS, **promise, unit="user", max_steps=3, episodes=who)


def test_a_model_of_more_states_than_actions_survives_its_file():
    model = pv.fit_private_mdp(STEPS, **NAMES, epsilon=1.0, rewards=RANGE)
    document = json.loads(model.to_json())
    again = pv.PrivateMDP.from_json(document)
    assert (again.transitions == model.transitions).all()
    assert (again.rewards == model.rewards).all()
    assert (again.reward_scale, again.reward_range) == (model.reward_scale, model.reward_range)
    assert (again.noise.totals == model.noise.totals).all()
    assert document["rows"][-1]["state"] == 2
    rows = document["rows"]
    for name, value in (
        ("state", 3), ("state", -1), ("state", True), ("action", 2), ("next", [0, 1, 3]), ("next", [0, 1]),
        ("reward", None), ("reward", True), ("total", "9"), ("total", 10**400), ("successors", 4), ("successors", -1),
    ):  # fmt: skip
        with pytest.raises(pv.InvalidSystemError, match="not a decision process"):
            pv.PrivateMDP.from_json({**document, "rows": [*rows[:-1], {**rows[-1], name: value}]})
    for name, value in (("actions", ["go", "go"]), ("dirichlet_spread", [0.1] * 6), ("rows", [*rows, rows[-1]])):
        with pytest.raises(pv.InvalidSystemError, match="not a decision process"):
            pv.PrivateMDP.from_json({**document, name: value})
    odd = dataclasses.replace(model, process=dataclasses.replace(model.process, states=("home", "away", 1.5)))
    with pytest.raises(pv.InvalidSystemError, match=r"1\.5 is neither a text nor a whole number"):
        odd.to_json()


# Bounds, by the formulas of docs/control.md.


def test_the_bound_of_dirichlet_rows_is_that_of_the_formula():
    spread, n = np.array([1e-5, 4e-5, 0.0]), np.array([3, 5, 1])
    noise = RowNoise("dirichlet", True, np.array([900.0, 50.0, 7.0]), n, dirichlet_spread=spread)
    found = value_error(noise, None, None, span=6.0, discount=0.8, probability=0.9)
    rare = 0.1 / (2 * 3)
    rarely = np.sqrt(2 * spread * (n * math.log(2) + math.log(1 / rare)))
    assert found.transitions == pytest.approx(rarely.max())
    assert found.bound == pytest.approx(2 / (1 - 0.8) * 0.8 * rarely.max() * 6.0 / 2)
    assert (found.rewards, found.span, found.probability) == (0.0, 6.0, 0.9)
    assert 0 < found.expected < found.bound
    # Rows that nobody tried have no truth: they count neither as rows nor with their noise.
    more = RowNoise("dirichlet", True, np.append(noise.totals, 0.0), np.append(n, 2), None, np.append(spread, 1.0))
    assert value_error(more, None, None, 6.0, 0.8, 0.9) == found
    nothing = RowNoise("dirichlet", True, np.zeros(2), np.array([3, 3]), dirichlet_spread=np.ones(2))
    empty = value_error(nothing, None, None, 6.0, 0.8, 0.9)
    assert (empty.bound, empty.expected, empty.transitions) == (0.0, 0.0, 0.0)


def test_the_spread_of_a_dirichlet_row_is_that_of_its_concentration():
    """An entry p of a row with concentration k has the variance p(1 - p)/(k + 1); undoing the mixing divides by what
    was kept."""
    counts = np.array([[[3, 2, 1]], [[40, 10, 0]], [[0, 0, 0]]])
    names = {"states": "xyz", "actions": "a", "epsilon": 1.0, "delta": 0.1, "mechanism": "dirichlet"}
    found = pv.fit_private_mdp(counts=counts, **names).noise.dirichlet_spread
    assert found[2] == 0
    for row, records in ((0, 6), (1, 50)):
        how = calibrate(3, 1 / records, 1.0, 0.1)
        profile = pv.DirichletProfile(how.floor, how.concentration, how.shift)
        assert 0.099 < profile.delta(1.0) <= 0.1
        kept = 1 - 3 * how.floor
        assert found[row] == pytest.approx(1 / (kept**2 * (how.concentration + 1)), rel=1e-9)


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5])
@pytest.mark.parametrize("rare", [0.4, 0.01, 1e-6])
def test_a_tail_is_exceeded_so_rarely_and_hardly_too_long(scale, rare):
    q = math.exp(-1 / scale)

    def exceeded(x: int) -> float:
        """The probability of more than x in size, term by term."""
        return 1 - (1 - q) / (1 + q) * (1 + 2 * sum(q**k for k in range(1, x + 1)))

    found = laplace_tail(CountNoise("laplace", Fraction(scale)), rare)
    assert exceeded(found) <= rare * (1 + 1e-6)
    assert found <= 1 or exceeded(found - 2) > rare * (1 - 1e-6)


def test_the_bound_of_rewards_is_that_of_the_formula():
    totals, scale, width = np.array([500.0, 80.0]), 3.0, 4.0
    noise = RowNoise("laplace", True, totals, np.array([3, 3]), 2.0)
    found = value_error(noise, scale, (-1.0, 3.0), span=5.0, discount=0.5, probability=0.8)
    rare = 0.2 / (2 * 2)
    tail = laplace_tail(CountNoise("laplace", Fraction(scale / width * GRID)), rare) / GRID * width
    assert found.rewards == pytest.approx(tail / 80)
    # Noise on counts: a row is wrong by 2ΣZ⁺/T at most, here with its Chernoff bound at the best of many tilts.
    q = math.exp(-1 / 2.0)
    tilts = np.linspace(0.001, 0.499, 5000)
    moment = 1 / (1 + q) + (1 - q) / (1 + q) * q * np.exp(tilts) / (1 - q * np.exp(tilts))
    positive = ((3 * np.log(moment) + math.log(2 / rare)) / tilts).min()
    assert found.transitions == pytest.approx(2 * positive / 80, rel=1e-3)
    assert found.bound == pytest.approx(2 / 0.5 * (found.rewards + 0.5 * found.transitions * 5.0 / 2))
    # A mean of fewer records than four times the noise, in units of the range, may be wrong by all of it.
    few = RowNoise("laplace", True, np.array([2.9, 500.0]), np.array([3, 3]), 2.0)
    assert value_error(few, scale, (-1.0, 3.0), 5.0, 0.5, 0.8).rewards == width
    enough = RowNoise("laplace", True, np.array([3.1, 500.0]), np.array([3, 3]), 2.0)
    assert value_error(enough, 1e-3, (-1.0, 3.0), 5.0, 0.5, 0.8).rewards < width


@pytest.mark.parametrize("probability", [0.0, 1.0, -0.1, float("nan")])
def test_probabilities_lie_between_0_and_1(probability):
    noise = RowNoise("laplace", True, np.array([5.0]), np.array([3]), 2.0)
    with pytest.raises(pv.InvalidParameterError, match="probability"):
        value_error(noise, None, None, 1.0, 0.5, probability)


def test_results_cannot_be_changed_afterwards():
    model = pv.fit_private_mdp(STEPS, **NAMES, epsilon=1.0, rewards=RANGE)
    release = pv.private_doubly_stochastic(np.full((3, 3), 1 / 3), epsilon=1.0, delta=1e-6, change=0.01)
    values = (
        (model, "guarantee"), (model.process, "states"), (model.noise, "totals"), (model.value_error(0.5), "bound"),
        (model.policy(0.5), "values"), (release, "values"), (release.forecast, "entry"),
        (pv.count_steps(STEPS, **NAMES), "owner"),
        (MdpRequest(1.0, None, None, "step", "replace", None, None), "epsilon"),
    )  # fmt: skip
    for value, name in values:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, None)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "dirichlet"])
def test_rows_of_every_size_follow_the_data(mechanism):
    counts, support = np.zeros((3, 1, 3), dtype=int), np.ones((3, 1, 3), dtype=bool)
    counts[0, 0], counts[1, 0], counts[2, 0] = [9000, 0, 1000], [0, 8000, 2000], [0, 0, 5000]
    support[1, 0, 0] = support[2, 0, 0] = support[2, 0, 1] = False
    model = pv.fit_private_mdp(
        counts=counts,
        states=STATES,
        actions=["go"],
        epsilon=4.0,
        delta=1e-3,
        mechanism=mechanism,
        support=support,
        rng=pv.insecure_seed(1),
    )
    assert model.transitions[:, 0] == pytest.approx(np.array([[0.9, 0, 0.1], [0, 0.8, 0.2], [0, 0, 1]]), abs=0.15)
