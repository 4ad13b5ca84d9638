"""How long drawing a word takes, and how much memory: estimates from public sizes.

Every mechanism that keeps the length n of a word draws it in time ∝ n · (something of the system): a step for each
symbol, and where the whole word is looked at, a message along each edge of the system. The constants below were
measured by `python benchmarks/effort.py`: processor time of large batches of different words, free alphabets of 3 and
20 symbols, rings of 40 to 400 streets with 3 to 20 ways on, 8 to 100 symbols, ε = 2 and 5. There the estimates are
right within a factor of 3. Another machine, or one that is busy, shifts all of them.
"""

from __future__ import annotations

from pathveil.systems.compiled import CompiledSystem

_FREE_SYMBOL = {"certified": 15e-9, "exponential": 15e-9, "online": 15e-9, "permute-and-flip": 35e-9}
"""Seconds for each symbol of a word over a free alphabet. (By class, beyond 64 symbols, permute-and-flip takes twice as
long, below that half.)"""

_SYMBOL = {"certified": 50e-9, "exponential": 50e-9, "online": 45e-9, "permute-and-flip": 100e-9}
"""Seconds for each symbol of a word on any other system,"""

_SYMBOL_AND_EDGE = {"certified": 0.4e-9, "exponential": 0.4e-9, "online": 0.0, "permute-and-flip": 0.4e-9}
"""and for each symbol and each edge of the system."""

_WORDS_SIDE_BY_SIDE = 16
_BYTES = 8  # a message
_BLOCK = 4 << 20  # bytes: keystream and results of one block of words


def seconds_for_a_word(name: str, compiled: CompiledSystem, length: int) -> float:
    """Processor time to draw one word of a large batch: without its certificate, reading, checking and writing.

    A word that is drawn alone takes longer, about a tenth of a millisecond at least.
    """
    if compiled.is_free:
        return length * _FREE_SYMBOL[name]
    return length * (_SYMBOL[name] + compiled.edge_count * _SYMBOL_AND_EDGE[name])


def memory_for_a_batch(name: str, compiled: CompiledSystem, length: int) -> int:
    """Bytes that each processor needs while it draws, besides the words and what the library takes anyway.

    Messages for each position and state, for sixteen words side by side. That is right within a third up to 256 MB.
    Systems and words for which it would be more are drawn in another, slower way, which can need many times as much.
    """
    if compiled.is_free or name == "online":
        return _BLOCK
    return _BLOCK + length * compiled.state_count * _WORDS_SIDE_BY_SIDE * _BYTES
