"""Lists of words to arrays of symbol codes and back, without a look at each symbol in Python.

A batch is one array of codes and the offsets of the words in it. The loops are those of the interpreter itself: one
call looks up thousands of symbols, and a text stands for a batch, with one letter for each symbol.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, islice, pairwise
from operator import itemgetter
from typing import Any

import numpy as np

from pathveil.numerics.arrays import AnyIntArray, IntArray

_LETTERS = 0x110000  # of Unicode, which is more than there are symbols in most systems
_WORDS = 1 << 10  # at a time, so that what is made of them stays in the cache
_TEXT = "utf-32-le", "surrogatepass"  # four bytes a letter, and any letter


class ManyWords:
    """Both ways between words and codes, for one system."""

    def __init__(self, codes: dict[Any, int], *, spells_strings: bool) -> None:
        """`spells_strings`: every symbol is a single character."""
        self._codes, self._spells_strings = codes, spells_strings

    def encode(self, words: Sequence[Any]) -> tuple[IntArray, IntArray] | None:
        """The codes of all words in one array, and their offsets; None if a symbol is unknown or a word empty."""
        kinds = set(map(type, words))
        if not all(issubclass(kind, str | list | tuple) for kind in kinds):
            return None
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        if not lengths.all():
            return None
        offsets = np.zeros(len(words) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        try:
            if kinds == {str} and self._spells_strings:
                return self._codes_of_text("".join(words)), offsets
            if len(self._codes) > min(offsets[-1], _LETTERS):
                symbols = chain.from_iterable(words)
                return np.fromiter(map(self._codes.__getitem__, symbols), np.int64, int(offsets[-1])), offsets
            found = [self._looked_up(words[k : k + _WORDS]) for k in range(0, len(words), _WORDS)]
            return np.concatenate(found), offsets
        except (KeyError, TypeError):
            return None

    def _looked_up(self, words: Sequence[Any]) -> IntArray:
        """The codes of these words: every symbol becomes the letter with the number of its code."""
        symbols: list[Any] = []
        deque(map(symbols.extend, words), maxlen=0)
        text = "".join(itemgetter(*symbols)(self._letters))
        return np.frombuffer(text.encode(*_TEXT), dtype="<u4").astype(np.int64)

    def _codes_of_text(self, text: str) -> IntArray:
        """The codes of letters, by a table of all letters up to the last symbol; a KeyError for any other."""
        table = np.full(int(self._letter_numbers.max()) + 2, -1)
        table[self._letter_numbers] = np.arange(len(self._letter_numbers))
        given = np.frombuffer(text.encode(*_TEXT), dtype="<u4")
        codes: IntArray = table[np.minimum(given, len(table) - 1)]
        if (codes < 0).any():
            raise KeyError
        return codes

    def decode(self, codes: IntArray, offsets: AnyIntArray, like: Sequence[Any]) -> list[Any]:
        """The words with these codes: a string where the word in `like` is one and all symbols are characters."""
        lengths = np.diff(offsets)
        equal = int(lengths[0]) if len(lengths) and lengths.min() == lengths.max() else 0
        kinds = set(map(type, like))
        spelled = self._spells_strings and any(issubclass(kind, str) for kind in kinds)
        if spelled and all(issubclass(kind, str) for kind in kinds):
            letters = self._letter_numbers[codes]
            if equal and self._letter_numbers.all():  # numpy would drop letters with number 0 at the end of a string
                return letters.view(f"<U{equal}").tolist()  # type: ignore[no-any-return]
            text = letters.tobytes().decode(*_TEXT)
            return [text[begin:end] for begin, end in pairwise(offsets.tolist())]
        words = self._tuples(codes, offsets, equal)
        if spelled:
            return ["".join(word) if isinstance(one, str) else word for word, one in zip(words, like, strict=True)]
        return words

    def _tuples(self, codes: IntArray, offsets: AnyIntArray, equal: int) -> list[Any]:
        """The words as tuples of symbols; `equal` is the length of all of them, or 0."""
        words: list[Any] = []
        collects = gc.isenabled()
        gc.disable()  # to look for garbage among thousands of new tuples, none of which is any, takes half of the time
        try:
            for first in range(0, len(offsets) - 1, _WORDS):
                bounds = offsets[first : first + _WORDS + 1]
                symbols = iter(self._symbols.take(codes[bounds[0] : bounds[-1]]).tolist())
                if equal:
                    words.extend(zip(*[symbols] * equal, strict=True))
                else:
                    words.extend(tuple(islice(symbols, length)) for length in np.diff(bounds).tolist())
        finally:
            if collects:
                gc.enable()
        return words

    @cached_property
    def _letters(self) -> dict[Any, str]:
        return {symbol: chr(code) for symbol, code in self._codes.items()}

    @cached_property
    def _letter_numbers(self) -> Any:
        return np.array([ord(symbol) for symbol in self._codes], dtype="<u4")

    @cached_property
    def _symbols(self) -> Any:
        array = np.empty(len(self._codes), dtype=object)
        for code, symbol in enumerate(self._codes):  # a tuple would be taken for several of them
            array[code] = symbol
        return array
