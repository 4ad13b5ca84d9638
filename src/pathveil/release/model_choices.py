"""What kind of model is released: how its input is counted, and how it is fitted.

ModelChoices       a Markov chain
SequenceChoices    a model of whole words, or one for each of several groups

`DecisionChoices` (`decision_choices.py`) is for steps of a decision process.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.data.formats import Layout
    from pathveil.data.reading import (
        Beside,
        CuratorCounts,
        CuratorSteps,
        CuratorWords,
        OnBadRow,
        PairColumns,
        StepColumns,
    )
    from pathveil.data.sources import Format
    from pathveil.models.chain import Mechanism, PrivateChain, Unit
    from pathveil.models.control import PrivateMDP
    from pathveil.models.sequences import Order, PrivateSequences, PrivateSequencesByGroup
    from pathveil.privacy.guarantee import Guarantee
    from pathveil.privacy.units import Neighbours
    from pathveil.release.runners import RunnerName

Counted = TypeVar("Counted", "CuratorCounts", "CuratorWords", "CuratorSteps")
Model = TypeVar("Model", "PrivateChain", "PrivateSequences | PrivateSequencesByGroup", "PrivateMDP")
Charge = Callable[["Guarantee"], object]
Progress = Callable[[str, int], None]


@dataclass(frozen=True, kw_only=True)
class Choices(ABC, Generic[Counted, Model]):
    """What is fitted and promised, whatever the model: the arguments of its fit, with the same meaning of None.

    The column `user` says whose word it is, the column `count` for how many words (or transitions) a row stands. On
    the engine "spark" (with its `master`) words are counted where they are; fitting is the same.
    """

    states: Sequence[Any]
    epsilon: float
    delta: float | None
    support: Any = None
    max_length: int | None = None
    user: str | None = None
    max_words_per_user: int | None = None
    neighbours: Neighbours = "replace"
    count: str | None = None
    on_bad_row: OnBadRow = "fail"
    overwrite: bool = False
    engine: RunnerName = "embedded"
    master: str | None = None

    @abstractmethod
    def require_possible(self, *, from_words: bool) -> None:
        """Refuse choices that no data can be fitted with."""

    @abstractmethod
    def counted(
        self,
        files: Sequence[str],
        layout: Layout | PairColumns | StepColumns,
        format: Format | None,
        progress: Progress | None,
    ) -> Counted:
        """What the model is made of, from files. Everything that is wrong with them is found here."""

    @abstractmethod
    def longest(self, counted: Counted) -> int | None:
        """The length of the longest word, where lengths are public."""

    @abstractmethod
    def fitted(self, counted: Counted, before_drawing: Charge) -> Model:
        """The model; `before_drawing` is called with its guarantee before anything is drawn."""

    @property
    def _asked(self) -> dict[str, Any]:
        """What every fit is asked for."""
        names = ("states", "epsilon", "delta", "unit", "support", "max_length", "max_words_per_user", "neighbours")
        return {name: getattr(self, name) for name in names}

    @property
    def _read(self) -> dict[str, Any]:
        """How words are read for every model."""
        return {name: getattr(self, name) for name in ("max_length", "user", "max_words_per_user", "on_bad_row")}

    def _on_spark(
        self, read: Callable[..., Counted], files: Sequence[str], layout: Layout | PairColumns, format: Format | None
    ) -> Counted:
        """What a reader of Spark finds in the files; wrong use where it cannot."""
        from pathveil.data.formats import DelimitedColumn, RowWords
        from pathveil.release.runners import spark_frame

        if not isinstance(layout, RowWords) or self.count is not None:
            raise InvalidParameterError(
                "--engine spark counts words that stand one in a row of Parquet files, each row once: leave it out"
            )
        separator = layout.separator if isinstance(layout, DelimitedColumn) else None
        with spark_frame(self.master, files, layout, format) as frame:
            return read(frame, self.states, layout.column, separator=separator, **self._read)


@dataclass(frozen=True, kw_only=True)
class ModelChoices(Choices["CuratorCounts", "PrivateChain"]):
    """A private chain; see `fit_private_chain`."""

    unit: Unit
    mechanism: Mechanism | None = None
    split: Mapping[str, float] | None = None

    def require_possible(self, *, from_words: bool) -> None:
        from pathveil.models.chain import checked_request

        promise = (self.epsilon, self.delta, self.max_length, self.split)
        checked_request(
            self.mechanism, self.unit, *promise, floor=None, mix=True, from_words=from_words,
            max_words_per_user=self.max_words_per_user, neighbours=self.neighbours,
        )  # fmt: skip

    def counted(
        self,
        files: Sequence[str],
        layout: Layout | PairColumns | StepColumns,
        format: Format | None,
        progress: Progress | None,
    ) -> CuratorCounts:
        from pathveil.data.reading import StepColumns, count_transitions

        assert not isinstance(layout, StepColumns)

        if self.engine == "spark":
            from pathveil.data import spark

            return self._on_spark(spark.count_transitions, files, layout, format)
        return count_transitions(
            files, layout, self.states, count=self.count, format=format, progress=progress, **self._read
        )

    def longest(self, counted: CuratorCounts) -> int | None:
        # A model of symbols takes lengths as public; the others protect them, or do not know them.
        return counted.longest if self.unit == "symbol" else None

    def fitted(self, counted: CuratorCounts, before_drawing: Charge) -> PrivateChain:
        from pathveil.models.chain import fit_private_chain

        return fit_private_chain(
            counted.counts if counted.words is None else counted.words,
            mechanism=self.mechanism,
            split=self.split,
            before_drawing=before_drawing,
            **self._asked,
        )


@dataclass(frozen=True, kw_only=True)
class SequenceChoices(Choices["CuratorWords", "PrivateSequences | PrivateSequencesByGroup"]):
    """A private model of whole words, see `fit_private_sequences`; or with groups (`beside`), one for each of them."""

    unit: Unit
    order: Order = "auto"
    beside: Beside | None = None
    ends: bool = False

    def require_possible(self, *, from_words: bool) -> None:
        from pathveil.models.sequences import checked_request

        if not from_words:
            raise InvalidParameterError("`order` is for words: pairs do not say what comes before and after them")
        if self.unit != "word" and self.unit != "user":
            raise InvalidParameterError(
                f"`order` is for models of whole words, which protect a word or a person (`unit`), not a {self.unit}"
            )
        if self.max_length is None:
            raise InvalidParameterError("`order` needs `max_length`: the greatest length, after which words are cut")
        most = self.max_words_per_user
        checked_request(
            self.epsilon, self.delta, self.max_length, self.order, self.unit, most, self.neighbours, ends=self.ends
        )
        if self.beside is not None and self.engine == "spark":
            raise InvalidParameterError("times and groups need the embedded engine: leave out --engine spark")

    def counted(
        self,
        files: Sequence[str],
        layout: Layout | PairColumns | StepColumns,
        format: Format | None,
        progress: Progress | None,
    ) -> CuratorWords:
        from pathveil.data.formats import Layout
        from pathveil.data.reading import StepColumns, read_coded_words

        assert not isinstance(layout, StepColumns)
        if self.engine == "spark":
            from pathveil.data import spark

            return self._on_spark(spark.read_coded_words, files, layout, format)
        assert isinstance(layout, Layout)
        return read_coded_words(
            files, layout, self.states, count=self.count, beside=self.beside, format=format, progress=progress,
            **self._read,
        )  # fmt: skip

    def longest(self, counted: CuratorWords) -> int | None:  # noqa: ARG002 - lengths are protected
        return None

    def fitted(self, counted: CuratorWords, before_drawing: Charge) -> PrivateSequences | PrivateSequencesByGroup:
        from pathveil.models.sequences import fit_private_sequences, fit_private_sequences_by_group

        asked = self._asked | {
            "order": self.order,
            "users": counted.users,
            "times": counted.times,
            "before_drawing": before_drawing,
        }
        if self.beside is None or counted.groups is None:
            return fit_private_sequences(counted.words, ends=self.ends, **asked)
        names = self.beside.groups
        groups = [names[place] for place in counted.groups.tolist()]
        return fit_private_sequences_by_group(counted.words, groups=groups, group_values=names, **asked)
