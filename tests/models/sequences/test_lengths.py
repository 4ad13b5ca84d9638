"""Words of a model are as long as the noisy lengths say: smoothed lengths, factors and weights."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.sequences.lengths import as_distribution, length_corrections
from pathveil.models.sequences.smoothing import smoothed
from tests.reference.word_law import law_of

LEVEL = 1000 * np.exp(-0.5 * ((np.arange(30) - 9) / 5) ** 2)
"""A hill of lengths; the last one counts all that were cut there."""


def test_counts_that_noise_hardly_moves_stay_as_they_are():
    counts = np.array([40_000.0, 90.0, 2_000.0, 9_000.0, 10.0, 700.0, 3_000.0])
    assert smoothed(counts, np.full(7, 1.0)) == pytest.approx(counts, rel=0.02, abs=2)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_few_lengths_are_not_smoothed(length):
    counts = np.array([5.0, -3.0, 8.0])[:length]
    assert (smoothed(counts, np.full(length, 50.0)) == counts).all()


def test_smoothing_takes_a_part_of_the_noise_away():
    """On average over 40 seeded draws; noise alone moves this mean by less than a tenth of the difference."""
    truth, scale, rng = as_distribution(LEVEL), 100.0, np.random.default_rng(1)
    errors = []
    for _ in range(40):
        noisy = LEVEL + rng.laplace(0, scale, len(LEVEL))
        better = smoothed(noisy, np.full(len(noisy), 2 * scale**2))
        assert better[-1] == noisy[-1]
        errors.append([np.abs(as_distribution(counts) - truth).sum() for counts in (noisy, better)])
    plain, with_smoothing = np.mean(errors, axis=0)
    assert with_smoothing < 0.85 * plain


def fitted(**options) -> pv.PrivateSequences:
    words = ["abc", "abca", "cab", "ab", "b", "bca", "cabc", "aab"] * 200
    asked = {"states": "abc", "epsilon": 9.0, "max_length": 5, "rng": pv.insecure_seed(3), **options}
    return pv.fit_private_sequences(words, **asked)


@pytest.mark.parametrize("order", [1, 3])
def test_the_words_of_a_model_have_the_lengths_that_were_measured(order):
    model = fitted(order=order)
    law = law_of(model)
    lengths = [sum(p for word, p in law.items() if len(word) == n) for n in range(1, 6)]
    assert lengths == pytest.approx(model._fitted.lengths.tolist(), abs=0.02)
    # The negative control: without the corrections they are others.
    arrays = model.law.arrays
    uncorrected = length_corrections(arrays, np.full(5, 0.2), model._fitted.frequent)
    assert np.abs(uncorrected.weights - model._fitted.corrections.weights).max() > 0.05


def test_words_are_drawn_in_reasonable_time_even_if_the_model_makes_other_lengths():
    words = ["ab"] * 3000 + ["ababababa"] * 3  # the model ends words early; then only long ones are wanted
    model = pv.fit_private_sequences(words, states="ab", epsilon=9.0, max_length=9, order=2, rng=pv.insecure_seed(1))
    wanted = np.zeros(9)
    wanted[-1] = 1.0
    found = length_corrections(model.law.arrays, wanted, model._fitted.frequent)
    assert 1 < found.weights.max() <= 32 * (1 + 1e-9)  # so many words are drawn for one that is taken


def test_words_that_are_kept_whole_are_as_common_as_their_counts_say():
    model = fitted(delta=1e-3, epsilon=6.0)
    law, (word, count) = law_of(model), model.frequent[0]
    assert law[word] == pytest.approx(count / model.word_count, rel=0.25)
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
