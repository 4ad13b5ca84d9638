"""What every result and every public function of the room has in common."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.calibration import calibrate
from pathveil.models.counting import count_words
from pathveil.models.dirichlet import DirichletRows
from pathveil.models.laplace import laplace_noise
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
    assert len(synthesize(chain=_chain().chain, count=1, length=3, first=None, lengths=None, rng=None)) == 1
