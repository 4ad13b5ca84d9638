"""Doubt with margins so wide that every kind of decision meets them: what is not in doubt is drawn as always."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.base import tilt_factor
from pathveil.words.local import LocalDraw, LocalWorld
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
