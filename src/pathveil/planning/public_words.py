"""Feasible words of the public system that stand for all of them, and the errors of a mechanism on them.

Every forecast is an average over these words, exact for each of them. They are drawn from the public system with a seed
that is no secret, so a forecast is the same each time and says nothing about anybody's data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from pathveil.numerics.arrays import FloatArray
from pathveil.randomness.source import insecure_seed
from pathveil.systems.system import System, Word
from pathveil.words.base import ErrorLaw, LazyLaw, WordMechanism
from pathveil.words.edit import EditClasses, LengthRange

MOST_WORDS = 12
"""So many words stand for all."""


def public_words(world: System, length: int, count: int = MOST_WORDS) -> list[Word]:
    """Feasible words of this length; always the same. One will do on a free alphabet, where all words are alike."""
    compiled = world.compiled
    number = 1 if compiled.is_free else count
    drawn: list[Word] | None = compiled.kept.get(("public words", length, number))
    if drawn is None:
        drawn = compiled.kept["public words", length, number] = world.random_words(length, number, insecure_seed(0))
    return drawn


def words_looked_at(world: System) -> int:
    """How many words of each length there are at most."""
    return 1 if world.compiled.is_free else MOST_WORDS


@lru_cache(maxsize=64)
def public_edit_counts(world: System, lengths: tuple[int, int], cap: int, length: int) -> list[tuple[int, ...]]:
    """The sizes of the edit classes around each of these words: the same for every mechanism, ε and b."""
    words = LengthRange(world.compiled, *lengths)
    return [EditClasses(words, world.encode(word), cap).counts for word in public_words(world, length)]


def expected_errors(
    mechanism: WordMechanism,
    world: System,
    length: int,
    count: int = MOST_WORDS,
    law: Callable[[Word], ErrorLaw] | None = None,
) -> float:
    """The expected errors of the mechanism, averaged over so many public words; `law` if not `error_law` tells them."""
    return mean_errors([(law or mechanism.error_law)(word) for word in public_words(world, length, count)])


def mean_errors(laws: Sequence[ErrorLaw]) -> float:
    """The expected errors, averaged over words with these laws."""
    return sum(law.mean for law in laws) / len(laws)


def average_law(laws: Sequence[ErrorLaw]) -> ErrorLaw:
    """The law of the errors of a word that is chosen at random among several; their lengths may differ."""
    largest = max(law.largest for law in laws)

    def average() -> FloatArray:
        pmf: FloatArray = np.zeros(largest + 1)
        for law in laws:
            pmf[: len(law.pmf)] += law.pmf / len(laws)
        return pmf

    return LazyLaw(largest, mean_errors(laws), average)
