"""A private model that is saved and loaded again is the same model."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pathveil as pv


@pytest.mark.parametrize("split", [None, {"transitions": 0.8, "first": 0.1, "lengths": 0.1}])
def test_a_saved_model_comes_back_as_it_was(tmp_path, split):
    model = pv.fit_private_chain(
        words=[("sun", "rain", "sun"), ("rain", "rain")] * 50, states=["sun", "rain"], epsilon=1.0, mechanism="laplace",
        unit="word", max_length=4, split=split, rng=pv.insecure_seed(2),
    )  # fmt: skip
    model.save(tmp_path / "model.json")
    again = pv.load_model(tmp_path / "model.json")
    assert again.guarantee == model.guarantee
    assert (again.mechanism, again.rows) == (model.mechanism, model.rows)
    np.testing.assert_array_equal(again.chain.matrix.toarray(), model.chain.matrix.toarray())
    for name in ("first", "lengths"):
        ours, theirs = getattr(model, name), getattr(again, name)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_array_equal(ours, theirs)


def test_a_chain_that_is_no_model_is_refused(tmp_path):
    chain = pv.MarkovChain(["a", "b"], [[0.5, 0.5], [1.0, 0.0]])
    chain.to_json(tmp_path / "chain.json")
    with pytest.raises(pv.InvalidSystemError, match="did not make"):
        pv.load_model(tmp_path / "chain.json")


@pytest.mark.parametrize("extra", [-1, 1])
@pytest.mark.parametrize("part", ["rows", "first"])
def test_a_model_with_too_few_or_too_many_entries_is_refused(tmp_path, part, extra):
    model = pv.fit_private_chain(
        words=[("sun", "rain")] * 50, states=["sun", "rain"], epsilon=1.0, mechanism="laplace", unit="word",
        max_length=4, split={"transitions": 0.8, "first": 0.1, "lengths": 0.1}, rng=pv.insecure_seed(2),
    )  # fmt: skip
    model.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    listed = document["model"][part]
    document["model"][part] = listed[:extra] if extra < 0 else [*listed, listed[-1]]
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(pv.InvalidSystemError, match="not what PathVeil writes"):
        pv.load_model(tmp_path / "model.json")
