"""Words that begin or end as asked for, against the law of all words of tiny models, listed one by one.

Chi-square tests give a false alarm with a probability of 1e-6 (tests/statistics.py); sources are seeded.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import pathveil as pv
from tests.reference.word_law import given, law_of, literal_law
from tests.statistics import FALSE_ALARM, chi_square_p_value

WORDS = ["abc", "abca", "cab", "ab", "b", "bca", "cabc", "aab"]
DRAWS = 8_000

SOME_FREQUENT = ["abc", "cab", "ab"] * 4 + ["".join(word) for n in (2, 3, 4) for word in product("abc", repeat=n)]
"""Of this list, ten times over, the first three are frequent; the others are left to the model."""


def fitted(*, delta=None, order=2, support=None, epsilon=1.0, words=WORDS * 120, max_length=4, seed=3):
    return pv.fit_private_sequences(
        words,
        states="abc",
        epsilon=epsilon,
        delta=delta,
        max_length=max_length,
        order=order,
        support=support,
        rng=pv.insecure_seed(seed),
    )


RING = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=bool)
MODELS = {
    "pairs": {"order": 1},
    "triples": {"order": 3, "epsilon": 20.0},
    "with frequent words": {"delta": 1e-6, "epsilon": 4.0, "words": SOME_FREQUENT * 10},
    "with a public support": {"support": RING, "words": ["abc", "aab", "b", "bca", "cab"] * 120},
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return fitted(**MODELS[request.param])


def test_the_probabilities_of_all_words_sum_to_one(model):
    assert sum(law_of(model).values()) == pytest.approx(1, abs=1e-12)


def test_probabilities_are_those_of_the_cells_of_the_tree(model):
    law = law_of(model)
    literal = literal_law(model, list(law))
    assert law == pytest.approx(literal, abs=1e-13)


def test_where_only_the_end_can_follow_words_end_whatever_the_factor_for_their_length():
    """The data have no word of one or two symbols, but whatever comes to c has to stop there."""
    only_end = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 0]], dtype=bool)
    model = fitted(support=only_end, words=["abc", "abab", "abac"] * 120, epsilon=50.0)
    law = law_of(model)
    assert law["c"] > 0
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)


def test_drawn_words_follow_the_law(model):
    assert chi_square_p_value(model.synthesize(DRAWS, pv.insecure_seed(11)), law_of(model)) > FALSE_ALARM


@pytest.mark.parametrize("prefix", ["a", "ab", "abc", "abca", ""])
def test_words_with_a_prefix_follow_the_law_of_all_words_given_it(model, prefix):
    if prefix not in ("", "a", "ab") and model.grammar.widths[0] < 3:
        pytest.skip("not a word of every support")
    law = given(law_of(model), lambda word: word.startswith(prefix))
    assert chi_square_p_value(model.synthesize(DRAWS, pv.insecure_seed(5), prefix=prefix), law) > FALSE_ALARM


@pytest.mark.parametrize(("first", "last"), [("a", "c"), (None, "a"), ("c", "c"), ("b", None)])
def test_words_with_first_and_last_symbol_follow_the_law_of_all_words_given_them(model, first, last):
    law = given(law_of(model), lambda word: word[0] == (first or word[0]) and word[-1] == (last or word[-1]))
    words = model.synthesize(DRAWS, pv.insecure_seed(6), first=first, last=last)
    assert chi_square_p_value(words, law) > FALSE_ALARM


def test_a_wrong_share_of_frequent_words_would_be_noticed():
    """Negative control: frequent words with the share that they have among all words, not among those asked for."""
    model = fitted(delta=1e-6, epsilon=4.0, words=SOME_FREQUENT * 10)
    assert 0.05 < model.frequent_share < 0.5
    right = given(law_of(model), lambda word: word.startswith("ab"))
    kept = {word: count for word, count in model.frequent if word.startswith("ab")}
    model_part = given(law_of(model), lambda word: word.startswith("ab") and word not in kept)
    wrong = {word: (1 - model.frequent_share) * p for word, p in model_part.items()}
    wrong |= {word: model.frequent_share * count / sum(kept.values()) for word, count in kept.items()}
    words = model.synthesize(DRAWS, pv.insecure_seed(5), prefix="ab")
    assert chi_square_p_value(words, right) > FALSE_ALARM
    assert chi_square_p_value(words, wrong) < FALSE_ALARM


def test_leaving_the_end_to_chance_would_be_noticed(model):
    """Negative control for first and last."""
    law = given(law_of(model), lambda word: word[0] == "a" and word[-1] == "c")
    assert chi_square_p_value(model.synthesize(DRAWS, pv.insecure_seed(6), first="a"), law) < FALSE_ALARM


def test_what_the_public_support_rules_out_is_refused():
    ring = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    model = fitted(support=ring, words=["abc", "ab", "b", "bc"] * 120)
    with pytest.raises(pv.InvalidParameterError, match="'a' cannot follow 'b'"):
        model.synthesize(5, prefix="ba")
    with pytest.raises(pv.InvalidParameterError, match="allows none of at most 4 symbols"):
        model.synthesize(5, first="b", last="a")
    with pytest.raises(pv.InvalidParameterError, match="'x' is not one of the 3 states"):
        model.synthesize(5, first="x")
    with pytest.raises(pv.InvalidParameterError, match="at most 4"):
        model.synthesize(5, prefix="abcab")
    with pytest.raises(pv.InvalidParameterError, match="leave out `first`"):
        model.synthesize(5, prefix="ab", first="a")
    assert set(model.synthesize(50, first="b", last="b")) == {"b"}


def test_a_symbol_that_ends_no_word_may_be_where_words_are_cut():
    """In this system words end with b only, and a can be last only where a word was cut, after an odd number."""
    chain = pv.MarkovChain.from_edges([("a", "b"), ("b", "a")], initial=None, final={"b"})
    odd, even = (
        pv.fit_private_sequences(
            ["ab", "ababab"] * 50, states="ab", support=chain, epsilon=1.0, max_length=length, rng=pv.insecure_seed(2)
        )
        for length in (5, 4)
    )
    assert set(odd.synthesize(20, first="a", last="a")) == {"ababa"}
    with pytest.raises(pv.InvalidParameterError, match="allows none"):
        even.synthesize(20, first="a", last="a")


def test_words_that_are_too_rare_are_an_error_that_says_how_rare():
    model = pv.fit_private_sequences(
        ["ab"] * 200_000, states="abc", epsilon=50.0, max_length=2, order=1, rng=pv.insecure_seed(4)
    )
    p = sum(given(law_of(model), lambda word: word[0] == "a").get(word, 0.0) for word in ("ac",))
    assert 0 < p < 1e-3
    with pytest.raises(pv.NoFeasibleWordError, match=r"of [\d,]+ words that were tried of those that begin so"):
        model.synthesize(10_000, first="a", last="c", rng=pv.insecure_seed(1))
    assert set(model.synthesize(2, first="a", last="c", rng=pv.insecure_seed(1))) == {"ac"}
