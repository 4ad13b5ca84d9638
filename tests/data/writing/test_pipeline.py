"""Work in two threads gives what it would give in one, in the same order, and ends when the caller ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import pathveil as pv
from pathveil.data.database import Database
from pathveil.data.writing.pipeline import prefetched, written_behind


def counted(end: int, closed: list[int]) -> Generator[int]:
    """1, 2, ..., and then an error if `end` is odd; notes where it was closed."""
    number = 0
    try:
        for number in range(1, end + 1):
            yield number
        if end % 2:
            raise LookupError("odd")
    finally:
        closed.append(number)


def nothing() -> None:
    pass


def test_items_come_in_order_from_another_thread() -> None:
    threads = set()

    def items() -> Generator[int]:
        for number in range(1, 100):
            threads.add(threading.get_ident())
            yield number

    with prefetched(items(), nothing) as numbers:
        assert list(numbers) == list(range(1, 100))
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_an_error_in_the_other_thread_reaches_the_caller_after_the_items_before_it() -> None:
    seen: list[int] = []
    closed: list[int] = []

    def look() -> None:
        with prefetched(counted(3, closed), nothing) as numbers:
            seen.extend(numbers)

    with pytest.raises(LookupError, match="odd"):
        look()
    assert (seen, closed) == ([1, 2, 3], [3])


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt, SystemExit])
def test_when_the_caller_fails_the_other_thread_is_broken_off_and_closed(problem: type[BaseException]) -> None:
    closed: list[int] = []
    goes_on = threading.Event()

    def stuck() -> Generator[int]:
        yield 1
        goes_on.wait()  # for ever, unless someone breaks it off
        yield from counted(100, closed)

    def fail() -> None:
        with prefetched(stuck(), goes_on.set) as numbers:
            next(numbers)
            raise problem

    before = threading.active_count()
    with pytest.raises(problem):
        fail()
    assert closed == [1]  # one item ahead, no more
    assert threading.active_count() == before


def test_a_caller_that_takes_nothing_waits_for_nothing() -> None:
    closed: list[int] = []
    with prefetched(counted(4, closed), nothing):
        pass
    assert closed == []  # never begun


def test_work_is_done_behind_in_the_order_of_the_calls_and_is_over_at_the_end() -> None:
    done: list[int] = []
    with written_behind(done.append) as hand_over:
        for number in range(50):
            hand_over(number)
    assert done == list(range(50))


@pytest.mark.parametrize("fails_at", [0, 3, 4])
def test_an_error_in_the_work_reaches_the_caller_and_ends_it(fails_at: int) -> None:
    done: list[int] = []

    def work(number: int) -> None:
        if number == fails_at:
            raise LookupError(str(number))
        done.append(number)

    def have_done() -> None:
        with written_behind(work) as hand_over:
            for number in range(5):
                hand_over(number)

    with pytest.raises(LookupError, match=str(fails_at)):
        have_done()
    assert done == list(range(fails_at))


def test_the_engine_can_be_interrupted_from_another_thread(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(
            database.rows, "SELECT sum(sin(a.range + b.range)) FROM range(1000000) a, range(1000000) b"
        )
        while not answer.done():  # it may not have begun when the first call comes
            database.interrupt()
        with pytest.raises(pv.DataFileError, match=r"(?i)interrupt"):
            answer.result()
    database.close()


def test_an_interrupt_while_the_thread_is_being_started_gets_out_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []
    whole = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        whole(thread)
        raise KeyboardInterrupt  # a signal's handler runs while the caller waits for the thread to be there

    def slow() -> Generator[int]:
        for number in counted(4, closed):
            time.sleep(0.2)
            yield number

    def look() -> None:
        with prefetched(slow(), nothing) as numbers:
            list(numbers)

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(KeyboardInterrupt):
        look()
