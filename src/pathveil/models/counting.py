"""From words or (from, to) pairs to a table of transition counts over public states, merged if a public map says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.errors import EmptyWordError, InvalidCountsError, InvalidParameterError, UnknownSymbolError
from pathveil.systems.system import Symbol, Word, unique_symbols

Counts = npt.NDArray[np.int64]


class States:
    """The public states: as they occur in the data (`given`), and as the model has them (`merged`)."""

    def __init__(self, states: Iterable[Symbol], merge: Mapping[Symbol, Symbol] | None) -> None:
        self.given = unique_symbols(states, "states")
        self.merged = self.given
        if merge is not None:
            for state in self.given:
                if state not in merge:
                    raise UnknownSymbolError(
                        f"merge says nothing about the state {state!r}: give every state its (possibly unchanged) "
                        "new name"
                    )
            self.merged = tuple(dict.fromkeys(merge[state] for state in self.given))
        position = {state: i for i, state in enumerate(self.merged)}
        self._code = {state: position[state if merge is None else merge[state]] for state in self.given}

    def code(self, state: Any, where: str) -> int:
        """The model's code of a state of the data."""
        try:
            return self._code[state]
        except (KeyError, TypeError):
            raise UnknownSymbolError(
                f"{where} is {state!r}, which is not one of the {len(self.given)} states. Correct the data, or the "
                "states if they are wrong for reasons that have nothing to do with the data."
            ) from None

    def merge_table(self, counts: Counts) -> Counts:
        """A table over the given states, summed over merged rows and columns."""
        if counts.shape != (len(self.given), len(self.given)):
            raise InvalidCountsError(
                f"counts has shape {counts.shape}, but there are {len(self.given)} states: one row and one column each"
            )
        codes = np.array([self._code[state] for state in self.given])
        table = np.zeros((len(self.merged), len(self.merged)), dtype=np.int64)
        np.add.at(table, (codes[:, None], codes[None, :]), counts)
        return table


def count_pairs(pairs: Iterable[tuple[Symbol, Symbol]], states: States) -> Counts:
    """How often each (from, to) pair occurs."""
    codes = []
    for i, pair in enumerate(pairs):
        try:
            source, target = pair
        except (TypeError, ValueError):
            raise InvalidCountsError(f"pair number {i + 1} is {pair!r}: it must be (from, to)") from None
        codes.append(
            (states.code(source, f"pair number {i + 1}: 'from'"), states.code(target, f"pair number {i + 1}: 'to'"))
        )
    return _tally(np.array(codes, dtype=np.int64).reshape(-1, 2), len(states.merged))


def encode_words(words: Iterable[Word], states: States, max_length: int | None) -> list[list[int]]:
    """The words in the model's codes, cut after `max_length` symbols."""
    if isinstance(words, str):
        raise InvalidParameterError("words is one string: give a list of words")
    encoded = []
    for i, word in enumerate(words):
        if not len(word):
            raise EmptyWordError(f"word number {i + 1} is empty: a word needs at least one symbol")
        encoded.append(
            [states.code(x, f"word number {i + 1}, position {j + 1}") for j, x in enumerate(word[:max_length])]
        )
    return encoded


def count_transitions(words: Sequence[Sequence[int]], size: int) -> Counts:
    """How often each state follows each other one inside a word."""
    steps = [np.column_stack([word[:-1], word[1:]]) for word in words if len(word) > 1]
    return _tally(np.concatenate([np.empty((0, 2), dtype=np.int64), *steps]), size)


def _tally(codes: npt.NDArray[np.int64], size: int) -> Counts:
    flat = np.bincount(codes[:, 0] * size + codes[:, 1], minlength=size * size)
    return flat.reshape(size, size).astype(np.int64)
