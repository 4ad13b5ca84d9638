"""The joint law of all noisy tables, listed outcome by outcome for tiny settings, for all neighbours there are."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.laplace import CountNoise
from tests.models.sequences.tape import Tape, loss

STATES, MAX_LENGTH, EPSILON = "ab", 2, 1.5
WORDS = ["a", "b", "aa", "ab", "ba", "bb"]
UNITS = [(None, "replace"), (None, "add-remove"), (2, "replace"), (2, "add-remove")]


def tables_of(monkeypatch, persons, people, relation, ends=False):
    """All tables of a fit of these persons, whose number and size no data change here: only order 1, and L = 2."""
    words = [word for person in persons for word in person]
    users = [number for number, person in enumerate(persons) for _ in person]
    unit = {} if people is None else {"unit": "user", "users": users, "max_words_per_user": people}
    tape = Tape(1)
    with tape.running(monkeypatch):
        pv.fit_private_sequences(
            words, states=STATES, max_length=MAX_LENGTH, epsilon=EPSILON, order=1, neighbours=relation,
            rng=pv.insecure_seed(1), ends=ends, **unit,
        )  # fmt: skip
    return tape


def logarithm(noise: CountNoise, exact: int, noisy: np.ndarray) -> np.ndarray:
    """log P(noisy | exact), from the law of the noise."""
    q = math.exp(-1 / float(noise.scale))
    return math.log1p(-q) - math.log1p(q) - np.abs(noisy - exact) / float(noise.scale)


def largest_log_ratio(one: Tape, other: Tape) -> float:
    """Over all outcomes in which each noisy count is at most 1 outside what lies between both exact counts."""
    ratios = np.zeros(1)
    for first, second in zip(one.tables, other.tables, strict=True):
        assert first.noise == second.noise
        for a, b in zip(first.exact.tolist(), second.exact.tolist(), strict=True):
            noisy = np.arange(min(a, b) - 1, max(a, b) + 2)
            ratio = logarithm(first.noise, a, noisy) - logarithm(first.noise, b, noisy)
            ratios = (ratios[:, None] + ratio).ravel() if a != b else ratios  # equal counts: a ratio of 1 throughout
    return float(np.abs(ratios).max())


@pytest.mark.parametrize(
    ("people", "relation", "ends"), [*((*unit, False) for unit in UNITS), (None, "add-remove", True)]
)
def test_no_outcome_is_likelier_by_more_than_epsilon(people, relation, ends, monkeypatch):
    others = (("ab",), ("ba", "b") if people else ("b",))
    persons = [(word,) for word in WORDS]
    if people:
        persons += list(itertools.combinations_with_replacement(WORDS, 2))
    tapes = [tables_of(monkeypatch, (*others, person), people, relation, ends) for person in persons]
    if relation == "add-remove":
        without = tables_of(monkeypatch, others, people, relation, ends)
        pairs = [(tape, without) for tape in tapes]
    else:
        pairs = list(itertools.combinations(tapes, 2))
    ratios = [largest_log_ratio(one, other) for one, other in pairs]
    assert max(ratios) <= EPSILON + 1e-9
    # Attained but for what rounding the scale up costs; and the largest ratio is what the sum over tables says.
    assert max(ratios) > EPSILON * (1 - 1e-5)
    for (one, other), ratio in zip(pairs, ratios, strict=True):
        assert ratio == pytest.approx(float(loss(one, other)), abs=1e-9)


@pytest.mark.parametrize(("noisy", "ok"), [(1.0, True), (0.7, False)])
def test_a_listing_would_notice_too_little_noise(noisy, ok, monkeypatch):
    tapes = [tables_of(monkeypatch, (("ab",), (word,)), None, "replace") for word in ("aa", "b")]
    for tape in tapes:
        for table in tape.tables:
            table.noise = CountNoise("laplace", table.noise.scale * int(noisy * 10) / 10)
    assert (largest_log_ratio(*tapes) <= EPSILON + 1e-9) is ok


# Order 2: which contexts get a row depends on noisy tables. For one outcome of all tables, whatever the data are.

DEEP, CROWD = 3, ["aab", "bba", "ab", "ba"] * 200
ALL = ["".join(word) for length in (1, 2, 3) for word in itertools.product(STATES, repeat=length)]
SOME = ["aab", "bb", "bab", "a"]


def tables_of_order_two(monkeypatch, words, relation, played=None):
    """All tables of a fit of a crowd and these words; with `played`, where its noisy tables came out."""
    tape = Tape(3, played)
    with tape.running(monkeypatch):
        model = pv.fit_private_sequences(
            [*CROWD, *words], states=STATES, max_length=DEEP, epsilon=EPSILON, order=2, neighbours=relation,
            rng=pv.insecure_seed(1),
        )  # fmt: skip
    assert model.order == 2
    assert len(tape.tables) == 3  # lengths, contexts of one symbol, contexts of two
    return tape


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_no_outcome_of_order_two_is_likelier_by_more_than_epsilon(relation, monkeypatch):
    if relation == "add-remove":
        without = tables_of_order_two(monkeypatch, [], relation)
        others = [tables_of_order_two(monkeypatch, [word], relation, without) for word in ALL]
        pairs = [(one, without) for one in others]
    else:
        first = tables_of_order_two(monkeypatch, SOME[:1], relation)
        tapes = [first, *(tables_of_order_two(monkeypatch, [word], relation, first) for word in SOME[1:])]
        pairs = list(itertools.combinations(tapes, 2))
    ratios = [largest_log_ratio(one, other) for one, other in pairs]
    assert max(ratios) <= EPSILON + 1e-9
    assert max(ratios) > EPSILON * (1 - 1e-5)  # attained: no budget is left over
    # The listing would notice noise of nine tenths.
    one, other = pairs[int(np.argmax(ratios))]
    for table in (*one.tables, *other.tables):
        table.noise = CountNoise("laplace", table.noise.scale * 9 / 10)
    assert largest_log_ratio(one, other) > EPSILON
