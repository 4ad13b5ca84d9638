"""Fitted chains: what the guarantee says, and what is released if the noise is known to be nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.calibration import calibrate
from pathveil.models.chain import request
from pathveil.models.frequencies import draw_rows, row_rmse
from pathveil.models.laplace import CountNoise, count_noises

EPSILON, DELTA = 1.25, 1e-6
PROMISE = {"epsilon": EPSILON, "delta": DELTA}
STATES = ["home", "work", "shop"]
COUNTS = np.array([[200, 700, 100], [800, 0, 400], [0, 0, 0]])
WORDS = ["abcab", "acbba", "bbca", "abab", "cab"] * 20
SPLIT = {"transitions": 0.5, "first": 0.25, "lengths": 0.25}
SINGLE = {"transitions": 1.0}


@pytest.mark.parametrize(
    ("mechanism", "options"),
    [
        ("dirichlet", {"unit": "transition"}),
        *[(m, {"unit": "transition"}) for m in ("laplace", "gaussian")],
        *[(m, {"unit": "symbol"}) for m in ("laplace", "gaussian")],
        *[(m, {"unit": "word", "max_length": 5, "split": SPLIT}) for m in ("laplace", "gaussian")],
    ],
)
def test_the_guarantee_states_what_was_asked_for(mechanism, options):
    for rng in (None, pv.insecure_seed(1)):
        model = pv.fit_private_chain(words=WORDS, states="abc", **PROMISE, mechanism=mechanism, rng=rng, **options)
        guarantee = model.guarantee
        assert guarantee.epsilon == EPSILON
        assert guarantee.delta == (0 if mechanism == "laplace" else DELTA)
        assert guarantee.seeded is (rng is not None)
        assert ("grid" in guarantee.sampling) is (mechanism == "dirichlet")
        assert model.mechanism == mechanism
        assert {"dirichlet": "Dirichlet", "laplace": "Laplace", "gaussian": "Gaussian"}[
            mechanism
        ] in guarantee.mechanism
        assert ("of ε" in guarantee.mechanism) is ("split" in options and mechanism == "laplace")
        assert ("of ρ" in guarantee.mechanism) is ("split" in options and mechanism == "gaussian")
        for key in ("epsilon", "delta", "seeded"):
            assert model.chain.guarantee[key] == getattr(guarantee, key)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    "options", [{"unit": "transition"}, {"unit": "symbol"}, {"unit": "word", "max_length": 4, "split": SPLIT}]
)
def test_noise_is_drawn_with_the_scales_of_the_promise_and_in_order(mechanism, options, monkeypatch):
    drawn = []

    def draw(noise, _source, count):
        drawn.append((noise, count))
        return np.zeros(count, dtype=np.int64)

    monkeypatch.setattr(CountNoise, "draw", draw)
    model = pv.fit_private_chain(words=WORDS, states="abc", **PROMISE, mechanism=mechanism, **options)
    expected = count_noises(
        mechanism, EPSILON, DELTA, options["unit"], options.get("max_length"), options.get("split", SINGLE)
    )
    sizes = {"transitions": 9, "first": 3, "lengths": 4}
    assert drawn == [(noise, sizes[part]) for part, noise in expected.items()]
    # Without noise: the frequencies of the words, cut after four symbols where words are protected.
    words = [word[:4] for word in WORDS] if options["unit"] == "word" else WORDS
    table = np.array([[sum(word.count(a + b) for word in words) for b in "abc"] for a in "abc"])
    assert model.chain.matrix.toarray() == pytest.approx(table / table.sum(axis=1, keepdims=True))
    if "split" in options:
        assert model.first == pytest.approx([0.6, 0.2, 0.2])
        assert model.lengths == pytest.approx([0, 0, 0.2, 0.8])
    else:
        assert model.first is None
        assert model.lengths is None


def test_only_what_the_split_names_is_learned():
    for part in ("first", "lengths"):
        split = {"transitions": 0.5, part: 0.5}
        model = pv.fit_private_chain(
            words=WORDS, states="abc", **PROMISE, mechanism="laplace", unit="word", max_length=5, split=split
        )
        assert (model.first is None) is (part != "first")
        assert (model.lengths is None) is (part != "lengths")


def test_dirichlet_rows_are_drawn_with_the_noise_of_their_size():
    support = np.array([[True, True, True], [True, False, True], [True, True, True]])
    model = pv.fit_private_chain(
        COUNTS, states=STATES, **PROMISE, mechanism="dirichlet", support=support, rng=pv.insecure_seed(4)
    )
    settled = [calibrate(3, 1 / 1000, EPSILON, DELTA), calibrate(2, 1 / 1200, EPSILON, DELTA)]
    for row, state, records, drawn in zip(model.rows, STATES, (1000, 1200), settled, strict=False):
        assert (row.state, row.records, row.successors) == (state, records, drawn.size)
        assert row.floor == drawn.floor
        assert row.concentration == pytest.approx(drawn.concentration, rel=1e-9)
        assert row.rmse == pytest.approx(row_rmse(drawn))
    last = model.rows[2]
    assert (last.state, last.records, last.successors) == ("shop", 0, 3)
    assert last.floor is last.concentration is last.rmse is None
    _, values = draw_rows(pv.insecure_seed(4), COUNTS[:2], 1, support[:2], settled)
    assert model.chain.matrix.toarray()[:2] == pytest.approx(values, abs=1e-6)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_the_error_of_a_noisy_row_is_the_deviation_of_the_noise_over_its_records(mechanism):
    support = np.array([[True, True, True], [True, False, True], [False, True, False]])
    counts = [[2, 7, 1], [1, 0, 0], [0, 5, 0]]
    model = pv.fit_private_chain(counts, states=STATES, **PROMISE, mechanism=mechanism, support=support)
    deviation = math.sqrt(count_noises(mechanism, EPSILON, DELTA, "transition", None, SINGLE)["transitions"].variance)
    assert [row.rmse for row in model.rows] == [pytest.approx(deviation / 10), pytest.approx(deviation), None]
    assert [(row.state, row.records, row.successors) for row in model.rows] == [
        ("home", 10, 3),
        ("work", 1, 2),
        ("shop", 5, 1),
    ]
    assert all(row.floor is None and row.concentration is None for row in model.rows)


@pytest.mark.parametrize("unit", ["symbol", "word"])
def test_nothing_is_said_about_rows_whose_size_is_protected(unit):
    model = pv.fit_private_chain(
        words=["a", "b"],  # no transition at all, which nobody may know
        states="abc",
        **PROMISE,
        mechanism="laplace",
        unit=unit,
        max_length=3 if unit == "word" else None,
        support=[[1, 1, 1], [1, 1, 0], [0, 0, 1]],
    )
    assert [(row.state, row.successors) for row in model.rows] == [("a", 3), ("b", 2), ("c", 1)]
    for row in model.rows:
        assert row.records is row.floor is row.concentration is row.rmse is None


def test_as_many_weak_rows_are_told_as_asked_for_and_ten_without_a_word():
    counts = np.diag(np.arange(1, 13) * 10) + 1
    model = pv.fit_private_chain(counts, states=range(12), **PROMISE, mechanism="laplace")
    assert [row.state for row in model.weakest_rows()] == list(range(10))
    assert [row.state for row in model.weakest_rows(3)] == [0, 1, 2]


def test_the_papers_floor_is_asked_of_rows_that_have_something_to_protect_only():
    # Row 2 has a single successor and row 3 no record: neither frequency is below a floor that matters.
    counts = [[30, 40, 30], [0, 7, 0], [0, 0, 0]]
    support = [[1, 1, 1], [0, 1, 0], [1, 1, 1]]
    options = {"states": STATES, "epsilon": 3.0, "delta": 1e-3, "floor": 0.2, "mix": False, "support": support}
    model = pv.fit_private_chain(counts, **options)
    assert [row.concentration is None for row in model.rows] == [False, True, True]
    counts[0] = [10, 60, 30]
    with pytest.raises(pv.InvalidCountsError, match=r"row 1, column 1 is 0\.1, below the floor 0\.2"):
        pv.fit_private_chain(counts, **options)


def test_what_is_public_depends_on_the_unit_and_on_the_mechanism():
    def public(unit: str, mechanism: str, mix: bool = True) -> str:
        length = 5 if unit == "word" else None
        asked = request.Request(None, unit, 1.0, 1e-6, length, SINGLE, 0.15, mix)
        return "; ".join(asked.guarantee(mechanism, seeded=False).public)

    assert "floor of each row" in public("transition", "dirichlet")
    assert "frequency ≥ 0.15" in public("transition", "dirichlet", mix=False)
    for mechanism in ("laplace", "gaussian"):
        assert "floor" not in public("transition", mechanism)
        assert "0.15" not in public("transition", mechanism)
        assert "lengths" in public("symbol", mechanism)
        assert "greatest length" in public("word", mechanism)


@pytest.mark.parametrize("max_length", [True, 1, 0, -3, 3.0, "4", None])
def test_the_greatest_length_is_a_whole_number_of_at_least_two(max_length):
    options = {"words": WORDS, "states": "abc", "epsilon": 1.0, "mechanism": "laplace", "unit": "word"}
    with pytest.raises(pv.InvalidParameterError, match="needs `max_length`"):
        pv.fit_private_chain(**options, max_length=max_length)
    pv.fit_private_chain(**options, max_length=2)


@pytest.mark.parametrize(
    ("split", "fine"),
    [
        ({"transitions": 0.5, "first": 0.5 + 5e-10}, True),
        ({"transitions": 0.5, "first": 0.5 - 5e-10}, True),
        ({"transitions": 0.5, "first": 0.5 + 2e-9}, False),
        ({"transitions": 0.5, "first": 0.5 - 2e-9}, False),
        ({"transitions": 1.0, "first": 0.0}, False),
        ({"transitions": 0.5, "first": 0.25, "last": 0.25}, False),
        ({"lengths": 0.5, "first": 0.5}, False),
        ({"transitions": 1.0}, True),
    ],
)
def test_shares_are_positive_and_sum_to_one(split, fine):
    if fine:
        assert request._checked_split(split, "word") == split
    else:
        with pytest.raises(pv.InvalidParameterError, match="split"):
            request._checked_split(split, "word")


def test_counted_lengths_are_padded_to_the_declared_length_and_not_beyond():
    table, first = np.ones((2, 2), dtype=int), np.array([2, 1])
    options = {
        "states": "ab",
        "epsilon": 1.0,
        "mechanism": "laplace",
        "unit": "word",
        "max_length": 3,
        "split": SPLIT,
    }
    for lengths in ([0, 3], [0, 3, 0], [0, 3, 0, 0, 0]):
        counted = pv.WordCounts(table, first, np.array(lengths))
        model = pv.fit_private_chain(counted, **options)
        assert len(model.lengths) == 3
    with pytest.raises(pv.InvalidCountsError, match="more than 3 symbols"):
        pv.fit_private_chain(pv.WordCounts(table, first, np.array([0, 2, 0, 1])), **options)


@pytest.mark.parametrize("mechanism", ["dirichlet", "gaussian"])
def test_a_zero_table_is_refused_where_row_sizes_are_public_and_a_single_record_is_not(mechanism):
    counts = np.zeros((3, 3), dtype=int)
    with pytest.raises(pv.InvalidCountsError, match="all counts are zero"):
        pv.fit_private_chain(counts, states=STATES, **PROMISE, mechanism=mechanism)
    counts[1, 2] = 1
    model = pv.fit_private_chain(counts, states=STATES, **PROMISE, mechanism=mechanism)
    assert [row.records for row in model.rows] == [0, 1, 0]
