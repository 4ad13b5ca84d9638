"""The data of a fit: transitions counted in the model's states, and which of them can occur."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidCountsError, InvalidParameterError
from pathveil.models.chain.request import Request, Unit
from pathveil.models.counting import Counts, States, WordCounts, count_pairs, count_words, encode_words
from pathveil.models.frequencies import checked_counts, checked_support, require_floor
from pathveil.numerics.arrays import BoolArray
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import Symbol, Word


@dataclass(frozen=True)
class ChainData:
    """What was counted, in the model's states, and which transitions can occur (public)."""

    found: Counts | WordCounts
    states: States
    inside: BoolArray
    unit: Unit

    @property
    def table(self) -> Counts:
        """How often each state (row) was followed by each other."""
        return self.found.transitions if isinstance(self.found, WordCounts) else self.found

    @property
    def records(self) -> Counts:
        """The number of transitions out of each state."""
        records: Counts = self.table.sum(axis=1)
        return records

    @property
    def public_records(self) -> list[int] | None:
        """The size of each row where the unit leaves it public; None where it is protected."""
        return self.records.tolist() if self.unit == "transition" else None

    @property
    def public_words(self) -> int | None:
        """How many words there are, which is public where the unit is a part of a word or a whole one."""
        if self.unit == "transition" or not isinstance(self.found, WordCounts):
            return None
        return int(self.found.first.sum())

    @property
    def successors(self) -> Counts:
        """How many states can follow each state."""
        successors: Counts = self.inside.sum(axis=1)
        return successors

    @property
    def to_protect(self) -> BoolArray:
        """The rows that need noise: there are records, and more than one state that may follow."""
        rows: BoolArray = (self.records > 0) & (self.successors > 1)
        return rows

    def require_possible(self) -> None:
        """Refuse data with transitions that cannot occur."""
        states, table = self.states, self.table
        for i, j in np.argwhere(~self.inside & (table > 0)):
            raise InvalidCountsError(
                f"the data have {states.merged[j]!r} after {states.merged[i]!r} ({table[i, j]} times), but the public "
                "support says that this cannot occur. Correct the data, or the support if it is wrong for reasons that "
                "have nothing to do with the data.",
                without_content="the data have a transition that cannot occur, as the public support says",
            )

    def require_floor(self, floor: float) -> None:
        """Refuse data that break the public floor of the papers' mode, in rows that have something to protect."""
        frequencies = self.table / np.maximum(self.records, 1)[:, None]
        require_floor(frequencies, self.inside & self.to_protect[:, None], floor, "transition frequencies")


def read_data(
    counts: npt.ArrayLike | WordCounts | None,
    pairs: Iterable[tuple[Symbol, Symbol]] | npt.NDArray[Any] | None,
    pair_counts: Iterable[int] | npt.NDArray[Any] | None,
    words: Iterable[Word] | None,
    states: States,
    support: npt.ArrayLike | MarkovChain | None,
    asked: Request,
) -> ChainData:
    """Count the data, which come in one of three ways, and check them against the public support."""
    if pair_counts is not None and pairs is None:
        raise InvalidParameterError("`pair_counts` says how often each of the pairs occurred: it needs `pairs`")
    times = None if pair_counts is None else checked_counts(_listed(pair_counts), "`pair_counts`", dimensions=1)
    found = _counted(counts, pairs, times, words, states, asked.max_length)
    data = ChainData(found, states, _support_table(support, states), asked.unit)
    data.require_possible()
    if asked.unit == "transition" and not data.table.any():
        raise InvalidCountsError("all counts are zero: a chain needs at least one transition")
    return data


def _counted(
    counts: npt.ArrayLike | WordCounts | None,
    pairs: Iterable[tuple[Symbol, Symbol]] | npt.NDArray[Any] | None,
    times: Counts | None,
    words: Iterable[Word] | None,
    states: States,
    cut: int | None,
) -> Counts | WordCounts:
    """The data in the model's states: a table of transitions or, where they come from words, all that is counted."""
    if sum(given is not None for given in (counts, pairs, words)) != 1:
        raise InvalidParameterError("give the data in one way: counts, or `pairs=…`, or `words=…`")
    if words is not None:
        found = count_words(encode_words(words, states, cut), len(states.merged))
    elif isinstance(counts, WordCounts):
        found = WordCounts(
            states.merge_table(checked_counts(counts.transitions, "counts", dimensions=2)),
            states.merge_first(checked_counts(counts.first, "the counts of first symbols")),
            checked_counts(counts.lengths, "the counts of lengths"),
        )
    elif counts is not None:
        return states.merge_table(checked_counts(counts, "counts", dimensions=2))
    else:
        return count_pairs([] if pairs is None else pairs, states, times)
    return found if cut is None else _with_all_lengths(found, cut)


def _listed(values: Iterable[int] | npt.NDArray[Any]) -> npt.ArrayLike:
    return values if isinstance(values, np.ndarray) else list(values)


def _with_all_lengths(found: WordCounts, cut: int) -> WordCounts:
    """Lengths that do not occur are possible, too: the shape of the release must not depend on the data."""
    if found.lengths[cut:].any():
        raise InvalidCountsError(f"some words have more than {cut} symbols: cut them before they are counted")
    lengths = np.zeros(cut, dtype=np.int64)
    lengths[: len(found.lengths)] = found.lengths[:cut]
    return replace(found, lengths=lengths)


def _support_table(support: npt.ArrayLike | MarkovChain | None, states: States) -> BoolArray:
    """[i, j]: can state j follow state i? Everything can, where no support is given."""
    if not isinstance(support, MarkovChain):
        return checked_support(support, (len(states.merged),) * 2, "support")
    position = {symbol: i for i, symbol in enumerate(support.symbols)}
    for state in states.merged:
        if state not in position:
            raise InvalidParameterError(f"support: the chain does not have the state {state!r}")
    order = [position[state] for state in states.merged]
    inside: BoolArray = (support.matrix[order][:, order] > 0).toarray()
    return inside
