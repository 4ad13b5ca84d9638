"""Two threads for one stream of batches: one makes the next batch, or puts the last one away, while the caller works.

Arrow, DuckDB, NumPy and the disk let go of Python's lock, so this uses a second core. The order of the batches, and
with it every draw, stays what it would be without threads. Errors of the other thread are raised in the caller's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")


@contextlib.contextmanager
def prefetched(items: Generator[T], break_off: Callable[[], None]) -> Iterator[Iterator[T]]:
    """The same items (none of them None), one of which is always being made while the caller works on the one before.

    If the caller fails, `break_off` is called until the other thread has ended what it is doing.
    """
    upcoming: Future[T | None] | None = None
    with contextlib.closing(items), _one_thread() as thread:

        def handed_over() -> Iterator[T]:
            nonlocal upcoming
            upcoming = thread.submit(next, items, None)
            while (item := upcoming.result()) is not None:
                upcoming = thread.submit(next, items, None)
                yield item

        try:
            yield handed_over()
        except BaseException:
            while upcoming is not None and not upcoming.done():
                break_off()
                wait([upcoming], timeout=0.1)
            raise


@contextlib.contextmanager
def written_behind(work: Callable[[T], None]) -> Iterator[Callable[[T], None]]:
    """A function that has another thread do the work on an item; it waits for the item before, not for this one.

    All work is done, or has failed, when the block ends.
    """
    with _one_thread() as thread:
        last: Future[None] | None = None

        def hand_over(item: T) -> None:
            nonlocal last
            if last is not None:
                last.result()
            last = thread.submit(work, item)

        yield hand_over
        if last is not None:
            last.result()


@contextlib.contextmanager
def _one_thread() -> Iterator[ThreadPoolExecutor]:
    """A second thread, which has ended when the block has.

    It is started before there is work for it. An interrupt that arrives while a thread is being started leaves one that
    the pool does not know and does not wait for: harmless if it is idle, not if it reads or writes our files.
    """
    with ThreadPoolExecutor(1) as thread:
        thread.submit(int).result()
        yield thread
