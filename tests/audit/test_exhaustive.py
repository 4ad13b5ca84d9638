from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pathveil as pv
from pathveil.numerics.arrays import FloatArray, IntArray
from tests.reference.enumeration import feasible_words, worst_loss
from tests.reference.random_systems import systems_with_length
from tests.words.mechanisms import MECHANISMS, build, reference_law
from tests.worlds import CHAIN


class TooLittleNoise(pv.PermuteAndFlip):
    """A planted bug: θ = ε/b is right for the online mechanism, not for permute-and-flip."""

    def theta(self, length: int) -> float:
        return 2 * super().theta(length)


def test_the_audit_finds_a_mechanism_that_breaks_its_claim_and_names_the_words() -> None:
    audit = pv.audit_exhaustively(TooLittleNoise(CHAIN, 2.0), length=4)
    assert not audit.holds
    assert audit.loss > 2.0
    mechanism = TooLittleNoise(CHAIN, 2.0)
    difference = mechanism.log_probability(audit.word, audit.output) - mechanism.log_probability(
        audit.neighbour, audit.output
    )
    assert difference == pytest.approx(audit.loss)
    assert sum(a != b for a, b in zip(audit.word, audit.neighbour, strict=True)) == 1


def test_the_audit_counts_adjacent_pairs() -> None:
    assert pv.audit_exhaustively(pv.Exponential(pv.Alphabet("ab"), 1.0), length=3).pairs == 8 * 3
    assert pv.audit_exhaustively(pv.Exponential(pv.Alphabet("ab"), 1.0, adjacency=2), length=3).pairs == 8 * 6


def test_without_adjacent_words_there_is_no_loss() -> None:
    two_apart = pv.MarkovChain.from_edges([("a", "b"), ("b", "a")])
    audit = pv.audit_exhaustively(pv.PermuteAndFlip(two_apart, 1.0), length=2)
    assert (audit.loss, audit.pairs, audit.word) == (0.0, 0, None)


def test_too_many_words_are_refused_before_they_are_listed() -> None:
    with pytest.raises(pv.TooLargeError, match="shorter length"):
        pv.audit_exhaustively(pv.Exponential(pv.Alphabet("abcdef"), 1.0), length=12)


def test_the_loss_of_the_online_mechanism_is_attained() -> None:
    assert pv.audit_exhaustively(pv.Online(pv.Alphabet("abc"), 1.0), length=3).loss == pytest.approx(1.0)


@pytest.mark.parametrize("name", MECHANISMS)
@settings(max_examples=12, deadline=None)
@given(systems_with_length(), st.integers(1, 2), st.sampled_from(["feasible", "any"]))
def test_the_loss_is_that_of_the_listed_laws_in_both_units(
    name: str, example: tuple[pv.System, int], adjacency: int, inputs: str
) -> None:
    world, length = example
    accepted = "nearest" if inputs == "any" else "refuse"
    mechanism = build(name, world, 1.5, adjacency, on_infeasible=accepted)
    if mechanism is None or len(world.symbols) ** length > 100 or world.count(length) > 20:
        return
    words = product(world.symbols, repeat=length) if inputs == "any" else feasible_words(world, length)
    laws = {word: reference_law(name, mechanism, word) for word in words}
    audit = pv.audit_exhaustively(mechanism, length)
    assert audit.loss == pytest.approx(worst_loss(laws, adjacency), abs=1e-8)
    assert audit.inputs == inputs
    assert audit.holds


def test_any_words_can_be_compared_for_a_mechanism_that_refuses_some() -> None:
    # The promise of permute-and-flip is about all words; the certified one's is not.
    every = pv.audit_exhaustively(pv.PermuteAndFlip(CHAIN, 2.0), length=3, inputs="any")
    assert every.pairs == 27 * 6
    assert every.loss >= pv.audit_exhaustively(pv.PermuteAndFlip(CHAIN, 2.0), length=3).loss
    with pytest.raises(pv.InvalidParameterError, match="nearest"):
        pv.audit_exhaustively(pv.CertifiedExponential(CHAIN, 2.0), length=3, inputs="any")
    with pytest.raises(pv.InvalidParameterError, match="'feasible' or 'any'"):
        pv.audit_exhaustively(pv.Exponential(CHAIN, 2.0), length=3, inputs="all")  # type: ignore[arg-type]


def test_an_output_that_only_one_word_can_have_is_an_infinite_loss() -> None:
    class Honest(pv.Exponential):
        def _log_probabilities(self, codes: IntArray, outputs: IntArray) -> FloatArray:
            return np.where((codes == outputs).all(axis=1), 0.0, -inf)

    audit = pv.audit_exhaustively(Honest(pv.Alphabet("ab"), 1.0), length=2)
    assert audit.loss == inf
    assert not audit.holds


def test_the_verdict_says_what_was_compared() -> None:
    assert "holds" in str(pv.audit_exhaustively(pv.Exponential(CHAIN, 2.0), length=3))
    assert "feasible or not" in pv.audit_exhaustively(pv.Exponential(CHAIN, 2.0), length=3, inputs="any").verdict
    assert "REFUTED" in str(pv.audit_exhaustively(TooLittleNoise(CHAIN, 2.0), length=4))
    two_apart = pv.MarkovChain.from_edges([("a", "b"), ("b", "a")])
    assert "says nothing" in str(pv.audit_exhaustively(pv.PermuteAndFlip(two_apart, 1.0), length=2))
