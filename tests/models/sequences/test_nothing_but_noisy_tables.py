"""A fit reads the data through its noisy tables alone: the same tables give the same model, whatever the data."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.people import WholeWords
from pathveil.models.sequences import measuring
from tests.models.sequences.tape import Tape, differences, spelled

STATES = "abc"
UNITS = [(None, "replace"), (None, "add-remove"), (2, "replace"), (2, "add-remove")]


def random_words(seed: int, number: int, longest: int = 6) -> list[str]:
    """A few words that many have, and others."""
    rng = random.Random(seed)
    common = ["ab", "abc", "aab", "cab", "bbbb"]
    others = ("".join(rng.choices(STATES, (5, 3, 2), k=rng.randint(1, longest))) for _ in range(number))
    return [rng.choice(common) if rng.random() < 0.7 else other for other in others]


def arguments(words, people, relation, **more):
    users = {}
    if people is not None:
        users = {"unit": "user", "max_words_per_user": people, "users": [i // 3 for i in range(len(words))]}
    given = {"states": STATES, "max_length": 5, "neighbours": relation, "rng": pv.insecure_seed(3)}
    return {"words": words, **given, **users, **more}


def recorded_and_replayed(monkeypatch, words, others, people, relation, **more):
    """The model of some words, and that of others with the same noisy tables."""
    tape = Tape(seed=5)
    with tape.running(monkeypatch):
        one = pv.fit_private_sequences(**arguments(words, people, relation, **more))
    others = others + ["".join(STATES[code] for code in word) for word in sorted(tape.kept)]
    if (people, relation) == (None, "replace"):  # the number of words is public
        others = (others * len(words))[-len(words) :]
    with Tape(seed=6, played=tape).running(monkeypatch):
        other = pv.fit_private_sequences(**arguments(others, people, relation, **more))
    assert sorted(words) != sorted(others)
    return one, other, tape


NUMBERS = (40, 1500)  # of words: the settings take every way through a fit with these, as a test below shows
SETTINGS = [
    {"epsilon": 1.0},
    {"epsilon": 0.01},
    {"epsilon": 20.0, "order": 4},
    {"epsilon": 5.0, "order": 2, "support": np.array([[1, 1, 1], [1, 1, 1], [1, 1, 1]])},
    {"epsilon": 20.0, "delta": 1e-3},
    {"epsilon": 5.0, "delta": 1e-6, "order": 3},
    {"epsilon": 0.3, "delta": 1e-3},
    {"epsilon": 0.01, "delta": 1e-9},
    {"epsilon": 2.0, "ends": True},
]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize(("people", "relation"), UNITS)
def test_data_with_the_same_noisy_tables_have_the_same_model(people, relation, setting, monkeypatch):
    for seed, number in enumerate(NUMBERS):
        words, others = random_words(seed, number), random_words(seed + 100, number // 2)
        one, other, _ = recorded_and_replayed(monkeypatch, words, others, people, relation, **setting)
        assert differences(one, other) == []


def test_the_settings_take_every_way_through_a_fit(monkeypatch):
    ways = set()
    for setting in SETTINGS:
        for seed, number in enumerate(NUMBERS):
            words = random_words(seed, number)
            tape = Tape(seed=5)
            with tape.running(monkeypatch):
                model = pv.fit_private_sequences(**arguments(words, None, "add-remove", **setting))
            looks = sum(table.words is not None for table in tape.tables)
            depths = len(tape.tables) - looks - 1
            ways |= {("looks", looks > 0, bool(model.frequent), depths > 0), ("order", model.order)}
    # No look; some, and a model of the rest; the whole budget for looks.
    assert {("looks", False, False, True), ("looks", True, True, True)} <= ways
    assert ("looks", True, True, False) in ways
    assert {("order", 1), ("order", 2), ("order", 3)} <= ways


def test_exact_counts_do_not_stay_in_a_model(monkeypatch):
    with Tape(seed=5).running(monkeypatch):
        model = pv.fit_private_sequences(**arguments(["ab"] * 321, None, "add-remove", epsilon=20.0, delta=1e-3))
    assert model.frequent
    assert 321 not in pickle.loads(pickle.dumps(model))._fitted.frequent.times


def leaky_number(monkeypatch):
    """The exact number of words where it is private."""
    monkeypatch.setattr(WholeWords, "number_is_public", True)


def leaky_counts(monkeypatch):
    """The exact counts of kept words instead of their noisy ones."""
    right = measuring.Measuring.fit

    def peeking(self):
        fitted, counts = right(self), self.words.distinct()
        exact = dict(zip(spelled(counts), counts.times.tolist(), strict=True))
        found = np.array([exact[word] for word in spelled(fitted.frequent)], dtype=float)
        return replace(fitted, frequent_counts=found)

    monkeypatch.setattr(measuring.Measuring, "fit", peeking)


def leaky_rows(monkeypatch):
    """Contexts get a row where the exact data have them often."""
    decide = measuring.Measuring._open

    def peeking(self, *given):
        return len(self.words) < 1200 and decide(self, *given)

    monkeypatch.setattr(measuring.Measuring, "_open", peeking)


@pytest.mark.parametrize("leak", [leaky_number, leaky_counts, leaky_rows])
def test_a_leak_would_be_noticed(leak, monkeypatch):
    setting = {"epsilon": 20.0, "order": 2} | ({"delta": 1e-3} if leak is leaky_counts else {})
    words, others = random_words(1, 1500), random_words(101, 1000)
    one, other, _ = recorded_and_replayed(monkeypatch, words, others, None, "add-remove", **setting)
    assert differences(one, other) == []
    leak(monkeypatch)
    where = {"leaky_number": "model._fitted.words", "leaky_counts": "model._fitted.frequent_counts"}
    if leak is leaky_rows:
        with pytest.raises(AssertionError, match=r"the size of a table depends on the data|more tables are made"):
            recorded_and_replayed(monkeypatch, words, others, None, "add-remove", **setting)
        return
    one, other, _ = recorded_and_replayed(monkeypatch, words, others, None, "add-remove", **setting)
    assert where[leak.__name__] in differences(one, other)


def test_the_ledger_is_charged_before_any_noise_is_drawn(monkeypatch):
    tape, charged = Tape(seed=1), []
    with tape.running(monkeypatch):
        pv.fit_private_sequences(
            **arguments(random_words(1, 50), 2, "replace", epsilon=1.0, delta=1e-6),
            before_drawing=lambda guarantee: charged.append((guarantee.epsilon, guarantee.delta, len(tape.tables))),
        )
    assert charged == [(1.0, 1e-6, 0)]
    assert tape.tables


def test_what_is_refused_is_refused_before_the_charge():
    charged = []
    wrong = [
        ({"words": ["ab", "ca"]}, {"support": np.array([[1, 1, 1], [1, 1, 1], [0, 0, 1]])}),
        ({"words": ["ab", "ad"]}, {}),
        ({"words": []}, {}),
        ({"words": ["ab", "ba"]}, {"unit": "user", "users": ["x"], "max_words_per_user": 1}),
    ]
    for data, more in wrong:
        with pytest.raises(pv.PathVeilError):
            pv.fit_private_sequences(
                **data, states=STATES, max_length=5, epsilon=1.0, **more, before_drawing=charged.append
            )
    assert charged == []
