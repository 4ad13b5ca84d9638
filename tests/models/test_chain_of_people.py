"""Chains that protect a person, or one word more or less: what is promised, what is used, and what stays private."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.laplace import CountNoise, count_noises
from pathveil.models.people import WholeWords, words_of_people
from pathveil.privacy import units
from tests.reference import people

SPLIT = {"transitions": 0.5, "first": 0.25, "lengths": 0.25}
WORDS = ["abcab", "acbba", "bbca", "abab", "cab"] * 20
USERS = [f"person {i % 7}" for i in range(100)]
ASKED = {"states": "abc", "epsilon": 2.0, "max_length": 4, "split": SPLIT}
OF_USERS = {**ASKED, "users": USERS, "unit": "user", "max_words_per_user": 3}


@pytest.fixture
def without_noise(monkeypatch):
    """All noise is nothing; the list of what would have been drawn."""
    drawn = []

    def draw(noise, _source, count):
        drawn.append(noise)
        return np.zeros(count, dtype=np.int64)

    monkeypatch.setattr(CountNoise, "draw", draw)
    return drawn


def test_noise_is_multiplied_by_the_words_of_a_person_and_halved_by_add_remove(without_noise):
    scales = {}
    for unit in ("word", "user"):
        for neighbours in ("replace", "add-remove"):
            without_noise.clear()
            options = OF_USERS if unit == "user" else {**ASKED, "unit": "word"}
            pv.fit_private_chain(words=WORDS, mechanism="laplace", neighbours=neighbours, **options)
            scales[unit, neighbours] = [noise.scale for noise in without_noise]
    # ε = 1 for 3 transitions of a word, ε = ½ for its first symbol and its length.
    assert scales["word", "add-remove"] == [3, 2, 2]
    assert scales["word", "replace"] == [6, 4, 4]
    assert scales["user", "add-remove"] == [9, 6, 6]
    assert scales["user", "replace"] == [18, 12, 12]


def test_gaussian_noise_has_the_variance_of_all_words_of_a_person_in_one_place(without_noise):
    variances = {}
    for neighbours in ("replace", "add-remove"):
        without_noise.clear()
        pv.fit_private_chain(words=WORDS, mechanism="gaussian", delta=1e-6, neighbours=neighbours, **OF_USERS)
        variances[neighbours] = [noise.scale for noise in without_noise]
    without_noise.clear()
    pv.fit_private_chain(words=WORDS, mechanism="gaussian", delta=1e-6, **ASKED, unit="word")
    of_a_word = [noise.scale for noise in without_noise]
    near = 2**-16  # scales are rounded up to multiples of 2**-20
    for word, replace, added in zip(of_a_word, variances["replace"], variances["add-remove"], strict=True):
        assert abs(replace - 9 * word) < near
        assert abs(added - replace / 2) < near


@pytest.mark.usefixtures("without_noise")
def test_of_each_person_so_many_words_are_counted_after_the_promise_was_made():
    seen = []
    model = pv.fit_private_chain(
        words=WORDS, **OF_USERS, before_drawing=lambda promise: seen.append(promise), rng=pv.insecure_seed(3)
    )
    kept = words_of_people(USERS, 100, 3, pv.insecure_seed(3))
    words = [word[:4] for word, stays in zip(WORDS, kept, strict=True) if stays]
    assert len(words) == 21
    first, lengths = Counter(word[0] for word in words), Counter(map(len, words))
    assert model.first == pytest.approx([first[x] / 21 for x in "abc"])
    assert model.lengths == pytest.approx([lengths[n] / 21 for n in (1, 2, 3, 4)])
    table = np.array([[sum(word.count(a + b) for word in words) for b in "abc"] for a in "abc"])
    assert model.chain.matrix.toarray() == pytest.approx(table / table.sum(axis=1, keepdims=True))
    assert seen == [model.guarantee]


def test_the_promise_names_unit_limit_neighbours_and_what_is_public():
    replace = pv.fit_private_chain(words=WORDS, **OF_USERS).guarantee
    added = pv.fit_private_chain(words=WORDS, **OF_USERS, neighbours="add-remove").guarantee
    word = pv.fit_private_chain(words=WORDS, **ASKED, unit="word", neighbours="add-remove").guarantee
    assert "all words of one person are replaced by any others (at most 3 words of a person are used" in str(replace)
    assert "all words of one person are added or removed (at most 3 words" in str(added)
    assert "one word more or less, of at most 4 symbols" in str(word)
    assert [promise.protects for promise in (replace, added, word)] == [
        units.User(), units.User(neighbours="add-remove"), units.Word(neighbours="add-remove"),
    ]  # fmt: skip
    assert "the number of persons" in replace.public
    for promise in (replace, added, word):
        assert "the number of words" not in promise.public
        assert "each of at most 4 symbols" in promise.unit or "of at most 4 symbols" in promise.unit
    assert "the number of persons" not in (*added.public, *word.public)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("unit", ["word", "user"])
def test_the_number_of_words_is_used_and_told_only_where_it_is_public(unit, neighbours, tmp_path, monkeypatch):
    """Noise of -5 on every count: shares are those of the noisy counts, unless the exact sum may be used."""
    monkeypatch.setattr(CountNoise, "draw", lambda _noise, _source, count: np.full(count, -5, dtype=np.int64))
    options = dict(OF_USERS, max_words_per_user=100) if unit == "user" else {**ASKED, "unit": "word"}
    model = pv.fit_private_chain(words=WORDS, **options, neighbours=neighbours)
    is_public = (unit, neighbours) == ("word", "replace")
    assert model.words == (100 if is_public else None)
    # 60, 20 and 20 words begin with a, b and c: of a public sum of 100 the rest is shared by the projection.
    shares = np.array([55, 15, 15]) / 85 if not is_public else np.array([0.60, 0.20, 0.20])
    assert model.first == pytest.approx(shares)
    model.save(tmp_path / "model.json")
    again = pv.load_model(tmp_path / "model.json")
    assert again.guarantee == model.guarantee
    assert again.asked == model.asked
    assert (again.asked.neighbours, again.asked.max_words_per_user) == (
        neighbours,
        100 if unit == "user" else None,
    )
    assert str(again.expected_errors) == str(model.expected_errors)
    assert all(row.records is None for row in again.rows)


def test_no_word_at_all_is_data_like_any_other_where_the_number_is_private():
    for options in ({"unit": "word"}, {"unit": "user", "users": [], "max_words_per_user": 2}):
        model = pv.fit_private_chain(words=[], **ASKED, neighbours="add-remove", **options)
        assert model.first.sum() == pytest.approx(1)


def test_counts_say_that_they_were_limited_or_are_refused():
    counted = pv.WordCounts(np.ones((3, 3), dtype=int), np.array([2, 1, 1]), np.array([0, 4]))
    limited = pv.WordCounts(counted.transitions, counted.first, counted.lengths, max_words_per_user=2)
    asked = {**ASKED, "unit": "user"}
    assert pv.fit_private_chain(limited, **asked, max_words_per_user=2).words is None
    assert pv.fit_private_chain(limited, **asked, max_words_per_user=3).guarantee.protects == units.User()
    with pytest.raises(pv.InvalidParameterError, match="has up to 2 words of a person"):
        pv.fit_private_chain(limited, **asked, max_words_per_user=1)
    with pytest.raises(pv.InvalidParameterError, match="does not say that any were left out"):
        pv.fit_private_chain(counted, **asked, max_words_per_user=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_words_per_user": 0}, "max_words_per_user"),
        ({"max_words_per_user": None}, "needs `max_words_per_user`"),
        ({"max_length": None, "split": None}, "'user' needs `max_length`"),
        ({"users": None}, "needs `users`"),
        ({"users": [*USERS[:-1], None]}, "word number 100"),
        ({"users": USERS[:-1]}, "99 entries, but there are 100 words"),
        ({"unit": "word"}, "only unit 'user' protects"),
        ({"unit": "word", "max_words_per_user": None}, "`users` says whose words they are"),
        ({"unit": "symbol", "max_words_per_user": None, "max_length": None, "split": None, "users": None,
          "neighbours": "add-remove"}, "is for the units 'word' and 'user'"),
        ({"neighbours": "swap"}, "it must be 'replace' or 'add-remove'"),
        ({"mechanism": "dirichlet", "delta": 1e-6}, "does not protect a user"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(change, message):
    with pytest.raises(pv.InvalidParameterError, match=message):
        pv.fit_private_chain(words=WORDS, **{**OF_USERS, **change})


def test_a_word_that_cannot_occur_is_refused_whether_it_would_be_used_or_not():
    support = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]], dtype=bool)
    for seed in range(20):
        with pytest.raises(pv.InvalidCountsError, match="cannot occur"):
            pv.fit_private_chain(
                words=["ab"] * 50 + ["cc"], states="abc", users=["one person"] * 51, unit="user", max_length=4,
                max_words_per_user=1, epsilon=1.0, support=support, rng=pv.insecure_seed(seed),
            )  # fmt: skip


# The whole law, on a tiny world: words of one or two symbols, 2 words of a person are used, other persons choose, too.

PAIRS = ["aa", "ab", "ba", "bb"]


def law(data: people.Data, scale: float) -> np.ndarray:
    """The probability of each noisy table of transitions, averaged over all choices of all persons.

    The entries run from one below the smallest count to one above the largest: farther out all terms fall by the same
    factor, so that no ratio of two laws changes any more.
    """
    z = np.arange(-1, 7)
    q = math.exp(-1 / scale)
    ways = list(itertools.product(*(people.choices(person, 2) for person in data)))
    total = 0.0
    for used in ways:
        counts = people.tables(used, 2)["transitions"]
        of_cells = [(1 - q) / (1 + q) * q ** np.abs(z - counts[pair]) for pair in PAIRS]
        total = total + np.einsum("i,j,k,l->ijkl", *of_cells) / len(ways)
    return np.asarray(total)


def largest_loss(relation: str, scale: float) -> float:
    others = (("aa", "ab", "bb"),)
    ones = people.persons_of(["aa", "ba", "bb"], 3)
    laws = {data: law(data, scale) for data in (others, *((*others, one) for one in ones))}
    pairs = people.neighbours(others, ones, relation)
    return max(float(np.abs(np.log(laws[one] / laws[other])).max()) for one, other in pairs)


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_the_law_of_noise_and_choice_together_keeps_the_promise_and_less_noise_does_not(relation):
    noise = count_noises("laplace", 1.0, 0.0, "user", 2, {"transitions": 1.0}, WholeWords(relation, 2))["transitions"]
    assert 0.99 < largest_loss(relation, float(noise.scale)) < 1 + 1e-9
    assert largest_loss(relation, 0.7 * float(noise.scale)) > 1.3
