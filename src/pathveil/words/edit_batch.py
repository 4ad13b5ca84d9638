"""Many words at once: a table for each different word, made on all processors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from pathveil.randomness.exact import draw_below
from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import IntArray
from pathveil.words.edit_classes import EditClasses

_AHEAD = 1 << 28  # bytes of tables made before they are needed

Choose = Callable[[Sequence[int], tuple[int, ...]], list[int]]


def draw_batch(
    words: list[IntArray], classes_of: Callable[[IntArray], EditClasses], choose: Choose, source: RandomSource
) -> list[IntArray]:
    """A private word for each word: first its class, then a word of that class.

    `choose(numbers, counts)` draws the classes of the words with these numbers, which are equal to one another and
    share one table. What is drawn depends on the source alone, not on the number of processors.
    """
    numbers: dict[bytes, list[int]] = {}
    for number, codes in enumerate(words):
        numbers.setdefault(codes.tobytes(), []).append(number)
    groups = list(numbers.values())
    private = list(words)
    tables = _in_order(classes_of, [words[group[0]] for group in groups])
    for group, classes in zip(groups, tables, strict=True):
        for number, distance in zip(group, choose(group, classes.counts), strict=True):
            private[number] = classes.word_at(distance, draw_below(source, classes.counts[distance]))
    return private


def _in_order(make: Callable[[IntArray], EditClasses], words: Sequence[IntArray]) -> Iterator[EditClasses]:
    """make(word) for each word, in order; on several processors some are made ahead, as many as memory allows."""
    first, rest = words[:1], iter(words[1:])
    for word in first:
        made = make(word)
        ahead = min(max(_AHEAD // made.size, 1), 64)
        yield made
    if len(words) < 2:
        return
    with ThreadPoolExecutor(min(_processors(), ahead)) as pool:
        waiting = [pool.submit(make, word) for word in islice(rest, ahead)]
        while waiting:
            yield waiting.pop(0).result()
            waiting.extend(pool.submit(make, word) for word in islice(rest, 1))


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
