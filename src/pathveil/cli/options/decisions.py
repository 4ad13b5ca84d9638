"""The options of `pathveil model` for steps of a decision process: state, action, next state, reward."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli.options.input import WHERE_WORDS_ARE
from pathveil.cli.options.system import WHAT_IS_PUBLIC, file_of, read_alphabet
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.data.reading import StepColumns


@dataclass(frozen=True)
class Decisions:
    """Where the parts of a step are, and what is public about actions and rewards."""

    actions: Annotated[
        str | None,
        typer.Option(
            metavar="FILE[:COLUMN]",
            help="A decision process instead of a chain: all actions that there are, one a line, or a column of a CSV "
            "file. With --from, --action and --to.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None
    action: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="With --actions: the column of the action.", rich_help_panel=WHERE_WORDS_ARE
        ),
    ] = None
    reward: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="With --actions: the column of the reward.", rich_help_panel=WHERE_WORDS_ARE
        ),
    ] = None
    rewards: Annotated[
        str | None,
        typer.Option(
            metavar="LOW:HIGH",
            help="With --reward: the public range that rewards are held to.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None
    possible: Annotated[
        str | None,
        typer.Option(
            metavar="FILE[:FROM,ACTION,TO]",
            help="With --actions: CSV with the columns from,action,to (others follow a colon): the only steps that can "
            "occur. Not read off the data.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None
    episode: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Unit episode: the column that says which.", rich_help_panel=WHERE_WORDS_ARE
        ),
    ] = None
    max_steps: Annotated[
        int | None, typer.Option(min=1, help="Units episode and user, with --actions: the most steps that are used.")
    ] = None

    def __post_init__(self) -> None:
        if self.actions is None:
            for field in fields(self):
                if getattr(self, field.name) is not None:
                    option = field.name.replace("_", "-")
                    raise InvalidParameterError(f"--{option} is for a decision process: it needs --actions")
            return
        if self.action is None:
            raise InvalidParameterError("--actions needs --action, the column of the action, beside --from and --to")
        if (self.reward is None) != (self.rewards is None):
            raise InvalidParameterError("--reward, the column, and --rewards, their public range, go together")
        self.reward_range  # noqa: B018 - says what is wrong with it

    @property
    def asked(self) -> bool:
        """Is it a decision process that shall be learned?"""
        return self.actions is not None

    @property
    def reward_range(self) -> tuple[float, float] | None:
        if self.rewards is None:
            return None
        low, colon, high = self.rewards.partition(":")
        try:
            ends = float(low), float(high)
        except ValueError:
            colon, ends = "", (0.0, 0.0)
        if not colon or not ends[0] < ends[1]:
            raise InvalidParameterError(f"--rewards is {self.rewards!r}: it is the range low:high, as in 0:1")
        return ends

    @property
    def files(self) -> dict[str, Path]:
        """The public files, under their options."""
        given = {} if self.actions is None else {"--actions": file_of(self.actions, 1)}
        if self.possible is not None:
            given["--possible"] = file_of(self.possible, 3)
        return given

    def columns(self, origin: str | None, destination: str | None, user: str | None, header: bool) -> StepColumns:
        """Where the parts of a step are."""
        from pathveil.data.reading import StepColumns

        if origin is None or destination is None or self.action is None:
            raise InvalidParameterError("a step needs --from, --action and --to: the columns of its parts")
        return StepColumns(origin, self.action, destination, self.reward, self.episode or user, header)

    def read_actions(self) -> tuple[str, ...]:
        """The public actions."""
        return tuple(map(str, read_alphabet(self.actions or "").symbols))
