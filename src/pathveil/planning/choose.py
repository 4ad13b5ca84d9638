"""Choosing a mechanism without looking at the data: `pv.best_mechanism`, and what `pathveil privatize` takes.

The rule is the same wherever a winner is shown (`error_curves.fewest`): the fewest expected errors, and of several that
differ by rounding only, the first. What is compared here:

- certified, the default, whose promise is about *feasible* words;
- permute-and-flip and online, whose promise is about *all* words of that length. Every pair of words that the certified
  mechanism protects is protected by them, too, at the same ε: whoever gets one of them instead loses nothing.

The exponential mechanism is left out. Its tilt is at most that of the certified one, which draws in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import fsum
from typing import TYPE_CHECKING

from pathveil.errors import DeadEndError, InvalidSystemError, TooLargeError
from pathveil.planning.distances import Measured, public_distances
from pathveil.planning.effort import seconds_for_a_law
from pathveil.planning.error_curves import fewest
from pathveil.planning.forecast import CANNOT_BE_USED
from pathveil.planning.lengths import LengthMix, Lengths, length_mix, most_lengths
from pathveil.planning.public_words import MOST_WORDS, expected_errors
from pathveil.systems.symbol_distance import SymbolDistance
from pathveil.systems.system import System
from pathveil.words.base import WordMechanism
from pathveil.words.by_name import EDIT_MECHANISMS, MECHANISMS
from pathveil.words.distances import DistanceMechanism
from pathveil.words.edit import EditMechanism

if TYPE_CHECKING:
    from pathveil.words.base import OnInfeasible

_COMPARED = ("certified", "permute-and-flip", "online")
_FEW_WORDS = 3
_LARGEST_EDIT_TABLE = 1 << 22  # numbers, for one word: less than a second
_FREE_LENGTH = 300  # symbols: the share of wrong symbols over a free alphabet hardly depends on the length
_EDIT_LENGTHS = 3


@dataclass(frozen=True)
class Choice:
    """The mechanism that was taken, and the forecasts behind it: {name: share of the symbols that will be wrong}.

    `why_not` has those that could not be forecast. `looked_at` are the lengths that stand for all of `mix`.
    """

    name: str
    compared: Mapping[str, WordMechanism]
    shares: Mapping[str, float]
    why_not: Mapping[str, str]
    mix: LengthMix
    looked_at: Mapping[int, float]
    distances: Mapping[str, float] = field(default_factory=dict)
    """With distances between symbols, which then decide: {name: mean distance of a private symbol}."""

    @property
    def mechanism(self) -> WordMechanism:
        """The one that was taken."""
        return self.compared[self.name]

    @property
    def share(self) -> float | None:
        """The share of wrong symbols to expect (edits for each symbol, with edit distance); None if not known."""
        return self.shares.get(self.name)

    @property
    def others(self) -> dict[str, float]:
        """The forecasts of those that were not taken."""
        return {name: share for name, share in self.shares.items() if name != self.name}


def best_mechanism(
    world: System,
    length: Lengths,
    epsilon: float,
    adjacency: int = 1,
    *,
    distance: SymbolDistance | None = None,
    within: float | None = None,
) -> WordMechanism:
    """The mechanism with the fewest expected errors at this ε, decided from public quantities only.

    With a `distance` between symbols: the one with the smallest expected distance.

    `length` is one length, the shortest and the longest `(5, 40)`, or a declared distribution `{5: 100, 6: 250}`.

    The candidates are compared by their exact expected errors on feasible words drawn from the public system (always
    the same ones: their seed is fixed and says nothing about your data). `reason` on the result says what decided.

    >>> import pathveil as pv
    >>> pv.best_mechanism(pv.Alphabet("abc"), length=14, epsilon=5.0).reason
    'CertifiedExponential: 0.186 expected errors in 14 symbols; PermuteAndFlip 1.94'
    """
    mix = length_mix(world, length)
    measured = None if distance is None else Measured(distance, within)
    choice = choose(candidates(world, epsilon, adjacency, measured=measured), mix)
    best = choice.mechanism
    best.reason = _reason(choice)
    if not world.compiled.is_free:
        best.reason += " (CertifiedExponential promises among feasible words, the others among all of that length)"
    return best


def _reason(choice: Choice) -> str:
    def error(share: float | None) -> str:
        if share is None:
            return "unknown"
        return f"{share:.1%}" if choice.mix.only is None else f"{share * choice.mix.only:.3g}"

    what = f"expected errors in {choice.mix}" if choice.mix.only else f"of the symbols wrong in words of {choice.mix}"
    others = {**dict.fromkeys(choice.why_not), **choice.others}
    named = ", ".join(
        f"{MECHANISMS[name].__name__} {error(others[name])}"
        for name in _COMPARED
        if name in others.keys() - {choice.name}
    )
    decided = f"{type(choice.mechanism).__name__}: {error(choice.share)} {what}; {named}"
    if not choice.distances:
        return decided
    away = ", ".join(f"{MECHANISMS[name].__name__} {mean:.4g}" for name, mean in choice.distances.items())
    return f"{decided}. Decided by the mean distance of a symbol: {away}"


def candidates(
    world: System,
    epsilon: float,
    adjacency: int = 1,
    *,
    lengths: tuple[int, int] | None = None,
    cap: int | None = None,
    on_infeasible: OnInfeasible = "refuse",
    measured: Measured | None = None,
) -> dict[str, WordMechanism]:
    """The mechanisms that are compared, by their names; with `lengths` those for edit distance."""
    found: dict[str, WordMechanism] = {}
    for name in _COMPARED:
        if lengths is not None:
            if name in EDIT_MECHANISMS:
                kind = EDIT_MECHANISMS[name]
                found[name] = kind(world, epsilon, adjacency, lengths, cap, on_infeasible=on_infeasible)
        elif name != "online" or not world.compiled.is_free:  # there the online mechanism is the certified one
            with suppress(DeadEndError, InvalidSystemError):  # not every system can be streamed
                options = {} if measured is None else measured.options
                found[name] = MECHANISMS[name](world, epsilon, adjacency, on_infeasible=on_infeasible, **options)
    return found


def choose(
    compared: Mapping[str, WordMechanism],
    mix: LengthMix,
    *,
    seconds: float | None = None,
    progress: Callable[[int], None] | None = None,
) -> Choice:
    """The one with the fewest expected errors; the first where its errors, or those of all others, are not known.

    `seconds` bounds the work, by an estimate from public sizes: nothing depends on a clock. Fewer lengths and fewer
    words are looked at then, or none. Certificates come on top, as many as there are lengths that are looked at. With
    edit distance the size of each table is bounded in any case. `progress` is called with the number of forecasts that
    are done.
    """
    world = next(iter(compared.values())).world
    edits = any(isinstance(mechanism, EditMechanism) for mechanism in compared.values())
    words, why_not = MOST_WORDS, None
    if edits:
        looked_at: Mapping[int, float] = mix.represented(_EDIT_LENGTHS)
    elif seconds is None:
        looked_at = mix.represented(most_lengths(world))
    else:
        looked_at, words, why_not = _within(seconds, world, mix, len(compared))
    shares: dict[str, float] = {}
    distances: dict[str, float] = {}
    unknown: dict[str, str] = {}
    for done, (name, mechanism) in enumerate(compared.items(), start=1):
        try:
            if why_not is not None:
                raise TooLargeError(why_not)
            law = mechanism.error_law
            if isinstance(mechanism, EditMechanism):
                law = partial(mechanism.law_within, numbers=_LARGEST_EDIT_TABLE)
            shares[name] = fsum(
                share * expected_errors(mechanism, world, length, words, law) / length
                for length, share in looked_at.items()
            )
            if isinstance(mechanism, DistanceMechanism) and mechanism.distance is not None:
                distances[name] = fsum(
                    share * public_distances(mechanism, length, words).mean for length, share in looked_at.items()
                )
        except CANNOT_BE_USED as problem:
            unknown[name] = str(problem)
            shares.pop(name, None)
        if progress is not None:
            progress(done)
    first = next(iter(compared))
    best = fewest(distances or shares) if first in shares else None
    name = first if best is None else best
    return Choice(name, compared, shares, unknown, mix, looked_at, distances)


def _within(
    seconds: float, world: System, mix: LengthMix, mechanisms: int
) -> tuple[Mapping[int, float], int, str | None]:
    """The lengths and the number of words that can be looked at in this time; or why that is too short."""
    if world.compiled.is_free:
        mix = _shortened(mix)
    needed = 0.0
    for words in (MOST_WORDS, _FEW_WORDS):
        for most in range(most_lengths(world) if words == MOST_WORDS else 1, 0, -1):
            looked_at = mix.represented(most)
            laws = words * mechanisms
            needed = laws * sum(seconds_for_a_law(world.compiled, length) for length in looked_at)
            if needed <= seconds:
                return looked_at, words, None
    return looked_at, 0, f"a forecast would take about {needed:,.0f} s"


def _shortened(mix: LengthMix) -> LengthMix:
    """Long words over a free alphabet, as shorter ones of as many symbols."""
    words: dict[int, float] = {}
    for length, count in mix.words.items():
        short = min(length, _FREE_LENGTH)
        words[short] = words.get(short, 0.0) + count * length / short
    return LengthMix(words)
