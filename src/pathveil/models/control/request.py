"""What is asked for when a decision process is fitted: the promise, its unit, and the shares of the budget.

*Units.* "transition": where one step led to, and what it paid; which action was taken where is public, and so is how
often. "step": one whole step. "episode": all steps of an episode, of which the first `max_steps` are used. "user": all
steps of a person, of which `max_steps` are used.

*Sensitivities.* Whoever may take m steps away, or replace them, changes the table of counts by at most m (2m) in all.
Rewards are measured from the middle of their range, on a grid of G steps: one of them adds at most G/2 to a sum, so m
of them change the sums by at most mG/2, replaced by others by mG; if the state and the action stay, by G at most.

*Parts.* Rewards always get discrete Laplace noise for their share of ε, transitions what the mechanism says for theirs;
the shares of ε add up to ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from pathveil.errors import InvalidParameterError, UnreachablePrivacyError
from pathveil.models.chain import Mechanism, Request, forecast_errors
from pathveil.models.control.steps import GRID
from pathveil.models.dirichlet import EXACT_ON_GRID
from pathveil.models.laplace import (
    EXACT,
    CountNoise,
    concentrated_budget,
    exactly,
    gaussian_noise,
    laplace_noise,
    pair_gaussian_noise,
)
from pathveil.models.people import WholeWords
from pathveil.numerics.arrays import IntArray
from pathveil.privacy import units
from pathveil.privacy.guarantee import Guarantee
from pathveil.privacy.profile import require_promise
from pathveil.privacy.units import Neighbours

MdpUnit = Literal["transition", "step", "episode", "user"]

USUAL_SHARE = 0.5
"""Of ε, for the rewards."""


@dataclass(frozen=True)
class MdpRequest:
    """A promise about a decision process, checked before the data are looked at."""

    epsilon: float
    delta: float | None
    mechanism: Mechanism | None
    unit: MdpUnit
    neighbours: Neighbours
    max_steps: int | None
    reward_share: float | None
    """Of ε; None where no rewards are learned."""

    def __post_init__(self) -> None:
        exactly(self.epsilon)
        if self.unit not in get_args(MdpUnit):
            raise InvalidParameterError(f"unit is {self.unit!r}: it must be one of {', '.join(get_args(MdpUnit))}")
        if self.mechanism not in (None, *get_args(Mechanism)):
            raise InvalidParameterError(
                f"mechanism is {self.mechanism!r}: it must be 'dirichlet', 'laplace' or 'gaussian'"
            )
        if self.delta is not None:
            require_promise(self.epsilon, self.delta)
        elif self.mechanism in ("dirichlet", "gaussian"):
            raise InvalidParameterError(
                f"mechanism {self.mechanism!r} needs a `delta`; 'laplace' is the one with δ = 0"
            )
        if self.mechanism == "dirichlet" and self.unit != "transition":
            raise InvalidParameterError(
                f"the Dirichlet mechanism does not protect a {self.unit}: changing one moves records between rows. Use "
                '`mechanism="laplace"` or "gaussian", or `unit="transition"`.'
            )
        WholeWords(self.neighbours)  # says what is wrong with them
        if self.neighbours != "replace" and self.unit == "transition":
            raise InvalidParameterError("`neighbours` is for steps, episodes and users: a transition is replaced")
        if (self.max_steps is None) == (self.unit in ("episode", "user")):
            raise InvalidParameterError(
                "the units 'episode' and 'user' need `max_steps`, and no other does: the most steps of one of them "
                "that are used, public and not measured"
            )
        if self.reward_share is not None and not 0 < self.reward_share < 1:
            raise InvalidParameterError(f"`reward_share` is {self.reward_share}: a part of ε, between 0 and 1")

    @property
    def sizes_are_public(self) -> bool:
        """Is it public how often each action was taken in each state?"""
        return self.unit == "transition"

    @property
    def epsilon_for_rewards(self) -> Fraction:
        return exactly(self.epsilon) * Fraction(self.reward_share or 0.0)

    @property
    def epsilon_for_transitions(self) -> float:
        """The rest, rounded down."""
        rest = exactly(self.epsilon) - self.epsilon_for_rewards
        near = float(rest)
        return near if Fraction(near) <= rest else math.nextafter(near, 0.0)

    @property
    def reward_noise(self) -> CountNoise:
        """Noise for the sums of rewards on their grid."""
        return laplace_noise(self.epsilon_for_rewards, self.reward_sensitivity)

    @property
    def reward_sensitivity(self) -> int:
        if self.sizes_are_public:
            return GRID
        return (self.max_steps or 1) * GRID // (1 if self.neighbours == "replace" else 2)

    @property
    def count_sensitivity(self) -> tuple[int, int]:
        """Of the table of counts: (1-norm, squared 2-norm)."""
        return (2, 2) if self.sizes_are_public else WholeWords(self.neighbours).sensitivity(self.max_steps or 1)

    def count_noise(self, mechanism: Mechanism) -> CountNoise:
        """Noise for the table of counts, with a mechanism that adds any."""
        l1, l2_squared = self.count_sensitivity
        if mechanism == "laplace":
            return laplace_noise(exactly(self.epsilon) - self.epsilon_for_rewards, l1)
        delta = self.delta or 0.0
        if self.sizes_are_public:
            return pair_gaussian_noise(self.epsilon_for_transitions, delta)
        return gaussian_noise(concentrated_budget(self.epsilon_for_transitions, delta), l2_squared)

    def chosen_mechanism(self, successors: IntArray, records: IntArray) -> Mechanism:
        """The one that is named or, by the error to expect of a count, the best. Row sizes are looked at only where
        they are public."""
        if self.mechanism is not None:
            return self.mechanism
        if self.sizes_are_public:
            asked = Request(
                None, "transition", self.epsilon_for_transitions, self.delta, None, {"transitions": 1.0}, None, True
            )
            return forecast_errors(asked, successors.tolist(), records.tolist())[0].mechanism
        if self.delta is None:
            return "laplace"
        try:
            gaussian = self.count_noise("gaussian").mean_size
        except UnreachablePrivacyError:
            return "laplace"
        return "gaussian" if gaussian < self.count_noise("laplace").mean_size else "laplace"

    def guarantee(self, mechanism: Mechanism, *, seeded: bool) -> Guarantee:
        """What is promised."""
        has_rewards = self.reward_share is not None
        name = {
            "dirichlet": "Dirichlet mechanism on the rows of a decision process",
            "laplace": "discrete Laplace noise on the counts of a decision process",
            "gaussian": "discrete Gaussian noise on the counts of a decision process",
        }[mechanism]
        if has_rewards:
            rest = 1 - (self.reward_share or 0)
            name += f" ({rest:g} of ε), discrete Laplace noise on rewards ({self.reward_share:g} of ε)"
        return Guarantee(
            epsilon=self.epsilon,
            delta=0.0 if mechanism == "laplace" else self.delta or 0.0,
            unit=self._unit_text(has_rewards),
            public=tuple(self._public(has_rewards)),
            mechanism=name,
            sampling=EXACT_ON_GRID if mechanism == "dirichlet" else EXACT,
            seeded=seeded,
            protects=self._protects,
        )

    def _unit_text(self, has_rewards: bool) -> str:
        paid = " and another reward" if has_rewards else ""
        if self.unit == "transition":
            return (
                f"any other set of steps in which one has another destination{paid} (which action was taken where is "
                "the same)"
            )
        what = {
            "step": "one step",
            "episode": f"all steps of one episode (of which the first {self.max_steps} are used)",
            "user": f"all steps of one person (of which at most {self.max_steps} are used)",
        }[self.unit]
        how = "replaced by any other" if self.neighbours == "replace" else "added or removed"
        verb = "is" if self.unit == "step" else "are"
        told = ", rewards included" if has_rewards else ""
        return f"any other set of steps that can occur, in which {what} {verb} {how}{told}"

    def _public(self, has_rewards: bool) -> list[str]:
        listed = ["the states and actions", "which actions can be taken where, and what may follow"]
        if has_rewards:
            listed.append("the range that rewards are held to")
        if self.unit == "transition":
            listed.append("how often each action was taken in each state")
        elif self.neighbours == "replace":
            listed.append(
                {"step": "the number of steps", "episode": "the number of episodes"}.get(
                    self.unit, "the number of persons"
                )
            )
        if self.max_steps is not None:
            listed.append("the most steps that are used")
        return listed

    @property
    def _protects(self) -> units.Unit:
        return {
            "transition": units.Transition(),
            "step": units.Step(self.neighbours),
            "episode": units.Episode(self.neighbours),
            "user": units.User(neighbours=self.neighbours),
        }[self.unit]
