import pytest

import pathveil as pv


def test_a_guarantee_names_epsilon_unit_and_what_is_public_in_one_sentence() -> None:
    sentence = str(pv.PermuteAndFlip(pv.Alphabet("ab"), epsilon=2.5, adjacency=3).guarantee)
    assert "ε = 2.5" in sentence
    assert "any other word of the same length that differs in at most 3 symbols" in sentence
    assert "the length of the word" in sentence
    assert sentence.count(".") - sentence.count("2.5") == 1


def test_certified_promises_only_among_feasible_words_and_says_so() -> None:
    town = pv.example_town()
    assert "any other feasible word" in pv.CertifiedExponential(town, 1.0).guarantee.unit
    assert "any other word" in pv.CertifiedExponential(town, 1.0, on_infeasible="nearest").guarantee.unit
    assert "any other word" in pv.PermuteAndFlip(town, 1.0).guarantee.unit


def test_refusing_infeasible_words_makes_their_feasibility_public() -> None:
    town = pv.example_town()
    refusing, accepting = pv.PermuteAndFlip(town, 1.0), pv.PermuteAndFlip(town, 1.0, on_infeasible="nearest")
    assert any("feasible (others are refused)" in item for item in refusing.guarantee.public)
    assert not any("refused" in item for item in accepting.guarantee.public)


def test_what_a_guarantee_speaks_of_cannot_be_changed_afterwards() -> None:
    mechanism = pv.CertifiedExponential(pv.Alphabet("ab"), 8.0)
    for name in ("epsilon", "adjacency", "world", "on_infeasible", "max_length", "contexts"):
        with pytest.raises(AttributeError):
            setattr(mechanism, name, 1)
    for name in ("epsilon", "delta", "unit", "public", "seeded"):
        with pytest.raises(AttributeError):
            setattr(mechanism.guarantee, name, 1)


def test_a_public_start_is_listed_as_public() -> None:
    town = pv.example_town(initial="Ash1")
    assert any("'Ash1'" in item for item in pv.PermuteAndFlip(town, 1.0).guarantee.public)


def test_a_release_with_a_seed_is_marked_from_then_on() -> None:
    mechanism = pv.Exponential(pv.Alphabet("ab"), epsilon=1.0)
    mechanism.privatize("abba")
    assert not mechanism.guarantee.seeded
    mechanism.privatize("abba", rng=pv.insecure_seed(1))
    assert mechanism.guarantee.seeded
    assert "NOT private" in str(mechanism.guarantee)
