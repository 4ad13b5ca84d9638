"""How long drawing a word takes, and how much memory: estimates from public sizes.

Every mechanism that keeps the length n of a word draws it in time ∝ n · (something of the system): a step for each
symbol, and where the whole word is looked at, a message along each edge of the system. The constants below were
measured by `python benchmarks/effort.py`: processor time of large batches of different words, free alphabets of 3 and
20 symbols, rings of 40 to 400 streets with 3 to 20 ways on, 8 to 100 symbols, ε = 2 and 5. There the estimates are
right within a factor of 2, but for short words on small chains at ε = 5, which take down to a quarter. Another machine,
or one that is busy, shifts all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import isqrt

from pathveil.randomness.blocks import processors
from pathveil.randomness.source import insecure_seed
from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import System
from pathveil.words.base import WordMechanism
from pathveil.words.classes import LONGEST_LAW
from pathveil.words.edit import EditEfforts, LengthRange, checked_cap, checked_range
from pathveil.words.laws import classes_are_cheap
from pathveil.words.tilted import flip_reach, lane_messages, local_edges, local_reach

_TILTED = ("certified", "exponential")

_FREE_SYMBOL = {"certified": 7e-9, "exponential": 7e-9, "online": 7e-9, "permute-and-flip": 12e-9}
"""Seconds for each symbol of a word over a free alphabet."""

_FREE_SYMBOL_WITHOUT_LAW = 75e-9
"""The same for permute-and-flip on words that are too long for the law of their errors."""

_SYMBOL = {"certified": 30e-9, "exponential": 30e-9, "online": 30e-9, "permute-and-flip": 70e-9}
"""Seconds for each symbol of a word on any other system,"""

_SYMBOL_AND_EDGE = {"certified": 0.3e-9, "exponential": 0.3e-9, "online": 0.0, "permute-and-flip": 0.3e-9}
"""and for each symbol and each edge of the system."""

_LAW = {True: 2e-8, False: 4e-8}
"""Seconds for the law of a word's errors: for each pair of symbols on a free alphabet; otherwise for each edge, too."""

_MEAN = 4e-9
"""Seconds for the expected errors of a word without its law, where classes are dear: for each symbol and edge."""

_LOCAL_EDGE = 0.25e-9
"""Seconds for a symbol that is drawn by local work, for each of the edges that could be passed over meanwhile. For the
first words on a large map, whose surroundings are not known yet, several times as much."""

_FLIP = 4
"""How many times that permute-and-flip takes: some proposals, and sums at several tilts."""

_PASS = 50e-6, 8e-9
"""Seconds for each symbol of a word that is too large to be drawn with others, and for each symbol and edge."""

_COUNTS = 1 << 28  # bytes: walks around the states of words, for all processors together
_PASS_TABLE = 1 << 27  # bytes
_WORDS_SIDE_BY_SIDE = 16
_BYTES = 8  # a message
_BLOCK = 4 << 20  # bytes: keystream and results of one block of words

_LONG = 10.0
"""Seconds of work that nobody should have to wait for without knowing."""
_QUICK = 0.01
"""Seconds a word, with a cap that is proposed in its place."""


def seconds_for_a_word(name: str, compiled: CompiledSystem, length: int, theta: float | None = None) -> float:
    """Processor time to draw one word of a large batch: without its certificate, reading, checking and writing.

    A word that is drawn alone takes longer, about a tenth of a millisecond at least. At the tilt `theta` words on a
    large map may be drawn by local work, at a cost that does not depend on the map.
    """
    if compiled.is_free:
        without_law = name == "permute-and-flip" and length > LONGEST_LAW
        return length * (_FREE_SYMBOL_WITHOUT_LAW if without_law else _FREE_SYMBOL[name])
    reach = _reach(name, compiled, length, theta)
    if reach is not None:
        return length * local_edges(compiled, reach) * _LOCAL_EDGE * (1 if name in _TILTED else _FLIP)
    held = lane_messages(compiled, length) if name in _TILTED else length
    if held is None:
        return length * (_PASS[0] + compiled.edge_count * _PASS[1])
    passes = 1 if held == length else 2
    return length * (_SYMBOL[name] + passes * compiled.edge_count * _SYMBOL_AND_EDGE[name])


def seconds_for_words(mechanism: WordMechanism, name: str, lengths: Mapping[int, int]) -> float:
    """Time to draw so many words of each length, on all processors of this machine, without their certificates."""
    compiled = mechanism.world.compiled
    seconds = (count * seconds_for_a_word(name, compiled, n, mechanism.theta(n)) for n, count in lengths.items())
    return sum(seconds) / processors()


def _reach(name: str, compiled: CompiledSystem, length: int, theta: float | None) -> int | None:
    """How far excursions are looked at, if words are drawn by local work."""
    if theta is None or name == "online":
        return None
    return local_reach(compiled, length, theta) if name in _TILTED else flip_reach(compiled, length, theta)


def memory_for_a_batch(name: str, compiled: CompiledSystem, length: int, theta: float | None = None) -> int:
    """Bytes that each processor needs while it draws, besides the words and what the library takes anyway.

    Messages for each position and state, for sixteen words side by side. That is right within a third up to 256 MB.
    Systems and words for which it would be more are drawn one by one, with messages for some positions at a time; at
    the tilt `theta` perhaps by local work, with counts of walks that all processors share.
    """
    if compiled.is_free or name == "online":
        return _BLOCK
    reach = _reach(name, compiled, length, theta)
    if reach is not None:
        return _BLOCK + _COUNTS + 2 * (reach + 2) * compiled.state_count * _BYTES
    held = lane_messages(compiled, length) if name in _TILTED else length
    if held is None:
        return _BLOCK + max(_PASS_TABLE, 2 * (isqrt(length) + 1) * compiled.state_count * _BYTES)
    return _BLOCK + held * compiled.state_count * _WORDS_SIDE_BY_SIDE * _BYTES


def seconds_for_a_law(compiled: CompiledSystem, length: int) -> float:
    """Processor time to find the expected errors of one word, without a certificate."""
    if not classes_are_cheap(compiled, length):
        return _MEAN * length * compiled.edge_count
    return _LAW[compiled.is_free] * length * length * (1 if compiled.is_free else compiled.edge_count)


@lru_cache(maxsize=16)
def edit_efforts(world: System, lengths: tuple[int, int | None], length: int | None = None) -> EditEfforts:
    """What a private word takes whose length is private too, by the cap: for words of this length, or the longest.

    Counted for a word of the public system, always the same.
    """
    lo, hi = checked_range(world, lengths)
    longest = next((n for n in range(hi, lo - 1, -1) if world.count(n)), None) if length is None else length
    if longest is None:
        world.require_words(hi)  # an error
    codes = world.encode(world.random_word(longest or hi, insecure_seed(0)))
    return EditEfforts(LengthRange(world.compiled, lo, hi), codes)


def edit_warning(world: System, lengths: tuple[int, int | None], cap: int | None, words: int) -> str | None:
    """What to say before so many different words are looked at, if that takes long; None if it does not.

    From public quantities: the system, the lengths and the cap.
    """
    lo, hi = checked_range(world, lengths)
    efforts = edit_efforts(world, (lo, hi))
    effort = efforts.at(checked_cap(cap, hi))
    at_once = min(processors(), max(words, 1))
    total = effort.seconds * words / at_once
    if total <= _LONG:
        return None
    size = f"{effort.memory / 1e6:,.0f} MB" if effort.memory < 1e12 else "more than 1 TB"
    said = f"this will take up to about {_duration(total)} for {words:,} different words: "
    said += f"{_duration(effort.seconds)} and {size} for each of the greatest length"
    quick = efforts.largest_cap(_QUICK)
    if quick is not None and quick < effort.cap:
        proposed = efforts.at(quick)
        total = proposed.seconds * words / at_once
        said += f"; `cap={quick}` would take about {_duration(total)}, {_duration(proposed.seconds)} a word"
    return said


def _duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    if seconds > 365 * 86_400.0:
        return "more than a year"
    for unit, size in (("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} s"
