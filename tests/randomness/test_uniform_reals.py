from fractions import Fraction

import numpy as np

import pathveil as pv
from pathveil.randomness.uniform_reals import enclosed, first_bits


def test_the_first_bits_of_a_number_are_those_of_its_keystream_word() -> None:
    words = pv.insecure_seed(1).keystream(1000)
    assert first_bits(pv.insecure_seed(1), 1000).tolist() == [int(word) // 2**12 for word in words]


def test_a_ball_is_the_cell_of_all_numbers_that_begin_alike() -> None:
    numerators = [0, 1, 2**51 - 1, 2**51, 2**52 - 2, 2**52 - 1]
    balls = enclosed(np.array(numerators, dtype=np.uint64))
    for numerator, mid, rad in zip(numerators, balls.mid.tolist(), balls.rad.tolist(), strict=True):
        assert Fraction(mid) - Fraction(rad) == Fraction(numerator, 2**52)
        assert Fraction(mid) + Fraction(rad) == Fraction(numerator + 1, 2**52)
