"""Doubt with margins so wide that every kind of decision meets them: what is not in doubt is drawn as always."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import pathveil as pv
from pathveil.randomness.lazy import LazyUniform
from pathveil.randomness.source import RandomSource
from pathveil.words.base import tilt_factor
from pathveil.words.local import LocalDraw, LocalWorld
from pathveil.words.local.marks_exact import draw_exactly_by_marks
from tests.reference.literal_marks import draw as draw_literally
from tests.worlds import CHAIN, UNEVEN

LENGTH, WORDS = 6, 800


@pytest.mark.parametrize("margin", [1e-3, 0.05])
@pytest.mark.parametrize("world", [CHAIN, UNEVEN], ids=["chain", "uneven"])
def test_words_that_are_not_in_doubt_are_the_same_with_any_margin(world: pv.System, margin: float) -> None:
    codes = np.array([world.encode(word) for word in world.random_words(LENGTH, WORDS, pv.insecure_seed(1))])
    keystream = pv.insecure_seed(2).keystream(WORDS * (LENGTH + 1)).reshape(WORDS, -1)
    found = LocalWorld.of(world.compiled)
    assert found is not None
    # Most numbers are near 1, where excursions are, and words without a mark.
    keystream[::2, 0] |= np.uint64(0xFF) << np.uint64(56)

    def drawn(margin: float | None) -> tuple[np.ndarray, np.ndarray]:
        draw, private = LocalDraw(found, LENGTH, tilt_factor(3.5), 4, largest_remainder=0.5), np.full(codes.size, -1)
        draw.margin = draw.margin if margin is None else margin
        result = draw.draw(codes.reshape(-1), np.arange(WORDS) * LENGTH, keystream, private)
        assert not result.undrawn.any()
        return private.reshape(codes.shape), result.in_doubt

    (usual, some), (wide, more) = drawn(None), drawn(margin)
    assert np.array_equal(wide[~more], usual[~more])
    assert (wide[more] == -1).all()
    assert more[some].all()
    assert not more.all()


class Continued(RandomSource):
    """Numbers go on with a one and then zeros: they lie in the middle of their cells."""

    def __init__(self) -> None:
        super().__init__(bytes(32), seed=0)

    def bytes(self, count: int) -> bytes:
        return (1 << (8 * count - 1)).to_bytes(count, "little")


@pytest.mark.parametrize("world", [CHAIN, UNEVEN], ids=["chain", "uneven"])
def test_where_marks_are_rare_words_are_drawn_exactly_as_literally_as_elsewhere(world: pv.System) -> None:
    """At this tilt many words begin with a way to a later mark, all of whose states are drawn backwards."""
    found, z, length, late = LocalWorld.of(world.compiled), tilt_factor(0.7), 4, 0
    assert found is not None
    for seed in range(25):
        word = world.encode(world.random_word(length, pv.insecure_seed(seed)))
        numbers = pv.insecure_seed(100 + seed).keystream(length + 1).tolist()
        drawn = draw_exactly_by_marks(found, word, z, 2, [LazyUniform(number, Continued()) for number in numbers])
        uniforms = [Fraction(2 * number + 1, 2**65) for number in numbers]
        assert tuple(drawn) == draw_literally(world.compiled, word.tolist(), Fraction(z), uniforms)
        late += drawn[0] != word[0]
    assert late > 3
