"""Forks and threads as fast as they come, and no block of keystream twice.

    python -m tests.randomness.fork_storm 2000             # forks; 8 threads in each child
    python -m tests.randomness.fork_storm 200 --planted    # the same for a source that is wrong: it has to be noticed

The parent forks while two of its own threads draw. Every child starts threads that draw all at once from sources which
the parent had used: one that all threads share, the parent's own (`system_source`), and branches, each shared by two
threads. All that anybody was handed goes to the parent, which looks for blocks of 16 bytes that are zero or that were
handed out before, in this process or in any other. By chance alone that happens with probability below 1e-23 for the
20 million blocks of 2,000 forks.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pathveil.randomness.source import RandomSource, system_source
from tests.reference.number_checked_source import NumberCheckedSource

BLOCK = 16
THREADS = 8
_PATIENCE = 60  # seconds until a child that hangs is ended, and missed


@dataclass(frozen=True)
class Storm:
    """What was seen: `repeated` counts blocks that had been handed out before."""

    forks: int
    blocks: int
    zeros: int
    repeated: int

    def __str__(self) -> str:
        return (
            f"{self.forks:,} forks, {self.blocks:,} blocks of 16 bytes: {self.zeros:,} zero, {self.repeated:,} repeated"
        )


def storm(forks: int, make: Callable[[], RandomSource], own: Callable[[], RandomSource] | None = None) -> Storm:
    """Fork so many times; `make` makes a source, `own` gives the one that a thread has for itself."""
    common = make()
    sources = [common, (own or make)(), *common.branches(THREADS)]
    for source in sources:
        source.bytes(BLOCK)
    seen: list[bytes] = []
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
            seen.append(_of_a_child(sources))
    finally:
        over.set()
        for turn, thread in zip(turns, drawing, strict=True):
            turn.release()
            thread.join()
    return _found(forks, b"".join(seen))


def _of_a_child(sources: list[RandomSource]) -> bytes:
    """All that the threads of a forked process were handed."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - runs in the child
        signal.alarm(_PATIENCE)
        try:
            with os.fdopen(write, "wb") as pipe:
                pipe.write(_drawn_by_threads(sources))
            os._exit(0)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        drawn = pipe.read()
    _, status = os.waitpid(child, 0)
    if status:
        raise RuntimeError(f"a child ended with status {status}")
    return drawn


def _drawn_by_threads(sources: list[RandomSource]) -> bytes:
    sys.setswitchinterval(1e-6)  # threads change as often as they can
    together = threading.Barrier(THREADS)
    drawn: list[bytes] = []
    common, own, *branches = sources

    def draw(number: int) -> None:
        mine = [common, own, branches[number], branches[number - 1]]
        together.wait()
        for count in (1, 1, 3, 8, 1, 40):
            drawn.extend([source.bytes(BLOCK * count) for source in mine])

    threads = [threading.Thread(target=draw, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return b"".join(drawn)


def _found(forks: int, handed_out: bytes) -> Storm:
    blocks = np.frombuffer(handed_out, dtype=np.uint64).reshape(-1, 2)
    zeros = int(np.count_nonzero(~blocks.any(axis=1)))
    order = np.lexsort((blocks[:, 1], blocks[:, 0]))
    repeated = int(np.count_nonzero((blocks[order[1:]] == blocks[order[:-1]]).all(axis=1)))
    return Storm(forks, len(blocks), zeros, repeated)


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
    print(f"{seen} ({THREADS} threads in each child)")
    return int(seen.zeros + seen.repeated > 0)


if __name__ == "__main__":
    sys.exit(main())
