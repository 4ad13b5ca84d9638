"""How long the words are that a forecast is about: one length, a range of them, or a declared distribution.

A forecast of one length can take seconds. So few lengths stand for many: those that are near each other share one, and
each counts by the symbols that stand in words of about its length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum, isfinite

from pathveil.errors import InvalidParameterError, NoFeasibleWordError
from pathveil.systems.system import System, checked_length

Lengths = int | tuple[int, int] | Mapping[int, float]
"""A length, the shortest and the longest (all in between are equally frequent), or {length: how many words}."""

MOST = 5
"""So many lengths at most stand for all others;"""

_MOST_FREE = 100
"""more of them on a free alphabet, where a forecast takes no time."""

_LONGEST_RANGE = 100_000


@dataclass(frozen=True)
class LengthMix:
    """{length: how many words, or any multiple of that}; every length has feasible words."""

    words: Mapping[int, float]

    @property
    def only(self) -> int | None:
        """The length of all words; None where there are several."""
        return next(iter(self.words)) if len(self.words) == 1 else None

    def __str__(self) -> str:
        lo, hi = min(self.words), max(self.words)
        return f"{lo} symbol{'s' * (lo > 1)}" if lo == hi else f"{lo} to {hi} symbols"

    def represented(self, most: int) -> dict[int, float]:
        """{length: share of all symbols}, for at most so many lengths, which stand for those near them."""
        whole = fsum(length * count for length, count in self.words.items())
        groups: dict[int, dict[int, float]] = {}
        before = 0.0
        for place, (length, count) in enumerate(sorted(self.words.items())):
            share = length * count / whole
            # Groups hold about equally many symbols each.
            group = place if len(self.words) <= most else min(int(most * (before + share / 2)), most - 1)
            groups.setdefault(group, {})[length] = share
            before += share
        return {_middle(group): fsum(group.values()) for group in groups.values()}

    def said(self, represented: Mapping[int, float]) -> str:
        """Which lengths stand for all."""
        if len(represented) == len(self.words):
            return f"Averaged over all {len(self.words)} lengths, by symbols." if len(self.words) > 1 else ""
        shown = [str(length) for length in represented]
        if len(shown) > MOST:
            return f"Averaged over {len(shown)} of {len(self.words)} lengths, which stand for the others."
        return f"Averaged by symbols: words of {', '.join(shown)} symbols stand for all {len(self.words)} lengths."


def most_lengths(world: System) -> int:
    """How many lengths a forecast on this system looks at."""
    return _MOST_FREE if world.compiled.is_free else MOST


def length_mix(world: System, lengths: Lengths) -> LengthMix:
    """The lengths, checked. Of a range those are left out that no feasible word has.

    Raises `NoFeasibleWordError` for another length that no feasible word has, or where none of a range is left.
    """
    if isinstance(lengths, Mapping):
        return LengthMix({_with_words(world, length): _checked_count(lengths[length]) for length in _sorted(lengths)})
    if not isinstance(lengths, tuple):
        return LengthMix({_with_words(world, lengths): 1.0})
    if len(lengths) != 2:
        raise InvalidParameterError(f"a range of lengths has a shortest and a longest one, not {lengths!r}")
    lo, hi = checked_length(lengths[0]), checked_length(lengths[1])
    if lo > hi or hi - lo >= _LONGEST_RANGE:
        raise InvalidParameterError(
            f"a range of lengths goes from the shortest to the longest, at most {_LONGEST_RANGE:,} of them, not {lo} "
            f"to {hi}"
        )
    compiled = world.compiled
    possible = range(lo, hi + 1) if compiled.is_free else [n for n in range(lo, hi + 1) if _has_words(world, n)]
    if not possible:
        raise NoFeasibleWordError(f"the system has no feasible word of {lo} to {hi} symbols")
    return LengthMix(dict.fromkeys(possible, 1.0))


def _sorted(lengths: Mapping[int, float]) -> list[int]:
    if not lengths:
        raise InvalidParameterError("no length was declared: give at least one")
    return sorted(lengths)


def _with_words(world: System, length: int) -> int:
    length = checked_length(length)
    world.require_words(length)
    return length


def _has_words(world: System, length: int) -> bool:
    try:
        world.require_words(length)
    except NoFeasibleWordError:
        return False
    return True


def _checked_count(count: float) -> float:
    if isinstance(count, bool) or not isinstance(count, int | float) or not (isfinite(count) and count > 0):
        raise InvalidParameterError(f"how many words have a length is a positive number, not {count!r}")
    return float(count)


def _middle(group: Mapping[int, float]) -> int:
    """The length in a group that is nearest to their mean."""
    mean = fsum(length * share for length, share in group.items()) / fsum(group.values())
    return min(group, key=lambda length: (abs(length - mean), length))
