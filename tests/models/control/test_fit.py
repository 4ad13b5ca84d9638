"""Fitting private decision processes: promises, order of things, priors, files and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pathveil as pv
from pathveil.privacy import units

STATES, ACTIONS = ("home", "away"), ("stay", "go")
NAMES = {"states": STATES, "actions": ACTIONS}
STEPS = [("home", "stay", "home", 0.0), ("home", "go", "away", 1.0), ("away", "go", "home", 0.5)] * 400
PROMISE = {"epsilon": 1.0, "rewards": (0.0, 1.0)}


def test_the_model_is_close_to_the_data_and_says_what_it_does_not_know():
    model = pv.fit_private_mdp(STEPS, **NAMES, **PROMISE, rng=pv.insecure_seed(1))
    assert model.transitions[0, 0] == pytest.approx([1, 0], abs=0.1)
    assert model.rewards[0, 1] == pytest.approx(1.0, abs=0.1)
    assert model.prior_only == [("away", "stay")]
    assert model.transitions[1, 0].tolist() == [0.5, 0.5]
    assert model.rewards[1, 0] == 0.0
    assert model.policy(0.9).actions["home"] == "go"
    assert model.with_rewards([[9, 0], [0, 0]]).policy(0.9).actions["home"] == "stay"
    columns = model.simulate(model.policy(0.9), length=5, size=3)
    assert len(columns["state"]) == 15


@pytest.mark.parametrize(
    ("unit", "more", "protects", "told"),
    [
        ("transition", {}, units.Transition(), "one has another destination and another reward"),
        ("step", {}, units.Step(), "one step is replaced by any other, rewards included"),
        ("step", {"neighbours": "add-remove"}, units.Step("add-remove"), "one step is added or removed"),
        ("episode", {"episodes": [i // 3 for i in range(1200)], "max_steps": 3}, units.Episode(), "first 3 are used"),
        ("user", {"users": [i // 6 for i in range(1200)], "max_steps": 5}, units.User(), "at most 5 are used"),
    ],
)
def test_a_guarantee_names_its_unit(unit, more, protects, told):
    model = pv.fit_private_mdp(STEPS, **NAMES, **PROMISE, unit=unit, **more)
    assert model.guarantee.protects == protects
    assert told in model.guarantee.unit
    assert "0.5 of ε" in model.guarantee.mechanism
    public = " ".join(model.guarantee.public)
    assert ("how often each action" in public) == (unit == "transition")
    assert ("the number of" in public) == (unit != "transition" and "neighbours" not in more)
    assert ("the most steps that are used" in public) == ("max_steps" in more)
    assert model.guarantee.sampling == "sampled exactly, in integers"


def test_a_support_of_another_process_is_refused():
    for names in (("away", "home"), ("home", "zoo"), ("a", "away")):
        other = pv.DecisionProcess(
            names, ACTIONS, np.full((2, 2, 2), 0.5), np.zeros((2, 2)), np.ones((2, 2), dtype=bool)
        )
        with pytest.raises(pv.InvalidParameterError, match="other states or actions"):
            pv.fit_private_mdp(STEPS, **NAMES, **PROMISE, support=other)


def test_nothing_is_drawn_before_the_charge():
    class RefusedError(Exception):
        pass

    def refuse(guarantee):
        assert guarantee.epsilon == 1.0
        raise RefusedError

    source = pv.insecure_seed(1)
    with pytest.raises(RefusedError):
        pv.fit_private_mdp(STEPS, **NAMES, **PROMISE, rng=source, before_drawing=refuse)
    assert (source.keystream(4) == pv.insecure_seed(1).keystream(4)).all()


def test_shares_of_epsilon_add_up_exactly():
    from fractions import Fraction

    from pathveil.models.control.request import MdpRequest

    for epsilon, share in ((1.0, 0.1), (0.3, 0.7), (1e-3, 1 / 3)):
        asked = MdpRequest(epsilon, 1e-6, None, "transition", "replace", None, share)
        total = Fraction(asked.epsilon_for_transitions) + asked.epsilon_for_rewards
        assert total <= min(Fraction(epsilon), Fraction(repr(epsilon)))
        assert float(total) == pytest.approx(epsilon, rel=1e-15)


def test_without_rewards_all_of_epsilon_goes_to_transitions():
    model = pv.fit_private_mdp([step[:3] for step in STEPS], **NAMES, epsilon=1.0)
    assert model.reward_scale is None
    assert not model.rewards.any()
    assert "rewards" not in str(model.guarantee)


def test_counted_steps_fit_as_the_steps_do():
    counted = pv.count_steps(STEPS, **NAMES, rewards=(0.0, 1.0))
    one = pv.fit_private_mdp(counted, **NAMES, **PROMISE, rng=pv.insecure_seed(3))
    other = pv.fit_private_mdp(STEPS, **NAMES, **PROMISE, rng=pv.insecure_seed(3))
    assert (one.transitions == other.transitions).all()
    assert (one.rewards == other.rewards).all()


def test_impossible_steps_cost_no_budget_and_stay_impossible():
    possible = {"home": ACTIONS, "away": ["go"]}
    support = np.ones((2, 2, 2), dtype=bool)
    support[1, 1] = [True, False]
    model = pv.fit_private_mdp(STEPS, **NAMES, **PROMISE, possible=possible, support=support, rng=pv.insecure_seed(1))
    assert model.prior_only == []
    assert model.transitions[1, 1].tolist() == [1.0, 0.0]
    assert not model.transitions[1, 0].any()
    again = pv.fit_private_mdp(STEPS, **NAMES, **PROMISE, possible=possible, support=model.process)
    assert (again.transitions[model.transitions == 0] == 0).all()


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "dirichlet"])
def test_a_model_survives_its_file(tmp_path, mechanism):
    model = pv.fit_private_mdp(STEPS, **NAMES, **PROMISE, delta=1e-6, mechanism=mechanism, rng=pv.insecure_seed(1))
    model.save(tmp_path / "model.json")
    again = pv.load_model(tmp_path / "model.json")
    assert (again.transitions == model.transitions).all()
    assert again.guarantee == model.guarantee
    assert again.value_error(0.9) == model.value_error(0.9)
    assert again.prior_only == model.prior_only


def test_damaged_files_are_refused(tmp_path):
    model = pv.fit_private_mdp(STEPS, **NAMES, **PROMISE)
    whole = json.loads(model.to_json())
    broken = [
        {**whole, "rows": whole["rows"][1:] + whole["rows"][:1]},
        {**whole, "states": ["home", "home"]},
        {**whole, "mechanism": "wish"},
        {**whole, "count_scale": None},
        {**whole, "guarantee": {}},
        {**whole, "rows": [{**whole["rows"][0], "probabilities": [9.0, 9.0]}, *whole["rows"][1:]]},
        {name: part for name, part in whole.items() if name != "reward_range"},
    ]
    for document in broken:
        (tmp_path / "model.json").write_text(json.dumps(document))
        with pytest.raises(pv.InvalidSystemError):
            pv.load_model(tmp_path / "model.json")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"unit": "word"}, "unit is 'word'"),
        ({"mechanism": "magic"}, "mechanism is"),
        ({"mechanism": "dirichlet"}, "needs a `delta`"),
        ({"mechanism": "dirichlet", "delta": 1e-6, "unit": "step"}, "does not protect a step"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"unit": "episode"}, "max_steps"),
        ({"unit": "episode", "max_steps": 3}, "needs `episodes`"),
        ({"unit": "user", "max_steps": 0, "users": [1] * 1200}, "`max_steps` is 0"),
        ({"max_steps": 3}, "max_steps"),
        ({"users": [1] * 1200}, "for the units"),
        ({"neighbours": "add-remove"}, "neighbours"),
        ({"reward_share": 1.0}, "reward_share"),
        ({"possible": {"home": ["go"]}}, "state 'away' has no action"),
        ({"possible": {"home": ["fly"]}}, "no state and action"),
        ({"possible": {"home": ["go"], "away": ["go"]}}, "not possible there"),
        ({"support": np.zeros((2, 2, 2), dtype=bool)}, "nothing may follow"),
        ({"counts": np.ones((2, 2, 2))}, "one way"),
    ],
)
def test_what_is_refused(wrong, told):
    with pytest.raises(pv.PathVeilError, match=told):
        pv.fit_private_mdp(STEPS, **(NAMES | PROMISE | wrong))


def test_a_policy_takes_what_nobody_tried_only_where_nothing_else_was_tried():
    steps = [("home", "stay", "home", 0.1), ("away", "stay", "away", 1.0)] * 2000  # "go" may lead to where it pays
    model = pv.fit_private_mdp(steps, **NAMES, epsilon=2.0, rewards=(0.0, 1.0), rng=pv.insecure_seed(1))
    assert model.policy(0.9).actions == {"home": "stay", "away": "stay"}
    better = model.with_rewards([[0.0, 5.0], [0.0, 5.0]])
    assert better.policy(0.9).actions == {"home": "stay", "away": "stay"}
    with pytest.raises(pv.InvalidParameterError, match="finite"):
        model.with_rewards([[np.nan, 0.0], [0.0, 0.0]])
    nothing = pv.fit_private_mdp([], **NAMES, epsilon=1.0, unit="step", neighbours="add-remove")
    assert set(nothing.policy(0.9).actions) == set(STATES)


def test_steps_that_were_limited_protect_no_single_step():
    counted = pv.count_steps(STEPS, **NAMES, rewards=(0.0, 1.0), episodes=[i // 3 for i in range(1200)], max_steps=1)
    for unit in ("transition", "step"):
        with pytest.raises(pv.InvalidParameterError, match="without `max_steps`"):
            pv.fit_private_mdp(counted, **NAMES, **PROMISE, unit=unit)


def test_counts_know_no_rewards_and_no_episodes():
    for wrong in ({"rewards": (0, 1)}, {"unit": "episode", "max_steps": 2}):
        with pytest.raises(pv.InvalidParameterError, match="counts say nothing"):
            pv.fit_private_mdp(counts=np.ones((2, 2, 2)), **NAMES, epsilon=1.0, **wrong)
    with pytest.raises(pv.InvalidCountsError, match="shape"):
        pv.fit_private_mdp(counts=np.ones((2, 1, 2)), **NAMES, epsilon=1.0)
