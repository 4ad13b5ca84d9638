"""Models of one word, or of nothing that noise does not hide: a result that says little, never an error."""

from __future__ import annotations

import pytest

import pathveil as pv
from tests.reference.word_law import law_of


@pytest.mark.parametrize("delta", [None, 1e-6])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize("words", [["ab"], ["a", "b"], ["abab"] * 1000])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_model_of_little_is_a_model(words, delta, neighbours, seed):
    """Which steps find something depends on the noise; whatever they find, the model gives words."""
    model = pv.fit_private_sequences(
        words, states="ab", epsilon=0.5, delta=delta, max_length=4, neighbours=neighbours, rng=pv.insecure_seed(seed)
    )
    assert sum(law_of(model).values()) == pytest.approx(1, abs=1e-12)
    assert len(model.synthesize(5)) == 5
