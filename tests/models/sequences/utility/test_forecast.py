"""What the forecast says, against fits on made-up words, and where it says that something cannot be afforded."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.sequences.utility.comparison import WordStatistics, compare
from pathveil.models.sequences.utility.forecast import lengths_with_mean
from pathveil.models.sequences.utility.without_privacy import as_coded
from tests.models.sequences.utility.made_up import chain_words

STATES, COUNT, LONGEST = 10, 2_000, 8
SAMPLING = 0.01  # what 50,000 synthetic words, and rounding the mean length, may add
EVEN, SPARSE = 0.5, 0.05


@cache
def measured(evenness: float, epsilon: float, neighbours: str) -> dict[str, tuple[float, float]]:
    """{part: (forecast, error of a fit)}, the errors averaged over two fits."""
    words = chain_words(STATES, COUNT, LONGEST, seed=1, evenness=evenness)
    public = {"max_length": LONGEST, "epsilon": epsilon, "neighbours": neighbours, "order": 1}
    mean = round(float(words.lengths.mean()), 1)
    forecast = pv.forecast_sequences(states=STATES, words=COUNT, mean_length=mean, **public)
    original, found = WordStatistics(words, STATES), []
    for seed in (1, 2):
        model = pv.fit_private_sequences(words, states=range(STATES), rng=pv.insecure_seed(seed), **public)
        made = as_coded(*model.synthetic_codes(50_000, pv.insecure_seed(9)))
        found.append(compare(original, WordStatistics(made, STATES), (10,)))
    return {
        part: (error, float(np.mean([getattr(one, part) for one in found]))) for part, error in forecast.errors.items()
    }


@pytest.mark.parametrize(("epsilon", "neighbours"), [(0.5, "replace"), (2.0, "add-remove")])
def test_fits_on_words_that_use_all_transitions_err_as_much_as_forecast_within_a_factor_of_two(epsilon, neighbours):
    for part, (forecast, error) in measured(EVEN, epsilon, neighbours).items():
        assert error <= 2 * forecast + SAMPLING, part
        assert error >= forecast / 5, part


def test_fits_on_words_that_use_few_transitions_err_little_more_than_forecast():
    """Nothing is seen in most cells, and an estimate leaves a little to each of them."""
    for part, (forecast, error) in measured(SPARSE, 4.0, "add-remove").items():
        assert error <= 2 * forecast + 0.05, part
        assert error >= forecast / 5, part


def test_the_forecast_of_another_promise_would_fail_the_comparison():
    """The negative control: ε eight times too large is out of the factor for every part."""
    forecast = pv.forecast_sequences(
        states=STATES, words=COUNT, max_length=LONGEST, epsilon=16.0, order=1, mean_length=5.0
    )
    for part, (_, error) in measured(EVEN, 0.5, "replace").items():
        assert error > 2 * forecast.errors[part] + SAMPLING, part


@pytest.mark.parametrize("epsilon", [0.2, 2.0, 60.0])
def test_a_fit_takes_the_order_or_less_where_no_longer_context_is_common(epsilon):
    words = chain_words(4, 4_000, 8, seed=2)
    forecast = pv.forecast_sequences(states=4, words=4_000, max_length=8, epsilon=epsilon)
    model = pv.fit_private_sequences(words, states=range(4), max_length=8, epsilon=epsilon, rng=pv.insecure_seed(1))
    assert forecast.order == forecast.affordable_order
    assert 1 <= model.order <= forecast.order
    assert model.order == forecast.order or epsilon < 1


def test_words_are_kept_at_the_threshold_that_is_forecast():
    """False alarm: noise beyond 40 times its mean size, or a word that occurs once is kept, about 1e-6 in all."""
    public = {"states": "abc", "max_length": 4, "epsilon": 2.0}
    forecast = pv.forecast_sequences(words=200, delta=1e-6, **public)
    error = next(part.count_error for part in forecast.parts if part.what == "frequent words")
    words = ["abc"] * int(forecast.threshold + 40 * error) + ["cab"]
    model = pv.fit_private_sequences(words, delta=1e-6, rng=pv.insecure_seed(3), **public)
    assert [word for word, _ in model.frequent] == ["abc"]
    assert pv.forecast_sequences(words=200, **public).threshold is None


def test_an_order_that_cannot_be_afforded_is_said_to_be_so_with_what_it_takes():
    public = {"states": 17, "max_length": 20, "mean_length": 5.0}
    forecast = pv.forecast_sequences(words=1_000, epsilon=1.0, order=3, **public)
    assert forecast.order == 3
    assert forecast.affordable_order < 3
    remark = forecast.remarks[0]
    assert remark.startswith("Order 3 cannot be afforded")
    needed = int(remark.split(" or ")[1].split(" words")[0].replace(",", ""))
    assert pv.forecast_sequences(words=needed * 1.01, epsilon=1.0, **public).order >= 3
    assert pv.forecast_sequences(words=needed * 0.99, epsilon=1.0, **public).order < 3


def test_few_words_are_said_to_be_too_few_for_pairs():
    forecast = pv.forecast_sequences(states=50, words=20, max_length=5, epsilon=0.5)
    assert "Not even pairs" in repr(forecast)
    assert forecast.pairs == 1.0


def test_a_person_costs_as_many_times_the_noise_as_words_are_used_and_adding_half_of_replacing():
    public = {"states": 5, "words": 5_000, "max_length": 3, "epsilon": 1.0, "order": 1}
    word = pv.forecast_sequences(**public)
    person = pv.forecast_sequences(unit="user", max_words_per_user=4, **public)
    added = pv.forecast_sequences(neighbours="add-remove", **public)
    assert person.lengths == pytest.approx(4 * word.lengths, rel=0.01)
    assert added.lengths == pytest.approx(word.lengths / 2, rel=0.01)


def test_a_support_is_worth_the_cells_that_it_rules_out():
    town = pv.example_town()
    public = {"words": 50_000, "max_length": 14, "epsilon": 1.0, "order": 1, "mean_length": 10.0}
    with_support = pv.forecast_sequences(support=town, **public)
    without = pv.forecast_sequences(states=town.symbols, **public)
    assert with_support.pairs < without.pairs / 5


def test_the_shares_of_all_parts_are_the_whole_budget():
    for delta in (None, 1e-6):
        forecast = pv.forecast_sequences(states=4, words=1e5, max_length=9, epsilon=1.0, delta=delta)
        assert sum(part.share for part in forecast.parts) == pytest.approx(1.0)
        assert "<table" in forecast._repr_html_()


@pytest.mark.parametrize("mean", [1, 1.5, 5.5, 9.0, 10])
def test_lengths_have_the_mean_that_was_guessed(mean):
    lengths = lengths_with_mean(10, mean)
    assert lengths.sum() == pytest.approx(1.0)
    assert (lengths * np.arange(1, 11)).sum() == pytest.approx(mean, abs=1e-6)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"words": 0}, "`words` is 0"),
        ({"words": float("nan")}, "`words` is nan"),
        ({"mean_length": 30}, "`mean_length` is 30"),
        ({"states": 0}, "`states` is 0"),
        ({"states": None}, "give `states`"),
        ({"max_length": 0}, "`max_length` is 0"),
        ({"order": 0}, "`order` is 0"),
        ({"unit": "user"}, "belong together"),
    ],
)
def test_wrong_arguments_are_named(wrong, said):
    with pytest.raises(pv.InvalidParameterError, match=said):
        pv.forecast_sequences(**{"states": 4, "words": 100, "max_length": 9, "epsilon": 1.0, **wrong})


def test_a_hundred_thousand_states_without_a_support_are_too_many():
    with pytest.raises(pv.TooLargeError, match="support"):
        pv.forecast_sequences(states=10**5, words=10**6, max_length=9, epsilon=1.0)


def test_ends_of_words_that_are_all_of_the_greatest_length_are_as_wrong_as_pairs() -> None:
    forecast = pv.forecast_sequences(states=17, words=100_000, max_length=20, epsilon=1.0, mean_length=20)
    assert forecast.ends == pytest.approx(forecast.pairs)
    shorter = pv.forecast_sequences(states=17, words=100_000, max_length=20, epsilon=1.0, mean_length=19)
    assert 0 < shorter.ends < 0.1
