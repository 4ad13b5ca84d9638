"""The words next to a word: all of them, or a random sample where they are too many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pathveil.randomness.exact import draw_below, draw_index
from pathveil.randomness.source import RandomSource
from pathveil.systems.alphabet import Alphabet
from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import System, Word
from pathveil.words.base import SameLengthMechanism, WordMechanism
from pathveil.words.classes import ClassCounter, classes_of_codes
from pathveil.words.edit import edit_classes


def neighbours_of(
    world: System, word: Word, adjacency: int, feasible: bool, limit: int, source: RandomSource
) -> list[Word]:
    """At most `limit` words that differ from this one in 1 to `adjacency` symbols, feasible ones only if asked for."""
    codes = world.encode(word)
    compiled = world.compiled if feasible else Alphabet(world.symbols).compiled
    classes = classes_of_codes(compiled, codes)
    counts = [0, *classes.counts[1 : adjacency + 1]]
    if sum(counts) <= limit:
        found = [near for near in _within(compiled, codes.tolist(), adjacency) if near != codes.tolist()]
    else:
        found = _sample(classes, counts, limit, source)
    return [world.decode(near, as_string=isinstance(word, str)) for near in found]


def edit_neighbours_of(
    world: System,
    word: Word,
    adjacency: int,
    lengths: tuple[int, int],
    feasible: bool,
    limit: int,
    source: RandomSource,
) -> list[Word]:
    """The same for words of these lengths within 1 to `adjacency` insertions, deletions and substitutions."""
    whole = world if feasible else Alphabet(world.symbols)
    classes = edit_classes(whole, tuple(word), lengths, cap=adjacency + 1)
    counts = [0, *classes.counts[1 : adjacency + 1]]
    if sum(counts) <= limit:
        ranks = [(edits, rank) for edits, count in enumerate(counts) for rank in range(count)]
        found = [classes.word_at(edits, rank).tolist() for edits, rank in ranks]
    else:
        found = _sample(classes, counts, limit, source)
    return [world.decode(near, as_string=isinstance(word, str)) for near in found]


def _sample(classes: ClassCounter, counts: list[int], limit: int, source: RandomSource) -> list[list[int]]:
    """Different words from these classes, at most so many."""
    # The farthest neighbours are the most numerous and as a rule the worst: half of the sample is from there.
    farthest = max(distance for distance, count in enumerate(counts) if count)
    drawn = [farthest if draw_below(source, 2) else draw_index(source, counts) for _ in range(limit)]
    return list({tuple(near): near for near in (classes.draw(one, source).tolist() for one in drawn)}.values())


def _within(compiled: CompiledSystem, codes: list[int], errors: int) -> list[list[int]]:
    """Every feasible word with at most so many errors, by going along the word."""
    completable = compiled.completable(len(codes))
    begun: list[tuple[list[int], int, int]] = [([], compiled.start, 0)]
    for i, code in enumerate(codes):
        begun = [
            ([*prefix, label], target, wrong + (label != code))
            for prefix, state, wrong in begun
            for label, target in compiled.moves[state].items()
            if completable[i + 1][target] and wrong + (label != code) <= errors
        ]
    return [word for word, _, _ in begun]


def promised_neighbours(mechanism: WordMechanism, word: Word, others: Sequence[Word]) -> list[Word]:
    """Those of the words that the promise compares with this one: near enough, where it is about distances."""
    if not isinstance(mechanism, SameLengthMechanism) or not others:
        return list(others)
    encode = mechanism.world.encode
    near = mechanism.adjacent(encode(word), np.array([encode(other) for other in others]))
    return [other for other, is_near in zip(others, near.tolist(), strict=True) if is_near]
