"""Large batches in blocks, on all processors.

How a batch is cut depends on the batch alone, and each block has a random source of its own. So a seed gives the same
result on one processor as on many.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from pathveil.randomness.source import RandomSource


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_all(tasks: Sequence[Callable[[], None]]) -> None:
    """Run every task, on as many threads as there are processors; the first error ends the run.

    The threads end with the call, so none is lost in a process that forks later.
    """
    threads = min(processors(), len(tasks))
    if threads <= 1:
        for task in tasks:
            task()
        return
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(task) for task in tasks]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def run_blocks(blocks: Sequence[Callable[[RandomSource], None]], source: RandomSource) -> None:
    """Run every block with its own branch of the source."""
    if len(blocks) == 1:
        blocks[0](source)
        return

    def bind(block: Callable[[RandomSource], None], branch: RandomSource) -> Callable[[], None]:
        return lambda: block(branch)

    run_all([bind(block, branch) for block, branch in zip(blocks, source.branches(len(blocks)), strict=True)])


def cuts(count: int, size: int) -> list[tuple[int, int]]:
    """[0, count) in consecutive pieces of `size`; the last may be smaller."""
    return [(begin, min(begin + size, count)) for begin in range(0, count, size)]
