"""A decision process: states, actions, what follows, what it pays; and the shapes in which other libraries keep one.

`transitions[s, a, t]` is the probability to come to state t when action a is taken in state s, `rewards[s, a]` the
expected reward of that, `possible[s, a]` whether the action can be taken there at all. A *policy* names an action for
each state; its *value* in a state is the expected sum of rewards from there on, each step discounted by γ.

Solving is QuantEcon's work (extra `control`): it is loaded when a policy is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidParameterError, InvalidSystemError
from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.system import Symbol, unique_symbols

_ROW_SUM_TOLERANCE = 1e-8
END = "end"
"""The state after an end that Gymnasium's table marks and that is not absorbing there."""


@dataclass(frozen=True, eq=False)
class Policy:
    """An action for each state, and what it is worth there: the discounted sum of rewards to expect."""

    actions: dict[Symbol, Symbol]
    values: FloatArray
    codes: IntArray
    discount: float


@dataclass(frozen=True, eq=False)
class DecisionProcess:
    """A Markov decision process with finitely many states and actions. What is in it is public.

    Raises `InvalidSystemError` where a state has no action, or a row does not sum to 1.
    """

    states: tuple[Symbol, ...]
    actions: tuple[Symbol, ...]
    transitions: FloatArray
    rewards: FloatArray
    possible: BoolArray

    def __post_init__(self) -> None:
        shape = (len(self.states), len(self.actions), len(self.states))
        if self.transitions.shape != shape or self.rewards.shape != shape[:2] or self.possible.shape != shape[:2]:
            raise InvalidSystemError(
                f"transitions have shape {self.transitions.shape}, rewards {self.rewards.shape}: {shape[0]} states and "
                f"{shape[1]} actions need {shape} and {shape[:2]}"
            )
        require_an_action(self.states, self.possible)
        off = self.possible & ~(np.abs(self.transitions.sum(axis=2) - 1) <= _ROW_SUM_TOLERANCE)
        for s, a in np.argwhere(off | (self.transitions < 0).any(axis=2)):
            raise InvalidSystemError(
                f"action {self.actions[a]!r} in state {self.states[s]!r}: what may follow has probabilities that sum "
                f"to {self.transitions[s, a].sum():.12g}, or a negative one"
            )

    def __repr__(self) -> str:
        return f"DecisionProcess({len(self.states)} states, {len(self.actions)} actions)"

    def policy(self, discount: float) -> Policy:
        """The best policy, found by QuantEcon's policy iteration."""
        found = self.to_quantecon(discount).solve(method="policy_iteration")
        codes = np.asarray(found.sigma, dtype=np.int64)
        named = {state: self.actions[code] for state, code in zip(self.states, codes.tolist(), strict=True)}
        return Policy(named, np.asarray(found.v, dtype=float), codes, discount)

    def value(self, policy: Policy | Mapping[Symbol, Symbol], discount: float) -> FloatArray:
        """What a policy is worth in each state: v = r + γPv, solved."""
        _require_discount(discount)
        codes = self._codes(policy)
        everywhere = np.arange(len(self.states))
        P, r = self.transitions[everywhere, codes], self.rewards[everywhere, codes]
        return np.asarray(np.linalg.solve(np.eye(len(P)) - discount * P, r), dtype=np.float64)

    def simulate(
        self,
        policy: Policy | Mapping[Symbol, Symbol] | None = None,
        *,
        length: int,
        size: int = 1,
        initial: Symbol | None = None,
        rng: RandomSource | None = None,
    ) -> dict[str, npt.NDArray[Any]]:
        """`size` episodes of `length` steps, as columns: episode, state, action, next, reward.

        Without a policy each possible action is as likely. Episodes begin in `initial`, or in any state alike.
        `fit_private_mdp` takes the columns as they are.
        """
        if length < 1 or size < 1:
            raise InvalidParameterError(f"`length` is {length} and `size` is {size}: both are at least 1")
        source = checked_source(rng)
        cumulative = np.cumsum(self.transitions, axis=2)
        choices = np.cumsum(self.possible / self.possible.sum(axis=1, keepdims=True), axis=1)
        fixed = None if policy is None else self._codes(policy)
        n = len(self.states)
        if initial is not None and initial not in self.states:
            raise InvalidParameterError(f"initial is {initial!r}, which is not one of the {n} states")
        begin = (source.uniform(size) * n).astype(np.int64)
        state = begin if initial is None else np.full(size, self.states.index(initial))
        columns: dict[str, list[IntArray]] = {"state": [], "action": [], "next": []}
        for _ in range(length):
            action = _picked(choices[state], source.uniform(size)) if fixed is None else fixed[state]
            after = _picked(cumulative[state, action], source.uniform(size))
            for name, codes in (("state", state), ("action", action), ("next", after)):
                columns[name].append(codes)
            state = after
        s, a, t = (np.stack(columns[name], axis=1).ravel() for name in ("state", "action", "next"))
        names, deeds = _as_array(self.states), _as_array(self.actions)
        return {
            "episode": np.repeat(np.arange(size), length),
            "state": names[s],
            "action": deeds[a],
            "next": names[t],
            "reward": self.rewards[s, a],
        }

    def to_quantecon(self, discount: float) -> Any:
        """The process as QuantEcon's `DiscreteDP`, one row for each possible pair of state and action."""
        _require_discount(discount)
        try:
            from quantecon.markov import DiscreteDP
        except ImportError:
            raise InvalidParameterError(
                "solving a decision process is QuantEcon's work: install it with `pip install pathveil[control]`"
            ) from None
        from scipy import sparse

        s, a = np.nonzero(self.possible)
        return DiscreteDP(self.rewards[s, a], sparse.csr_matrix(self.transitions[s, a]), discount, s, a)

    @classmethod
    def from_quantecon(
        cls, process: Any, states: Iterable[Symbol] | None = None, actions: Iterable[Symbol] | None = None
    ) -> DecisionProcess:
        """What a QuantEcon `DiscreteDP` holds, in either of its forms."""
        if process.s_indices is None:  # a table, with -∞ for what cannot be done
            rewards, transitions = np.asarray(process.R, dtype=float), np.asarray(process.Q, dtype=float)
            possible = np.isfinite(rewards)
        else:
            s, a = np.asarray(process.s_indices), np.asarray(process.a_indices)
            shape = (process.num_states, int(a.max()) + 1)
            possible, rewards = np.zeros(shape, dtype=bool), np.zeros(shape)
            transitions = np.zeros((*shape, process.num_states))
            rows = process.Q.toarray() if hasattr(process.Q, "toarray") else process.Q
            possible[s, a], rewards[s, a], transitions[s, a] = True, process.R, rows
        return cls._of(transitions, rewards, possible, states, actions)

    def to_arrays(self) -> tuple[FloatArray, FloatArray]:
        """(P, R) as pymdptoolbox has them: P[a, s, t], R[s, a]. What cannot be done stays, and pays very little.

        That library knows no impossible actions. They stay in their state here, for a reward so low that no policy
        takes them.
        """
        s, a = np.nonzero(~self.possible)
        P, R = self.transitions.copy(), self.rewards.astype(float).copy()
        P[s, a] = np.eye(len(self.states))[s]
        R[s, a] = -1e6 * (1 + np.abs(self.rewards).max())
        return P.transpose(1, 0, 2), R

    @classmethod
    def from_arrays(
        cls,
        transitions: npt.ArrayLike,
        rewards: npt.ArrayLike,
        states: Iterable[Symbol] | None = None,
        actions: Iterable[Symbol] | None = None,
    ) -> DecisionProcess:
        """From pymdptoolbox's arrays: P[a, s, t], and rewards by state, by [s, a], or by [a, s, t]."""
        P = np.asarray(transitions, dtype=float)
        if P.ndim != 3 or P.shape[1] != P.shape[2]:
            raise InvalidSystemError(f"transitions have shape {P.shape}: they must be P[action, state, next state]")
        P = P.transpose(1, 0, 2)
        R = np.asarray(rewards, dtype=float)
        if R.ndim == 3:
            R = (P * R.transpose(1, 0, 2)).sum(axis=2)
        elif R.ndim == 1:
            R = np.repeat(R[:, None], P.shape[1], axis=1)
        return cls._of(P, R, np.ones(P.shape[:2], dtype=bool), states, actions)

    def to_gymnasium(self) -> dict[int, dict[int, list[tuple[float, int, float, bool]]]]:
        """The table of a toy-text environment: {state: {action: [(probability, next, reward, ended)]}}, by numbers.

        A step has ended where it leads to a state that is never left and pays nothing.
        """
        n = len(self.states)
        stays = (self.transitions[np.arange(n), :, np.arange(n)] == 1) & (self.rewards == 0)
        is_end = (stays | ~self.possible).all(axis=1)
        return {
            s: {
                a: [
                    (float(self.transitions[s, a, t]), t, float(self.rewards[s, a]), bool(is_end[t]))
                    for t in np.flatnonzero(self.transitions[s, a]).tolist()
                ]
                for a in np.flatnonzero(self.possible[s]).tolist()
            }
            for s in range(n)
        }

    @classmethod
    def from_gymnasium(
        cls, table: Mapping[int, Mapping[int, Iterable[tuple[float, int, float, bool]]]]
    ) -> DecisionProcess:
        """From the table of a toy-text environment (`env.unwrapped.P`).

        Where an end is marked the process goes to a state of its own, `END`, unless the table itself never leaves the
        state and pays nothing there.
        """
        states: list[Symbol] = [*table]
        actions = sorted({a for rows in table.values() for a in rows})

        def is_absorbing(s: int) -> bool:
            return all(t == s and r == 0 for rows in table[s].values() for p, t, r, _ in rows if p > 0)

        needs_end = any(
            done and p > 0 and not is_absorbing(t)
            for rows in table.values()
            for row in rows.values()
            for p, t, _, done in row
        )
        if needs_end:
            states.append(END)
        place = {state: i for i, state in enumerate(states)}
        code = {action: i for i, action in enumerate(actions)}
        transitions = np.zeros((len(states), len(actions), len(states)))
        rewards, possible = np.zeros(transitions.shape[:2]), np.zeros(transitions.shape[:2], dtype=bool)
        for s, rows in table.items():
            for a, row in rows.items():
                possible[place[s], code[a]] = True
                for p, t, r, done in row:
                    target = END if done and not is_absorbing(t) else t
                    transitions[place[s], code[a], place[target]] += p
                    rewards[place[s], code[a]] += p * r
        if needs_end:
            possible[-1], transitions[-1, :, -1] = True, 1.0
        return cls(tuple(states), tuple(actions), transitions, rewards, possible)

    @classmethod
    def _of(
        cls,
        transitions: FloatArray,
        rewards: FloatArray,
        possible: BoolArray,
        states: Iterable[Symbol] | None,
        actions: Iterable[Symbol] | None,
    ) -> DecisionProcess:
        """With names, or numbers where none are given."""
        named = tuple(range(transitions.shape[0])) if states is None else unique_symbols(states, "states")
        deeds = tuple(range(transitions.shape[1])) if actions is None else unique_symbols(actions, "actions")
        rewards = np.where(possible, rewards, 0.0)
        return cls(named, deeds, np.where(possible[:, :, None], transitions, 0.0), rewards, possible)

    def _codes(self, policy: Policy | Mapping[Symbol, Symbol]) -> IntArray:
        if isinstance(policy, Policy):
            policy = policy.actions
        place = {action: a for a, action in enumerate(self.actions)}
        codes = np.empty(len(self.states), dtype=np.int64)
        for s, state in enumerate(self.states):
            action = policy.get(state)
            if action not in place or not self.possible[s, place[action]]:
                raise InvalidParameterError(
                    f"the policy says {action!r} in state {state!r}, which is no action that can be taken there"
                )
            codes[s] = place[action]
        return codes


def require_an_action(states: tuple[Symbol, ...], possible: BoolArray) -> None:
    for s in np.flatnonzero(~possible.any(axis=1)):
        raise InvalidSystemError(
            f"state {states[s]!r} has no action: give it one, if only to stay where it is, or leave the state out"
        )


def _require_discount(discount: float) -> None:
    if not 0 < discount < 1:
        raise InvalidParameterError(f"discount is {discount}: it lies between 0 and 1, both excluded")


def _picked(cumulative: FloatArray, at: FloatArray) -> IntArray:
    """In each row the first place whose cumulated probability exceeds a number below 1 of the whole."""
    codes: IntArray = (cumulative <= (at * cumulative[:, -1])[:, None]).sum(axis=1)
    return codes


def _as_array(symbols: tuple[Symbol, ...]) -> npt.NDArray[Any]:
    array = np.empty(len(symbols), dtype=object)
    array[:] = symbols
    return array
