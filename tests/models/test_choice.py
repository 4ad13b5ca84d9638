"""Where no mechanism is named, the one with the smallest error to expect is taken; a δ never makes it worse."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pathveil as pv
from pathveil.models.chain import Request, forecast_errors
from pathveil.models.laplace import CountNoise
from tests.real_data import FOLDER, needs_real_data
from tests.sizes import given_few_and_many

WORDS = ["abca", "acb", "bcab"] * 20
SPLIT = {"transitions": 0.8, "first": 0.1, "lengths": 0.1}
UNITS = [("transition", None), ("symbol", None), ("word", 2), ("word", 30)]


def asked(epsilon, delta, unit="transition", max_length=None, shares=None) -> Request:
    return Request(None, unit, epsilon, delta, max_length, shares or {"transitions": 1.0}, None, True)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@given(scale=st.floats(0.01, 40))
def test_the_mean_size_of_noise_is_the_sum_over_its_law(kind, scale):
    noise = CountNoise(kind, Fraction(scale))
    x = np.arange(-2500, 2501)
    weights = np.exp(-np.abs(x) / scale) if kind == "laplace" else np.exp(-(x**2) / (2 * scale))
    assert noise.mean_size == pytest.approx((np.abs(x) * weights).sum() / weights.sum(), rel=1e-9, abs=1e-12)


def test_the_mean_size_of_large_gaussian_noise_goes_on_where_the_sum_ends():
    below, above = (CountNoise("gaussian", Fraction(10**6) * factor) for factor in (1, Fraction(1000001, 1000000)))
    assert above.mean_size / below.mean_size == pytest.approx(math.sqrt(1.000001), rel=1e-7)


@pytest.mark.parametrize(("unit", "max_length"), UNITS)
@pytest.mark.parametrize(("rows", "states"), [(5, 2), (400, 12), (70_000, 40)])
def test_the_best_forecast_comes_first_and_a_delta_only_helps(unit, max_length, rows, states):
    sizes = [rows] * states if unit == "transition" else None
    for epsilon, delta in itertools.product([0.01, 0.3, 3.0, 30.0], [1e-12, 1e-6, 1e-2, 0.3]):
        case = f"ε = {epsilon}, δ = {delta}"
        offered = forecast_errors(asked(epsilon, delta, unit, max_length), [states] * states, sizes)
        (without,) = forecast_errors(asked(epsilon, None, unit, max_length), [states] * states, sizes)
        possible = {"laplace", "gaussian"} | ({"dirichlet"} if unit == "transition" else set())
        assert {one.mechanism for one in offered} == possible, case
        best = offered[0]
        assert all(best.count_error <= other.count_error for other in offered), case
        assert best.count_error <= without.count_error, case
        assert best.delta == (0.0 if best.mechanism == "laplace" else delta), case


@given_few_and_many(
    40,
    100,
    share=st.floats(0.05, 0.9),
    epsilon=st.floats(0.02, 5.0),
    delta=st.sampled_from([1e-6, 1e-3, 0.02, 0.2]),
    max_length=st.integers(2, 50),
)
def test_no_part_of_a_model_gets_worse_by_a_delta(share, epsilon, delta, max_length):
    shares = {"transitions": share, "first": (1 - share) / 4, "lengths": (1 - share) * 3 / 4}
    best = forecast_errors(asked(epsilon, delta, "word", max_length, shares), [3] * 3)[0]
    (without,) = forecast_errors(asked(epsilon, None, "word", max_length, shares), [3] * 3)
    assert all(best.errors[part] <= without.errors[part] for part in shares)


def test_a_part_that_would_get_worse_keeps_laplace_noise():
    # Gaussian noise is better for the transitions and for the first symbols, and worse for the lengths.
    shares = {"transitions": 0.1, "first": 0.1, "lengths": 0.8}
    found = {one.mechanism: one for one in forecast_errors(asked(1.0, 0.02, "word", 5, shares), [3] * 3)}
    assert found["gaussian"].count_error < found["laplace"].count_error
    assert found["gaussian"].errors["lengths"] > found["laplace"].errors["lengths"]
    assert next(iter(found)) == "laplace"


@pytest.mark.parametrize(("unit", "max_length"), [("transition", None), ("symbol", None), ("word", 4)])
def test_a_delta_that_is_not_needed_is_neither_promised_nor_charged(unit, max_length):
    charged: list[pv.Guarantee] = []
    model = pv.fit_private_chain(
        words=WORDS, states="abc", epsilon=3.0, delta=1e-6, unit=unit, max_length=max_length,
        before_drawing=charged.append,
    )  # fmt: skip
    assert model.mechanism == "laplace"
    assert [promise.delta for promise in charged] == [0.0] == [model.guarantee.delta]
    assert model.reason.startswith("laplace noise makes a count wrong by ")
    assert ", gaussian by " in model.reason
    assert model.reason.endswith("; the δ of 1e-06 is not needed, and not spent")


def test_a_delta_that_helps_is_spent():
    model = pv.fit_private_chain(words=WORDS, states="abc", epsilon=0.1, delta=0.02, unit="symbol")
    assert (model.mechanism, model.guarantee.delta) == ("gaussian", 0.02)
    assert "not needed" not in model.reason
    laplace, gaussian = (
        np.mean([_wrong(mechanism, seed) for seed in range(40)]) for mechanism in ("laplace", "gaussian")
    )
    # The ratio of the mean sizes is 0.57; over 40 draws of 9 cells the ratio found has a relative error of some 7%, so
    # a ratio above 0.85 is more than five of them: false alarms below 1e-6 (and the seeds are fixed).
    assert gaussian < 0.85 * laplace


def _wrong(mechanism, seed: int) -> float:
    """By how much counts with this noise are wrong, on average over 9 cells."""
    from pathveil.models.laplace import count_noises

    noise = count_noises(mechanism, 0.1, 0.02, "symbol", None, {"transitions": 1.0})["transitions"]
    return float(np.abs(noise.draw(pv.insecure_seed(seed), 9)).mean())


def test_without_a_delta_laplace_noise_is_taken_and_a_name_is_honoured():
    plain = pv.fit_private_chain(words=WORDS, states="abc", epsilon=1.0, unit="word", max_length=4)
    assert (plain.mechanism, plain.guarantee.delta) == ("laplace", 0.0)
    assert "δ" not in plain.reason
    for name in ("dirichlet", "gaussian"):
        named = pv.fit_private_chain([[9, 9], [9, 9]], states="ab", epsilon=3.0, delta=1e-6, mechanism=name)
        assert (named.mechanism, named.guarantee.delta, named.reason) == (name, 1e-6, "")
    laplace = pv.fit_private_chain([[9, 9], [9, 9]], states="ab", epsilon=3.0, delta=1e-6, mechanism="laplace")
    assert (laplace.guarantee.delta, laplace.reason) == (0.0, "the δ of 1e-06 is not needed, and not spent")


def test_a_mechanism_that_cannot_keep_the_promise_is_not_chosen():
    # Rows of one record among a thousand successors: nothing but noise is left of a Dirichlet draw.
    offered = forecast_errors(asked(1e-6, 1e-12), [10**6] * 2, [1, 1])
    unusable = next(one for one in offered if one.mechanism == "dirichlet")
    assert offered[-1] is unusable
    assert math.isinf(unusable.count_error)
    assert "nothing but noise" in unusable.why_not
    assert "laplace" in {one.mechanism for one in offered[:2]}


@settings(max_examples=20)
@given(st.lists(st.sampled_from(["ab", "ba", "aab", "bbab", "abab"]), min_size=3, max_size=3))
def test_the_choice_for_words_and_symbols_does_not_look_at_them(words):
    for unit, max_length in (("symbol", None), ("word", 4)):
        for epsilon, delta in ((3.0, 1e-6), (0.1, 0.02)):
            options = {"states": "ab", "epsilon": epsilon, "delta": delta, "unit": unit, "max_length": max_length}
            chosen = {pv.fit_private_chain(words=given, **options).mechanism for given in (words, ["ab", "ab", "ab"])}
            assert len(chosen) == 1


@settings(max_examples=10)
@given(st.lists(st.integers(0, 30), min_size=2, max_size=2))
def test_the_choice_for_transitions_knows_row_sizes_only(left):
    tables = [[[here, 30 - here] for here in row] for row in (left, [15, 15])]
    for epsilon, delta in ((3.0, 1e-6), (0.05, 0.02)):
        made = [pv.fit_private_chain(table, states="ab", epsilon=epsilon, delta=delta) for table in tables]
        assert made[0].mechanism == made[1].mechanism
        assert made[0].reason == made[1].reason


def test_compare_models_names_what_a_fit_takes():
    for epsilon, delta in ((3.0, 1e-6), (0.1, 0.02), (1.0, None)):
        counts = [[90, 10], [5, 5]]
        taken = pv.fit_private_chain(counts, states="ab", epsilon=epsilon, delta=delta)
        forecasts = pv.compare_models([100, 10], successors=2, epsilon=epsilon, delta=delta)
        assert forecasts[0].mechanism == taken.mechanism
        assert [(one.mechanism, one.count_error) for one in forecasts] == [
            (one.mechanism, one.count_error) for one in taken.expected_errors
        ]


@pytest.mark.parametrize("successors", [2, 5])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.3, 0.02)])
def test_counts_are_wrong_by_as_much_as_was_forecast(successors, epsilon, delta):
    # Uniform rows, for which the forecast of the Dirichlet mechanism is exact, and counts so large that nothing is cut.
    # 1,600 errors, of which at least half are independent: the mean has a relative standard error below 4%, and the
    # forecast of Laplace noise is up to 6% too low for two successors. 20% apart: false alarms below 1e-3, and seeded.
    states, fits = 40, 1600 // (40 * successors)
    support = np.array([[(j - i) % states < successors for j in range(states)] for i in range(states)])
    records = 4000 * successors
    for one in pv.compare_models([records] * states, successors=successors, epsilon=epsilon, delta=delta):
        source = pv.insecure_seed(5)
        options = {"states": range(states), "epsilon": epsilon, "delta": delta, "mechanism": one.mechanism}
        fitted = (pv.fit_private_chain(4000 * support, support=support, **options, rng=source) for _ in range(fits))
        wrong = [records * np.abs(model.chain.matrix.toarray()[support] - 1 / successors).mean() for model in fitted]
        assert np.mean(wrong) == pytest.approx(one.count_error, rel=0.2)


@pytest.mark.parametrize(
    "options",
    [
        {"unit": "word", "max_length": 4, "split": SPLIT, "delta": 1e-6},
        {"unit": "symbol"},
        {"unit": "transition", "delta": 1e-6},
        {"unit": "transition", "delta": 1e-3, "floor": 0.01, "epsilon": 30.0},
    ],
)
def test_a_file_says_what_every_mechanism_would_do(tmp_path, options):
    model = pv.fit_private_chain(words=WORDS, states="abc", **({"epsilon": 1.0} | options))
    model.save(tmp_path / "model.json")
    again = pv.load_model(tmp_path / "model.json")
    assert again.asked == model.asked
    assert again.words == model.words == (None if options["unit"] == "transition" else len(WORDS))
    for ours, theirs in zip(model.expected_errors, again.expected_errors, strict=True):
        assert (ours.mechanism, ours.delta, ours.errors) == (theirs.mechanism, theirs.delta, theirs.errors)
    assert len(again.expected_errors) == (1 if "delta" not in options else 3 if options["unit"] == "transition" else 2)


def test_an_older_file_is_read_and_has_no_forecast_of_other_mechanisms(tmp_path):
    model = pv.fit_private_chain(words=WORDS, states="abc", epsilon=1.0, unit="symbol")
    document = json.loads(model.to_json())
    del document["model"]["asked"], document["model"]["words"]
    (tmp_path / "model.json").write_text(json.dumps(document))
    again = pv.load_model(tmp_path / "model.json")
    assert (again.asked, again.words, again.expected_errors, again.reason) == (None, None, [], "")


@pytest.mark.parametrize(
    "change",
    [{"epsilon": "much"}, {"epsilon": -1.0}, {"delta": 7}, {"unit": "person"}, {"shares": 5}, {"shares": {}},
     {"mechanism": "magic"}, {"max_length": 3}, {"colour": "red"}, {"delta": "x"}],
)  # fmt: skip
def test_a_file_that_asks_for_the_impossible_is_refused(tmp_path, change):
    model = pv.fit_private_chain(words=WORDS, states="abc", epsilon=1.0, unit="symbol")
    document = json.loads(model.to_json())
    document["model"]["asked"] |= change
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(pv.InvalidSystemError, match="asked for"):
        pv.load_model(tmp_path / "model.json")


def _pair_errors(table: np.ndarray, counts: pv.WordCounts, draws: int, **options) -> np.ndarray:
    """The total variation distance of pairs, with the rows in their true proportions, of some fits."""
    weights = table.sum(axis=1) / table.sum()
    truth = table / np.maximum(table.sum(axis=1), 1)[:, None]
    source = pv.insecure_seed(3)
    found = []
    for _ in range(draws):
        model = pv.fit_private_chain(counts, states=range(len(table)), rng=source, **options)
        found.append(float((weights[:, None] * np.abs(model.chain.matrix.toarray() - truth)).sum() / 2))
    return np.array(found)


@needs_real_data
@pytest.mark.parametrize(("name", "states"), [("helpdesk", 14), ("bpic2013_incidents", 4)])
@pytest.mark.parametrize(("unit", "max_length"), [("symbol", None), ("word", 20)])
def test_on_real_logs_a_delta_gives_no_worse_pairs(name, states, unit, max_length):
    parquet = pytest.importorskip("pyarrow.parquet", reason="reading parquet files needs pyarrow")
    words = parquet.read_table(FOLDER / f"{name}.parquet")["seq"].to_pylist()
    table = np.zeros((states, states))
    for word in words:
        for x, y in itertools.pairwise(word[:max_length]):
            table[x, y] += 1
    options = {"epsilon": 3.0, "unit": unit, "max_length": max_length}
    without, offered, gaussian = (
        _pair_errors(table, pv.WordCounts(table, *_ends(words, states, max_length)), 12, **options, **more)
        for more in ({}, {"delta": 1e-6}, {"delta": 1e-6, "mechanism": "gaussian"})
    )
    # If both have the same law, six standard errors between two means of 12 draws are a false alarm below 1e-6.
    margin = 6 * math.hypot(without.std(), offered.std()) / math.sqrt(12)
    assert offered.mean() <= without.mean() + margin
    # The test can tell: the mechanism that was taken before fails it.
    assert gaussian.mean() > without.mean() + 6 * math.hypot(without.std(), gaussian.std()) / math.sqrt(12)


def _ends(words: Sequence[Sequence[int]], states: int, cut: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Counts of first symbols and of lengths."""
    lengths = np.array([len(word[:cut]) for word in words])
    return np.bincount([word[0] for word in words], minlength=states), np.bincount(lengths - 1, minlength=cut or 1)
