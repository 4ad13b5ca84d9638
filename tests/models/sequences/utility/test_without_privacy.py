"""The curator's model without noise: it repeats what it was fitted to, and never looks like a release."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.counting import States
from pathveil.models.sequences import CodedWords
from pathveil.models.sequences.utility import fit_without_privacy, side_by_side
from pathveil.models.sequences.utility.comparison import WordStatistics, compare
from tests.models.sequences.utility.made_up import chain_words, log_words


def fitted(words: CodedWords | list[str], **options):
    return pv.fit_private_sequences(words, rng=pv.insecure_seed(5), **options)


@pytest.mark.parametrize("order", [1, 2])
def test_words_of_a_chain_are_repeated_as_well_as_by_chance(order):
    """The chain is of order 1, so neither order loses anything by modelling."""
    words = chain_words(5, 20_000, 8, seed=4)
    model = fitted(words, states=range(5), epsilon=0.3, max_length=8, order=order)
    unprotected = fit_without_privacy(words, model)
    made = unprotected.curator_words(100_000, pv.insecure_seed(2))
    assert int(made.times.sum()) == 100_000
    found = compare(WordStatistics(words, 5), WordStatistics(made, 5))
    assert max(found.starts, found.ends, found.lengths) < 0.015
    assert found.pairs < 0.02
    assert found.triples < 0.06


def test_an_order_that_is_too_small_loses_by_modelling_what_a_larger_one_keeps():
    """In these words the third symbol repeats the first: only contexts of two symbols can know that."""
    words = CodedWords.from_codes([[0, 1, 0], [2, 1, 2]] * 2_000)
    errors = {}
    for order in (1, 2):
        model = fitted(words, states=range(3), epsilon=50.0, max_length=4, order=order)
        made = fit_without_privacy(words, model).curator_words(20_000, pv.insecure_seed(2))
        errors[order] = compare(WordStatistics(words, 3), WordStatistics(made, 3)).triples
    assert errors[1] > 0.4
    assert errors[2] < 0.1  # an estimate leaves a little to what shorter contexts say


def test_frequent_words_of_the_model_are_kept_with_their_true_counts():
    words = log_words(2_000, seed=1)
    model = fitted(words, states="abcde", epsilon=4.0, delta=1e-6, max_length=9)
    coded = CodedWords.from_words(words, States("abcde", None), 9)
    unprotected = fit_without_privacy(coded, model)
    kept = {
        "".join("abcde"[code] for code in unprotected.kept.values[a:b]): int(times)
        for a, b, times in zip(
            unprotected.kept.offsets[:-1], unprotected.kept.offsets[1:], unprotected.kept.times, strict=True
        )
    }
    assert kept == {word: words.count(word) for word, _ in model.frequent}
    assert unprotected.rest == 2_000 - sum(kept.values())


def test_it_works_where_all_words_are_frequent():
    words = CodedWords.from_codes([[0, 1]] * 500)
    model = fitted(words, states=range(2), epsilon=4.0, delta=1e-6, max_length=3)
    made = fit_without_privacy(words, model).curator_words(100)
    assert made.values.tolist() == [0, 1]
    assert made.times.tolist() == [100]


def test_it_is_neither_public_nor_saved_nor_shown_without_a_warning():
    words = CodedWords.from_codes([[0, 1]] * 50)
    unprotected = fit_without_privacy(words, fitted(words, states=range(2), epsilon=1.0, max_length=3))
    assert not hasattr(pv, "fit_without_privacy")
    assert not hasattr(unprotected, "save")
    assert not hasattr(unprotected, "guarantee")
    assert "NOT PRIVATE" in repr(unprotected)


def test_privacy_costs_more_than_chance_and_modelling_where_the_budget_is_small():
    words = chain_words(8, 4_000, 8, seed=3)
    found = side_by_side(words, fitted(words, states=range(8), epsilon=0.3, max_length=8, order=1), pv.insecure_seed(1))
    pairs = {name: one.pairs for name, one in found.comparisons.items()}
    assert pairs["private"] > 2 * pairs["unprotected"]
    assert pairs["unprotected"] < 2 * pairs["chance"]


def test_chance_draws_the_original_words_as_often_as_they_occur():
    words = CodedWords.from_codes([[0, 1], [1]], np.array([30_000, 10_000]))
    model = fitted(words, states=range(2), epsilon=1.0, max_length=3)
    again = side_by_side(words, model, pv.insecure_seed(2)).chance.words
    assert again.times.sum() == 40_000
    # Seven standard deviations of a binomial law: a false alarm has probability below 1e-11.
    assert abs(int(again.times[0]) - 30_000) < 7 * np.sqrt(40_000 * 0.75 * 0.25)
