"""Permute-and-flip on a large map: by looking at the surroundings of words only, with the same law."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.tilted.draw import log_normaliser
from pathveil.words.tilted.engines import MarksEngine
from pathveil.words.tilted.rejection import FlipByRejection
from tests.statistics import FALSE_ALARM, chi_square_p_value

CITY = pv.example_city(2_000)
WORDS = np.array([CITY.encode(word) for word in CITY.random_words(30, 6, pv.insecure_seed(1))])


@pytest.mark.parametrize("theta", [3.0, 6.0, 400.0])
def test_sums_over_the_surroundings_are_those_over_the_whole_map(theta: float) -> None:
    flip = FlipByRejection(CITY.compiled, 30, theta, feasible=True)
    assert isinstance(flip._engine, MarksEngine)
    begins = np.arange(len(WORDS)) * 30
    for r in (1, 2, 3):
        expected = [log_normaliser(CITY.compiled, codes, r * theta) for codes in WORDS]
        assert np.abs(flip.log_partition(r, WORDS.reshape(-1), begins) - expected).max() < flip.margin(r)


def test_a_reach_that_is_too_short_is_noticed() -> None:
    """The negative control of the test above."""
    flip = FlipByRejection(CITY.compiled, 30, 4.0, feasible=True)
    flip._reach = 6
    exact = log_normaliser(CITY.compiled, WORDS[0], 4.0)
    assert abs(flip.log_partition(1, WORDS[0], np.zeros(1, dtype=np.int64))[0] - exact) > flip.margin(1)


def test_a_word_without_walk_counts_gets_its_sum_from_the_whole_map(monkeypatch: pytest.MonkeyPatch) -> None:
    flip = FlipByRejection(CITY.compiled, 30, 4.0, feasible=True)
    local = flip.log_partition(2, WORDS.reshape(-1), np.arange(len(WORDS)) * 30)
    known = local.copy()
    known[[1, 4]] = np.nan
    monkeypatch.setattr(MarksEngine, "log_partition", lambda *_: known)
    assert flip.log_partition(2, WORDS.reshape(-1), np.arange(len(WORDS)) * 30) == pytest.approx(local, abs=1e-11)


def test_infeasible_words_are_left_to_passes_over_the_whole_map() -> None:
    assert not isinstance(FlipByRejection(CITY.compiled, 30, 4.0, feasible=False)._engine, MarksEngine)


def test_draws_have_the_law_of_permute_and_flip_and_not_that_of_the_exponential_mechanism() -> None:
    # False-alarm probability 1e-6.
    mechanism, codes = pv.PermuteAndFlip(CITY, 8.0), WORDS[0]
    private = mechanism.privatize_array(np.tile(codes, (6_000, 1)), rng=pv.insecure_seed(3))
    errors = np.count_nonzero(private != codes, axis=1).tolist()
    word = CITY.decode(codes.tolist())
    assert chi_square_p_value(errors, dict(enumerate(mechanism.error_law(word).pmf.tolist()))) > FALSE_ALARM
    other = pv.Exponential(CITY, 8.0).error_law(word)
    assert chi_square_p_value(errors, dict(enumerate(other.pmf.tolist()))) < FALSE_ALARM
