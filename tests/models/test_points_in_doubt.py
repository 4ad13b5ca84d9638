"""Points so close to the edge of what is kept that hundreds of bits decide."""

from __future__ import annotations

import flint
import numpy as np
import pytest
from mpmath import mp, mpf

from pathveil.models import gamma
from pathveil.models.gamma import GammaVariates
from pathveil.numerics.balls import Balls
from pathveil.randomness.source import RandomSource
from tests.reference.planted import ContinuedSource

W = 3 * 2**49  # the first 52 bits of w = 3/8, after which only zeros follow


class FirstWords(RandomSource):
    """Hands out these words, one for each array that is filled."""

    def __init__(self, words: list[int]) -> None:
        super().__init__(bytes(32), seed=0)
        self._words = iter(words)

    def fill(self, words: np.ndarray) -> None:
        assert len(words) == 1
        words[0] = next(self._words)


def _edge(d: mpf, side: int) -> mpf:
    """The v at which a point (v, 3/8) is neither inside nor outside, on one side of ½."""
    w = mpf(3) / 8

    def room(v: mpf) -> mpf:
        x = mpf(gamma._HALF_HEIGHT) * (2 * v - 1) / w
        y = x / (3 * mp.sqrt(d))
        return 3 * d * (mp.log(1 + y) - y + y**2 / 2 - y**3 / 3) - x**2 / 2 - 2 * mp.log(w)

    inside, outside = mpf(1) / 2, mpf(1) / 2 + side * mpf(49) / 100
    assert room(inside) > 0 > room(outside)
    for _ in range(400):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if room(middle) > 0 else (inside, middle)
    return inside


@pytest.mark.parametrize("shape", [0.25, 2.5])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_point_is_kept_exactly_on_the_inner_side_of_the_edge(shape, side):
    with mp.workprec(700):
        edge = _edge(mpf(shape) + (1 if shape < 1 else 0) - mpf(1) / 3, side)
        for bits in (58, 60, 110, 200, 300):
            for outwards in (False, True):
                v = edge + (side if outwards else -side) * mpf(2) ** -bits
                digits = int(mp.floor(v * mpf(2) ** 564))  # 52 bits and eight words
                words = [digits >> (512 - 64 * (i + 1)) & (2**64 - 1) for i in range(8)]
                # Two words for each number at 128 bits, two more at 256, four more at 512: first those of w.
                spare = ContinuedSource([0, 0, *words[:2], 0, 0, *words[2:4], 0, 0, 0, 0, *words[4:]])
                # If the point is rejected, the next one is (½, ½), far inside.
                source = FirstWords([W << 12, digits >> 512 << 12, 2**63, 2**63, 2**63])
                variates = GammaVariates(source, spare, Balls.exact(np.array([shape])), lambda _: flint.arb(shape))
                assert (int(variates._w[0]), int(variates._v[0])) == (
                    (2**51, 2**51) if outwards else (W, digits >> 512)
                )
                # The bits that were looked at are the variate's from now on, and only if the point is kept.
                assert bool(variates._refined) is not outwards
