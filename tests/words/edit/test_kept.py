"""Tables that are kept between calls: bounded, and never anywhere else than in this process."""

from __future__ import annotations

import copy
import pickle
from types import SimpleNamespace

import pytest

import pathveil as pv
from pathveil.words.edit import mechanism as edit_mechanism
from pathveil.words.edit.kept import KeptTables

LETTERS = pv.Alphabet("abcd")


class Tables:
    def __init__(self, size):
        self.size = size


def test_what_was_used_last_is_kept_and_no_more_than_fits():
    kept = KeptTables(100)
    first, second, third = Tables(40), Tables(50), Tables(60)
    kept.keep(b"a", first, 0)
    kept.keep(b"b", first, 1)
    kept.keep(b"c", second, 0)
    assert kept.size == 90
    assert kept.look_up([b"a", b"x", b"b"]) == {b"a": (first, 0), b"b": (first, 1)}
    kept.keep(b"d", third, 0)  # what was not used for the longest time goes: the second
    assert kept.look_up([b"a", b"c", b"d"]) == {b"a": (first, 0), b"d": (third, 0)}
    assert kept.size == 100
    kept.keep(b"e", Tables(101), 0)
    assert not kept.look_up([b"e"])
    assert kept.size == 100


def test_a_word_is_kept_once():
    kept = KeptTables(100)
    first, again = Tables(40), Tables(40)
    kept.keep(b"a", first, 0)
    kept.keep(b"a", again, 0)
    assert kept.look_up([b"a"]) == {b"a": (first, 0)}
    assert kept.size == 40


@pytest.mark.parametrize("other", [copy.copy, copy.deepcopy, lambda kept: pickle.loads(pickle.dumps(kept))])
def test_a_copy_or_a_pickle_begins_with_nothing(other):
    kept = KeptTables(100)
    kept.keep(b"sensitive", Tables(40), 0)
    copied = other(kept)
    assert copied.size == 0
    assert not copied.look_up([b"sensitive"])
    assert b"sensitive" not in pickle.dumps(kept)
    assert "sensitive" not in repr(kept)


def test_a_mechanism_counts_a_word_once(monkeypatch):
    made = []
    tables = edit_mechanism.EditTables
    monkeypatch.setattr(edit_mechanism, "EditTables", lambda *a, **k: (made.append(len(a[1])), tables(*a, **k))[1])
    m = pv.EditExponential(LETTERS, 3.0, lengths=(2, 6))
    for _ in range(5):
        m.privatize("abca")
        m.privatize_many(["abca", "ab", "abca"])
        m.error_law("ab")
        m.log_probability("abca", "ab")
    assert sum(made) == 2
    other = pv.EditPermuteAndFlip(LETTERS, 5.0, lengths=(2, 6))
    other.share_tables(m)
    other.privatize("abca")
    assert sum(made) == 2
    with pytest.raises(pv.InvalidParameterError, match="same"):
        other.share_tables(SimpleNamespace(world=LETTERS, lengths=(2, 6), cap=3))


def test_a_mechanism_that_is_sent_elsewhere_takes_no_words_along():
    m = pv.EditExponential(pv.Alphabet([f"stop-{k}" for k in range(4)]), 3.0, lengths=(2, 6))
    before = len(pickle.dumps(m))
    m.privatize_many([("stop-1", "stop-2", "stop-3"), ("stop-2", "stop-2")])
    assert m._kept.size > 0
    assert len(pickle.dumps(m)) <= before + 2_000  # what was worked out about the system may go along
    assert pickle.loads(pickle.dumps(m))._kept.size == 0
