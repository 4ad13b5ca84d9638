"""At most so many words of each person are counted, in every layout; and the words themselves, as codes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from pathveil import data
from pathveil.data.formats import Extra
from pathveil.data.reading import Checker, UserLimit, checked_words
from tests.data.files import ARROWS, LISTS, LONG, write_csv, write_json_lines, write_xes
from tests.statistics import FALSE_ALARM, chi_square_p_value

STATES = "abcd"
# Word i belongs to person i // 3 of 5; each person has one word of each length from 2 to 4, in that person's letter.
WORDS = [[letter] * length for letter in "abcda" for length in (2, 3, 4)]
USERS = [i // 3 + 1 for i in range(15)]
LAYOUTS = {"csv": ARROWS, "parquet": LISTS, "jsonl": LISTS, "long.csv": LONG, "xes": data.EventLog()}


def written(folder: Path, kind: str, words: list[list[str]] = WORDS, users: list[Any] = USERS) -> Path:
    path = folder / f"in.{kind}"
    both = list(zip(words, users, strict=True))
    if kind == "csv":
        write_csv(path, [["who", "route"], *([who, " > ".join(word)] for word, who in both)])
    elif kind == "parquet":
        pq.write_table(pa.table({"who": users, "route": words}), path)
    elif kind == "jsonl":
        write_json_lines(path, [{"who": who, "route": word} for word, who in both])
    elif kind == "long.csv":
        rows = [[f"case {i}", j, x, who] for i, (word, who) in enumerate(both) for j, x in enumerate(word)]
        write_csv(path, [["visit", "step", "page", "who"], *sorted(rows, key=lambda row: (row[1], row[0]))])
    else:
        # Three traces in a row are one person's, as in the other files.
        write_xes(path, words, '<string key="who" value="{i}"/>')
        text = path.read_text()
        for i, who in reversed(list(enumerate(users))):
            text = text.replace(f'key="who" value="{i}"', f'key="who" value="P{who}"')
        path.write_text(text)
    return path


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_at_most_so_many_words_of_each_person_are_counted_in_every_layout(kind: str, most: int, tmp_path: Path) -> None:
    path = written(tmp_path, kind)
    found = data.count_transitions(path, LAYOUTS[kind], STATES, user="who", max_words_per_user=most, max_length=3)
    used = min(most, 3)
    assert found.words is not None
    assert found.words.first.tolist() == [2 * used, used, used, used]
    assert found.words.max_words_per_user == most
    assert (found.words_over_limit, found.largest_words_per_user) == (15 - 5 * used, 3)
    off_diagonal = found.counts.sum() - np.trace(found.counts)
    assert off_diagonal == 0
    assert found.words.lengths.sum() == 5 * used
    if most >= 3:
        whole = data.count_transitions(path, LAYOUTS[kind], STATES, max_length=3)
        assert (whole.counts == found.counts).all()


def test_the_choice_is_uniform_and_not_the_first_words(tmp_path: Path) -> None:
    # 500 persons with words of 2, 3 and 4 symbols, one of which is used: false-alarm probability 1e-6.
    path = written(
        tmp_path, "parquet", [["a"] * n for _ in range(500) for n in (2, 3, 4)], [i // 3 for i in range(1500)]
    )
    found = data.count_transitions(path, LISTS, "a", user="who", max_words_per_user=1, rng=pv.insecure_seed(5))
    assert found.words is not None
    lengths = [length + 1 for length, times in enumerate(found.words.lengths) for _ in range(times)]
    law = dict.fromkeys((2, 3, 4), 1 / 3)
    assert len(lengths) == 500
    assert chi_square_p_value(lengths, law) > FALSE_ALARM
    assert chi_square_p_value([2] * 500, law) < FALSE_ALARM
    again = data.count_transitions(path, LISTS, "a", user="who", max_words_per_user=1, rng=pv.insecure_seed(5))
    assert again.words is not None
    assert again.words.lengths.tolist() == found.words.lengths.tolist()


def test_words_come_as_codes_after_the_limit_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "jsonl")
    batches = list(data.read_words(path, LISTS, pv.Alphabet(STATES), keep=["who"], user="who", max_words_per_user=2))
    words = [word for batch in batches for word in batch.column("word").to_pylist()]
    users = [int(who) for batch in batches for who in batch.column("who").to_pylist()]
    assert Counter(users) == dict.fromkeys(range(1, 6), 2)
    assert users == sorted(users)
    for word, who in zip(words, users, strict=True):
        assert ["abcd"[code] for code in word] in [w for w, u in zip(WORDS, USERS, strict=True) if u == who]


def test_whoever_counts_sees_all_words_checked_and_some_of_them(tmp_path: Path) -> None:
    path = written(tmp_path, "csv", [*WORDS, ["z"]], [*USERS, 9])
    checker, limit = Checker(pv.Alphabet(STATES), "skip"), UserLimit(1)
    with checked_words(path, ARROWS, checker, Extra("who"), limit, rng=pv.insecure_seed(1)) as (batches, files):
        assert sum(batch.num_rows for batch in batches) == 5
        assert len(files) == 1
    assert (checker.skipped.count, limit.dropped, limit.measured) == (1, 10, 3)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "long.csv"])
def test_a_word_without_a_user_is_a_bad_row(kind: str, tmp_path: Path) -> None:
    users: list[Any] = [str(user) for user in USERS]
    path = written(tmp_path, kind, users=[*users[:4], None, *users[5:]])
    with pytest.raises(pv.DataFileError, match="the user is missing"):
        data.count_transitions(path, LAYOUTS[kind], STATES, user="who", max_words_per_user=2)
    found = data.count_transitions(path, LAYOUTS[kind], STATES, user="who", max_words_per_user=3, on_bad_row="skip")
    assert found.words is not None
    assert found.words.first.tolist() == [6, 2, 3, 3]


def test_one_person_under_several_spellings_is_one_person(tmp_path: Path) -> None:
    path = written(tmp_path, "jsonl", WORDS[:4], [7, "7", 7.0, "007"])
    found = data.count_transitions(path, LISTS, STATES, user="who", max_words_per_user=1)
    assert found.words is not None
    assert found.words.first.sum() == 2


def test_what_does_not_go_with_users_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "jsonl")
    for options, why in (
        ({"user": "who"}, "belong together"),
        ({"max_words_per_user": 2}, "belong together"),
        ({"user": "who", "max_words_per_user": 0}, "at least 1"),
        ({"user": "who", "max_words_per_user": 2, "count": "who"}, "Write one row for each word"),
    ):
        with pytest.raises(pv.InvalidParameterError, match=why):
            data.count_transitions(path, LISTS, STATES, **options)  # type: ignore[arg-type]
    with pytest.raises(pv.InvalidParameterError, match="pairs do not say"):
        data.count_transitions(path, data.PairColumns("a", "b"), STATES, user="who", max_words_per_user=2)
    (tmp_path / "in.txt").write_text("a b\n")
    with pytest.raises(pv.InvalidParameterError, match="plain text has no columns"):
        data.count_transitions(tmp_path / "in.txt", data.TextLines(), STATES, user="who", max_words_per_user=2)
