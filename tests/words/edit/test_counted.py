"""Words counted without a table, and private words that are as far away as any: against listing all words."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import strategies as st

import pathveil as pv
from pathveil.words.edit import EditMechanism, LengthRange
from pathveil.words.edit.tables import EditTables, near_counts
from tests.reference.edits import edit_counts, levenshtein, words_in_range
from tests.reference.random_systems import SystemWithRange, systems_with_range
from tests.sizes import given_few_and_many
from tests.statistics import FALSE_ALARM, chi_square_p_value
from tests.worlds import LETTER_CHAIN, TOWN


@given_few_and_many(30, 150, case=systems_with_range(), cap=st.integers(1, 7), data=st.data())
def test_counts_are_those_of_listing_all_words(case: SystemWithRange, cap: int, data: st.DataObject) -> None:
    world, lo, hi = case
    listed = data.draw(
        st.lists(st.lists(st.sampled_from(world.symbols), min_size=1, max_size=hi + 1), min_size=1, max_size=4)
    )
    cap = min(cap, hi)
    outputs = words_in_range(world, lo, hi)
    found = near_counts(LengthRange(world.compiled, lo, hi), [world.encode(word) for word in listed], cap)
    assert found.tolist() == [edit_counts(outputs, tuple(word), cap) for word in listed]


@pytest.mark.parametrize("world", [TOWN, pv.Alphabet("abcdefgh"), pv.example_city(400)], ids=["town", "free", "city"])
@pytest.mark.parametrize("cap", [1, 3, 5])
def test_counts_of_longer_words_are_those_of_their_tables(world: pv.System, cap: int) -> None:
    """The city has too many edges for looking ahead, and its rows no edge of the ball."""
    source = pv.insecure_seed(cap)
    words = LengthRange(world.compiled, 7, 13)
    listed = [world.encode(world.random_word(7 + number % 7, source)) for number in range(70)]
    found = near_counts(words, listed, cap)
    tables = EditTables(words, listed, cap).counts
    assert found[: len(tables)].tolist() == [list(row) for row in tables]
    assert (found[:, 0] == 1).all()


def test_words_with_too_many_rows_are_given_their_tables() -> None:
    letters = pv.Alphabet("abcdefghijkl")
    mechanism = pv.EditExponential(letters, epsilon=0.5, lengths=(10, 14), cap=7)
    long, short = letters.encode("abcdefghijklab"), letters.encode("aaaaaaaaaa")
    assert [row[0] < 0 for row in near_counts(mechanism._words, [long, short], 7).tolist()] == [True, False]
    drawn = mechanism.privatize_many(["abcdefghijklab", "aaaaaaaaaa"] * 3, rng=pv.insecure_seed(1))
    assert all(10 <= len(word) <= 14 for word in drawn)


@pytest.mark.parametrize("world", [LETTER_CHAIN, pv.Alphabet("abc")], ids=["chain", "free"])
@pytest.mark.parametrize("cap", [1, 2, 3])
def test_every_number_is_another_word_and_those_that_are_near_are_refused(world: pv.System, cap: int) -> None:
    """So a number that is uniform among all of them is a word that is uniform among the far ones."""
    from pathveil.words.edit.walk import find_far_words

    words, compiled = LengthRange(world.compiled, 2, 5), world.compiled
    sensitive = world.random_word(4, pv.insecure_seed(cap))
    codes = np.tile(world.encode(sensitive), words.total)
    found, lengths = np.full((words.total, 5), -1), np.zeros(words.total, dtype=np.int64)
    ranks = np.arange(words.total, dtype=np.uint64).reshape(-1, 1)
    public = (compiled.accepting, words.completions, words.edges)
    listed = codes, np.arange(words.total + 1) * 4
    find_far_words(ranks, np.arange(words.total), listed, cap, 2, compiled.start, public, found, lengths)
    far = [
        world.decode(word[:length].tolist())
        for word, length in zip(found, lengths.tolist(), strict=True)
        if length >= 0
    ]
    assert len(set(far)) == len(far)
    assert set(far) == {word for word in words_in_range(world, 2, 5) if levenshtein(sensitive, word) >= cap}


@pytest.mark.parametrize("kind", [pv.EditExponential, pv.EditPermuteAndFlip])
@pytest.mark.parametrize(("epsilon", "cap"), [(0.5, 2), (4.0, 3)])
def test_private_words_that_are_counted_first_follow_the_law(
    kind: type[EditMechanism], epsilon: float, cap: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At ε = 4 most words are near, and get a table after all. False-alarm probability 1e-6 for each case."""
    monkeypatch.setattr(EditMechanism, "_is_mostly_far", True)
    word, source = tuple("abca"), pv.insecure_seed(3)

    def drawn(loss: float) -> list[object]:
        return kind(LETTER_CHAIN, loss, lengths=(3, 6), cap=cap).privatize_many([word] * 6_000, rng=source)

    mechanism = kind(LETTER_CHAIN, epsilon, lengths=(3, 6), cap=cap)
    outputs = words_in_range(LETTER_CHAIN, 3, 6)
    law = {output: math.exp(mechanism.log_probability(word, output)) for output in outputs}
    assert chi_square_p_value(drawn(epsilon), law) > FALSE_ALARM
    assert chi_square_p_value(drawn(epsilon + 2), law) < FALSE_ALARM  # negative control
    monkeypatch.setattr(EditMechanism, "_is_mostly_far", False)
    assert chi_square_p_value(drawn(epsilon), law) > FALSE_ALARM


def test_words_in_the_town_are_counted_first_where_most_are_far_and_near_ones_keep_their_own_class() -> None:
    words = [TOWN.random_word(9, pv.insecure_seed(number)) for number in range(30)] * 40
    classes = {}
    for epsilon, mostly_far in ((3.0, True), (5.0, False)):
        mechanism = pv.EditExponential(TOWN, epsilon, lengths=(7, 11), cap=4)
        assert mechanism._is_mostly_far == mostly_far
        private = mechanism.privatize_many(words, rng=pv.insecure_seed(5))
        edits = [min(levenshtein(word, other), 4) for word, other in zip(words, private, strict=True)]
        classes[epsilon] = Counter(edits)
        expected = sum(mechanism.error_law(word).pmf for word in words[:30]) / 30
        assert chi_square_p_value(edits, dict(enumerate(expected.tolist()))) > FALSE_ALARM
    assert classes[3.0][4] > 1_100
    assert len(classes[3.0]) > 1


@pytest.mark.parametrize("epsilon", [1.0, 6.0])
def test_a_seed_gives_the_same_words_whatever_was_drawn_before(epsilon: float) -> None:
    words = [TOWN.random_word(9, pv.insecure_seed(number)) for number in range(100)]
    mechanism = pv.EditPermuteAndFlip(TOWN, epsilon, lengths=(7, 11), cap=4)
    first = mechanism.privatize_many(words, rng=pv.insecure_seed(5))
    mechanism.privatize_many(words[20:60])
    mechanism.error_law(words[0])
    assert mechanism.privatize_many(words, rng=pv.insecure_seed(5)) == first
