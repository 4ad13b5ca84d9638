"""What is released of a decision process: how its steps are counted, and how it is fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pathveil.errors import DataFileError, InvalidParameterError
from pathveil.release.model_choices import Charge, Choices, Progress

if TYPE_CHECKING:
    from pathveil.data.formats import Layout
    from pathveil.data.reading import CuratorSteps, PairColumns, StepColumns
    from pathveil.data.sources import Format
    from pathveil.models.chain import Mechanism
    from pathveil.models.control import MdpUnit, PrivateMDP


@dataclass(frozen=True, kw_only=True)
class DecisionChoices(Choices["CuratorSteps", "PrivateMDP"]):
    """A private decision process; see `fit_private_mdp`."""

    unit: MdpUnit
    actions: Sequence[Any]
    rewards: tuple[float, float] | None = None
    possible: Any = None
    max_steps: int | None = None
    mechanism: Mechanism | None = None

    def require_possible(self, *, from_words: bool) -> None:  # noqa: ARG002 - there are steps
        from pathveil.models.control import USUAL_SHARE, MdpRequest

        share = None if self.rewards is None else USUAL_SHARE
        MdpRequest(self.epsilon, self.delta, self.mechanism, self.unit, self.neighbours, self.max_steps, share)
        if self.engine == "spark" or self.count is not None:
            raise InvalidParameterError("steps are counted one a row by this process: leave out --engine and --count")

    def counted(
        self,
        files: Sequence[str],
        layout: Layout | PairColumns | StepColumns,
        format: Format | None,
        progress: Progress | None,
    ) -> CuratorSteps:
        from pathveil.data.reading import StepColumns, read_steps

        assert isinstance(layout, StepColumns)
        counted = read_steps(
            files, layout, self.states, self.actions, rewards=self.rewards, max_steps=self.max_steps,
            owner_is_user=self.unit == "user", on_bad_row=self.on_bad_row, format=format, progress=progress,
        )  # fmt: skip
        if self.neighbours == "replace" and not counted.steps.transitions.any():
            what = f"{files[0]}: there is no step to count"
            raise DataFileError(what, without_content=what)
        return counted

    def longest(self, counted: CuratorSteps) -> int | None:  # noqa: ARG002 - steps are no words
        return None

    def fitted(self, counted: CuratorSteps, before_drawing: Charge) -> PrivateMDP:
        from pathveil.models.control import fit_private_mdp

        return fit_private_mdp(
            counted.steps, states=self.states, actions=self.actions, epsilon=self.epsilon, delta=self.delta,
            unit=self.unit, rewards=self.rewards, mechanism=self.mechanism, possible=self.possible,
            support=self.support, max_steps=self.max_steps, neighbours=self.neighbours, before_drawing=before_drawing,
        )  # fmt: skip
