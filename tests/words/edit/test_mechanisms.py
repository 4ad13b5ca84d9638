"""The mechanisms for edit distance: laws and losses word by word on random systems, draws, promises, refusals."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

import pathveil as pv
from pathveil.words.edit.mechanism import EditMechanism
from tests.reference.edits import (
    exponential_edit_law,
    levenshtein,
    permute_and_flip_edit_law,
    words_in_range,
    worst_edit_loss,
)
from tests.reference.enumeration import Law, Word
from tests.reference.random_systems import SystemWithRange, systems_with_range
from tests.sizes import given_few_and_many
from tests.statistics import FALSE_ALARM, chi_square_p_value
from tests.worlds import LETTER_CHAIN

MECHANISMS: dict[str, type[EditMechanism]] = {
    "exponential": pv.EditExponential,
    "permute-and-flip": pv.EditPermuteAndFlip,
}
EPSILONS = st.one_of(st.sampled_from([0.1, 1.0, 5.0, 12.0]), st.floats(0.1, 12.0))
ADJACENCIES = st.integers(1, 2)
CAPS = st.none() | st.integers(1, 5)
LETTERS = pv.Alphabet("abcdefghijklmnopqrstuvwxyz")

every_mechanism = pytest.mark.parametrize("name", MECHANISMS)


def reference_law(name: str, words: list[Word], word: Word, cap: int, theta: float) -> Law:
    law = exponential_edit_law if name == "exponential" else permute_and_flip_edit_law
    return law(words, word, cap, theta)


@every_mechanism
@given_few_and_many(
    33, 100, case=systems_with_range(), epsilon=EPSILONS, adjacency=ADJACENCIES, cap=CAPS, which=st.integers(0, 10**6)
)
def test_law_and_probabilities_agree_with_enumeration(
    name: str, case: SystemWithRange, epsilon: float, adjacency: int, cap: int | None, which: int
) -> None:
    world, lo, hi = case
    mechanism = MECHANISMS[name](world, epsilon, adjacency, (lo, hi), cap)
    assert mechanism.cap == (hi if cap is None else min(cap, hi))
    assert mechanism.theta() == epsilon / (2 * min(adjacency, mechanism.cap))
    words = words_in_range(world, lo, hi)
    word = words[which % len(words)]
    expected = reference_law(name, words, word, mechanism.cap, mechanism.theta())
    law = mechanism.error_law(word)
    assert abs(law.pmf.sum() - 1) <= 1e-12
    by_distance = np.zeros(mechanism.cap + 1)
    by_length = dict.fromkeys(range(lo, hi + 1), 0.0)
    for output, probability in expected.items():
        by_distance[min(levenshtein(word, output), mechanism.cap)] += probability
        by_length[len(output)] += probability
        assert math.exp(mechanism.log_probability(word, output)) == pytest.approx(probability, rel=1e-9)
    assert law.pmf == pytest.approx(by_distance, abs=1e-10)
    assert mechanism.length_law(word) == pytest.approx(by_length, abs=1e-10)


@every_mechanism
@given_few_and_many(33, 100, case=systems_with_range(most_words=60), epsilon=EPSILONS, adjacency=ADJACENCIES, cap=CAPS)
def test_the_true_loss_over_all_words_and_lengths_stays_within_epsilon(
    name: str, case: SystemWithRange, epsilon: float, adjacency: int, cap: int | None
) -> None:
    world, lo, hi = case
    audit = pv.audit_exhaustively(MECHANISMS[name](world, epsilon, adjacency, (lo, hi), cap))
    assert audit.holds
    if audit.pairs:
        assert audit.word is None or levenshtein(audit.word, audit.neighbour) <= adjacency  # type: ignore[arg-type]


@every_mechanism
@given_few_and_many(12, 25, case=systems_with_range(most_words=30), epsilon=EPSILONS, adjacency=ADJACENCIES, cap=CAPS)
def test_the_true_loss_stays_within_epsilon_when_infeasible_words_are_accepted(
    name: str, case: SystemWithRange, epsilon: float, adjacency: int, cap: int | None
) -> None:
    world, lo, hi = case
    if sum(len(world.symbols) ** n for n in range(lo, hi + 1)) <= 90:
        mechanism = MECHANISMS[name](world, epsilon, adjacency, (lo, hi), cap, on_infeasible="nearest")
        assert pv.audit_exhaustively(mechanism).holds


@given_few_and_many(12, 20, case=systems_with_range(most_words=40), epsilon=EPSILONS, cap=CAPS)
def test_the_audit_finds_the_loss_that_listing_finds(case: SystemWithRange, epsilon: float, cap: int | None) -> None:
    world, lo, hi = case
    mechanism = pv.EditExponential(world, epsilon, 1, (lo, hi), cap)
    words = words_in_range(world, lo, hi)
    laws = {word: exponential_edit_law(words, word, mechanism.cap, mechanism.theta()) for word in words}
    assert pv.audit_exhaustively(mechanism).loss == pytest.approx(worst_edit_loss(laws, 1), abs=1e-9)


def test_the_audit_notices_a_mechanism_that_promises_too_much() -> None:
    class Careless(pv.EditExponential):
        def theta(self, length: int | None = None) -> float:
            return 2.5 * super().theta(length)

    assert not pv.audit_exhaustively(Careless(pv.Alphabet("ab"), 1.0, lengths=(1, 4))).holds
    with pytest.raises(pv.TooLargeError, match="too many"):
        pv.audit_exhaustively(pv.EditExponential(pv.Alphabet("ab"), 1.0, lengths=(1, 20), cap=2))


@every_mechanism
@given_few_and_many(20, 60, case=systems_with_range(), epsilon=EPSILONS, cap=CAPS, seed=st.integers(0, 1000))
def test_private_words_are_feasible_and_have_an_allowed_length(
    name: str, case: SystemWithRange, epsilon: float, cap: int | None, seed: int
) -> None:
    world, lo, hi = case
    mechanism = MECHANISMS[name](world, epsilon, 1, (lo, hi), cap)
    words = words_in_range(world, lo, hi)
    private = mechanism.privatize_many(words, rng=pv.insecure_seed(seed))
    assert len(private) == len(words)
    for word in private:
        assert world.is_feasible(word)
        assert lo <= len(word) <= hi
    # The same from the same seed, one word at a time or not.
    assert mechanism.privatize_many(words, rng=pv.insecure_seed(seed)) == private
    assert mechanism.guarantee.seeded


SAMPLED: dict[str, tuple[pv.System, Word, tuple[int, int], int | None]] = {
    "alphabet": (pv.Alphabet("abc"), tuple("abc"), (2, 5), None),
    "alphabet, capped": (pv.Alphabet("abc"), tuple("abca"), (2, 5), 2),
    "chain": (LETTER_CHAIN, tuple("abca"), (3, 6), 3),
    "plans": (
        pv.TransitionSystem(
            {(0, "a"): 1, (1, "a"): 0, (0, "b"): 0, (1, "b"): 2, (2, "a"): 2, (2, "c"): 0}, 0, accepting={0, 2}
        ),
        ("a", "b", "c", "b"),
        (2, 6),
        None,
    ),
}


@pytest.mark.parametrize("where", SAMPLED)
@every_mechanism
def test_private_words_follow_the_law_of_the_mechanism(name: str, where: str) -> None:
    # False-alarm probability 1e-6 for each of the eight cases.
    world, word, lengths, cap = SAMPLED[where]
    source = pv.insecure_seed(2)

    def law_and_draws(epsilon: float) -> tuple[Law, list[object]]:
        mechanism = MECHANISMS[name](world, epsilon, 1, lengths, cap)
        outputs = words_in_range(world, *lengths)
        law = {output: math.exp(mechanism.log_probability(word, output)) for output in outputs}
        return law, mechanism.privatize_many([word] * 4_000, rng=source)

    law, draws = law_and_draws(4.0)
    assert sum(law.values()) == pytest.approx(1.0, abs=1e-12)
    assert chi_square_p_value(draws, law) > FALSE_ALARM
    # Negative control: draws with a third less noise do not follow this law.
    assert chi_square_p_value(law_and_draws(6.0)[1], law) < FALSE_ALARM


def test_different_words_of_a_batch_get_words_of_their_own() -> None:
    mechanism = pv.EditPermuteAndFlip(LETTERS, epsilon=400.0, lengths=(1, 12), cap=3)
    words = ["tram", "bus", "ferry", "bus", ("t", "a", "x", "i"), "x"]
    assert mechanism.privatize_many(words) == words
    assert mechanism.privatize_many([]) == []
    assert mechanism.privatize("ferry") == "ferry"


def test_arrow_arrays_come_back_with_other_lengths_and_the_same_type() -> None:
    mechanism = pv.EditExponential(LETTERS, epsilon=3.0, lengths=(1, 6), cap=6)
    words = pa.array([[0, 1, 2], [25], [3, 3, 3, 3, 3]], type=pa.list_(pa.int16()))
    private = mechanism.privatize_arrow(words, rng=pv.insecure_seed(1))
    assert private.type == words.type
    assert len(private) == 3
    lengths = [len(word) for word in private.to_pylist()]
    assert all(1 <= length <= 6 for length in lengths)
    assert lengths != [3, 1, 5]
    unchanged = pv.EditExponential(LETTERS, epsilon=400.0, lengths=(1, 6)).privatize_arrow(words.slice(1))
    assert unchanged.to_pylist() == [[25], [3, 3, 3, 3, 3]]
    assert mechanism.privatize_arrow(words.slice(0, 0)).to_pylist() == []
    with pytest.raises(pv.UnknownSymbolError, match="word 1, position 2"):
        mechanism.privatize_arrow(pa.array([[1], [1, 26]]))
    with pytest.raises(pv.LengthMismatchError, match="word 1"):
        mechanism.privatize_arrow(pa.array([[1], [1] * 7]))


def test_impossible_outputs_have_probability_zero() -> None:
    mechanism = pv.EditExponential(LETTER_CHAIN, 1.0, lengths=(2, 4))
    assert mechanism.log_probability("abca", "cc") == -math.inf
    assert mechanism.log_probability("abca", "abcab") == -math.inf
    assert mechanism.log_probability("abca", "ab") > -math.inf


def test_the_guarantee_names_the_unit_and_what_is_public() -> None:
    one = pv.EditPermuteAndFlip(LETTER_CHAIN, 2.0, lengths=(2, 9), cap=4).guarantee
    assert (one.epsilon, one.delta) == (2.0, 0.0)
    assert "any 1 insertion, deletion or substitution in one word, its length included" in one.unit
    assert "lengths 2 to 9 public" in one.unit
    assert any("cap" in public for public in one.public)
    assert not any(public == "the length of the word" for public in one.public)
    two = pv.EditExponential(LETTER_CHAIN, 2.0, 2, (2, 9)).guarantee
    assert "any 2 insertions, deletions or substitutions in one word" in two.unit
    assert not any("cap" in public for public in two.public)


def test_permute_and_flip_is_never_farther_than_exponential_and_never_less_than_half() -> None:
    for epsilon in (0.5, 2.0, 8.0):
        for cap in (None, 2):
            flip = pv.EditPermuteAndFlip(LETTER_CHAIN, epsilon, 1, (2, 8), cap).error_law("abcaa").mean
            exponential = pv.EditExponential(LETTER_CHAIN, epsilon, 1, (2, 8), cap).error_law("abcaa").mean
            assert exponential / 2 <= flip <= exponential


@every_mechanism
def test_bad_ranges_caps_and_words_are_refused_with_a_reason(name: str) -> None:
    build = MECHANISMS[name]
    with pytest.raises(pv.InvalidParameterError, match="greater than the longest"):
        build(LETTER_CHAIN, 1.0, lengths=(5, 4))
    for lengths in (5, "5", (1, 2, 3)):
        with pytest.raises(pv.InvalidParameterError, match="pair"):
            build(LETTER_CHAIN, 1.0, lengths=lengths)  # type: ignore[arg-type]
    with pytest.raises(pv.InvalidParameterError, match="at least 1"):
        build(LETTER_CHAIN, 1.0, lengths=(0, 4))
    for cap in (0, -1, 1.5, "2", True):
        with pytest.raises(pv.InvalidParameterError, match="cap"):
            build(LETTER_CHAIN, 1.0, lengths=(1, 4), cap=cap)  # type: ignore[arg-type]
    for unbounded in (None, (2, None)):
        with pytest.raises(pv.InvalidParameterError, match="any length"):
            build(LETTER_CHAIN, 1.0, lengths=unbounded)
    short = pv.TransitionSystem({(0, "a"): 1, (1, "b"): 2}, initial=0, accepting={2})
    with pytest.raises(pv.NoFeasibleWordError, match="3 to 5"):
        build(short, 1.0, lengths=(3, 5))
    mechanism = build(LETTER_CHAIN, 1.0, lengths=(2, 4))
    for word in ("a", "abcab"):
        with pytest.raises(pv.LengthMismatchError, match="2 to 4 symbols"):
            mechanism.privatize(word)
    with pytest.raises(pv.InfeasibleWordError):
        mechanism.privatize("cc")
    with pytest.raises(pv.LengthMismatchError, match="word 2 of 2"):
        mechanism.privatize_many(["ab", "a"])


@every_mechanism
def test_a_finite_language_needs_no_longest_length(name: str) -> None:
    plans = pv.TransitionSystem({(0, "a"): 1, (1, "b"): 2, (0, "c"): 2, (3, "a"): 3}, initial=0, accepting={2})
    mechanism = MECHANISMS[name](plans, 1.0)
    assert mechanism.lengths == (1, 2)
    assert {mechanism.privatize("ab") for _ in range(200)} == {"ab", "c"}
    assert MECHANISMS[name](plans, 1.0, lengths=(2, None)).lengths == (2, 2)


@every_mechanism
def test_infeasible_words_are_drawn_towards_where_that_is_asked_for(name: str) -> None:
    mechanism = MECHANISMS[name](LETTER_CHAIN, 60.0, lengths=(2, 5), on_infeasible="nearest")
    nearest = {mechanism.privatize("cca") for _ in range(50)}
    assert all(levenshtein(tuple("cca"), tuple(word)) == 1 for word in nearest)


def test_a_cap_below_the_adjacency_is_all_that_a_word_can_lose() -> None:
    mechanism = pv.EditExponential(pv.Alphabet("ab"), 1.0, adjacency=3, lengths=(1, 4), cap=1)
    assert mechanism.theta() == 0.5
    assert pv.audit_exhaustively(mechanism).holds
