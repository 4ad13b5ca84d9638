"""Forks and threads as fast as they come, and no block of keystream twice.

    python -m tests.randomness.fork_storm 2000             # forks; 8 threads in each child
    python -m tests.randomness.fork_storm 2000 --planted   # the same for a source that is wrong: it has to be noticed

The parent forks while two of its own threads draw. Every child starts threads that draw all at once from sources which
the parent had used: one that all threads share, the parent's own (`system_source`), and branches, each shared by two
threads. All that anybody was handed goes to the parent, which looks for blocks of 16 bytes that are zero or that were
handed out before, in this process or in any other. By chance alone that happens with probability below 1e-23 for the
16 million blocks of 2,000 forks.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pathveil.randomness.source import RandomSource, system_source
from tests.randomness.forks import in_a_child
from tests.reference.number_checked_source import NumberCheckedSource

BLOCK = 16
THREADS = 8


@dataclass(frozen=True)
class Storm:
    """What was seen: `repeated` counts blocks that had been handed out before, `failed` threads that got an error."""

    forks: int
    blocks: int
    zeros: int
    repeated: int
    failed: int

    @property
    def found_nothing(self) -> bool:
        return self.zeros == self.repeated == self.failed == 0

    def __str__(self) -> str:
        found = f"{self.zeros:,} zero, {self.repeated:,} repeated, {self.failed:,} threads failed"
        return f"{self.forks:,} forks, {THREADS} threads each, {self.blocks:,} blocks of 16 bytes: {found}"


def storm(forks: int, make: Callable[[], RandomSource], own: Callable[[], RandomSource] | None = None) -> Storm:
    """Fork so many times; `make` makes a source, `own` gives the one that a thread has for itself."""
    common = make()
    sources = [common, (own or make)(), *common.branches(THREADS)]
    for source in sources:
        source.bytes(BLOCK)
    seen: list[bytes] = []
    failed = 0
    turns = [threading.Semaphore(0), threading.Semaphore(0)]
    over = threading.Event()

    def draw_in_parent(source: RandomSource, turn: threading.Semaphore) -> None:
        while turn.acquire() and not over.is_set():
            for size in (1 << 12, 3 << 12, 1 << 12, 5 << 14):  # the last is more than the buffer of a source
                seen.append(source.bytes(size))

    drawing = [threading.Thread(target=draw_in_parent, args=pair) for pair in zip(sources[:2], turns, strict=True)]
    for thread in drawing:
        thread.start()
    try:
        for number in range(forks):
            turns[number % 2].release()
            # Children are forked off at the beginning of a buffer, in its middle, and at its end.
            seen.append(common.bytes(BLOCK * (1 + number % 97)))
            failures, drawn = in_a_child(lambda: _drawn_by_threads(sources))
            seen.append(drawn)
            failed += failures
    finally:
        over.set()
        for turn, thread in zip(turns, drawing, strict=True):
            turn.release()
            thread.join()
    return _found(forks, failed, b"".join(seen))


def _drawn_by_threads(sources: list[RandomSource]) -> tuple[int, bytes]:
    """How many threads failed, and all that the threads were handed."""
    threading.excepthook = lambda _: None  # counted, not printed
    sys.setswitchinterval(1e-6)  # threads change as often as they can
    together = threading.Barrier(THREADS)
    drawn: list[bytes] = []
    finished: list[int] = []
    common, own, *branches = sources

    def draw(number: int) -> None:
        mine = [common, own, branches[number], branches[number - 1]]
        together.wait()
        for count in (1, 1, 3, 8, 1, 40):
            drawn.extend([source.bytes(BLOCK * count) for source in mine])
        finished.append(number)

    threads = [threading.Thread(target=draw, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return THREADS - len(finished), b"".join(drawn)


def _found(forks: int, failed: int, handed_out: bytes) -> Storm:
    blocks = np.frombuffer(handed_out, dtype=np.uint64).reshape(-1, 2)
    zeros = int(np.count_nonzero(~blocks.any(axis=1)))
    order = np.lexsort((blocks[:, 1], blocks[:, 0]))
    repeated = int(np.count_nonzero((blocks[order[1:]] == blocks[order[:-1]]).all(axis=1)))
    return Storm(forks, len(blocks), zeros, repeated, failed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("forks", type=int, nargs="?", default=2000)
    parser.add_argument("--planted", action="store_true", help="sources that are known to be wrong")
    options = parser.parse_args()
    seen = (
        storm(options.forks, NumberCheckedSource)
        if options.planted
        else storm(options.forks, RandomSource, system_source)
    )
    print(seen)
    return 0 if seen.found_nothing else 1


if __name__ == "__main__":
    sys.exit(main())
