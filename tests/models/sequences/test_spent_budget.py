"""What a fit spends, table by table, and what neighbouring data lose at most: against the promise, in fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import pathveil as pv
from pathveil.models.laplace import exactly
from pathveil.models.people import WholeWords
from pathveil.models.sequences import budget, measuring
from tests.models.sequences.tape import Tape, changes, loss
from tests.sizes import small_and_large

STATES = "ab"
SETTINGS = [
    {"epsilon": 0.7},
    {"epsilon": 0.1, "order": 1},
    {"epsilon": 30.0, "order": 2},
    {"epsilon": 60.0, "order": 3},
    {"epsilon": 90.0, "order": 4},
    {"epsilon": 9.0, "delta": 1e-2},
    {"epsilon": 60.0, "delta": 1e-2, "order": 3},
    {"epsilon": 0.3, "delta": 1e-5},
    {"epsilon": 0.7, "ends": True},
    {"epsilon": 30.0, "order": 2, "ends": True},
]
UNITS = [(people, relation) for people in (None, 1, 3) for relation in ("replace", "add-remove")]


def some_words(rng: random.Random, number: int) -> list[str]:
    common = rng.choices(("ab", "aab", "bb"), k=number)
    return [rng.choice(common) if rng.random() < 0.6 else some_word(rng) for _ in range(number)]


def some_word(rng: random.Random) -> str:
    return "".join(rng.choices(STATES, k=rng.randint(1, 6)))


def some_data(rng: random.Random, people: int | None, relation: str) -> list[tuple[list[str], list[int]]]:
    """Two neighbouring data sets: words and persons. The one who changes comes last, and may have many words."""
    others = some_words(rng, rng.choice((20, 100, 300)))
    persons = [i // (people or 1) for i in range(len(others))]
    most = 1 if people is None else people + 2
    sides = []
    for _ in range(2):
        words = [some_word(rng) for _ in range(rng.randint(1, most))]
        if rng.random() < 0.5:
            words = [rng.choice(("ab", "bbbbbb", "aaaaa", "babab"))] * most
        sides.append((others + words, persons + [10**6] * len(words)))
    return [sides[0], (others, persons) if relation == "add-remove" else sides[1]]


def fit(monkeypatch, tape, data, people, relation, **setting):
    users = {} if people is None else {"unit": "user", "users": data[1], "max_words_per_user": people}
    with tape.running(monkeypatch):
        return pv.fit_private_sequences(
            data[0], states=STATES, max_length=5, neighbours=relation, rng=pv.insecure_seed(1), **users, **setting
        )


def require_promise(tape: Tape, setting: dict) -> None:
    """Shares of ε and of δ sum to what was promised at most, and no noise is smaller than its share asks for."""
    assert tape.spent == exactly(setting["epsilon"])  # what longer contexts do not need is spent on the others
    assert all(table.noise.kind == "laplace" for table in tape.tables)
    assert all(table.noise.scale >= table.l1 / table.epsilon for table in tape.tables)
    assert sum(map(Fraction, tape.thresholds), Fraction(0)) <= Fraction(setting.get("delta", 0))
    assert len(tape.thresholds) == sum(table.words is not None for table in tape.tables)


@small_and_large("pairs", 2, 16)
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize(("people", "relation"), UNITS)
def test_neighbours_lose_no_more_than_epsilon_in_all_tables_together(people, relation, setting, pairs, monkeypatch):
    rng, compared = random.Random(f"{people} {relation} {setting}"), 0
    for seed in range(pairs):
        one, other = some_data(rng, people, relation)
        tape = Tape(seed)
        fit(monkeypatch, tape, one, people, relation, **setting)
        require_promise(tape, setting)
        if not {"".join(STATES[code] for code in word) for word in tape.kept} <= {word[:5] for word in other[0]}:
            continue  # a word that the other data do not have was kept: this is what δ is for
        played = Tape(seed, played=tape)
        fit(monkeypatch, played, other, people, relation, **setting)
        compared += 1
        assert len(played.tables) == len(tape.tables)
        for change, table in zip(changes(tape, played), tape.tables, strict=True):
            assert change <= table.l1
        assert loss(tape, played) <= exactly(setting["epsilon"])
    assert compared >= pairs / 2


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize(("people", "relation"), UNITS)
def test_some_neighbours_lose_all_of_epsilon(people, relation, ends, monkeypatch):
    # So that smaller noise in any table, for any unit, would be noticed.
    others, persons = ["ab"] * 5, list(range(5))
    k = people or 1
    one = others + ["aaaaa"] * k, [*persons, *[9] * k]
    other = (others, persons) if relation == "add-remove" else (others + ["bbbb"] * k, [*persons, *[9] * k])
    tape = Tape(1)
    fit(monkeypatch, tape, one, people, relation, epsilon=1.0, order=1, ends=ends)
    played = Tape(1, played=tape)
    fit(monkeypatch, played, other, people, relation, epsilon=1.0, order=1, ends=ends)
    assert 1 - 1e-5 < loss(tape, played) <= 1
    assert tape.spent == 1


def test_every_share_is_spent_where_all_depths_are_measured(monkeypatch):
    words = some_words(random.Random(2), 2000)
    for setting in ({"order": 1}, {"order": 3}, {"order": 4}, {"order": 2, "delta": 1e-4}):
        tape = Tape(1)
        model = fit(monkeypatch, tape, (words, []), None, "replace", epsilon=77.7, **setting)
        depths = sum(table.words is None for table in tape.tables) - 1
        assert depths == model.order == setting["order"] or model.frequent
        assert tape.spent == exactly(77.7) < Fraction(77.7) + Fraction(1, 10**12)


def too_many_looks(monkeypatch):
    """δ for each look, instead of half of it."""
    find = measuring.find_frequent
    monkeypatch.setattr(measuring, "find_frequent", lambda w, e, d, *rest: find(w, e, 2 * d, *rest))


def one_word_for_each_person(monkeypatch):
    """The noise of one word where a person has several."""
    monkeypatch.setattr(WholeWords, "sensitivity", lambda _self, most: (2 * most, 2 * most**2))


@pytest.mark.parametrize("fault", [too_many_looks, one_word_for_each_person])
def test_a_fault_would_be_noticed(fault, monkeypatch):
    fault(monkeypatch)
    test = test_neighbours_lose_no_more_than_epsilon_in_all_tables_together
    setting = {"epsilon": 0.3, "delta": 1e-5} if fault is too_many_looks else {"epsilon": 0.7}
    with pytest.raises(AssertionError):
        test(3, "replace", setting, 20, monkeypatch)


def test_depths_divide_what_is_left_by_fractions_that_sum_to_one():
    for order in range(1, 9):
        shares = budget.shares_of_depths(order)
        assert len(shares) == order
        assert sum(shares) == 1
        assert all(isinstance(share, Fraction) and share > 0 for share in shares)
