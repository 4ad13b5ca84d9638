from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathveil as pv
from pathveil.randomness.exact import draw_below, draw_below_each, draw_index
from tests.statistics import FALSE_ALARM, chi_square_p_value


@given(st.integers(1, 10**60), st.integers(0, 10**6))
def test_draws_below_a_bound_of_any_size_stay_below_it(bound: int, seed: int) -> None:
    assert 0 <= draw_below(pv.insecure_seed(seed), bound) < bound


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 7, 64, 100])
def test_draws_below_are_uniform(bound: int) -> None:
    # False-alarm probability 1e-6 for each bound; the negative control folds instead of rejecting.
    source = pv.insecure_seed(bound)
    law = dict.fromkeys(range(bound), 1 / bound)
    scalar = [draw_below(source, bound) for _ in range(20_000)]
    assert chi_square_p_value(scalar, law) > FALSE_ALARM
    batch = draw_below_each(source, np.full(20_000, bound, dtype=np.uint64))
    assert chi_square_p_value(batch.tolist(), law) > FALSE_ALARM
    if bound in (3, 5, 7, 100):
        folded = np.frombuffer(source.bytes(200_000), dtype=np.uint8) % 128 % bound
        assert chi_square_p_value(folded.tolist(), law) < FALSE_ALARM


def test_words_in_the_incomplete_last_block_are_drawn_again() -> None:
    class Scripted(pv.RandomSource):
        script = iter([np.array([0, 5], dtype=np.uint64), np.array([7], dtype=np.uint64)])

        def keystream(self, count: int) -> np.ndarray:
            script = next(self.script)
            assert len(script) == count
            return script

    # 2**64 = 1 modulo 3 (and modulo 5): the word 0 is rejected and replaced by 7.
    drawn = draw_below_each(Scripted(bytes(32)), np.array([3, 5], dtype=np.uint64))
    assert drawn.tolist() == [1, 0]


def test_just_as_many_words_are_drawn_again_as_do_not_fill_a_block() -> None:
    # Of the 2**64 words, those below 2**64 modulo the bound are too many.
    for bound in (3, 10**6, 2**32 + 1, 2**63 - 25, 2**63 + 1, 3 * 2**61 + 7, 2**64 - 1):
        surplus = 2**64 % bound

        class Scripted(pv.RandomSource):
            script = iter([surplus - 1, surplus])

            def keystream(self, count: int) -> np.ndarray:
                return np.array([next(self.script)] * count, dtype=np.uint64)

        bounds = np.array([bound], dtype=np.uint64)
        assert draw_below_each(Scripted(bytes(32)), bounds).tolist() == [surplus % bound]
        assert next(Scripted.script, None) is None  # the first word was drawn again, the second was not


def test_an_index_is_drawn_in_proportion_to_integer_weights() -> None:
    # False-alarm probability 1e-6; the negative control has one weight off by a tenth.
    source = pv.insecure_seed(5)
    weights = [10**40, 0, 3 * 10**40, 10**40]
    draws = [draw_index(source, weights) for _ in range(30_000)]
    assert Counter(draws)[1] == 0
    assert chi_square_p_value(draws, {0: 0.2, 2: 0.6, 3: 0.2}) > FALSE_ALARM
    assert chi_square_p_value(draws, {0: 0.22, 2: 0.58, 3: 0.2}) < FALSE_ALARM
