"""Statistical audits of mechanisms with distances compare what the promise compares."""

from __future__ import annotations

import pytest

import pathveil as pv

LINE = pv.SymbolDistance.from_coordinates({"a": (0, 0), "b": (1, 0), "c": (9, 0)})
NEAR = pv.CertifiedExponential(pv.Alphabet("abc"), epsilon=1.0, distance=LINE, within=1.0)


def test_only_words_within_reach_are_neighbours():
    audit = pv.audit_statistically(NEAR, length=1, draws=20_000, rng=pv.insecure_seed(1))
    assert audit.epsilon_lower <= 1.0
    with pytest.raises(pv.InvalidParameterError, match="farther away"):
        pv.audit_statistically(NEAR, "a", "c", draws=1_000)
    with pytest.raises(pv.InvalidParameterError, match="does not promise"):
        pv.audit_uniformity(NEAR, "a", draws=1_000)


def test_a_far_word_would_refute_the_promise():
    """The control: between a and c, which the promise does not compare, the loss is beyond ε."""
    far = NEAR.log_probability("c", "c") - NEAR.log_probability("a", "c")
    assert far > 2
