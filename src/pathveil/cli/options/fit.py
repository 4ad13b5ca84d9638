"""The options of `pathveil model` that say what is fitted, and what is promised about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pathveil.cli.options.decisions import Decisions
from pathveil.cli.options.engine import Work
from pathveil.cli.options.input import WHERE_WORDS_ARE, Input
from pathveil.cli.options.mechanism import Epsilon
from pathveil.cli.options.output import Output
from pathveil.cli.options.system import WHAT_IS_PUBLIC, file_of, read_alphabet, read_edges
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.data.reading import Beside, PairColumns
    from pathveil.models.sequences import Order
    from pathveil.release import DecisionChoices, ModelChoices, SequenceChoices
    from pathveil.systems.system import Symbol


@dataclass(frozen=True)
class Fit:
    """What is fitted, and what is promised about it."""

    epsilon: Epsilon
    states: Annotated[
        str | None,
        typer.Option(
            metavar="FILE[:COLUMN]",
            help="Text, one public state a line, or a column of a CSV file.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None
    system: Annotated[
        Path | None,
        typer.Option(
            help="Instead of --states and --support: a file from `pathveil system`. Its symbols are the states, and "
            "only what may follow what there can occur.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None
    delta: Annotated[
        float | None,
        typer.Option(
            help="δ that may be spent; without it, discrete Laplace noise is used, and with --order no word is kept "
            "whole."
        ),
    ] = None
    unit: Annotated[
        Literal["transition", "symbol", "word", "user", "step", "episode"] | None,
        typer.Option(
            help="What is protected: one transition's destination, one symbol, one whole word, or a person's words; of "
            "a decision process one step, one episode, or a person's steps."
        ),
    ] = None
    user: Annotated[str | None, typer.Option(help="Unit user: the column that says whose word it is.")] = None
    max_words_per_user: Annotated[
        int | None,
        typer.Option(
            min=1, help="Unit user: use at most so many words of a person, chosen at random. More words, more noise."
        ),
    ] = None
    neighbours: Annotated[
        Literal["replace", "add-remove"],
        typer.Option(
            help="Units word and user: a word (a person) becomes another, or is there or not. Then their number is "
            "protected, too."
        ),
    ] = "replace"
    mechanism: Annotated[
        Literal["dirichlet", "laplace", "gaussian"] | None,
        typer.Option(help="If not given: the one with the smallest error to expect, by public forecast."),
    ] = None
    max_length: Annotated[
        int | None,
        typer.Option(min=1, max=1_000_000, help="Units word and user: the greatest length; longer words are cut."),
    ] = None
    split: Annotated[
        str | None,
        typer.Option(
            help="Units word and user: learn first symbols and lengths, too, each for a share of the budget: "
            "transitions=0.8,first=0.1,lengths=0.1"
        ),
    ] = None
    support: Annotated[
        str | None,
        typer.Option(
            metavar="FILE[:FROM,TO]",
            help="CSV with the columns from,to (others follow a colon): the only transitions that can occur.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None

    def __post_init__(self) -> None:
        _shares(self.split)
        if (self.states is None) == (self.system is None):
            raise InvalidParameterError("which states are there? Give --states, or --system for a saved public system")
        if self.system is not None and self.support is not None:
            raise InvalidParameterError("--system says itself what may follow what: leave out --support")

    def checked(self, order: Order | None, matrix: Path | None) -> Fit:
        """The same with the unit that goes without saying; wrong use where options do not go together."""
        fit = self
        if self.unit in ("step", "episode"):
            raise InvalidParameterError(f"--unit {self.unit} is for a decision process: it needs --actions")
        if order is not None:
            unfit = {"--mechanism": self.mechanism, "--split": self.split, "--matrix": matrix}
            for option in [option for option, given in unfit.items() if given is not None]:
                raise InvalidParameterError(f"{option} is for a chain: it does not go with --order")
            if self.unit is None:
                fit = replace(self, unit="word" if self.user is None else "user")
        if fit.unit == "user" and (fit.user is None or fit.max_words_per_user is None):
            raise InvalidParameterError(
                "--unit user needs --user, the column that says whose word it is, and --max-words-per-user, how many "
                "words of a person are used"
            )
        if fit.unit != "user" and (fit.user is not None or fit.max_words_per_user is not None):
            raise InvalidParameterError("--user and --max-words-per-user are for --unit user, which protects persons")
        return fit

    @property
    def files(self) -> dict[str, Path]:
        """The public files of the model, under their options."""
        given = {} if self.system is None else {"--system": self.system}
        if self.states is not None:
            given["--states"] = file_of(self.states, 1)
        if self.support is not None:
            given["--support"] = file_of(self.support, 2)
        return given

    def choices(
        self,
        order: Order | None,
        beside: Beside | None,
        ends: bool,
        input: Input,
        count: str | None,
        output: Output,
        work: Work,
    ) -> ModelChoices | SequenceChoices:
        """What to release, with the public files read."""
        from pathveil.release import ModelChoices, SequenceChoices

        states, support = self._states_and_support(for_chain=order is None)
        common: dict[str, Any] = {
            "states": states,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "unit": self.unit or "transition",
            "support": support,
            "max_length": self.max_length,
            "user": self.user,
            "max_words_per_user": self.max_words_per_user,
            "neighbours": self.neighbours,
            "count": count,
            "on_bad_row": input.on_bad_row,
            "overwrite": output.overwrite,
            "engine": work.engine,
            "master": work.master,
        }
        if order is not None:
            return SequenceChoices(**common, order=order, beside=beside, ends=ends)
        return ModelChoices(**common, mechanism=self.mechanism, split=_shares(self.split))

    def decision_choices(self, decisions: Decisions, input: Input, output: Output, work: Work) -> DecisionChoices:
        """What to release of a decision process, with the public files read; wrong use where options do not fit."""
        from pathveil.data.public import read_steps_possible, split_columns
        from pathveil.release import DecisionChoices

        unit = self.unit or "transition"
        if unit == "symbol" or unit == "word":
            raise InvalidParameterError(f"a decision process has no {unit}s: --unit transition, step, episode or user")
        unfit: dict[str, object] = {
            "--split": self.split,
            "--max-length": self.max_length,
            "--support": self.support,
            "--max-words-per-user": self.max_words_per_user,
            "--system": self.system,
        }
        for option in [option for option, given in unfit.items() if given is not None]:
            raise InvalidParameterError(f"{option} does not go with --actions")
        if (unit == "user") != (self.user is not None) or (unit == "episode") != (decisions.episode is not None):
            raise InvalidParameterError(
                "--unit user needs --user, --unit episode needs --episode: the columns that say which"
            )
        states, actions = read_alphabet(self.states or "").symbols, decisions.read_actions()
        possible = support = None
        if decisions.possible is not None:
            path, columns = split_columns(decisions.possible, 3)
            named = ("from", "action", "to") if columns is None else (columns[0], columns[1], columns[2])
            possible, support = read_steps_possible(path, states, actions, named)
        return DecisionChoices(
            states=states, actions=actions, epsilon=self.epsilon, delta=self.delta, unit=unit, user=self.user,
            neighbours=self.neighbours, rewards=decisions.reward_range, possible=possible, support=support,
            max_steps=decisions.max_steps, mechanism=self.mechanism, on_bad_row=input.on_bad_row,
            overwrite=output.overwrite, engine=work.engine, master=work.master,
        )  # fmt: skip

    def _states_and_support(self, for_chain: bool) -> tuple[tuple[Symbol, ...], Any]:
        """The public states, and what may follow what; for a model of words also where they begin and end."""
        from pathveil.data.public import SavedSystem, sparse_support_of, support_of

        if self.system is not None:
            world = SavedSystem.read(self.system).system
            if world.compiled.is_free:
                return world.symbols, None
            return world.symbols, support_of(world, world.symbols, self.system) if for_chain else world
        states = read_alphabet(self.states or "").symbols
        if self.support is None:
            return states, None
        table = support_of if for_chain else sparse_support_of
        return states, table(read_edges(self.support), states, file_of(self.support, 2))


@dataclass(frozen=True)
class Pairs:
    """The two columns of from/to pairs, where the input has these instead of words."""

    origin: Annotated[
        str | None,
        typer.Option(
            "--from", help="One pair a row (from, to): the column where it starts.", rich_help_panel=WHERE_WORDS_ARE
        ),
    ] = None
    destination: Annotated[
        str | None,
        typer.Option("--to", help="One pair a row: the column where it ends.", rich_help_panel=WHERE_WORDS_ARE),
    ] = None

    def __post_init__(self) -> None:
        if (self.origin is None) != (self.destination is None):
            raise InvalidParameterError("--from and --to belong together: give both")

    def columns(self, no_header: bool) -> PairColumns | None:
        """The columns of pairs; None where there are words."""
        from pathveil.data.reading import PairColumns

        if self.origin is None or self.destination is None:
            return None
        return PairColumns(self.origin, self.destination, header=not no_header)


def _shares(text: str | None) -> dict[str, float] | None:
    """Shares of the budget, from "transitions=0.8,first=0.1,lengths=0.1"."""
    if text is None:
        return None
    try:
        return {name.strip(): float(share) for name, share in (part.split("=") for part in text.split(","))}
    except ValueError:
        raise InvalidParameterError(
            f"--split is {text!r}: it has the form transitions=0.8,first=0.1,lengths=0.1"
        ) from None
