"""What kind of model is released: how its input is counted, and how it is fitted.

ModelChoices       a Markov chain
SequenceChoices    a model of whole words
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.data.formats import Layout
    from pathveil.data.reading import CuratorCounts, CuratorWords, OnBadRow, PairColumns
    from pathveil.data.sources import Format
    from pathveil.models.chain import Mechanism, PrivateChain, Unit
    from pathveil.models.sequences import Order, PrivateSequences
    from pathveil.privacy.guarantee import Guarantee
    from pathveil.privacy.units import Neighbours

Counted = TypeVar("Counted", "CuratorCounts", "CuratorWords")
Model = TypeVar("Model", "PrivateChain", "PrivateSequences")
Charge = Callable[["Guarantee"], object]
Progress = Callable[[str, int], None]


@dataclass(frozen=True, kw_only=True)
class Choices(ABC, Generic[Counted, Model]):
    """What is fitted and promised, whatever the model: the arguments of its fit, with the same meaning of None.

    The column `user` says whose word it is, the column `count` for how many words (or transitions) a row stands.
    """

    states: Sequence[Any]
    epsilon: float
    delta: float | None
    unit: Unit
    support: Any = None
    max_length: int | None = None
    user: str | None = None
    max_words_per_user: int | None = None
    neighbours: Neighbours = "replace"
    count: str | None = None
    on_bad_row: OnBadRow = "fail"
    overwrite: bool = False

    @abstractmethod
    def require_possible(self, *, from_words: bool) -> None:
        """Refuse choices that no data can be fitted with."""

    @abstractmethod
    def counted(
        self, files: Sequence[str], layout: Layout | PairColumns, format: Format | None, progress: Progress | None
    ) -> Counted:
        """What the model is made of, from files. Everything that is wrong with them is found here."""

    @abstractmethod
    def longest(self, counted: Counted) -> int | None:
        """The length of the longest word, where lengths are public."""

    @abstractmethod
    def fitted(self, counted: Counted, before_drawing: Charge) -> Model:
        """The model; `before_drawing` is called with its guarantee before anything is drawn."""


@dataclass(frozen=True, kw_only=True)
class ModelChoices(Choices["CuratorCounts", "PrivateChain"]):
    """A private chain; see `fit_private_chain`."""

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
        self, files: Sequence[str], layout: Layout | PairColumns, format: Format | None, progress: Progress | None
    ) -> CuratorCounts:
        from pathveil.data.reading import count_transitions

        return count_transitions(
            files,
            layout,
            self.states,
            max_length=self.max_length,
            count=self.count,
            user=self.user,
            max_words_per_user=self.max_words_per_user,
            on_bad_row=self.on_bad_row,
            format=format,
            progress=progress,
        )

    def longest(self, counted: CuratorCounts) -> int | None:
        # A model of symbols takes lengths as public; the others protect them, or do not know them.
        return counted.longest if self.unit == "symbol" else None

    def fitted(self, counted: CuratorCounts, before_drawing: Charge) -> PrivateChain:
        from pathveil.models.chain import fit_private_chain

        return fit_private_chain(
            counted.counts if counted.words is None else counted.words,
            states=self.states,
            epsilon=self.epsilon,
            delta=self.delta,
            mechanism=self.mechanism,
            support=self.support,
            unit=self.unit,
            max_length=self.max_length,
            split=self.split,
            max_words_per_user=self.max_words_per_user,
            neighbours=self.neighbours,
            before_drawing=before_drawing,
        )


@dataclass(frozen=True, kw_only=True)
class SequenceChoices(Choices["CuratorWords", "PrivateSequences"]):
    """A private model of whole words; see `fit_private_sequences`."""

    order: Order = "auto"

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
        checked_request(self.epsilon, self.delta, self.max_length, self.order, self.unit, most, self.neighbours)

    def counted(
        self, files: Sequence[str], layout: Layout | PairColumns, format: Format | None, progress: Progress | None
    ) -> CuratorWords:
        from pathveil.data.formats import Layout
        from pathveil.data.reading import read_coded_words

        assert isinstance(layout, Layout)
        assert self.max_length is not None
        return read_coded_words(
            files,
            layout,
            self.states,
            max_length=self.max_length,
            count=self.count,
            user=self.user,
            max_words_per_user=self.max_words_per_user,
            on_bad_row=self.on_bad_row,
            format=format,
            progress=progress,
        )

    def longest(self, counted: CuratorWords) -> int | None:  # noqa: ARG002 - lengths are protected
        return None

    def fitted(self, counted: CuratorWords, before_drawing: Charge) -> PrivateSequences:
        from pathveil.models.sequences import fit_private_sequences

        assert self.max_length is not None
        assert self.unit == "word" or self.unit == "user"
        return fit_private_sequences(
            counted.words,
            states=self.states,
            epsilon=self.epsilon,
            delta=self.delta,
            max_length=self.max_length,
            order=self.order,
            unit=self.unit,
            max_words_per_user=self.max_words_per_user,
            neighbours=self.neighbours,
            support=self.support,
            before_drawing=before_drawing,
        )
