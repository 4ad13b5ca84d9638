"""Batches of words by edit distance: every word gets its own private word, however tables are made and kept."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.edit import batch as edit_batch
from pathveil.words.edit.batch import _in_order, draw_batch
from pathveil.words.edit.kept import KeptTables

LETTERS = pv.Alphabet("abcdefghij")


class Tables:
    """In place of real tables: know their words, and count how many there are."""

    made = 0
    lock = threading.Lock()

    def __init__(self, words, size, is_borrowed=False):
        self.words, self.size, self.is_borrowed = [int(word[0]) for word in words], size, is_borrowed
        self.counts = [(word + 1, 2 * word + 1) for word in self.words]
        with Tables.lock:
            Tables.made += len(words)

    def __len__(self):
        return len(self.words)

    def words_at(self, owners, distances, ranks):
        asked = zip(owners, distances, ranks, strict=True)
        return [["private", self.words[owner], distance, rank] for owner, distance, rank in asked]


@pytest.fixture(autouse=True)
def no_tables():
    Tables.made = 0


def numbered(count):
    return [np.array([word]) for word in range(count)]


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("fitting", [1, 3, 100])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 31, 200, 700])
def test_every_table_is_made_once_and_comes_in_its_turn(monkeypatch, threads, count, fitting):
    monkeypatch.setattr(edit_batch, "processors", lambda: threads)
    parts = list(_in_order(lambda words, _: Tables(words[:fitting], 100), numbered(count)))
    assert [word for tables in parts for word in tables.words] == list(range(count))
    assert Tables.made == count
    assert all(1 <= len(tables) <= min(32, fitting) for tables in parts)


@pytest.mark.parametrize(("fitting", "threads"), [(1, 4), (3, 1), (8, 2), (64, 2)])
def test_no_more_tables_are_made_ahead_than_fit_into_memory(monkeypatch, fitting, threads):
    monkeypatch.setattr(edit_batch, "processors", lambda: threads)
    large = (1 << 30) // fitting
    received, most = 0, 0
    for number, tables in enumerate(_in_order(lambda words, _: Tables(words[:1], large), numbered(300))):
        received += len(tables)
        if number > 1:
            most = max(most, Tables.made - received)
    assert received == 300
    assert most <= fitting


def test_a_room_is_used_by_one_task_at_a_time_and_not_before_its_tables_were_read(monkeypatch):
    monkeypatch.setattr(edit_batch, "processors", lambda: 3)
    in_use, lock = set(), threading.Lock()

    def make(words, room):
        if room is not None:
            with lock:
                assert id(room) not in in_use
                in_use.add(id(room))
        made = Tables(words[: 1 + len(words) // 2], 100, is_borrowed=room is not None)
        made.room = room
        return made

    for tables in _in_order(make, numbered(500)):
        in_use.discard(id(tables.room))
    assert Tables.made == 500


def draw(words, kept, monkeypatch):
    monkeypatch.setattr(edit_batch, "draw_below", lambda source, count: (source.append(count), count - 1)[1])
    asked, drawn = [], []

    def choose(numbers, counts):
        asked.extend(zip(numbers, counts, strict=True))
        return [number % 2 for number in numbers]

    private = draw_batch(words, lambda listed, _: Tables(listed, 100), kept, choose, drawn)
    return private, asked, drawn


def test_words_that_agree_share_a_table_and_are_drawn_apart(monkeypatch):
    words = [np.array([word]) for word in (4, 2, 4, 7, 2, 4)]
    private, asked, drawn = draw(words, KeptTables(), monkeypatch)
    assert Tables.made == 3
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


def test_a_word_that_was_kept_is_not_counted_again_and_the_same_is_drawn(monkeypatch):
    words = [np.array([word]) for word in (4, 2, 4, 7, 2, 4, 9)]
    expected = draw(words, KeptTables(), monkeypatch)
    kept = KeptTables()
    draw([words[3], words[1]], kept, monkeypatch)
    Tables.made = 0
    assert draw(words, kept, monkeypatch) == expected
    assert Tables.made == 2
    assert draw(words, kept, monkeypatch) == expected
    assert Tables.made == 2


def test_a_word_that_was_forgotten_is_never_released_as_it_is(monkeypatch):
    monkeypatch.setattr(edit_batch, "_in_order", lambda make, words: [make(words[:1], None)])
    words = [np.array([word]) for word in (4, 2)]
    with pytest.raises(KeyError):
        draw_batch(words, lambda listed, _: Tables(listed, 100), KeptTables(), lambda *_: [0], pv.insecure_seed(1))


@pytest.mark.parametrize("count", [60, 200])
def test_a_seed_gives_the_same_words_on_any_number_of_processors_whatever_was_kept(monkeypatch, count):
    words = [LETTERS.random_word(2 + k % 4, pv.insecure_seed(k)) for k in range(count)]
    outcomes = []
    for threads in (1, 2, 7):
        monkeypatch.setattr(edit_batch, "processors", lambda threads=threads: threads)
        mechanism = pv.EditExponential(LETTERS, 3.0, lengths=(2, 5), cap=4)
        outcomes.append(mechanism.privatize_many(words, rng=pv.insecure_seed(9)))
        mechanism.privatize_many(words[10:40])
        outcomes.append(mechanism.privatize_many(words, rng=pv.insecure_seed(9)))
    assert all(outcome == outcomes[0] for outcome in outcomes)
    # Every one of them was drawn: at this ε a word stays what it is with a probability below a tenth.
    kept = sum(tuple(word) == tuple(private) for word, private in zip(words, outcomes[0], strict=True))
    assert kept < count // 2
