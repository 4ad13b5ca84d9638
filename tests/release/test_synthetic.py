"""Synthetic words from Python; tests/cli has the command."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pathveil as pv
from pathveil.release import SyntheticChoices, release_synthetic


@pytest.fixture
def model(tmp_path):
    counts = np.array([[9, 1], [2, 8]])
    pv.fit_private_chain(counts, states=["a", "b"], epsilon=5.0, mechanism="laplace").save(tmp_path / "model.json")
    return tmp_path / "model.json"


def test_words_of_a_private_model_carry_its_promise(tmp_path, model):
    promise = release_synthetic(model, tmp_path / "out.txt", SyntheticChoices(3, length=4, separator=""))
    assert promise == pv.load_model(model).guarantee
    assert json.loads((tmp_path / "out.txt.manifest.json").read_text())["guarantee"] == str(promise)
    words = (tmp_path / "out.txt").read_text().splitlines()
    assert [(len(word), set(word) <= {"a", "b"}) for word in words] == [(4, True)] * 3


def test_words_of_any_other_chain_carry_none(tmp_path):
    (tmp_path / "chain.json").write_text(pv.MarkovChain.from_edges([("a", "b"), ("b", "a")]).to_json())
    assert release_synthetic(tmp_path / "chain.json", tmp_path / "out.csv", SyntheticChoices(2, length=2)) is None
    assert not (tmp_path / "out.csv.manifest.json").exists()


def test_progress_ends_at_the_number_of_words(tmp_path, model):
    told = []
    release_synthetic(model, tmp_path / "out.txt", SyntheticChoices(12, length=4), lambda *what: told.append(what))
    assert told[-1] == ("writing", 12)


def test_the_model_itself_is_not_overwritten(model):
    before = model.read_bytes()
    with pytest.raises(pv.InvalidParameterError, match="a file that this command reads"):
        release_synthetic(model, model, SyntheticChoices(1, length=2, overwrite=True))
    assert model.read_bytes() == before
