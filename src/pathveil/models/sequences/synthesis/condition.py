"""How synthetic words shall begin and end, held against what is publicly possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pathveil.errors import InvalidParameterError, UnknownSymbolError
from pathveil.models.counting import States
from pathveil.models.sequences.contexts import Grammar
from pathveil.numerics.arrays import BoolArray, IntArray
from pathveil.systems.system import Symbol, Word

_MOST_STEPS = 10_000  # of a walk over what can follow what; longer words are tried, not proved possible


@dataclass(frozen=True, eq=False)
class Condition:
    """The codes that words begin with (any number of them, also none), and the code that they end with (or None)."""

    prefix: IntArray
    last: int | None
    told: str
    """What was asked for, for messages: "that begin with …"."""

    @property
    def is_empty(self) -> bool:
        """Is every word welcome?"""
        return not len(self.prefix) and self.last is None

    @classmethod
    def of(
        cls,
        states: tuple[Symbol, ...],
        grammar: Grammar,
        max_length: int,
        *,
        prefix: Word | None = None,
        first: Symbol | None = None,
        last: Symbol | None = None,
    ) -> Condition:
        """What the caller asks for; an error where no word that is publicly possible is like that."""
        if prefix is not None and first is not None:
            raise InvalidParameterError("`prefix` says already what words begin with: leave out `first`")
        begin = list(prefix) if prefix is not None else [] if first is None else [first]
        known = States(states, None)
        codes = np.array([_code(known, symbol, "prefix" if first is None else "first") for symbol in begin], dtype=int)
        ending = None if last is None else _code(known, last, "last")
        asked = [f"begin with {prefix if prefix is not None else first!r}"] if begin else []
        asked += [] if last is None else [f"end with {last!r}"]
        condition = cls(codes.astype(np.int64), ending, f"that {' and '.join(asked)}" if asked else "")
        condition._require_possible(states, grammar, max_length)
        return condition

    def _require_possible(self, states: tuple[Symbol, ...], grammar: Grammar, max_length: int) -> None:
        if len(self.prefix) > max_length:
            raise InvalidParameterError(
                f"`prefix` has {len(self.prefix)} symbols, but words of this model have at most {max_length}"
            )
        before = np.append(grammar.symbols, self.prefix[:-1]) if len(self.prefix) else self.prefix
        for i in np.flatnonzero(~grammar.allows(before, self.prefix)):
            what = "begin a word" if i == 0 else f"follow {states[before[i]]!r}"
            raise InvalidParameterError(
                f"no word can begin so: {states[self.prefix[i]]!r} cannot {what}, as the public support says"
            )
        if self.last is not None and not self._can_end(grammar, max_length):
            raise InvalidParameterError(
                f"there are no words {self.told}: the public support allows none of at most {max_length} symbols"
            )

    def _can_end(self, grammar: Grammar, max_length: int) -> bool:
        """Does the public support allow a word that begins so and ends so?"""
        last, end = self.last, grammar.symbols
        sources = np.repeat(np.arange(end + 1), grammar.widths)
        may_stop = bool(grammar.allows(np.array([last]), np.array([end]))[0])
        here: BoolArray = np.zeros(end + 1, dtype=bool)
        here[self.prefix[-1] if len(self.prefix) else end] = True
        length = len(self.prefix)
        while True:
            if length > 0 and here[last] and (may_stop or length == max_length):
                return True
            if length == max_length:
                return False
            following: BoolArray = np.zeros(end + 1, dtype=bool)
            following[grammar.following[here[sources]]] = True
            following[end] = False
            if np.array_equal(following, here):
                return bool(here[last])  # as it will be after any number of symbols
            if length - len(self.prefix) >= _MOST_STEPS:
                return True
            here, length = following, length + 1


def _code(states: States, symbol: Symbol, name: str) -> int:
    try:
        return states.code(symbol, f"`{name}`")
    except UnknownSymbolError:
        raise InvalidParameterError(f"`{name}`: {symbol!r} is not one of the {len(states.given)} states") from None
