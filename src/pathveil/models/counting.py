"""From words or (from, to) pairs to a table of transition counts over public states, merged if a public map says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.errors import EmptyWordError, InvalidCountsError, InvalidParameterError, UnknownSymbolError
from pathveil.numerics.arrays import IntArray
from pathveil.systems.system import Symbol, Word, unique_symbols

Counts = IntArray

_BLOCK = 2**16
_MOST = 2**53  # so far, numbers in floating point are exact
_NARROW = 2**12  # integers in a range no wider than this are looked up in a table of the whole range


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

    def codes(self, column: npt.NDArray[Any], which: str, begin: int) -> IntArray:
        """The model's codes of a column of states, each distinct value looked up once.

        `which` side of the pairs it is, and the number of pairs before the first of these, are for an error's words.
        """
        low, high = (int(column.min()), int(column.max())) if column.dtype.kind in "iu" and len(column) else (0, 2**62)
        if high - low < _NARROW and abs(low) < 2**62:
            lookup, places = range(low, high + 1), column.astype(np.int64) - low
        else:
            values, places = np.unique(column, return_inverse=True)
            lookup = values.tolist()
        codes = np.array([self._code.get(value, -1) for value in lookup], dtype=np.int64)[places]
        for i in np.flatnonzero(codes < 0):
            self.code(column[i].item(), f"pair number {begin + i + 1}: {which}")
        return codes

    def merge_first(self, first: Counts) -> Counts:
        """Counts of first symbols over the given states, summed over merged ones."""
        if first.shape != (len(self.given),):
            raise InvalidCountsError(
                f"the counts of first symbols have shape {first.shape}, but there are {len(self.given)} states"
            )
        merged = np.zeros(len(self.merged), dtype=np.int64)
        np.add.at(merged, [self._code[state] for state in self.given], first)
        return merged

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


def count_pairs(
    pairs: Iterable[tuple[Symbol, Symbol]] | npt.NDArray[Any], states: States, times: Counts | None = None
) -> Counts:
    """How often each (from, to) pair occurs. Arrays with two columns are counted many times faster than lists.

    With `times` each pair of the list stands for so many.
    """
    size = len(states.merged)
    if isinstance(pairs, np.ndarray) and pairs.ndim == 2 and pairs.shape[1] == 2 and pairs.dtype != object:
        cells = np.empty(len(pairs), dtype=np.int64)
        for begin in range(0, len(pairs), _BLOCK):  # few enough at a time to stay in the processor's cache
            sources, targets = pairs[begin : begin + _BLOCK].T
            cells[begin : begin + _BLOCK] = states.codes(sources, "'from'", begin) * size
            cells[begin : begin + _BLOCK] += states.codes(targets, "'to'", begin)
        if times is not None:
            return _weighted(cells, times, size)
        return np.bincount(cells, minlength=size * size).reshape(size, size)
    listed = list(pairs)
    if times is not None:
        codes = _encode_pairs(listed, states)
        return _weighted(codes[:, 0] * size + codes[:, 1], times, size)
    table = np.zeros((size, size), dtype=np.int64)
    try:
        for (source, target), occurrences in Counter(listed).items():
            table[states.code(source, ""), states.code(target, "")] += occurrences
    except (TypeError, ValueError):
        # Something is wrong, or a pair is a list, which cannot be looked up: go through them one by one.
        codes = _encode_pairs(listed, states)
        return _tally(codes[:, 0], codes[:, 1], size)
    return table


def _weighted(cells: IntArray, times: Counts, size: int) -> Counts:
    """Counts of cells of a table, each of them `times` times."""
    if len(times) != len(cells):
        raise InvalidCountsError(
            f"there are {len(cells)} pairs and {len(times)} counts of them: give one for each pair"
        )
    if sum(times.tolist()) > _MOST:
        raise InvalidCountsError(f"the counts of pairs add up to more than {_MOST}. Count in larger units.")
    table = np.zeros(size * size, dtype=np.int64)
    np.add.at(table, cells, times)
    return table.reshape(size, size)


def _encode_pairs(pairs: Iterable[Any], states: States) -> Counts:
    """One row for each pair, the codes of its two states; an error that names the first pair that is none."""
    codes = []
    for i, pair in enumerate(pairs):
        try:
            source, target = pair
        except (TypeError, ValueError):
            raise InvalidCountsError(f"pair number {i + 1} is {pair!r}: it must be (from, to)") from None
        codes.append(
            (states.code(source, f"pair number {i + 1}: 'from'"), states.code(target, f"pair number {i + 1}: 'to'"))
        )
    return np.array(codes, dtype=np.int64).reshape(-1, 2)


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
    codes = np.concatenate([np.empty((0, 2), dtype=np.int64), *steps])
    return _tally(codes[:, 0], codes[:, 1], size)


@dataclass(frozen=True, eq=False)
class WordCounts:
    """Exact counts of what is in a set of words. Not for release.

    `transitions[i, j]`: how often state j follows state i inside a word; `first[i]`: how many words begin in state i;
    `lengths[k]`: how many words have k + 1 symbols. `max_words_per_user` is set where at most so many words of each
    person were counted, chosen at random: whoever makes such counts elsewhere declares it.
    """

    transitions: Counts
    first: Counts
    lengths: Counts
    max_words_per_user: int | None = None


def count_words(words: Sequence[Sequence[int]], size: int) -> WordCounts:
    """The counts of words in the model's codes."""
    first = np.bincount([word[0] for word in words], minlength=size)
    lengths = np.bincount([len(word) - 1 for word in words], minlength=1)
    return WordCounts(count_transitions(words, size), first, lengths)


def _tally(sources: IntArray, targets: IntArray, size: int) -> Counts:
    flat = np.bincount(sources * size + targets, minlength=size * size)
    return flat.reshape(size, size).astype(np.int64)
