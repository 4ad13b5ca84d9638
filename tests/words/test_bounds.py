import numpy as np
import pytest

import pathveil as pv


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 10.0])
@pytest.mark.parametrize(("n", "m"), [(5, 2), (20, 2), (5, 10), (1, 3), (3, 1)])
def test_theorem_2_bounds_the_exact_expectation(n: int, m: int, epsilon: float) -> None:
    low, high = pv.permute_and_flip_bounds(n, m, epsilon)
    law = pv.PermuteAndFlip(pv.Alphabet(range(m)), epsilon).error_law([0] * n)
    assert low - 1e-12 <= law.mean <= high + 1e-12
    assert high == pytest.approx(pv.Exponential(pv.Alphabet(range(m)), epsilon).error_law([0] * n).mean)


def test_the_tail_bound_holds_for_the_exact_law() -> None:
    law = pv.PermuteAndFlip(pv.Alphabet("ab"), 1.0).error_law("a" * 20)
    for deviation in (0.5, 3.0, 8.0, 15.0):
        tail = law.pmf[np.abs(np.arange(21) - law.mean) >= deviation].sum()
        assert tail <= pv.permute_and_flip_tail_bound(20, deviation)
    with pytest.raises(pv.InvalidParameterError, match="positive"):
        pv.permute_and_flip_tail_bound(20, 0.0)
