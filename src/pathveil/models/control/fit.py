"""Fit a private decision process: check, count, settle the noise, charge, and only then draw."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidCountsError, InvalidParameterError
from pathveil.models.calibration import calibrate_each
from pathveil.models.chain import Mechanism
from pathveil.models.control.private_mdp import PrivateMDP
from pathveil.models.control.process import DecisionProcess, require_an_action
from pathveil.models.control.request import USUAL_SHARE, MdpRequest, MdpUnit
from pathveil.models.control.steps import GRID, StepCounts, Steps, count_steps
from pathveil.models.control.value_error import LEAST_RECORDS, RowNoise
from pathveil.models.frequencies import checked_counts, checked_support, draw_rows
from pathveil.models.laplace import noisy_counts, rows_of
from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.privacy.guarantee import Guarantee
from pathveil.privacy.units import Neighbours
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.system import Symbol, unique_symbols


def fit_private_mdp(
    steps: Steps | StepCounts | None = None,
    *,
    counts: npt.ArrayLike | None = None,
    states: Iterable[Symbol],
    actions: Iterable[Symbol],
    epsilon: float,
    delta: float | None = None,
    unit: MdpUnit = "transition",
    rewards: tuple[float, float] | None = None,
    mechanism: Mechanism | None = None,
    possible: Mapping[Symbol, Iterable[Symbol]] | npt.ArrayLike | None = None,
    support: npt.ArrayLike | DecisionProcess | None = None,
    episodes: Iterable[Hashable] | npt.NDArray[Any] | None = None,
    users: Iterable[Hashable] | npt.NDArray[Any] | None = None,
    max_steps: int | None = None,
    neighbours: Neighbours = "replace",
    reward_share: float = USUAL_SHARE,
    rng: RandomSource | None = None,
    before_drawing: Callable[[Guarantee], object] | None = None,
) -> PrivateMDP:
    """A private Markov decision process from steps (state, action, next[, reward]).

    `steps` is a list of tuples, or columns with these names (a dictionary of arrays, a data frame), or what
    `count_steps` made of them. Instead, `counts[s, a, t]` may say how often t followed action a in state s.

    Public, and not to be taken from the data: `states`, `actions`, `possible` (which actions can be taken where: a
    dictionary, or a Boolean table; None: all), `support` (which states may follow: a Boolean table [s, a, t], or a
    `DecisionProcess`), and `rewards`, the range (lowest, highest) that rewards are held to. Without a range no rewards
    are learned. They get `reward_share` of ε.

    `unit` is what is protected: "transition" (where one step led to, and its reward; how often each action was taken
    in each state is public), "step", "episode" (with `episodes`, the episode of each step, of which the first
    `max_steps` are used) or "user" (with `users`, the person of each step, of whom `max_steps` steps are used, taken at
    random). `neighbours` says for the last three whether one becomes another, or is there or not.

    `mechanism` is "dirichlet" (unit "transition" only), "gaussian" (both need a `delta`) or "laplace"; None takes the
    one with the smallest error to expect, from public quantities. `before_drawing` is called with the guarantee when
    everything is checked and nothing is drawn: the moment to charge a ledger.

    An action that was never tried in a state where it is possible has nothing but a prior (`model.prior_only`): all
    that may follow is alike, and no policy takes it where anything else was tried. Where so few tried it that its
    reward drowns in noise the lowest one is assumed.

    >>> import pathveil as pv
    >>> steps = [("idle", "wait", "idle", 0.0), ("idle", "wait", "busy", 1.0), ("busy", "work", "idle", 1.0)] * 500
    >>> model = pv.fit_private_mdp(
    ...     steps, states=["idle", "busy"], actions=["wait", "work"], rewards=(0, 1), epsilon=1.0, unit="step",
    ...     possible={"idle": ["wait"], "busy": ["work"]}, rng=pv.insecure_seed(7),
    ... )
    >>> model.transitions[0, 0].round(1), model.policy(discount=0.9).actions
    (array([0.5, 0.5]), {'idle': 'wait', 'busy': 'work'})
    """
    named, deeds = unique_symbols(states, "states"), unique_symbols(actions, "actions")
    share = None if rewards is None else reward_share
    asked = MdpRequest(epsilon, delta, mechanism, unit, neighbours, max_steps, share)
    can = _possible_table(possible, named, deeds)
    inside = _support_table(support, can, named, deeds)
    source = checked_source(rng)
    found = _counted(steps, counts, named, deeds, rewards, episodes, users, asked, source)
    _require_possible(found, can, inside)
    rows = _Rows(found, can, inside, asked)
    chosen = asked.chosen_mechanism(rows.successors, rows.records)
    drawing = rows.settle(chosen)
    guarantee = asked.guarantee(chosen, seeded=source.is_seeded)
    if before_drawing is not None:
        before_drawing(guarantee)
    values, noise = drawing(source)
    paid, reward_scale = rows.draw_rewards(source, noise.totals)
    process = DecisionProcess(named, deeds, _spread(values, can), _spread(paid, can), can)
    return PrivateMDP(process, guarantee, chosen, noise, reward_scale, found.reward_range)


Drawing = Callable[[RandomSource], tuple[FloatArray, RowNoise]]


class _Rows:
    """The data with one row for each action that is possible in a state."""

    def __init__(self, found: StepCounts, can: BoolArray, inside: BoolArray, asked: MdpRequest) -> None:
        self._counts: IntArray = found.transitions[can]
        self._inside = inside[can]
        self._sums = None if found.reward_sums is None else found.reward_sums[can]
        self._range = found.reward_range
        self._asked = asked

    @property
    def successors(self) -> IntArray:
        sizes: IntArray = self._inside.sum(axis=1)
        return sizes

    @property
    def records(self) -> IntArray:
        sizes: IntArray = self._counts.sum(axis=1)
        return sizes

    def settle(self, mechanism: Mechanism) -> Drawing:
        """How the rows will be drawn; an error if no noise keeps the promise. Nothing is drawn yet."""
        return self._dirichlet() if mechanism == "dirichlet" else self._with_count_noise(mechanism)

    def _dirichlet(self) -> Drawing:
        records, successors = self.records, self.successors
        noisy = (records > 0) & (successors > 1)
        settled = calibrate_each(
            successors[noisy].tolist(),
            (1 / records[noisy]).tolist(),
            self._asked.epsilon_for_transitions,
            self._asked.delta or 0.0,
        )

        def draw(source: RandomSource) -> tuple[FloatArray, RowNoise]:
            values: FloatArray = self._inside / successors[:, None]
            if settled:
                _, values[noisy] = draw_rows(source, self._counts[noisy], 1, self._inside[noisy], settled)
            spread = np.zeros(len(records))
            spread[noisy] = [1 / ((1 - how.mixing) ** 2 * (how.concentration + 1)) for how in settled]
            return values, RowNoise("dirichlet", True, records.astype(float), successors, dirichlet_spread=spread)

        return draw

    def _with_count_noise(self, mechanism: Mechanism) -> Drawing:
        noise = self._asked.count_noise(mechanism)
        sizes = self.records if self._asked.sizes_are_public else None

        def draw(source: RandomSource) -> tuple[FloatArray, RowNoise]:
            noisy = noisy_counts(source, self._counts, self._inside, noise, sizes)
            totals = noisy.sum(axis=1) if sizes is None else sizes
            values = rows_of(noisy, self._inside, sizes)
            known = sizes is not None
            return values, RowNoise(mechanism, known, totals.astype(float), self.successors, float(noise.scale))

        return draw

    def draw_rewards(self, source: RandomSource, totals: FloatArray) -> tuple[FloatArray, float | None]:
        """Mean rewards from noisy sums, and the scale of their noise in units of reward."""
        if self._sums is None or self._range is None:
            return np.zeros(len(totals)), None
        noise = self._asked.reward_noise
        low, high = self._range
        noisy = self._sums + noise.draw(source, len(self._sums))
        # Where nobody tried, or too few to tell from noise, the worst is assumed: no policy is led there by a guess.
        told = totals >= LEAST_RECORDS * float(noise.scale) / GRID
        mean = np.where(told & (totals > 0), noisy / np.maximum(totals, 1) / GRID, -1.0)
        paid: FloatArray = np.clip((low + high) / 2 + mean * (high - low), low, high)
        return paid, float(noise.scale) / GRID * (high - low)


def _counted(
    steps: Steps | StepCounts | None,
    counts: npt.ArrayLike | None,
    states: tuple[Symbol, ...],
    actions: tuple[Symbol, ...],
    rewards: tuple[float, float] | None,
    episodes: Iterable[Hashable] | npt.NDArray[Any] | None,
    users: Iterable[Hashable] | npt.NDArray[Any] | None,
    asked: MdpRequest,
    source: RandomSource,
) -> StepCounts:
    """The data as counts, however they are given, limited as the unit demands."""
    if (steps is None) == (counts is None):
        raise InvalidParameterError("give the data in one way: `steps`, or `counts`")
    if counts is not None:
        if asked.unit not in ("transition", "step") or rewards is not None:
            raise InvalidParameterError(
                'counts say nothing about episodes, persons and rewards: use `unit="transition"` or "step", without '
                "`rewards`, or give the steps"
            )
        table = checked_counts(counts, "counts", dimensions=3)
        if table.shape != (len(states), len(actions), len(states)):
            raise InvalidCountsError(
                f"counts has shape {table.shape}: {len(states)} states and {len(actions)} actions need "
                f"{(len(states), len(actions), len(states))}"
            )
        return StepCounts(states, actions, table)
    limited = asked.unit in ("episode", "user")
    if not isinstance(steps, StepCounts):
        if limited and (episodes if asked.unit == "episode" else users) is None:
            raise InvalidParameterError(f"unit {asked.unit!r} needs `{asked.unit}s`: the {asked.unit} of each step")
        if not limited and (episodes is not None or users is not None):
            raise InvalidParameterError("`episodes` and `users` are for the units 'episode' and 'user'")
        assert steps is not None
        return count_steps(
            steps, states=states, actions=actions, rewards=rewards, max_steps=asked.max_steps, rng=source,
            episodes=episodes if asked.unit == "episode" else None, users=users if asked.unit == "user" else None,
        )  # fmt: skip
    span = None if rewards is None else tuple(float(end) for end in rewards)
    if (steps.states, steps.actions) != (states, actions) or steps.reward_range != span:
        raise InvalidParameterError("the steps were counted with other states, actions or another range of rewards")
    if not limited and steps.owner is not None:
        # If a step that was used goes, one that was left out takes its place: two steps change.
        raise InvalidParameterError(
            f"the steps were counted with a limit for each {steps.owner}, which protects no single {asked.unit}: count "
            "them without `max_steps`"
        )
    if limited and (steps.owner != asked.unit or (steps.max_steps or 0) > (asked.max_steps or 0)):
        raise InvalidParameterError(
            f"unit {asked.unit!r} with `max_steps={asked.max_steps}`: the steps were not counted so. Count them with "
            f"`count_steps(…, {asked.unit}s=…, max_steps={asked.max_steps})`."
        )
    return steps


def _possible_table(
    possible: Mapping[Symbol, Iterable[Symbol]] | npt.ArrayLike | None,
    states: tuple[Symbol, ...],
    actions: tuple[Symbol, ...],
) -> BoolArray:
    """[s, a]: can the action be taken there?"""
    if not isinstance(possible, Mapping):
        table = checked_support(possible, (len(states), len(actions)), "possible")
    else:
        table = np.zeros((len(states), len(actions)), dtype=bool)
        for state, listed in possible.items():
            for action in listed:
                if state not in states or action not in actions:
                    raise InvalidParameterError(f"possible: {state!r} and {action!r} are no state and action given")
                table[states.index(state), actions.index(action)] = True
    require_an_action(states, table)
    return table


def _support_table(
    support: npt.ArrayLike | DecisionProcess | None,
    can: BoolArray,
    states: tuple[Symbol, ...],
    actions: tuple[Symbol, ...],
) -> BoolArray:
    """[s, a, t]: may t follow?"""
    if isinstance(support, DecisionProcess):
        if (support.states, support.actions) != (states, actions):
            raise InvalidParameterError("support: the process has other states or actions, or another order of them")
        support = support.transitions > 0
    inside = checked_support(support, (*can.shape, len(states)), "support") & can[:, :, None]
    for s, a in np.argwhere(can & ~inside.any(axis=2)):
        raise InvalidParameterError(
            f"support: nothing may follow action {actions[a]!r} in state {states[s]!r}, which is possible there"
        )
    return inside


def _require_possible(found: StepCounts, can: BoolArray, inside: BoolArray) -> None:
    for s, a, t in np.argwhere((found.transitions > 0) & ~inside):
        what = "that state cannot follow" if can[s, a] else "that action is not possible there"
        raise InvalidCountsError(
            f"the data have action {found.actions[a]!r} in state {found.states[s]!r}, followed by "
            f"{found.states[t]!r} ({found.transitions[s, a, t]} times), but {what}, as was said to be public. Correct "
            "the data, or the public table if it is wrong for reasons that have nothing to do with the data.",
            without_content="the data have a step that cannot occur, as the public tables say",
        )


def _spread(rows: FloatArray, can: BoolArray) -> FloatArray:
    """Rows of possible actions in their places of a table of all; 0 elsewhere."""
    table = np.zeros((*can.shape, *rows.shape[1:]))
    table[can] = rows
    return table
