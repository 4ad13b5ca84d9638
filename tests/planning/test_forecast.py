"""`pv.forecast`: the rows are what listing all words gives, and the choice follows from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

import pathveil as pv
from pathveil.planning.lower_bound import least_expected_errors
from pathveil.planning.public_words import public_words
from pathveil.words.by_name import EDIT_MECHANISMS, MECHANISMS
from tests.reference.enumeration import feasible_words, hamming
from tests.reference.random_systems import SystemWithLength, systems_with_length
from tests.sizes import given_few_and_many

DEAD_END = pv.MarkovChain.from_edges([("a", "b"), ("b", "c"), ("a", "c"), ("c", "a"), ("b", "end")])
EASY_SAMPLE = pv.MarkovChain.from_edges([(0, 1), (0, 2), (1, 0), (1, 1), (2, 1)])
"""The public words of 3 symbols have fewer neighbours than the average word."""

EPSILONS = st.sampled_from([0.3, 2.0, 6.0])


@pytest.mark.parametrize("world", [DEAD_END, EASY_SAMPLE, pv.Alphabet("abc")])
def test_a_quick_forecast_never_says_that_less_is_wrong(world: pv.System) -> None:
    usual, quick = (pv.forecast(world, length=3, epsilon=2.0, adjacency=2, quick=quick) for quick in (False, True))
    assert (quick.unusable, quick.bound) == (usual.unusable, usual.bound)
    for mine, other in zip(quick, usual, strict=True):
        assert mine.mechanism == other.mechanism
        if mine.mechanism == "certified":
            assert mine.expected_errors >= other.expected_errors - 1e-9
        else:
            assert mine.expected_errors == other.expected_errors


@given_few_and_many(40, 100, system=systems_with_length(), epsilon=EPSILONS, adjacency=st.integers(1, 3))
def test_rows_are_what_listing_all_outputs_gives(system: SystemWithLength, epsilon: float, adjacency: int) -> None:
    world, length = system
    found = pv.forecast(world, length=length, epsilon=epsilon, adjacency=adjacency)
    assert {*(row.mechanism for row in found), *found.unusable} == set(MECHANISMS)
    words, outputs = [tuple(word) for word in public_words(world, length)], feasible_words(world, length)
    codes = np.array([world.encode(output) for output in outputs])
    for row in found:
        mechanism = MECHANISMS[row.mechanism](world, epsilon, adjacency)
        pmf = [0.0] * (length + 1)
        for word in words:
            probabilities = np.exp(mechanism.log_probabilities(world.encode(word), codes))
            for output, probability in zip(outputs, probabilities.tolist(), strict=True):
                pmf[hamming(word, output)] += probability / len(words)
        assert row.expected_errors == pytest.approx(sum(e * p for e, p in enumerate(pmf)), rel=1e-7, abs=1e-9)
        assert row.law.pmf == pytest.approx(pmf, abs=1e-9)
        for q, errors in row.quantiles.items():
            assert sum(pmf[: errors + 1]) >= q - 1e-9
            assert errors == 0 or sum(pmf[:errors]) < q + 1e-9
        assert (row.epsilon, row.theta, row.unit) == (epsilon, mechanism.theta(length), mechanism.guarantee.unit)
        assert row.seconds is not None
        assert row.memory is not None
        assert 0 < row.seconds < 1e-3
        assert 0 < row.memory < 2**30


@given_few_and_many(40, 100, system=systems_with_length(), epsilon=EPSILONS, adjacency=st.integers(1, 3))
def test_the_best_row_has_the_fewest_errors_and_no_row_is_below_the_bound(
    system: SystemWithLength, epsilon: float, adjacency: int
) -> None:
    world, length = system
    found = pv.forecast(world, length, epsilon, adjacency)
    least = min(row.expected_errors for row in found)
    assert found.best in found.rows
    assert found.best.expected_errors <= least * (1 + 1e-9)
    assert found.bound == least_expected_errors(world, length, epsilon, adjacency)
    for row in found:
        assert row.lower_bound is not None
        assert 0 <= row.lower_bound <= row.expected_errors
        assert row.lower_bound <= found.bound.errors
    chosen = type(pv.best_mechanism(world, length, epsilon, adjacency))
    assert found[next(name for name, kind in MECHANISMS.items() if kind is chosen)].expected_errors == pytest.approx(
        least, rel=1e-9
    )


def test_the_bound_comes_down_to_rows_whose_words_are_easier_than_the_average() -> None:
    found = pv.forecast(EASY_SAMPLE, 3, 5.0)
    assert found.bound is not None
    assert found.bound.errors > found.best.expected_errors, "otherwise this example shows nothing"
    assert found.best.lower_bound == found.best.expected_errors


@pytest.mark.parametrize("symbols", [2, 3, 7])
@pytest.mark.parametrize("epsilon", [0.3, 2.0, 5.0])
def test_rounding_does_not_decide_between_equal_mechanisms(symbols: int, epsilon: float) -> None:
    found = pv.forecast(pv.Alphabet(range(symbols)), 14, epsilon)
    assert found.best.mechanism == "certified", "on a free alphabet the online mechanism has the same law"
    assert found["online"].expected_errors == pytest.approx(found.best.expected_errors)


def test_a_mechanism_that_cannot_be_used_is_named_with_the_reason() -> None:
    found = pv.forecast(DEAD_END, 4, 2.0)
    assert [row.mechanism for row in found] == ["certified", "permute-and-flip", "exponential"]
    assert len(found) == 3
    assert "state 'end' has no successor" in found.unusable["online"]
    assert "online cannot be used here" in repr(found)
    for missing in ("online", "nobody"):
        with pytest.raises(KeyError):
            found[missing]


def test_a_system_on_which_nothing_can_be_computed_has_no_best_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise pv.TooLargeError("too large")

    for kind in MECHANISMS.values():
        monkeypatch.setattr(kind, "_law", refuse)
    found = pv.forecast(pv.Alphabet("ab"), 3, 1.0)
    assert len(found) == 0
    with pytest.raises(pv.TooLargeError, match="no mechanism can be used here: the exact expectation would take"):
        _ = found.best


def test_a_forecast_is_the_same_each_time_and_shows_itself() -> None:
    town = pv.example_town()
    done: list[int] = []
    one, other = pv.forecast(town, 6, 3.0), pv.forecast(town, 6, 3.0, progress=done.append)
    assert repr(one) == repr(other)
    assert done == [1, 2, 3, 4]
    for text in ("certified", "lower bound", "ε = 3"):
        assert text in repr(one)
        assert text in one._repr_html_()


def test_edit_distance_has_edits_and_no_bound() -> None:
    found = pv.forecast(DEAD_END, 3, 2.0, lengths=(2, 4), cap=3)
    assert [row.mechanism for row in found] == list(EDIT_MECHANISMS)
    assert found.bound is None
    words = public_words(DEAD_END, 3)
    for row in found:
        mechanism = EDIT_MECHANISMS[row.mechanism](DEAD_END, 2.0, 1, (2, 4), 3)
        assert row.expected_errors == sum(mechanism.error_law(word).mean for word in words) / len(words)
        assert row.lower_bound is None
        assert row.seconds is not None
        assert 0 < row.seconds < 0.01
        assert row.memory is not None
        assert 0 < row.memory < 1e6


def test_bad_input_is_refused_as_by_the_mechanisms() -> None:
    with pytest.raises(pv.NoFeasibleWordError, match="length 5"):
        pv.forecast(pv.MarkovChain.from_edges([("a", "b")]), 5, 1.0)
    for arguments in ((0, 1.0, 1), (3, 0.0, 1), (3, 1.0, 0)):
        with pytest.raises(pv.InvalidParameterError):
            pv.forecast(pv.Alphabet("ab"), *arguments)
