"""Batches of words by edit distance: every word gets its own private word, however tables are made."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.edit import batch as edit_batch
from pathveil.words.edit.batch import _in_order, draw_batch

LETTERS = pv.Alphabet("abcdefghij")


class Table:
    """In place of a real table: knows its word, and counts how many there are."""

    made = 0
    lock = threading.Lock()

    def __init__(self, word, size):
        self.word, self.size, self.counts = word, size, (word + 1, 2 * word + 1)
        with Table.lock:
            Table.made += 1

    def word_at(self, distance, rank):
        return ["private", self.word, distance, rank]


@pytest.fixture(autouse=True)
def no_tables():
    Table.made = 0


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 31, 200, 700])
def test_every_table_is_made_once_and_comes_in_its_turn(monkeypatch, threads, count):
    monkeypatch.setattr(edit_batch, "processors", lambda: threads)
    lists = list(_in_order(lambda word: Table(word, 100), range(count)))
    assert [table.word for tables in lists for table in tables] == list(range(count))
    assert Table.made == count
    assert [len(tables) for tables in lists[:1]] == [1] * min(count, 1)
    # Tasks are of one size, so that no processor waits for long, and no larger than 32 words.
    size = max(1, min(32, count // threads))
    assert all(len(tables) == size for tables in lists[1:-1])
    assert all(1 <= len(tables) <= size for tables in lists[1:])


@pytest.mark.parametrize(("fitting", "threads", "task"), [(1, 4, 1), (3, 1, 1), (8, 2, 2), (64, 2, 16), (1_000, 1, 32)])
def test_no_more_tables_are_made_ahead_than_fit_into_memory(monkeypatch, fitting, threads, task):
    monkeypatch.setattr(edit_batch, "processors", lambda: threads)
    large = (1 << 28) // fitting
    received, most = 0, 0
    for number, tables in enumerate(_in_order(lambda word: Table(word, large), range(300))):
        assert len(tables) in ((1,) if number == 0 else (task, 299 % task))
        most = max(most, Table.made - received)
        received += len(tables)
    assert received == 300
    assert most <= fitting


def test_large_tables_are_made_one_at_a_time():
    made = []
    for tables in _in_order(lambda word: Table(word, 1 << 30), range(20)):
        made.append(Table.made)
        assert len(tables) == 1
    assert made == list(range(1, 21))


def test_words_that_agree_share_a_table_and_are_drawn_apart(monkeypatch):
    monkeypatch.setattr(edit_batch, "draw_below", lambda source, count: (source.append(count), count - 1)[1])
    words = [np.array([word]) for word in (4, 2, 4, 7, 2, 4)]
    asked = []

    def choose(numbers, counts):
        asked.extend(zip(numbers, counts, strict=True))
        return [number % 2 for number in numbers]

    drawn = []
    private = draw_batch(words, lambda codes: Table(int(codes[0]), 100), choose, drawn)
    assert Table.made == 3
    assert sorted(asked) == [(0, (5, 9)), (1, (3, 5)), (2, (5, 9)), (3, (8, 15)), (4, (3, 5)), (5, (5, 9))]
    assert private == [
        ["private", 4, 0, 4],
        ["private", 2, 1, 4],
        ["private", 4, 0, 4],
        ["private", 7, 1, 14],
        ["private", 2, 0, 2],
        ["private", 4, 1, 8],
    ]
    assert sorted(drawn) == [3, 5, 5, 5, 9, 15]


def test_a_word_that_was_forgotten_is_never_released_as_it_is(monkeypatch):
    monkeypatch.setattr(edit_batch, "_in_order", lambda make, words: [[make(word)] for word in words[:-1]])
    words = [np.array([word]) for word in (4, 2)]
    with pytest.raises(KeyError):
        draw_batch(words, lambda codes: Table(int(codes[0]), 100), lambda *_: [0], pv.insecure_seed(1))


def test_a_seed_gives_the_same_words_on_any_number_of_processors(monkeypatch):
    mechanism = pv.EditExponential(LETTERS, 3.0, lengths=(2, 5), cap=4)
    words = [LETTERS.random_word(2 + k % 4, pv.insecure_seed(k)) for k in range(60)]
    outcomes = []
    for threads in (1, 2, 7):
        monkeypatch.setattr(edit_batch, "processors", lambda threads=threads: threads)
        outcomes.append(mechanism.privatize_many(words, rng=pv.insecure_seed(9)))
    assert outcomes[0] == outcomes[1] == outcomes[2]
    # Every one of them was drawn: at this ε a word stays what it is with a probability below a tenth.
    kept = sum(tuple(word) == tuple(private) for word, private in zip(words, outcomes[0], strict=True))
    assert kept < 30
