"""What `fit_private_sequences` refuses, each before anything is charged, and what it takes although it is odd."""

from __future__ import annotations

import pytest

import pathveil as pv
from pathveil.errors import PathVeilError

GOOD = {"words": ["ab", "ba"], "states": "ab", "epsilon": 1.0, "max_length": 3}
PERSON = {"unit": "user", "users": ["x", "y"], "max_words_per_user": 2}
REFUSED = {
    "max_length=0": ({"max_length": 0}, "`max_length` is 0"),
    "no words of a person": ({**PERSON, "max_words_per_user": 0}, "`max_words_per_user` is 0"),
    "a gap among users": ({**PERSON, "users": ["x", None]}, "user of word number 2"),
    "an unknown symbol": ({"states": "ac"}, "'b'"),
    "delta=0": ({"delta": 0.0}, "leave out `delta`"),
    "no word": ({"words": []}, "there is no word"),
    "order=9": ({"order": 9}, "`order` is 9"),
    "100,000 states": ({"words": [[1]], "states": range(100_000)}, "`support`"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_sense_is_refused_before_the_charge(case):
    changed, why = REFUSED[case]
    asked = GOOD | changed
    charged = []
    with pytest.raises(PathVeilError, match=why):
        pv.fit_private_sequences(asked.pop("words"), **asked, before_drawing=charged.append)
    assert charged == []


@pytest.mark.parametrize("words", [["a"], ["ab"] * 1000])
def test_one_word_and_equal_words_give_a_model(words):
    model = pv.fit_private_sequences(words, states="ab", epsilon=1.0, delta=1e-6, max_length=3)
    assert len(model.synthesize(10)) == 10
    assert ("ab" in dict(model.frequent)) == (len(words) == 1000)
