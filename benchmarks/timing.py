"""Times of several tasks, taken in turns, so that a busy machine slows all of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def in_turns(*tasks: Callable[[], Any], rounds: int = 5) -> list[float]:
    """The best time of each task in seconds."""
    best = [float("inf")] * len(tasks)
    for _ in range(rounds):
        for i, task in enumerate(tasks):
            begin = time.perf_counter()
            task()
            best[i] = min(best[i], time.perf_counter() - begin)
    return best
