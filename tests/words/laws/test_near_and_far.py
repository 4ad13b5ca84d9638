"""The law of errors by the surroundings of a word where that is less work, and by the whole system elsewhere."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.laws import exponential_law
from pathveil.words.laws.generating import GeneratingFunction

CITY = pv.example_city(10_000)
LENGTH = 120


@pytest.mark.parametrize("theta", [6.0, 3.0, 0.5])
@pytest.mark.parametrize("jumps", [False, True])
def test_the_law_is_that_of_all_words_whichever_are_looked_at(theta: float, jumps: bool) -> None:
    """At a small tilt, or around a word that jumps, those far away count as well."""
    word = CITY.encode(CITY.random_word(LENGTH, pv.insecure_seed(1)))
    if jumps:
        word[LENGTH // 2] = (word[LENGTH // 2] + 5_000) % 10_000
    law = exponential_law(CITY.compiled, word, theta)
    whole = GeneratingFunction(CITY.compiled, word).at([exp(-theta)])[0]
    assert law.mean == pytest.approx(whole.mean, rel=1e-10)
    assert law.largest == LENGTH
    if theta == 6.0:
        assert law.pmf @ np.arange(LENGTH + 1) == pytest.approx(whole.mean, rel=1e-9)
        with np.errstate(divide="ignore"):
            assert np.array_equal(law.log_pmf, np.log(law.pmf))
