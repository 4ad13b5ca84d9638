"""What every public system can do: encode words, say whether they are feasible, count and draw them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence, Set
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from pathveil.errors import (
    EmptyWordError,
    InfeasibleWordError,
    InvalidParameterError,
    InvalidSystemError,
    NoFeasibleWordError,
    UnknownSymbolError,
)
from pathveil.markup import card, name_of
from pathveil.numerics.arrays import AnyIntArray, IntArray
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.many_words import ManyWords
from pathveil.systems.uniform_words import count_words, draw_uniformly

if TYPE_CHECKING:
    import networkx

# A public system must not be mended to fit the sensitive words: the mending would be released with it.
_NOT_FROM_DATA = "if it is wrong for reasons that have nothing to do with the data"
_REMEDY = f"Correct the word, or pass on_infeasible='nearest' to the mechanism, or correct the system {_NOT_FROM_DATA}."

Symbol = Hashable
Word = str | Sequence[Symbol]


class System(ABC):
    """A public set of words. Subclasses say which; everything here works on the compiled form.

    `symbols` fixes the integer codes: symbol i has code i.
    """

    symbols: tuple[Symbol, ...]

    @abstractmethod
    def _compile(self) -> CompiledSystem: ...

    @abstractmethod
    def to_networkx(self) -> networkx.MultiDiGraph[Any]:
        """The system as a networkx graph, for drawing and for other people's algorithms."""

    @property
    @abstractmethod
    def state_names(self) -> tuple[Hashable, ...]:
        """What each state of the compiled form stands for, in the caller's own terms."""

    @cached_property
    def compiled(self) -> CompiledSystem:
        """The integer arrays that every algorithm reads."""
        return self._compile()

    @cached_property
    def _codes(self) -> dict[Symbol, int]:
        return {symbol: code for code, symbol in enumerate(self.symbols)}

    @cached_property
    def _spells_strings(self) -> bool:
        """Words can be written as a string when every symbol is a single character."""
        return all(isinstance(symbol, str) and len(symbol) == 1 for symbol in self.symbols)

    def _repr_html_(self) -> str:
        facts = [("symbols", f"{len(self.symbols):,}: {_some(map(name_of, self.symbols))}")]
        if not self.compiled.is_free:
            facts.append(("states, transitions", f"{self.compiled.state_count:,}, {self.compiled.edge_count:,}"))
        return card(repr(self), facts)

    def encode(self, word: Word) -> IntArray:
        """The symbol codes of a word; an error that names the position of the first unknown symbol."""
        if not isinstance(word, Collection) or isinstance(word, Set | Mapping):
            raise InvalidParameterError(f"a word is a string or a sequence of symbols, not {type(word).__name__}")
        codes = np.empty(len(word), dtype=np.int64)
        known = self._codes
        for position, symbol in enumerate(word):
            try:
                codes[position] = known[symbol]
            except (KeyError, TypeError):
                hint = (
                    "A string is read letter by letter, but these symbols are longer: give the word as a list."
                    if isinstance(word, str) and not self._spells_strings
                    else f"Correct the word, or the system {_NOT_FROM_DATA}."
                )
                raise UnknownSymbolError(
                    f"unknown symbol {symbol!r} at position {position + 1} of {len(word)}: "
                    f"the system has {len(self.symbols)} symbols ({_some(self.symbols)}). {hint}"
                ) from None
        if not len(codes):
            raise EmptyWordError("the word is empty: a word needs at least one symbol")
        return codes

    def decode(self, codes: Iterable[int], *, as_string: bool = False) -> Word:
        """The word with these codes: a tuple of symbols, or a string where every symbol is one character."""
        symbols = self.symbols
        word = tuple(symbols[code] for code in codes)
        return "".join(map(str, word)) if as_string and self._spells_strings else word

    def encode_many(self, words: Sequence[Word]) -> tuple[IntArray, IntArray] | None:
        """The codes of all words in one array, and the offsets of the words in it; None if there is anything odd.

        Then `encode` of each word tells what: an unknown symbol, an empty word, or no word at all.
        """
        return self._many_words.encode(words)

    def decode_many(self, codes: IntArray, offsets: AnyIntArray, like: Sequence[Word]) -> list[Word]:
        """The words with these codes, each as `decode` would return it: a string where the word in `like` is one."""
        return self._many_words.decode(codes, offsets, like)

    @cached_property
    def _many_words(self) -> ManyWords:
        return ManyWords(self._codes, spells_strings=self._spells_strings)

    def is_feasible(self, word: Word) -> bool:
        """Could the system have produced this word? Unknown symbols and the empty word make it infeasible."""
        try:
            self.require_feasible(self.encode(word))
        except (UnknownSymbolError, EmptyWordError, InfeasibleWordError):
            return False
        return True

    def require_feasible(self, codes: IntArray) -> None:
        """Raise an error that names the first position and transition that the system does not allow."""
        compiled = self.compiled
        path = compiled.path(codes.tolist())
        if len(path) <= len(codes):
            position = len(path) - 1
            found = self.symbols[codes[position]]
            cause = (
                f"the word cannot begin with {found!r}"
                if position == 0
                else f"{found!r} cannot follow {self.symbols[codes[position - 1]]!r} there"
            )
            raise InfeasibleWordError(f"infeasible word: {cause} (position {position + 1} of {len(codes)}). {_REMEDY}")
        if not compiled.accepting[path[-1]]:
            raise InfeasibleWordError(
                f"infeasible word: it cannot end with {self.symbols[codes[-1]]!r} (position {len(codes)} of "
                f"{len(codes)}). {_REMEDY}"
            )

    def count(self, length: int) -> int:
        """The exact number of feasible words of this length."""
        length = checked_length(length)
        if self.compiled.is_free:
            return int(len(self.symbols) ** length)
        return count_words(self.compiled, length)

    def require_words(self, length: int) -> None:
        """Raise an error unless there is a feasible word of this length."""
        compiled = self.compiled
        if not compiled.is_free and not compiled.has_words(length):
            raise NoFeasibleWordError(
                f"the system has no feasible word of length {length}: every path of that length runs into a dead "
                "end or ends in a state that is not accepting. Check the edges, the first and the last symbols."
            )

    def random_word(self, length: int, rng: RandomSource | None = None) -> Word:
        """A feasible word of this length, each with the same probability (exactly)."""
        return self.random_words(length, 1, rng)[0]

    def random_words(self, length: int, count: int, rng: RandomSource | None = None) -> list[Word]:
        """So many words like that, independent of each other: on a large system much faster than one by one."""
        source = checked_source(rng)
        length = checked_length(length)
        self.require_words(length)
        drawn = draw_uniformly(self.compiled, length, count, source)
        return [self.decode(codes, as_string=self._spells_strings) for codes in drawn]

    def neighbour_positions(self, word: Word) -> list[int]:
        """Positions (from 1) where some other symbol alone would leave a feasible word feasible.

        At the other positions the public system already gives the symbol away to someone who knows all the rest
        of the word. The answer is about one sensitive word: it is for the curator, not for release.
        """
        codes = self.encode(word)
        self.require_feasible(codes)
        compiled = self.compiled
        path = compiled.path(codes.tolist())
        positions = []
        # From the back: the states at position i from which the rest of the word, as it is, gets accepted.
        accepted = compiled.accepting.copy()
        for i in range(len(codes) - 1, -1, -1):
            if any(accepted[to] for label, to in compiled.moves[path[i]].items() if label != codes[i]):
                positions.append(i + 1)
            sources, targets = compiled.edges_with_label(int(codes[i]))
            before = np.zeros_like(accepted)
            before[sources] = accepted[targets]
            accepted = before
        return positions[::-1]


def checked_length(length: int) -> int:
    """A word length as a plain int, or an error."""
    try:
        valid = length == int(length) and int(length) >= 1 and not isinstance(length, bool)
    except (TypeError, ValueError, OverflowError):
        valid = False
    if not valid:
        raise InvalidParameterError(f"a word length is a whole number of at least 1, not {length!r}")
    return int(length)


def unique_symbols(symbols: Iterable[Symbol], what: str = "symbols") -> tuple[Symbol, ...]:
    """The symbols as a tuple; an error if there is none or one stands twice."""
    try:
        listed = tuple(symbols)
    except TypeError:
        raise InvalidSystemError(f"{what}: {symbols!r} is not a collection") from None
    if not listed:
        raise InvalidSystemError(f"no {what}: a system needs at least one")
    seen: set[Symbol] = set()
    for position, symbol in enumerate(listed):
        try:
            repeated = symbol in seen
            seen.add(symbol)
        except TypeError:
            raise InvalidSystemError(
                f"{what}: {symbol!r} (number {position + 1}) is not hashable; use strings, numbers or tuples"
            ) from None
        if repeated:
            raise InvalidSystemError(f"{what}: {symbol!r} stands twice (again as number {position + 1})")
    return listed


def in_natural_order(symbols: Iterable[Symbol]) -> tuple[Symbol, ...]:
    """Distinct symbols sorted where they can be compared, otherwise by first appearance."""
    distinct = dict.fromkeys(symbols)
    try:
        return tuple(sorted(distinct))  # type: ignore[type-var]
    except TypeError:
        return tuple(distinct)


def numbered(names: Sequence[Symbol], what: str) -> tuple[tuple[Symbol, ...], IntArray]:
    """The distinct names in natural order, and for each name given its number in that order."""
    first: defaultdict[Symbol, int] = defaultdict(count().__next__)  # by first appearance
    try:
        found = np.fromiter(map(first.__getitem__, names), np.int64, len(names))
    except TypeError:
        odd = next(name for name in names if not _is_hashable(name))
        raise InvalidSystemError(f"{what}: {odd!r} is not hashable; use strings, numbers or tuples") from None
    ordered = in_natural_order(first)
    number = np.empty(len(ordered), dtype=np.int64)
    number[[first[name] for name in ordered]] = np.arange(len(ordered))
    return ordered, number[found]


def as_set(chosen: Any, states: Iterable[Symbol], what: str) -> frozenset[Symbol]:
    """One state, or a collection of states, as a set of known states."""
    listed = tuple(states)
    known = set(listed)
    if _is_member(chosen, known):
        return frozenset([chosen])
    if isinstance(chosen, str) or not isinstance(chosen, Iterable):
        raise InvalidSystemError(f"{what}: {chosen!r} is not one of the states ({_some(listed)})")
    members = list(chosen)
    for member in members:
        if not _is_member(member, known):
            raise InvalidSystemError(f"{what}: {member!r} is not one of the states ({_some(listed)})")
    if not members:
        raise InvalidSystemError(f"{what}: the set is empty, so no word would be feasible")
    return frozenset(members)


def _is_hashable(candidate: Any) -> bool:
    try:
        hash(candidate)
    except TypeError:  # a tuple only knows when it is asked
        return False
    return True


def _is_member(candidate: Any, known: set[Symbol]) -> bool:
    try:
        return candidate in known
    except TypeError:
        return False


def _some(items: Iterable[Any], limit: int = 6) -> str:
    listed = list(items)
    shown = ", ".join(repr(item) for item in listed[:limit])
    return shown + (", ..." if len(listed) > limit else "")
