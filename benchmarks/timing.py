"""Times of several tasks, taken in turns, so that a busy machine slows all of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def in_turns(*tasks: Callable[[], Any], rounds: int = 5, clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """The best time of each task in seconds, by this clock."""
    best = [float("inf")] * len(tasks)
    for _ in range(rounds):
        for i, task in enumerate(tasks):
            begin = clock()
            task()
            best[i] = min(best[i], clock() - begin)
    return best
