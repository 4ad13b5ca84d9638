"""What every result and every public function of the room has in common."""

from __future__ import annotations

import copy
import dataclasses
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.calibration import calibrate
from pathveil.models.counting import count_words
from pathveil.models.dirichlet import DirichletRows
from pathveil.models.laplace import CountNoise, count_noises, laplace_noise
from pathveil.models.synthesize import synthesize

PROMISE = {"epsilon": 1.0, "delta": 1e-6}


def _frequencies() -> pv.PrivateFrequencies:
    return pv.private_frequencies([3, 4], **PROMISE)


def _chain() -> pv.PrivateChain:
    return pv.fit_private_chain([[3, 4], [5, 6]], states="ab", **PROMISE)


COMPARED_BY_VALUE = {
    "FrequencyForecast": lambda: _frequencies().forecast,
    "RowForecast": lambda: _chain().rows[0],
    "CountNoise": lambda: laplace_noise(1.0, 2),
    "Calibration": lambda: calibrate(2, 0.1, 1.0, 1e-6),
}
WITH_ARRAYS = {
    "PrivateFrequencies": _frequencies,
    "PrivateChain": _chain,
    "CuratorErrors": lambda: pv.curator_errors([3, 4], _frequencies()),
    "PrivateMatrix": lambda: pv.private_matrix([[0.5, 0.5]], change=0.1, **PROMISE),
    "ModelForecast": lambda: pv.compare_models([5], successors=2, **PROMISE)[0],
    "WordCounts": lambda: count_words([[0, 1]], 2),
    "DirichletRows": lambda: DirichletRows(np.ones(1), np.ones(1), np.ones((1, 2)), np.ones((1, 2)) > 0).part(0, 1),
}


@pytest.mark.parametrize("kind", COMPARED_BY_VALUE | WITH_ARRAYS)
def test_results_cannot_be_changed(kind):
    result = (COMPARED_BY_VALUE | WITH_ARRAYS)[kind]()
    assert type(result).__name__ == kind
    for field in dataclasses.fields(result):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(result, field.name, None)


@pytest.mark.parametrize("kind", COMPARED_BY_VALUE)
def test_results_without_arrays_are_equal_to_their_like(kind):
    result = COMPARED_BY_VALUE[kind]()
    assert result == copy.copy(result)
    assert len({result, copy.copy(result)}) == 1


@pytest.mark.parametrize("kind", WITH_ARRAYS)
def test_results_with_arrays_are_equal_to_themselves_only(kind):
    result = WITH_ARRAYS[kind]()
    assert len({result, result, copy.copy(result)}) == 2


def test_options_are_given_by_name():
    with pytest.raises(TypeError, match="positional"):
        pv.private_frequencies([3, 4], 1.0, 1e-6)
    with pytest.raises(TypeError, match="positional"):
        pv.private_matrix([[0.5, 0.5]], 1.0, 1e-6, 0.1)
    with pytest.raises(TypeError, match="positional"):
        pv.fit_private_chain([[3, 4], [5, 6]], None, None, "ab", 1.0, 1e-6)
    with pytest.raises(TypeError, match="positional"):
        pv.compare_models([5], 2, 1.0, 1e-6)
    with pytest.raises(TypeError, match="positional"):
        synthesize(_chain().chain, 1, 3, None, None, None)
    # And the data may be given by name, too.
    assert pv.private_frequencies(counts=[3, 4], **PROMISE).mixing == 0.9
    assert pv.compare_models(records=[5], successors=2, **PROMISE)
    assert pv.private_matrix(matrix=[[0.5, 0.5]], change=0.1, **PROMISE).values.shape == (1, 2)


def _made(name: str) -> str:
    """The same letters in another object, as they come from a file or a command line."""
    return "".join(list(name))


WORDS = ["abab", "abba", "b"] * 5
SPLIT = {"transitions": 0.5, "first": 0.25, "lengths": 0.25}


@pytest.mark.parametrize(
    ("unit", "mechanism", "options"),
    [
        ("transition", "dirichlet", {}),
        ("transition", "dirichlet", {"floor": 0.02, "epsilon": 100.0}),
        *[("transition", mechanism, {}) for mechanism in ("laplace", "gaussian")],
        *[("symbol", mechanism, {}) for mechanism in ("laplace", "gaussian")],
        *[("word", mechanism, {"max_length": 3, "split": SPLIT}) for mechanism in ("laplace", "gaussian")],
    ],
)
def test_names_of_units_and_mechanisms_are_compared_by_their_letters(unit, mechanism, options):
    models = [
        pv.fit_private_chain(
            words=WORDS, states="ab", rng=pv.insecure_seed(1), **(PROMISE | options), unit=u, mechanism=m
        )
        for u, m in ((unit, mechanism), (_made(unit), _made(mechanism)))
    ]
    assert models[0].guarantee == models[1].guarantee
    assert models[0].rows == models[1].rows
    assert (models[0].chain.matrix != models[1].chain.matrix).nnz == 0
    for a, b in ((models[0].first, models[1].first), (models[0].lengths, models[1].lengths)):
        assert (a is None and b is None) or (a == b).all()
    length = options.get("max_length")
    forecasts = [
        pv.compare_models([5, 6], successors=2, unit=u, max_length=length, **PROMISE) for u in (unit, _made(unit))
    ]
    assert [f.rmse for f in forecasts[0]] == [f.rmse for f in forecasts[1]]


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_names_of_noise_are_compared_by_their_letters(name):
    for unit, length in (("transition", None), ("symbol", None), ("word", 4)):
        shares = {"transitions": 1.0}
        one, other = (
            count_noises(n, 1.0, 1e-6, u, length, shares) for n, u in ((name, unit), (_made(name), _made(unit)))
        )
        assert one == other
    assert CountNoise(_made(name), Fraction(3)).variance == CountNoise(name, Fraction(3)).variance
    largest = {"laplace": 2**48, "gaussian": 2**96}[name]
    assert CountNoise(_made(name), Fraction(largest)).scale == largest
    drawn = [CountNoise(n, Fraction(3)).draw(pv.insecure_seed(1), 20).tolist() for n in (name, _made(name))]
    assert drawn[0] == drawn[1]


def test_what_a_matrix_protects_is_compared_by_its_letters():
    one, other = (
        pv.private_matrix([[0.5, 0.5], [0.2, 0.8]], change=0.01, protects=p, rng=pv.insecure_seed(1), **PROMISE)
        for p in ("row", _made("row"))
    )
    assert one.guarantee == other.guarantee
    assert (one.values == other.values).all()


def _all_parts(thing: object, found: dict[int, object]) -> dict[int, object]:
    """Every object with fields that can be reached from this one."""
    if dataclasses.is_dataclass(thing) and id(thing) not in found:
        found[id(thing)] = thing
        for field in dataclasses.fields(thing):
            _all_parts(getattr(thing, field.name), found)
    elif isinstance(thing, list | tuple):
        for part in thing:
            _all_parts(part, found)
    elif isinstance(thing, dict):
        _all_parts(list(thing.values()), found)
    return found


TIMED = ["ab", "bca", "c", "cab"] * 30
TIMES = [[3600.0 * i + 60 * k for k in range(len(word))] for i, word in enumerate(TIMED)]
MODELS = {
    "of sequences": lambda: pv.fit_private_sequences(
        TIMED, states="abc", epsilon=1.0, max_length=3, order=2, ends=True, times=TIMES
    ),
    "of groups": lambda: pv.fit_private_sequences_by_group(
        TIMED, groups=["x", "y"] * 60, group_values="xy", states="abc", epsilon=1.0, max_length=3
    ),
    "to come": lambda: pv.forecast_sequences(words=100, epsilon=1.0, states=3, max_length=3),
    "of decisions": lambda: pv.fit_private_mdp([("x", "a", "y", 0.5)] * 9, states="xy", actions="ab", epsilon=1.0),
    "of an exchange": lambda: pv.private_doubly_stochastic(np.full((3, 3), 1 / 3), change=0.01, **PROMISE),
    "of words": lambda: pv.fit_private_chain(words=TIMED, states="abc", unit="word", max_length=3, epsilon=1.0),
}


@pytest.mark.parametrize("kind", MODELS)
def test_no_part_of_a_model_can_be_changed_and_all_can_be_compared(kind):
    one, other = MODELS[kind](), MODELS[kind]()
    assert len({one, other, one}) == 2 or kind == "to come"  # a forecast is the same each time
    for part, another in product(*(list(_all_parts(model, {}).values()) for model in (one, other))):
        assert (part == another) in (True, False)
    for part in _all_parts(one, {}).values():
        for field in dataclasses.fields(part):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(part, field.name, None)
