"""Models of groups: one promise for all of them together, by brute force over neighbouring data."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

import pathveil as pv
from pathveil.errors import InvalidSystemError
from pathveil.models.laplace import CountNoise, exactly, laplace_noise
from pathveil.models.people import WholeWords
from pathveil.models.sequences import frequent, measuring
from pathveil.models.sequences.fit import Data
from pathveil.models.sequences.groups import grouped_fit
from pathveil.models.sequences.request import checked_request
from pathveil.models.sequences.times import learning
from tests.models.sequences.tape import Tape as ReplayedTape

GROUPS = ("east", "west")
WORDS = ["".join(word) for n in (1, 2, 3) for word in product("ab", repeat=n)]
EPSILON = 0.7

Entry = tuple[str, str]
"""A word and its group."""


class Tape:
    """Noise that is zero, and notes what it is added to: (ε, sensitivity, exact table)."""

    __array_ufunc__ = None  # numpy leaves sums with a tape to the tape

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tables: list[tuple[Fraction, int, Any]] = []
        self._next: tuple[Fraction, int] = (Fraction(0), 1)
        for module in (measuring, frequent, learning):
            monkeypatch.setattr(module, "laplace_noise", self.noise)

    def noise(self, epsilon: Fraction, l1: int) -> Any:
        tape, made = self, laplace_noise(epsilon, l1)

        class Noted(type(made)):  # type: ignore[misc]
            def draw(self, _source: object, _count: int) -> Any:
                tape._next = (exactly(epsilon), l1)
                return tape

        return Noted(made.kind, made.scale)

    def __radd__(self, exact: Any) -> Any:
        self.tables.append((*self._next, exact.copy()))
        return exact

    def reshape(self, _shape: object) -> Tape:
        return self


def _times(words: list[str]) -> list[list[datetime]]:
    start = datetime(2023, 3, 6)
    return [[start + timedelta(hours=len(w), seconds=40 * i * (w[0] == "a")) for i in range(len(w))] for w in words]


def _tables(tape: Tape, persons: list[tuple[Entry, ...]], asked: dict[str, Any]) -> list[tuple[Fraction, int, Any]]:
    """All tables of all groups, for persons (of one word each where the unit is a word)."""
    entries = [entry for person in persons for entry in person]
    users = [number for number, person in enumerate(persons) for _ in person] if asked["unit"] == "user" else None
    tape.tables.clear()
    words = [word for word, _ in entries]
    pv.fit_private_sequences_by_group(
        words,
        groups=[group for _, group in entries],
        group_values=GROUPS,
        states="ab",
        epsilon=EPSILON,
        max_length=3,
        order=1,
        users=users,
        times=_times(words),
        rng=pv.insecure_seed(1),
        **asked,
    )
    return list(tape.tables)


def _losses(tape: Tape, asked: dict[str, Any]) -> Iterator[Fraction]:
    """The loss by all tables together, for neighbouring data of which one person differs."""
    most, entries = asked["max_words_per_user"] or 1, [(word, group) for word in WORDS for group in GROUPS]
    sizes = (1,) if asked["unit"] == "word" else range(1, most + 1)
    persons = [person for size in sizes for person in combinations_with_replacement(entries, size)]
    persons = random.Random(5).sample(persons, min(len(persons), 40))
    # The worst: as many events, as far apart, as there can be, in one group and in two.
    persons += [((("aaa", GROUPS[i % 2]),) * most) for i in range(2)] + [
        ((("bbb", GROUPS[i % 2]),) * most) for i in range(2)
    ]
    persons += [tuple(("aaa", GROUPS[i % 2]) for i in range(most))]
    others: list[tuple[Entry, ...]] = [(("ab", "east"),), (("b", "west"),)]
    tables = [_tables(tape, [*others, person], asked) for person in persons]
    assert all([shape[2].shape for shape in one] == [shape[2].shape for shape in tables[0]] for one in tables)
    firsts = [_tables(tape, others, asked)] if asked["neighbours"] == "add-remove" else tables
    for one, other in product(firsts, tables):
        yield sum(
            (epsilon * int(np.abs(a - b).sum()) / l1 for (epsilon, l1, a), (_, _, b) in zip(one, other, strict=True)),
            Fraction(0),
        )


ASKED = [
    {"unit": unit, "neighbours": neighbours, "max_words_per_user": most}
    for unit, most in (("word", None), ("user", 1), ("user", 3))
    for neighbours in ("add-remove", "replace")
]


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: "-".join(str(part) for part in asked.values()))
def test_all_groups_together_lose_no_more_than_was_promised(monkeypatch, asked):
    """The sum over all tables of all groups; some neighbours come within a tenth of it."""
    losses = list(_losses(Tape(monkeypatch), asked))
    assert max(losses) <= exactly(EPSILON)
    assert max(losses) > exactly(EPSILON) * Fraction(9, 10)


def test_all_of_the_budget_for_each_step_of_a_replacement_would_be_noticed(monkeypatch):
    """Negative control: groups composed as if no word could leave one for another."""

    def careless(asked):
        return replace(asked, whole=WholeWords("add-remove", asked.whole.max_words)), exactly(asked.epsilon)

    monkeypatch.setattr(grouped_fit, "within_a_group", careless)
    assert max(_losses(Tape(monkeypatch), ASKED[1])) > exactly(EPSILON)


def test_a_limit_for_each_group_would_be_noticed(monkeypatch):
    """Negative control: three words of a person in each group are more than three in all."""
    asked = {"unit": "user", "neighbours": "add-remove", "max_words_per_user": 3}
    tape = Tape(monkeypatch)
    both = tuple(("aaa", group) for group in GROUPS for _ in range(3))

    def used() -> int:
        return sum(int(table.sum()) for _, _, table in _tables(tape, [both], asked) if table.shape == (3,))  # lengths

    assert used() == 3
    monkeypatch.setattr(Data, "limited", lambda self, _whole, _source: self)
    assert used() == 6


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(30)])
@pytest.mark.parametrize("most", [1, 2, 3, 6])
@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_words_that_only_one_person_has_show_up_anywhere_with_probability_delta_at_most(scale, most, delta):
    """All ways to have up to `most` words: by exact tails of the noise, in one group or in many."""
    least = frequent.threshold(CountNoise("laplace", scale), delta, most)
    q = math.exp(-1 / float(scale))

    def shown(count: int) -> float:
        return q ** (least - count) / (1 + q)

    def splits(left: int, largest: int) -> Iterator[list[int]]:
        yield []
        for first in range(1, min(left, largest) + 1):
            yield from ([first, *rest] for rest in splits(left - first, first))

    assert max(sum(map(shown, split)) for split in splits(most, most)) <= delta


def test_replacing_composes_to_the_promised_delta():
    asked = checked_request(1.5, 1e-6, 3, 1, "user", 2, "replace")
    inner, epsilon = grouped_fit.within_a_group(asked)
    assert epsilon * 2 == exactly(1.5)
    assert inner.whole == WholeWords("add-remove", 2)
    assert inner.delta is not None
    assert 0.999e-6 < inner.delta * (1 + math.exp(epsilon)) <= 1e-6
    added = replace(asked, whole=WholeWords("add-remove", 2))
    assert grouped_fit.within_a_group(added) == (added, exactly(1.5))


# What comes out.


def _fitted(**more: Any) -> pv.PrivateSequencesByGroup:
    words, groups = ["abc", "ccb", "ccb"] * 400, ["east", "west", "west"] * 400
    given = {"groups": groups, "group_values": ["east", "north", "west"], "epsilon": 4.0} | more
    return pv.fit_private_sequences_by_group(words, states="abc", max_length=4, rng=pv.insecure_seed(3), **given)


@pytest.mark.parametrize("delta", [None, 1e-6])
def test_each_group_has_its_own_words_and_an_empty_one_has_noise(delta):
    found = _fitted(delta=delta)
    assert list(found) == ["east", "north", "west"]
    made = found.synthesize({"east": 200, "west": 300, "north": 7}, pv.insecure_seed(1))
    assert {group: len(words) for group, words in made.items()} == {"east": 200, "west": 300, "north": 7}
    assert made["east"].count("abc") > 120
    assert made["west"].count("ccb") > 180
    assert found.sizes["east"] == pytest.approx(400, abs=100)
    assert found.sizes["west"] == pytest.approx(800, abs=100)
    assert found.sizes["north"] < 100


def test_without_counts_there_are_as_many_words_as_the_noisy_sizes_say():
    found = _fitted()
    assert {group: len(words) for group, words in found.synthesize(rng=pv.insecure_seed(1)).items()} == {
        group: round(size) for group, size in found.sizes.items()
    }


def test_the_guarantee_is_about_all_groups():
    promised = []
    found = _fitted(before_drawing=promised.append)
    assert promised == [found.guarantee]
    assert found["east"].guarantee == found.guarantee
    assert "replaced by any word of at most 4 symbols, in any group" in found.guarantee.unit
    assert "which groups there are" in found.guarantee.public
    assert (found.guarantee.epsilon, found.guarantee.protects.neighbours) == (4.0, "replace")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"groups": ["east"]}, "`groups` has 1 entries, but there are 1200 words"),
        ({"group_values": ["east"]}, "the group of word number 2 is 'west'"),
        ({"group_values": ["east", "east", "west"]}, "group_values"),
        ({"groups": "east"}, "one text"),
        ({"groups": [["a"]] * 1200}, "the group of word number 1"),
    ],
)
def test_wrong_groups_are_named(more, message):
    with pytest.raises(pv.PathVeilError, match=message):
        _fitted(**more)


def test_a_group_that_is_not_there_is_named():
    with pytest.raises(pv.InvalidParameterError, match="there is no group 'south'"):
        _fitted().synthesize({"south": 3})


def grouped(**more):
    words, groups = ["ab", "b", "aab"] * 100, ["x", "y", "x"] * 100
    times = [[3600 * i for i, _ in enumerate(word)] for word in words]
    return pv.fit_private_sequences_by_group(
        words, groups=groups, group_values=["x", "y", "z"], times=times, states="ab", epsilon=2.0, max_length=3,
        rng=pv.insecure_seed(1), **more,
    )  # fmt: skip


def test_models_of_groups_come_back_from_a_file(tmp_path):
    models = grouped(delta=1e-4)
    models.save(tmp_path / "models.json")
    read = pv.load_model(tmp_path / "models.json")
    assert isinstance(read, pv.PrivateSequencesByGroup)
    assert (read.to_json(), read.sizes, read.guarantee) == (models.to_json(), models.sizes, models.guarantee)


@pytest.mark.parametrize(
    "damage",
    [
        lambda saved: saved.pop("guarantee"),
        lambda saved: saved["groups"].clear(),
        lambda saved: saved["groups"].append(saved["groups"][0]),
        lambda saved: saved["groups"].append(7),
        lambda saved: saved["groups"][0].update(group=[]),
        lambda saved: saved["groups"][0]["model"].pop("lengths"),
        lambda saved: saved["groups"][0]["model"].update(states=["a", "c"]),
        lambda saved: saved.update(version=2),
    ],
)
def test_a_damaged_file_of_groups_is_refused(tmp_path, damage):
    saved = json.loads(grouped().to_json())
    damage(saved)
    (tmp_path / "models.json").write_text(json.dumps(saved))
    with pytest.raises(InvalidSystemError):
        pv.load_model(tmp_path / "models.json")


def test_with_the_same_noisy_tables_other_groups_and_times_give_the_same_file(monkeypatch):
    """Which group has the changed word, at what time, how many words a group has: nothing else leaves."""

    def fitted(changed, group, hour, played=None):
        tape = ReplayedTape(5, played)
        with tape.running(monkeypatch):
            models = pv.fit_private_sequences_by_group(
                [*["ab", "b"] * 50, changed], groups=[*["x", "y"] * 50, group], group_values=["x", "y", "z"],
                times=[*([0, 60], [3600]) * 50, [3600 * hour] * len(changed)],
                states="ab", epsilon=2.0, max_length=3, order=1, rng=pv.insecure_seed(1),
            )  # fmt: skip
        return models.to_json(), tape

    one, tape = fitted("aab", "x", 5)
    for other in (("b", "y", 100), ("bba", "z", 10**9)):
        assert fitted(*other, played=tape)[0] == one
