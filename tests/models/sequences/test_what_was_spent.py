"""A model says what its budget was spent on and what that bought, also after it was saved."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pathveil as pv
from tests.models.sequences.utility.made_up import log_words

WORDS = log_words(2_000, seed=1)


def fitted(**options) -> pv.PrivateSequences:
    asked = {"states": "abcde", "epsilon": 2.0, "max_length": 9, "rng": pv.insecure_seed(1), **options}
    return pv.fit_private_sequences(WORDS, **asked)


@pytest.mark.parametrize(
    "options", [{}, {"delta": 1e-6}, {"order": 1}, {"neighbours": "add-remove"}, {"times": [0] * len(WORDS)}]
)
def test_the_parts_are_all_of_epsilon(options):
    if "times" in options:
        options["times"] = np.array(["2024-01-01T08:00"] * len(WORDS), dtype="datetime64[s]")
    model = fitted(**options)
    assert sum(one.epsilon for one in model.spent) == pytest.approx(2.0)


def test_the_noise_is_what_the_share_and_the_unit_say():
    model = fitted(order=1)
    lengths, pairs = model.spent
    assert (lengths.what, pairs.what) == ("lengths", "contexts of 1 symbol")
    assert lengths.scale == pytest.approx(2 / lengths.epsilon)
    events = pairs.scale * pairs.epsilon / 2
    assert events == pytest.approx(round(events))
    assert 1 <= events <= 9
    added = fitted(order=1, neighbours="add-remove").spent[0]
    assert added.scale == pytest.approx(1 / added.epsilon)


def test_words_that_all_are_frequent_leave_the_rest_to_a_second_look():
    model = pv.fit_private_sequences(
        ["ab"] * 500, states="ab", epsilon=1.0, delta=1e-6, max_length=4, rng=pv.insecure_seed(1)
    )
    assert [one.what for one in model.spent] == ["lengths", "frequent words", "frequent words, second look"]
    assert sum(one.epsilon for one in model.spent) == pytest.approx(1.0)


def test_contexts_are_counted_by_their_symbols():
    model = fitted(order=2)
    assert len(model.contexts) == model.order
    assert model.contexts[0][1] == 6  # five states and the beginning
    assert sum(own for own, _ in model.contexts) == model.own_contexts[0]
    assert sum(rows for _, rows in model.contexts) == model.own_contexts[1]


def test_a_saved_model_says_the_same(tmp_path):
    model = fitted(delta=1e-6)
    model.save(tmp_path / "model.json")
    read = pv.load_model(tmp_path / "model.json")
    assert read.spent == model.spent
    assert read.contexts == model.contexts


@pytest.mark.parametrize(
    "wrong", [{"what": "contexts of 9 symbols"}, {"what": 3}, {"epsilon": -1.0}, {"scale": "a"}, {"more": 1}]
)
def test_a_file_that_says_something_else_is_refused(tmp_path, wrong):
    document = json.loads(fitted().to_json())
    document["spent"][0] |= wrong
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(pv.PathVeilError, match="damaged"):
        pv.load_model(tmp_path / "model.json")


def test_a_notebook_shows_order_contexts_and_parts():
    shown = fitted(delta=1e-6)._repr_html_()
    for told in ("stand on their own", "frequent words", "second look", "What the budget was spent on"):
        assert told in shown
