"""Blocks of a large batch: each runs once, with its own bits, whatever the number of processors."""

from __future__ import annotations

import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathveil as pv
from pathveil.randomness import blocks

WAIT = 20.0  # seconds until a test gives up waiting for another thread


@given(st.integers(0, 200), st.integers(1, 50))
def test_pieces_follow_each_other_and_only_the_last_may_be_smaller(count, size):
    pieces = blocks.cuts(count, size)
    assert [number for begin, end in pieces for number in range(begin, end)] == list(range(count))
    assert all(end - begin == size for begin, end in pieces[:-1])
    assert all(0 < end - begin <= size for begin, end in pieces[-1:])


def test_the_processors_are_those_that_this_process_may_use():
    allowed = os.sched_getaffinity(0)
    assert blocks.processors() == len(allowed)
    one = {min(allowed)}
    os.sched_setaffinity(0, one)
    try:
        assert blocks.processors() == 1
    finally:
        os.sched_setaffinity(0, allowed)


@pytest.mark.parametrize("processors", [1, 2, 5])
@pytest.mark.parametrize("tasks", [0, 1, 2, 7])
def test_every_task_runs_once(monkeypatch, processors, tasks):
    monkeypatch.setattr(blocks, "processors", lambda: processors)
    ran: list[int] = []
    blocks.run_all([lambda number=number: ran.append(number) for number in range(tasks)])
    assert sorted(ran) == list(range(tasks))


def test_two_processors_work_at_the_same_time_and_no_thread_is_left(monkeypatch):
    monkeypatch.setattr(blocks, "processors", lambda: 2)
    before = threading.active_count()
    both = threading.Barrier(2)
    blocks.run_all([lambda: both.wait(WAIT)] * 2)  # neither would end if the other did not run meanwhile
    assert threading.active_count() == before


def test_one_processor_starts_no_thread(monkeypatch):
    monkeypatch.setattr(blocks, "processors", lambda: 1)
    threads = set()
    blocks.run_all([lambda: threads.add(threading.get_ident())] * 3)
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("processors", [1, 2])
def test_an_error_comes_out_and_what_has_not_begun_is_left_undone(monkeypatch, processors):
    monkeypatch.setattr(blocks, "processors", lambda: processors)
    ran: list[int] = []
    failed = threading.Event()

    def fail() -> None:
        failed.set()
        raise ValueError("block 0")

    def wait_and_note() -> None:
        failed.wait(WAIT)
        threading.Event().wait(0.01)
        ran.append(1)

    with pytest.raises(ValueError, match="block 0"):
        blocks.run_all([fail, *[wait_and_note] * 2000])
    assert len(ran) < 1000


@pytest.mark.parametrize("processors", [1, 3])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_blocks_get_the_same_bits_on_any_number_of_processors(monkeypatch, processors, count):
    monkeypatch.setattr(blocks, "processors", lambda: processors)
    drawn: dict[int, bytes] = {}

    def block(number: int, source) -> None:
        drawn[number] = source.bytes(16)

    tasks = [lambda source, number=number: block(number, source) for number in range(count)]
    blocks.run_blocks(tasks, pv.insecure_seed(3))
    source = pv.insecure_seed(3)
    expected = [source] if count == 1 else source.branches(count)
    assert drawn == {number: branch.bytes(16) for number, branch in enumerate(expected)}
    assert len(set(drawn.values())) == count
