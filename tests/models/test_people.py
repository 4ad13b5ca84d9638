"""The words of a person that are used: checks, exactness of the choice, sensitivities by brute force."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathveil as pv
from pathveil.models.counting import States, count_words, encode_words
from pathveil.models.laplace import sensitivities
from pathveil.models.people import WholeWords, chosen_words, person_codes, words_of_people
from pathveil.privacy import units
from tests.reference import people

USERS = st.lists(st.sampled_from(["ann", "bob", "cleo", 7, 7.5, ("x", 1)]), max_size=40)


@given(USERS, st.integers(1, 5), st.integers(0, 2**32))
def test_of_each_person_stay_all_words_or_as_many_as_allowed(users, limit, seed):
    kept = words_of_people(users, len(users), limit, pv.insecure_seed(seed))
    staying = Counter(user for user, stays in zip(users, kept, strict=True) if stays)
    assert staying == {user: min(number, limit) for user, number in Counter(users).items()}


@given(USERS, st.integers(1, 5))
def test_the_choice_depends_on_the_seed_and_on_who_is_equal_and_on_nothing_else(users, limit):
    renamed = [{"ann": "zoe", "bob": None, 7: "ann"}.get(user, user) or date(2024, 1, 1) for user in users]
    choices = [words_of_people(listed, len(users), limit, pv.insecure_seed(5)) for listed in (users, users, renamed)]
    assert all((one == choices[0]).all() for one in choices)


def test_lists_arrays_and_arrow_name_the_same_persons():
    numbers = np.random.default_rng(1).integers(0, 50, 500)
    texts = numbers.astype(str)
    expected = words_of_people(numbers.tolist(), 500, 3, pv.insecure_seed(2))
    for users in (numbers, numbers.astype(float), texts, texts.tolist(), texts.astype(object), pa.array(texts),
                  pa.array(numbers), numbers.astype("datetime64[ns]"), iter(texts)):  # fmt: skip
        assert (words_of_people(users, 500, 3, pv.insecure_seed(2)) == expected).all()


class FewBits:
    """A source that hands out only one random bit in each value: keys are equal all the time."""

    def __init__(self, seed: int) -> None:
        self._source = pv.insecure_seed(seed)

    def keystream(self, count):
        return self._source.keystream(count) >> np.uint64(63)


def unevenness(source, draws: int, take=None) -> float:
    """The chi-square statistic of the choice of 2 among 5 words of one person; another has 3 words in between.

    There are 10 choices, so the statistic has 9 degrees of freedom.
    """
    users = np.array([1, 2, 1, 1, 2, 1, 2, 1])
    found = Counter()
    for _ in range(draws):
        kept = chosen_words(users, 2, source) if take is None else take(users)
        found[tuple(np.flatnonzero(kept & (users == 1)).tolist())] += 1
    expected = draws / math.comb(5, 2)
    pairs = itertools.combinations([0, 2, 3, 5, 7], 2)
    return sum((found[pair] - expected) ** 2 / expected for pair in pairs)


LIMIT = 46.0
"""A chi-square variable with 9 degrees of freedom exceeds it with a probability of 6e-7: the false-alarm rate."""


@pytest.mark.parametrize("source", [pv.insecure_seed(11), FewBits(12)])
def test_every_choice_is_equally_likely_also_where_keys_are_often_equal(source):
    assert unevenness(source, 4000) < LIMIT


def test_the_check_of_even_choices_notices_uneven_ones():
    source = FewBits(13)

    def with_ties_in_the_order_of_the_file(users):
        keys = source.keystream(len(users))
        order = np.lexsort((keys, users))
        return np.isin(np.arange(len(users)), [*order[:2], *order[5:7]])

    assert unevenness(None, 4000, with_ties_in_the_order_of_the_file) > LIMIT


def test_persons_choose_independently():
    """Two persons choose 1 of 2 words: all four outcomes are equally likely (false alarm 2e-6; 3 degrees)."""
    source, found = pv.insecure_seed(14), Counter()
    for _ in range(2000):
        found[tuple(chosen_words(np.array([1, 2, 2, 1]), 1, source).tolist())] += 1
    assert len(found) == 4
    assert sum((n - 500) ** 2 / 500 for n in found.values()) < 29


@pytest.mark.parametrize(
    ("users", "place"),
    [
        (["a", None, None], 2),
        (["a", "b", ""], 3),
        ([float("nan"), 1.0, 2.0], 1),
        (np.array([1.0, 2.0, np.nan]), 3),
        (np.array(["a", "", "c"]), 2),
        (np.array(["2024-01-01", "NaT", "2024-01-01"], dtype="datetime64[D]"), 2),
        (pa.array(["a", "b", None]), 3),
        ([["a"], "b", "c"], 1),
    ],
)
def test_a_gap_is_refused_by_the_number_of_its_word(users, place):
    with pytest.raises(pv.InvalidParameterError, match=f"word number {place} does not say whose") as refused:
        person_codes(users, 3)
    assert refused.value.without_content == str(refused.value)


def test_there_is_one_user_for_each_word():
    with pytest.raises(pv.InvalidParameterError, match="has 2 entries, but there are 3 words"):
        person_codes(["a", "b"], 3)
    with pytest.raises(pv.InvalidParameterError, match="one text"):
        person_codes("abc", 3)
    with pytest.raises(pv.InvalidParameterError, match="2 dimensions"):
        person_codes(np.zeros((3, 1)), 3)
    assert person_codes([], 0).tolist() == chosen_words(person_codes([], 0), 1, pv.insecure_seed(1)).tolist() == []


@pytest.mark.parametrize("limit", [0, -1, 1.0, True, None, "3", 10**9 + 1])
def test_the_limit_is_a_whole_number_of_at_least_one(limit):
    with pytest.raises(pv.InvalidParameterError, match="max_words_per_user"):
        words_of_people(["a"], 1, limit, pv.insecure_seed(1))


def test_a_model_that_limits_words_protects_persons_with_any_number_of_them():
    assert WholeWords("add-remove", 3).protects == units.User(neighbours="add-remove")
    assert WholeWords().protects == units.Word()
    with pytest.raises(pv.InvalidParameterError, match="neighbours"):
        WholeWords("other")


# Sensitivities: all pairs of small data that differ in one person (or word), beside several sets of other persons, and
# all choices of words of the one who differs. The others choose on their own, so the same choice stands on both sides.

WORDS = people.words_up_to("ab", 4)  # the longest are cut
SOME = {1: ["a", "ab", "ba", "aaa", "bbb", "abab"], 2: ["a", "ab", "aaa", "bbb", "abab"], 3: ["ab", "aaaa", "bbb"]}
MOST_PAIRS = 2000


def pairs_of_data(unit: str, relation: str, limit: int):
    """At least 2,000 pairs of neighbours."""
    ones = [(word,) for word in WORDS] if unit == "word" else people.persons_of(SOME[limit], limit + 1)
    chance = random.Random(3)
    count = 0
    while count < MOST_PAIRS:
        others = tuple(tuple(chance.choices(WORDS, k=chance.randint(1, 4))) for _ in range(chance.randint(0, 2)))
        for pair in people.neighbours(others, ones, relation):
            count += 1
            yield pair


def largest_changes(unit: str, relation: str, limit: int, max_length: int) -> tuple[int, dict[str, tuple[int, int]]]:
    """How many pairs there are, and over all of them, and all choices of words, the largest norms of each part."""
    count, largest = 0, dict.fromkeys(people.PARTS, (0, 0))
    for one, other in pairs_of_data(unit, relation, limit):
        same = len(one) if relation == "add-remove" else len(one) - 1
        assert one[:same] == other[:same]
        kept = tuple(person[:limit] for person in one[:same])
        ways = [people.choices(data[same], limit) if len(data) > same else [()] for data in (one, other)]
        for left, right in itertools.product(*ways):
            tables = [people.tables((*kept, person), max_length) for person in (left, right)]
            for part in people.PARTS:
                found = people.norms(tables[0][part], tables[1][part])
                largest[part] = tuple(map(max, largest[part], found))
        count += 1
    return count, largest


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize(("unit", "limit"), [("word", 1), ("user", 1), ("user", 2), ("user", 3)])
def test_no_pair_of_neighbours_changes_a_table_more_than_stated_and_some_pair_as_much(unit, limit, relation):
    whole = WholeWords(relation, limit if unit == "user" else None)
    count, found = largest_changes(unit, relation, limit, max_length=3)
    assert count >= MOST_PAIRS
    assert found == sensitivities(unit, 3, whole)


def test_counts_are_those_of_the_literal_tables():
    words = WORDS[5:] * 2
    counted = count_words(encode_words(words, States("ab", None), 3), 2)
    literal = people.tables((tuple(words),), 3)
    assert [[literal["transitions"][a + b] for b in "ab"] for a in "ab"] == counted.transitions.tolist()
    assert [literal["first"][a] for a in "ab"] == counted.first.tolist()
    assert [literal["lengths"][n] for n in "123"] == counted.lengths.tolist()
