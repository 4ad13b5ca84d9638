"""Raw words become codes; words that cannot be released are found, explained, and refused or left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pathveil.data.formats import RawWords
from pathveil.data.sources import DataFile
from pathveil.data.symbols import Codes, SymbolTable, holds_symbols
from pathveil.errors import (
    DataFileError,
    EmptyWordError,
    InfeasibleWordError,
    InvalidParameterError,
    LengthMismatchError,
    NoFeasibleWordError,
    PathVeilError,
    UnknownSymbolError,
)
from pathveil.numerics.arrays import AnyIntArray
from pathveil.systems.system import System
from pathveil.words.base import WordMechanism
from pathveil.words.edit import require_length

OnBadRow = Literal["fail", "skip"]
SKIP_BAD_ROWS = 'skip bad rows (`on_bad_row="skip"`)'

_EXAMPLES = 10
_REASONS: dict[type[PathVeilError], str] = {
    InfeasibleWordError: "the public system could not have produced this word",
    NoFeasibleWordError: "the public system has no word of this length",
}


@dataclass
class Skipped:
    """What was left out and why: for the curator."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, count: int, example: str) -> None:
        self.count += count
        if len(self.examples) < _EXAMPLES:
            self.examples.append(example)


class Checker:
    """Encodes words over a system and keeps those that a mechanism for it accepts.

    `accept_infeasible` lets words through that the system could not have produced, as long as it has some word of
    their length. With `lengths` only words of lo to hi symbols are accepted.
    """

    def __init__(
        self,
        world: System,
        on_bad_row: OnBadRow,
        accept_infeasible: bool = False,
        lengths: tuple[int, int] | None = None,
    ) -> None:
        if on_bad_row not in ("fail", "skip"):
            raise InvalidParameterError(f"`on_bad_row` is 'fail' or 'skip', not {on_bad_row!r}")
        self.world, self.symbols = world, SymbolTable(world.symbols)
        self.skipped = Skipped()
        self.words_tied = 0  # words with symbols whose order is that of the file
        self._skips, self._accept_infeasible = on_bad_row == "skip", accept_infeasible
        self._range = lengths
        self._lengths: dict[int, bool] = {}

    def checked(self, batches: Iterable[RawWords]) -> Iterator[pa.RecordBatch]:
        """Batches with the columns `word` (lists of codes), then the user if there is one, then kept columns, then how
        often each word counts, if the input says so.
        """
        for raw in batches:
            if not len(raw.words):
                continue
            self.words_tied += raw.tied
            codes, offsets = self._encode(raw)
            bad = np.flatnonzero(self._bad_rows(raw, codes, offsets))
            if len(bad):
                problem = self._problem(raw, codes, offsets, int(bad[0]))
                if not self._skips:
                    raise problem
                self.skipped.add(len(bad), str(problem))
            words = pa.ListArray.from_arrays(pa.array(offsets), pa.array(codes))
            users = [] if raw.user is None else [raw.user]
            times = [] if raw.times is None else [raw.times]
            arrays = [words, *users, *raw.kept, *times]
            batch = pa.RecordBatch.from_arrays(arrays, names=[f"{i}" for i in range(len(arrays))])
            if len(bad):
                batch = batch.take(pa.array(np.delete(np.arange(len(words)), bad)))
            if batch.num_rows:
                yield batch

    def _encode(self, raw: RawWords) -> tuple[Codes, AnyIntArray]:
        """All codes in one array, and the offsets; a null word has none."""
        words = raw.words
        kind = words.type
        if not holds_symbols(kind.value_type):
            raise _bad_row(
                DataFileError,
                raw,
                0,
                None,
                "symbols are texts or whole numbers",
                told=f"symbols are texts or whole numbers, not {kind.value_type}. Convert the column.",
            )
        return self.symbols.encode(words.flatten()), _offsets(words)  # flatten leaves out what nulls may hide

    def _bad_rows(self, raw: RawWords, codes: Codes, offsets: AnyIntArray) -> npt.NDArray[np.bool_]:
        bad: npt.NDArray[np.bool_] = offsets[1:] == offsets[:-1]
        bad[list(raw.spoiled)] = True
        if codes.max(initial=0) >= self.symbols.unknown:
            wrong = np.flatnonzero(codes >= self.symbols.unknown)
            bad[np.searchsorted(offsets, wrong, side="right") - 1] = True
        if raw.user is not None:
            bad |= raw.user.is_null().to_numpy(zero_copy_only=False)
        if self._range is not None:
            lengths = np.diff(offsets)
            bad |= (lengths < self._range[0]) | (lengths > self._range[1])
        if self.world.compiled.is_free:
            return bad
        if self._accept_infeasible:
            lengths = np.diff(offsets)
            for length in np.unique(lengths[~bad]).tolist():
                bad[(lengths == length) & ~bad] = not self._has_words(length)
            return bad
        if bad.any():
            codes = np.where(codes < self.symbols.unknown, codes, 0)  # words with unknown symbols are bad already
        bad |= ~self.world.compiled.feasible_words(codes, offsets)
        return bad

    def _has_words(self, length: int) -> bool:
        if self._range is not None:  # the private word may have another length
            return True
        if length not in self._lengths:
            try:
                self.world.require_words(length)
                self._lengths[length] = True
            except NoFeasibleWordError:
                self._lengths[length] = False
        return self._lengths[length]

    def _problem(self, raw: RawWords, codes: Codes, offsets: AnyIntArray, i: int) -> PathVeilError:
        """Why word i cannot be released."""
        word = codes[offsets[i] : offsets[i + 1]]
        if i in raw.spoiled:
            return _bad_row(DataFileError, raw, i, None, raw.spoiled[i])
        if not len(word):
            return _bad_row(EmptyWordError, raw, i, None, "the word is empty or missing")
        for position in map(int, np.flatnonzero(word >= self.symbols.unknown)):
            if word[position] == self.symbols.missing:
                return _bad_row(DataFileError, raw, i, position, "the symbol is missing")
            symbol = raw.words[i].values[position].as_py()
            told = (
                f"unknown symbol {str(symbol)!r}. Correct the file, {SKIP_BAD_ROWS}, or give a public system that has "
                f"this symbol (this one has {len(self.symbols.names)}, the first is {self.symbols.names[0]!r})."
            )
            return _bad_row(
                UnknownSymbolError, raw, i, position, "the symbol is not one of the public system's", told=told
            )
        if raw.user is not None and not raw.user[i].is_valid:
            return _bad_row(DataFileError, raw, i, None, "the user is missing")
        try:
            if self._range is not None:
                require_length(len(word), self._range)
            if self._accept_infeasible:
                self.world.require_words(len(word))
            else:
                self.world.require_feasible(word.astype(np.int64))
        except PathVeilError as problem:
            return _bad_row(type(problem), raw, i, None, self._reason(problem), told=str(problem))
        raise AssertionError("a word is only explained if something is wrong with it")

    def _reason(self, problem: PathVeilError) -> str:
        """What is wrong with a word, without saying anything of the word."""
        if self._range is not None and isinstance(problem, LengthMismatchError):
            lo, hi = self._range
            return f"the word is shorter or longer than the {lo} to {hi} symbols that are promised"
        return _REASONS.get(type(problem), "the mechanism cannot take this word")


def checker_for(mechanism: WordMechanism, on_bad_row: OnBadRow) -> Checker:
    """What finds the words that this mechanism would refuse."""
    accepts_infeasible = mechanism.on_infeasible == "nearest"
    return Checker(mechanism.world, on_bad_row, accepts_infeasible, mechanism.accepted_lengths)


def no_word_to_release(files: Sequence[DataFile], checker: Checker) -> DataFileError:
    """The error for an input of which nothing is left to release."""
    skipped = checker.skipped
    why = f"; {skipped.count} were skipped, e.g. {skipped.examples[0]}" if skipped.count else ""
    none = f"{files[0].name}: there is no word to release"
    return DataFileError(none + why, without_content=none)


def _bad_row(
    kind: type[PathVeilError], raw: RawWords, i: int, position: int | None, reason: str, told: str | None = None
) -> PathVeilError:
    """An error for a word, or a symbol in it. `reason` says nothing of what stands there; `told` may quote it."""
    told = told or f"{reason}. Correct the file, or {SKIP_BAD_ROWS}."
    bare = (raw.bare_place or raw.place)(i, position)
    return kind(
        f"{raw.place(i, position)}: {told}", without_content=f"{bare}: {reason}. Correct the data, or {SKIP_BAD_ROWS}."
    )


def _offsets(words: pa.ListArray) -> AnyIntArray:
    """Where each word begins, and where the last one ends, in the array of all symbols; null words are empty."""
    if pa.types.is_list(words.type) and not words.null_count:
        marks = words.offsets.to_numpy()
        return np.asarray(marks - marks[0])
    offsets = np.zeros(len(words) + 1, np.int32)
    np.cumsum(pc.list_value_length(words).fill_null(0).to_numpy(), out=offsets[1:])
    return offsets
