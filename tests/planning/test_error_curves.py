"""Errors over ε: computed once, and the ε for a wanted error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathveil as pv
from pathveil.planning.error_curves import LARGEST_EPSILON, ErrorCurves
from pathveil.planning.model_curves import model_curves
from pathveil.planning.public_words import expected_errors
from pathveil.planning.word_curves import word_curves

DEAD_END = pv.MarkovChain.from_edges([("a", "b"), ("b", "c"), ("a", "c"), ("c", "a"), ("b", "end")])


def curves(error_at) -> ErrorCurves:
    return ErrorCurves("", "", ["only"], error_at, lambda _: [], {})


@given(target=st.floats(1e-2, 100.0), looked_at=st.sets(st.floats(0.1, 10.0), max_size=4))
def test_the_needed_epsilon_is_enough_and_hardly_too_large(target: float, looked_at: set[float]) -> None:
    asked: list[float] = []

    def error_at(_: str, epsilon: float) -> float:
        asked.append(epsilon)
        return 1 / epsilon

    found = curves(error_at)
    for epsilon in looked_at:
        found.at("only", epsilon)
    needed = found.epsilon_for("only", target)
    assert needed is not None
    assert 1 / target <= needed <= 1.0101 / target
    assert len(asked) == len(set(asked)), "no error is computed twice"


def test_no_epsilon_is_named_where_there_is_none() -> None:
    assert curves(lambda _, epsilon: 1 / epsilon).epsilon_for("only", 0.5 / LARGEST_EPSILON) is None
    assert curves(lambda *_: None).epsilon_for("only", 0.5) is None
    always = curves(lambda *_: 0.0).epsilon_for("only", 0.5)
    assert always is not None
    assert always <= 2 / LARGEST_EPSILON, "where any ε will do, a tiny one"


def test_the_curves_of_words_are_expected_errors_a_symbol() -> None:
    found = word_curves(DEAD_END, 4, 1)
    assert found.at("permute-and-flip", 2.0) == expected_errors(pv.PermuteAndFlip(DEAD_END, 2.0), DEAD_END, 4) / 4
    assert found.at("online", 2.0) is None
    assert found.epsilon_for("online", 0.1) is None
    for name in ("certified", "exponential"):
        found.at(name, 2.0)
    remarks = "\n".join(found.remarks([2.0]))
    assert "online cannot be used here: state 'end' has no successor" in remarks
    assert "Unit of permute-and-flip, exponential: any other word of the same length" in remarks
    with pytest.raises(pv.NoFeasibleWordError):
        word_curves(pv.MarkovChain.from_edges([("a", "b")]), 5, 1)


def test_the_curves_of_models_are_those_of_compare_models() -> None:
    sizes = {"a": 500, "b": 40}
    found = model_curves(sizes, [2, 2], 1e-6, "transition", None)
    expected = {m.mechanism: m.rmse for m in pv.compare_models([500, 40], successors=2, epsilon=1.0, delta=1e-6)}
    assert {name: found.at(name, 1.0) for name in found.mechanisms} == expected
    assert model_curves(sizes, [2, 2], None, "word", 3).mechanisms == ["laplace"]


def test_the_curves_of_models_name_what_a_fit_takes() -> None:
    found = model_curves({"a": 500, "b": 40}, [2, 2], 0.02, "transition", None)
    for epsilon in (0.05, 3.0):
        taken = pv.fit_private_chain([[250, 250], [20, 20]], states="ab", epsilon=epsilon, delta=0.02)
        spends = ", which spends no δ" if taken.guarantee.delta == 0 else ""
        assert f"{taken.mechanism}{spends} (ε = {epsilon:g})." in " ".join(found.remarks([0.05, 3.0]))


def test_a_mechanism_that_cannot_be_used_does_not_hide_the_others() -> None:
    found = model_curves({"a": 1, "b": 1}, [10**6] * 2, 1e-12, "transition", None)
    assert found.at("dirichlet", 1e-6) is None
    assert found.at("laplace", 1e-6) is not None
    assert any("nothing but noise" in remark for remark in found.remarks([1e-6]))
