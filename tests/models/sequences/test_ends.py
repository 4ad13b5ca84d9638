"""How words begin and end: against listing all words, and for words whose ends nothing in between tells."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.ends import words_by_ends

STATES, LONGEST = "abc", 4
SUPPORT = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 1]])


def some_words(count: int = 600) -> list[str]:
    rng = random.Random(1)
    words = []
    while len(words) < count:
        word = "".join(rng.choices(STATES, k=rng.randint(1, 5)))
        if all(SUPPORT[STATES.index(a), STATES.index(b)] for a, b in pairwise(word)):
            words.append(word)
    return words


def fitted(words=None, **more):
    given = {"states": STATES, "epsilon": 3.0, "max_length": LONGEST, "ends": True, "rng": pv.insecure_seed(2)}
    return pv.fit_private_sequences(some_words() if words is None else words, **given | more)


def all_words() -> CodedWords:
    return CodedWords.from_codes([word for n in range(1, LONGEST + 1) for word in product(range(3), repeat=n)])


@pytest.mark.parametrize("order", [1, 3])
def test_the_table_of_ends_is_the_sum_over_all_words(order):
    model = fitted(order=order, support=SUPPORT, epsilon=200.0)
    listed, factors = all_words(), model.law.corrections.factors
    probabilities = np.exp(model._arrays.log_probabilities(listed, factors))
    expected = np.zeros((3, 3, LONGEST))
    first, last = listed.values[listed.offsets[:-1]], listed.values[listed.offsets[1:] - 1]
    np.add.at(expected, (first, last, listed.lengths - 1), probabilities)
    assert words_by_ends(model._arrays, factors) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.05, 200.0])
def test_probabilities_of_all_words_sum_to_one(epsilon):
    model = fitted(support=SUPPORT, epsilon=epsilon)
    probabilities = np.exp(model.law.log_probabilities(all_words()))
    assert probabilities.sum() == pytest.approx(1, abs=1e-12)


def test_words_are_drawn_with_their_probabilities():
    """χ² with at most 119 degrees of freedom stays below 230 but for a probability of 1e-8."""
    model, count = fitted(support=SUPPORT), 40_000
    listed = all_words()
    seen = Counter(model.synthesize(count, pv.insecure_seed(5)))
    bounds = zip(listed.offsets[:-1], listed.offsets[1:], strict=True)
    spelled = ["".join(STATES[code] for code in listed.values[a:b]) for a, b in bounds]
    expected = count * np.exp(model.law.log_probabilities(listed))
    often = expected > 5
    found = np.array([seen[word] for word in spelled], dtype=float)
    assert ((found - expected)[often] ** 2 / expected[often]).sum() < 230
    assert found[~often].sum() < expected[~often].sum() + 60


def test_ends_that_nothing_in_between_tells_are_known_with_ends_only():
    words = [f"{end}mmm{end}" for end in "abcd"] * 2000

    def agreeing(ends: bool) -> float:
        model = fitted(words, states="abcdm", max_length=5, order=1, ends=ends)
        made = model.synthesize(2000, pv.insecure_seed(3))
        return sum(word[0] == word[-1] for word in made) / len(made)

    assert agreeing(ends=False) < 0.4
    assert agreeing(ends=True) > 0.8


def test_beginnings_and_ends_can_be_asked_for():
    words = fitted(support=SUPPORT).synthesize(50, pv.insecure_seed(3), first="a", last="c")
    assert all(word[0] == "a" and word[-1] == "c" for word in words)


@pytest.mark.parametrize("ends", [False, True])
def test_noise_that_is_hardly_ever_there_divides_by_nothing(ends):
    model = fitted(["ab", "c"], epsilon=20_000.0, order=3, ends=ends, neighbours="add-remove")
    assert np.exp(model.law.log_probabilities(all_words())).sum() == pytest.approx(1, abs=1e-9)


def test_what_cannot_be_is_refused():
    with pytest.raises(pv.InvalidParameterError, match="do not go together"):
        fitted(delta=1e-6)
    with pytest.raises(pv.InvalidParameterError, match="coarser cells"):
        fitted([(0, 1)], states=range(2000))


def test_a_file_with_ends_and_with_frequent_words_is_refused():
    saved = json.loads(fitted().to_json())
    saved["frequent"], saved["kept_by_model"] = [{"word": ["a", "b"], "count": 9.0}], [0.1]
    with pytest.raises(pv.InvalidSystemError, match="damaged"):
        pv.PrivateSequences.from_json(saved)
    assert pv.PrivateSequences.from_json(saved | {"ends": None}).frequent
