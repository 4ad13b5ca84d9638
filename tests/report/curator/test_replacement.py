"""The probability that a symbol is replaced, against listing all outputs."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

import pathveil as pv
from pathveil.report.curator.replacement import replacement_probabilities
from tests.reference.enumeration import feasible_words

CHAIN = pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "c"), ("c", "c"), ("c", "a"), ("a", "a")])
LIFT = pv.TransitionSystem({(1, "u"): 2, (2, "d"): 1, (2, "u"): 3, (3, "d"): 2, (1, "s"): 1}, initial=1)
MECHANISMS = [pv.CertifiedExponential, pv.PermuteAndFlip, pv.Exponential, pv.Online]


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize(("world", "word"), [(CHAIN, "abca"), (LIFT, "uudd"), (pv.Alphabet("xyz"), "xyzz")])
def test_it_is_the_sum_over_all_outputs_with_another_symbol_there(kind, world, word) -> None:
    mechanism = kind(world, epsilon=1.5)
    wrong = np.zeros(len(word))
    for output in feasible_words(world, len(word)):
        p = exp(mechanism.log_probability(word, output))
        wrong += [p * (a != b) for a, b in zip(word, output, strict=True)]
    found = replacement_probabilities(mechanism, world.encode(word))
    assert found == pytest.approx(wrong, abs=1e-12)
    assert found.sum() == pytest.approx(mechanism.error_law(word).mean)


def test_infeasible_words_that_are_accepted_have_probabilities_too() -> None:
    mechanism = pv.PermuteAndFlip(CHAIN, epsilon=1.0, on_infeasible="nearest")
    wrong = replacement_probabilities(mechanism, CHAIN.encode("bbbb"))
    assert wrong.sum() == pytest.approx(mechanism.error_law("bbbb").mean)


def test_words_that_would_take_too_long_are_left_out() -> None:
    mechanism = pv.CertifiedExponential(pv.Alphabet(range(1000)), epsilon=1.0)
    assert replacement_probabilities(mechanism, np.zeros(200, dtype=np.int64)) is None
