"""A private decision process: what was released, what was promised, and how far from the truth it may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidParameterError
from pathveil.markup import Html, card
from pathveil.models.chain import Mechanism
from pathveil.models.control.mdp_file import Parts, mdp_json, mdp_parts
from pathveil.models.control.process import DecisionProcess, Policy
from pathveil.models.control.value_error import RowNoise, ValueErrorBound, value_error
from pathveil.numerics.arrays import FloatArray
from pathveil.privacy.guarantee import Guarantee
from pathveil.randomness.source import RandomSource
from pathveil.systems.system import Symbol


@dataclass(frozen=True, eq=False)
class PrivateMDP:
    """A private model of a decision process. Nothing in it depends on the data except through noise.

    `transitions[s, a, t]` and `rewards[s, a]` are the model; rewards are 0 where none were learned, or the ones you
    give to `with_rewards`. `process` has them in the shapes of other libraries.
    """

    process: DecisionProcess
    guarantee: Guarantee
    mechanism: Mechanism
    noise: RowNoise
    reward_scale: float | None = None
    reward_range: tuple[float, float] | None = None
    _policies: dict[float, Policy] = field(default_factory=dict, repr=False)

    @property
    def states(self) -> tuple[Symbol, ...]:
        return self.process.states

    @property
    def actions(self) -> tuple[Symbol, ...]:
        return self.process.actions

    @property
    def transitions(self) -> FloatArray:
        return self.process.transitions

    @property
    def rewards(self) -> FloatArray:
        return self.process.rewards

    @property
    def prior_only(self) -> list[tuple[Symbol, Symbol]]:
        """The states and actions of which the data say nothing (or nothing beyond noise): all that may follow is alike
        there, and the reward is the lowest of its range."""
        return [
            (self.states[s], self.actions[a])
            for (s, a), total in zip(np.argwhere(self.process.possible), self.noise.totals, strict=True)
            if total <= 0
        ]

    def __repr__(self) -> str:
        return f"PrivateMDP({self.process!r}, {self.mechanism}, ε = {self.guarantee.epsilon:g})"

    def _repr_html_(self) -> str:
        facts = [
            ("states", f"{len(self.states):,}"),
            ("actions", f"{len(self.actions):,}"),
            ("mechanism", self.mechanism),
            ("known by a prior only", f"{len(self.prior_only):,} pairs of state and action"),
        ]
        return card("Private decision process", facts, Html(self.guarantee._repr_html_()))

    def with_rewards(self, rewards: npt.ArrayLike) -> PrivateMDP:
        """The same model with public rewards [s, a] in place of learned ones."""
        known = np.asarray(rewards, dtype=float)
        if not np.isfinite(known).all():
            raise InvalidParameterError("`rewards` must be finite numbers, one for each state and action")
        process = DecisionProcess(self.states, self.actions, self.transitions, known, self.process.possible)
        return PrivateMDP(process, self.guarantee, self.mechanism, self.noise)

    def policy(self, discount: float) -> Policy:
        """The best policy of the private model, by QuantEcon (extra `control`).

        It takes what is known by a prior only in states where nothing else is known.
        """
        if discount not in self._policies:
            process, tried = self.process, np.zeros_like(self.process.possible)
            tried[process.possible] = self.noise.totals > 0
            known = np.where(tried.any(axis=1, keepdims=True), tried, process.possible)
            self._policies[discount] = replace(process, possible=known).policy(discount)
        return self._policies[discount]

    def value_error(self, discount: float, probability: float = 0.95) -> ValueErrorBound:
        """How much worse the policy of this model may be, in the process of the data, than the best one there."""
        values = self.policy(discount).values
        span = float(values.max() - values.min())
        return value_error(self.noise, self.reward_scale, self.reward_range, span, discount, probability)

    def simulate(
        self,
        policy: Policy | Mapping[Symbol, Symbol] | None = None,
        *,
        length: int,
        size: int = 1,
        initial: Symbol | None = None,
        rng: RandomSource | None = None,
    ) -> dict[str, npt.NDArray[Any]]:
        """Synthetic episodes as columns; see `DecisionProcess.simulate`. Costs no further privacy."""
        return self.process.simulate(policy, length=length, size=size, initial=initial, rng=rng)

    def to_quantecon(self, discount: float) -> Any:
        """QuantEcon's `DiscreteDP`; `process` has the other libraries' shapes."""
        return self.process.to_quantecon(discount)

    def to_json(self, promise: Guarantee | None = None) -> str:
        """The model as text; `promise` is what was promised about the file, if that is more than the guarantee."""
        told = promise or self.guarantee
        return mdp_json(Parts(self.process, told, self.mechanism, self.noise, self.reward_scale, self.reward_range))

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> PrivateMDP:
        """The model whose file says this; `InvalidSystemError` where that is no model."""
        return cls(*mdp_parts(document))

    def save(self, path: str | Path) -> None:
        """Write the model to a file that `pv.load_model` reads."""
        Path(path).write_text(self.to_json(), encoding="utf-8")
