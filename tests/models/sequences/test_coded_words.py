"""Words that come as arrays: they keep the same promise as words that come one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.sequences import CodedWords
from tests.models.sequences.tape import Tape

OPTIONS = {"states": "ab", "epsilon": 1.0, "max_length": 4}


def test_words_of_a_person_are_limited_in_arrays_too(monkeypatch):
    tables = []
    for words in (CodedWords.from_codes([[0, 1]] * 500), ["ab"] * 500):
        tape = Tape(seed=1)
        with tape.running(monkeypatch):
            pv.fit_private_sequences(
                words, **OPTIONS, unit="user", users=["x"] * 300 + ["y"] * 200, max_words_per_user=3
            )
        tables.append([table.exact.tolist() for table in tape.tables])
    assert tables[0] == tables[1]
    assert tables[0][0] == [0, 6, 0, 0]


def test_equal_words_taken_together_have_no_persons():
    words = CodedWords.from_codes([[0, 1]], np.array([5]))
    with pytest.raises(pv.InvalidParameterError, match="each word by itself"):
        pv.fit_private_sequences(words, **OPTIONS, unit="user", users=["x"], max_words_per_user=3)


@pytest.mark.parametrize(
    ("values", "offsets", "times"),
    [
        ([0, 2], [0, 2], [1]),
        ([0, -1], [0, 2], [1]),
        ([0, 1], [0, 0, 2], [1, 1]),
        ([0, 1], [0, 2], [0]),
        ([0, 1], [0, 2], [-3]),
        ([0, 1, 1], [0, 2], [1]),
    ],
)
def test_arrays_that_are_no_words_are_refused(values, offsets, times):
    words = CodedWords.from_arrays(np.array(values), np.array(offsets), np.array(times))
    with pytest.raises(pv.InvalidCountsError, match="code"):
        pv.fit_private_sequences(words, **OPTIONS)


def test_an_impossible_word_is_refused_by_its_number_whether_or_not_it_would_be_used():
    words, users = ["ab"] * 50 + ["ba"], ["x"] * 51
    for seed in range(5):
        with pytest.raises(pv.InvalidCountsError, match="word number 51") as refused:
            pv.fit_private_sequences(
                words, **OPTIONS, unit="user", users=users, max_words_per_user=1,
                support=np.array([[1, 1], [0, 1]]), rng=pv.insecure_seed(seed),
            )  # fmt: skip
        assert refused.value.without_content == "word number 51 cannot occur, as the public support says"


def test_equal_words_are_taken_together_and_no_others_however_many_symbols_there_are():
    for last in (2**8, 2**16 - 1, 2**16, 2**16 + 1, 3 * 2**16):
        words = CodedWords.from_codes(
            [[last, 0], [0], [last], [last % 2**16, 0, 1], [last], [0, last]], np.arange(1, 7)
        )
        found = words.distinct()
        listed = [found.values[a:b].tolist() for a, b in pairwise(found.offsets)]
        expected = sorted([([0], 2), ([0, last], 6), ([last], 3 + 5), ([last, 0], 1), ([last % 2**16, 0, 1], 4)])
        assert sorted(zip(listed, found.times.tolist(), strict=True)) == expected


def test_parts_that_are_joined_are_the_words_of_all_of_them_in_their_order():
    listed = [[[0, 1], [2]], [], [[1, 1, 0]], [[2], [0, 2]]]
    parts = [CodedWords.from_codes(part, np.arange(len(part)) + 3) for part in listed]
    whole, all_words = CodedWords.joined(parts), [word for part in listed for word in part]
    assert [whole.values[a:b].tolist() for a, b in pairwise(whole.offsets)] == all_words
    assert whole.times.tolist() == [3, 4, 3, 3, 4]
    assert len(CodedWords.joined([])) == 0
