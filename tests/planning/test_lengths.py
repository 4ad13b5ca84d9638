"""Few lengths stand for many, and the average over them is that over all where all are looked at."""

from __future__ import annotations

from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathveil as pv
from pathveil.planning.lengths import MOST, LengthMix, length_mix
from pathveil.planning.public_words import expected_errors
from pathveil.planning.word_curves import word_curves
from tests.worlds import RING, TOWN

EVEN = pv.MarkovChain.from_edges([("a", "b"), ("b", "c"), ("c", "d")], initial="a", final=["c"])

declared = st.dictionaries(st.integers(1, 60), st.floats(0.1, 1e6), min_size=1, max_size=30)


@given(words=declared, most=st.integers(1, 8))
def test_representatives_are_declared_lengths_that_hold_all_symbols(words: dict[int, float], most: int) -> None:
    found = LengthMix(words).represented(most)
    assert len(found) <= most or len(words) <= most
    assert set(found) <= set(words)
    assert list(found) == sorted(found)
    assert fsum(found.values()) == pytest.approx(1.0)
    if len(words) <= most:
        symbols = fsum(length * count for length, count in words.items())
        assert found == pytest.approx({length: length * count / symbols for length, count in sorted(words.items())})


def test_the_share_of_wrong_symbols_is_that_of_all_words_together() -> None:
    mechanism, words = pv.CertifiedExponential(RING, 2.0), {3: 100, 8: 25}
    wrong = sum(count * expected_errors(mechanism, RING, length) for length, count in words.items())
    found = word_curves(RING, words, 1).at("certified", 2.0)
    assert found == pytest.approx(wrong / (100 * 3 + 25 * 8))


def test_a_range_leaves_out_lengths_without_words_and_a_declared_length_does_not() -> None:
    assert length_mix(EVEN, (1, 6)).words == {2: 1.0}
    assert length_mix(EVEN, 2).only == 2
    assert str(length_mix(TOWN, (5, 9))) == "5 to 9 symbols"
    with pytest.raises(pv.NoFeasibleWordError, match="3 to 5 symbols"):
        length_mix(EVEN, (3, 5))
    with pytest.raises(pv.NoFeasibleWordError):
        length_mix(EVEN, {2: 1, 3: 1})


def test_it_is_said_which_lengths_were_looked_at() -> None:
    mix = length_mix(TOWN, (5, 40))
    few = mix.represented(MOST)
    assert len(few) == MOST
    assert mix.said(few).endswith("symbols stand for all 36 lengths.")
    assert "all 2 lengths" in LengthMix({3: 1, 4: 1}).said({3: 0.4, 4: 0.6})
    letters = length_mix(pv.Alphabet("ab"), (1, 500))
    assert "100 of 500 lengths" in letters.said(letters.represented(100))


@pytest.mark.parametrize(
    "wrong", [(9, 4), (0, 4), (1, 10**6), (1, 2, 3), {}, {4: 0}, {4: -1.0}, {4: float("nan")}, {0: 1}, 0]
)
def test_lengths_that_make_no_sense_are_refused(wrong: object) -> None:
    with pytest.raises(pv.InvalidParameterError):
        length_mix(TOWN, wrong)  # type: ignore[arg-type]
