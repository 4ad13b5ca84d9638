"""What people type: words in many shapes, ragged lists, smallest cases, and refusals with a reason."""

import math

import numpy as np
import pytest

import pathveil as pv
from tests.words.mechanisms import MECHANISMS, build
from tests.worlds import LETTER_CHAIN


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_string_gives_a_string_and_a_sequence_gives_a_tuple(name: str) -> None:
    mechanism = build(name, LETTER_CHAIN, 2.0)
    assert mechanism is not None
    assert isinstance(mechanism.privatize("abca"), str)
    for word in (["a", "b"], ("a", "b"), np.array(["a", "b"])):
        assert isinstance(mechanism.privatize(word), tuple)


@pytest.mark.parametrize("name", MECHANISMS)
def test_many_words_of_different_lengths_keep_order_length_and_kind(name: str) -> None:
    mechanism = build(name, LETTER_CHAIN, 1e6)  # so little noise that the output is the input
    assert mechanism is not None
    words = ["abca", ("b",), "ab", ("b", "c", "a", "a"), "c"]
    assert mechanism.privatize_many(words) == words
    assert mechanism.privatize_many([]) == []


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize(
    ("world", "word"),
    [
        (pv.Alphabet("ab"), "b"),  # n = 1
        (pv.Alphabet("a"), "aaa"),  # m = 1
        (pv.MarkovChain.from_edges([("a", "b"), ("b", "a")], initial={"a"}), "aba"),  # |L| = 1
    ],
)
def test_the_smallest_cases_work(name: str, world: pv.System, word: str) -> None:
    mechanism = build(name, world, 1.0)
    assert mechanism is not None
    private = mechanism.privatize(word)
    assert world.is_feasible(private)
    assert mechanism.error_law(word).pmf.sum() == pytest.approx(1.0, abs=1e-12)
    assert pv.audit_exhaustively(mechanism, len(word)).holds
    if world.count(len(word)) == 1:
        assert private == word
        assert mechanism.log_probability(word, word) == pytest.approx(0.0, abs=1e-12)


def test_laws_know_mean_variance_and_quantiles() -> None:
    law = pv.Exponential(pv.Alphabet("ab"), 2 * math.log(3)).error_law("abab")  # binomial with n = 4, p = 1/4
    assert law.pmf == pytest.approx([81 / 256, 108 / 256, 54 / 256, 12 / 256, 1 / 256])
    assert law.mean == pytest.approx(1.0)
    assert law.variance == pytest.approx(0.75)
    assert [law.quantile(q) for q in (0, 0.3, 0.5, 0.75, 0.99, 1)] == [0, 0, 1, 2, 3, 4]
    with pytest.raises(pv.InvalidParameterError, match="from 0 to 1"):
        law.quantile(1.5)
    with pytest.raises(ValueError, match="read-only"):
        law.pmf[0] = 1.0


def test_an_infeasible_output_has_probability_zero_and_a_longer_one_is_an_error() -> None:
    mechanism = pv.PermuteAndFlip(LETTER_CHAIN, 1.0)
    assert mechanism.log_probability("ab", "ac") == -math.inf
    with pytest.raises(pv.LengthMismatchError, match="the output has 3 symbols, the word 2"):
        mechanism.log_probability("ab", "aba")


@pytest.mark.parametrize("name", MECHANISMS)
def test_an_unknown_symbol_is_named_with_its_position(name: str) -> None:
    mechanism = build(name, LETTER_CHAIN, 1.0)
    assert mechanism is not None
    with pytest.raises(pv.UnknownSymbolError, match="unknown symbol 'z' at position 2 of 3"):
        mechanism.privatize("aza")
    with pytest.raises(pv.UnknownSymbolError, match=r"\['b'\] at position 2"):
        mechanism.privatize(["a", ["b"]])
    with pytest.raises(pv.EmptyWordError, match="empty"):
        mechanism.privatize("")


@pytest.mark.parametrize("name", MECHANISMS)
def test_an_infeasible_word_is_refused_with_position_and_transition(name: str) -> None:
    mechanism = build(name, LETTER_CHAIN, 1.0)
    assert mechanism is not None
    with pytest.raises(pv.InfeasibleWordError, match=r"'c' cannot follow 'a' there \(position 3 of 4\)"):
        mechanism.privatize("aaca")
    with pytest.raises(pv.InfeasibleWordError, match=r"word 2 of 3: infeasible word: 'c' cannot follow 'c'"):
        mechanism.privatize_many(["ab", "cc", "ab"])
    with pytest.raises(pv.InfeasibleWordError, match="row 1"):
        mechanism.privatize_array([[0, 1], [0, 2]])


def test_things_that_are_no_word_or_no_system_are_refused() -> None:
    mechanism = pv.Exponential(pv.Alphabet(["home", "list"]), 1.0)
    for nothing in (3, None, (symbol for symbol in "ab"), {"home", "list"}, {"home": 1}):
        with pytest.raises(pv.InvalidParameterError, match="a word is a string or a sequence"):
            mechanism.privatize(nothing)  # type: ignore[arg-type]
    with pytest.raises(pv.UnknownSymbolError, match="give the word as a list"):
        mechanism.privatize("home")
    with pytest.raises(pv.InvalidParameterError, match="public system"):
        pv.Exponential([("a", "b")], 1.0)  # type: ignore[arg-type]


def test_a_single_word_is_not_a_list_of_words() -> None:
    for single in ("abca", None, 5):
        with pytest.raises(pv.InvalidParameterError, match="a list of words"):
            pv.Exponential(LETTER_CHAIN, 1.0).privatize_many(single)  # type: ignore[arg-type]
    with pytest.raises(pv.InvalidParameterError, match="different lengths"):
        pv.Exponential(LETTER_CHAIN, 1.0).privatize_array([[0], [0, 1]])


def test_a_string_comes_back_as_a_tuple_where_letters_could_not_be_told_apart() -> None:
    mixed = pv.PermuteAndFlip(pv.Alphabet(["a", "b", "cc", 1]), 0.1)
    assert isinstance(mixed.privatize("ab"), tuple)


def test_a_utility_of_ones_own_is_drawn_as_it_scores() -> None:
    class Half(pv.HammingUtility):
        def score(self, errors: np.ndarray) -> np.ndarray:
            return -errors / 2

        def sensitivity(self, adjacency: int) -> float:
            return adjacency / 2

    mechanism = pv.Exponential(LETTER_CHAIN, 1.0, utility=Half())
    total = sum(math.exp(mechanism.log_probability("ab", v)) for v in ("ab", "aa", "ba", "bc", "ca"))
    assert total == pytest.approx(1.0)
    assert pv.audit_exhaustively(mechanism, 3).holds
    with pytest.raises(pv.InvalidParameterError, match="utility"):
        pv.Exponential(LETTER_CHAIN, 1.0, utility="hamming")  # type: ignore[arg-type]


def test_first_and_last_symbols_that_cannot_be_are_named() -> None:
    world = pv.MarkovChain.from_edges([("a", "b"), ("b", "a")], initial={"a"}, final={"b"})
    with pytest.raises(pv.InfeasibleWordError, match="cannot begin with 'b'"):
        pv.Exponential(world, 1.0).privatize("ba")
    with pytest.raises(pv.InfeasibleWordError, match="cannot end with 'a'"):
        pv.Exponential(world, 1.0).privatize("aba")


@pytest.mark.parametrize("name", MECHANISMS)
def test_nearest_accepts_infeasible_words_and_releases_feasible_ones(name: str) -> None:
    mechanism = build(name, LETTER_CHAIN, 3.0, on_infeasible="nearest")
    assert mechanism is not None
    assert LETTER_CHAIN.is_feasible(mechanism.privatize("acca"))
    if name == "certified":
        assert mechanism.theta(4) == pytest.approx(1.5)


def test_nearest_still_needs_a_feasible_word_of_that_length() -> None:
    world = pv.MarkovChain.from_edges([("a", "b")])
    with pytest.raises(pv.NoFeasibleWordError, match="length 3"):
        pv.PermuteAndFlip(world, 1.0, on_infeasible="nearest").privatize("aba")


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, 10**400, "2", None, True])
def test_epsilon_must_be_positive_and_finite(name: str, epsilon: object) -> None:
    with pytest.raises(pv.InvalidParameterError, match="epsilon"):
        MECHANISMS[name](LETTER_CHAIN, epsilon)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("adjacency", [0, -2, 1.5, 2.0, 10**400, "1", None, True])
def test_adjacency_must_be_a_positive_whole_number(name: str, adjacency: object) -> None:
    with pytest.raises(pv.InvalidParameterError, match="adjacency"):
        MECHANISMS[name](LETTER_CHAIN, 1.0, adjacency)


def test_other_options_are_checked_too() -> None:
    with pytest.raises(pv.InvalidParameterError, match="on_infeasible"):
        pv.Exponential(LETTER_CHAIN, 1.0, on_infeasible="ignore")  # type: ignore[arg-type]
    with pytest.raises(pv.InvalidParameterError, match="alpha"):
        pv.InverseUtility(alpha=0.0)
    with pytest.raises(pv.InvalidParameterError, match="insecure_seed"):
        pv.Exponential(LETTER_CHAIN, 1.0).privatize("ab", rng=np.random.default_rng(1))  # type: ignore[arg-type]
    with pytest.raises(pv.InvalidParameterError, match="at least 1"):
        pv.CertifiedExponential(LETTER_CHAIN, 1.0, max_length=0)
    with pytest.raises(pv.InvalidParameterError, match="contexts"):
        pv.CertifiedExponential(LETTER_CHAIN, 1.0, contexts=0)
    with pytest.raises(pv.InvalidParameterError, match="insecure_seed"):
        LETTER_CHAIN.random_word(3, rng=np.random.default_rng(1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([0, 1], "2-D array"),
        ([[0.5, 1.0]], "whole numbers"),
        (np.empty((0, 3), dtype=int), "no symbol"),
        (np.empty((3, 0), dtype=int), "no symbol"),
    ],
)
def test_arrays_must_hold_words(codes: object, message: str) -> None:
    with pytest.raises(pv.InvalidParameterError, match=message):
        pv.Exponential(LETTER_CHAIN, 1.0).privatize_array(codes)  # type: ignore[arg-type]


def test_a_code_outside_the_alphabet_is_named_with_row_and_column() -> None:
    with pytest.raises(pv.UnknownSymbolError, match="row 1, column 0: code 3"):
        pv.Exponential(LETTER_CHAIN, 1.0).privatize_array([[0, 1], [3, 0]])


def test_online_refuses_dead_ends_and_restricted_last_symbols_when_it_is_built() -> None:
    with pytest.raises(pv.DeadEndError, match="state 'c' has no successor"):
        pv.Online(pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "c")]), 1.0)
    with pytest.raises(pv.InvalidSystemError, match="does not know where its word will end"):
        pv.Online(pv.MarkovChain.from_edges([("a", "b"), ("b", "a")], final={"a"}), 1.0)
    unreachable = pv.MarkovChain.from_counts("abc", [[0, 1, 0], [1, 0, 0], [0, 0, 0]], initial={"a"})
    assert pv.Online(unreachable, 1.0).privatize("aba") == "aba"


def test_a_stream_names_an_unknown_symbol_and_goes_on() -> None:
    stream = pv.Online(LETTER_CHAIN, 1.0).stream()
    with pytest.raises(pv.UnknownSymbolError, match="'z'"):
        stream.push("z")
    private = [stream.push(symbol) for symbol in "abca"]
    assert LETTER_CHAIN.is_feasible(private)


def test_a_table_that_would_not_fit_is_refused_with_a_way_out() -> None:
    town = pv.example_town()
    trip = town.random_word(1_200)
    with pytest.raises(pv.TooLargeError, match="Use Exponential"):
        pv.Exponential(town, 1.0, utility=pv.InverseUtility()).privatize(trip)


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_show_what_they_are_and_never_a_word(name: str) -> None:
    mechanism = build(name, LETTER_CHAIN, 1.5, 2)
    mechanism.privatize("abca")
    assert "epsilon=1.5, adjacency=2" in repr(mechanism)
    assert "abca" not in repr(mechanism) + str(mechanism.guarantee)
