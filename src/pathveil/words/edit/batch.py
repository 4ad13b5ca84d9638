"""Many words at once: a table for each different word, made on all processors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice

from pathveil.numerics.arrays import IntArray
from pathveil.randomness.blocks import processors
from pathveil.randomness.exact import draw_below
from pathveil.randomness.source import RandomSource
from pathveil.words.edit.classes import EditClasses

_AHEAD = 1 << 28  # bytes of tables made before they are needed
_TASK = 32  # tables made in one go, at most

Choose = Callable[[Sequence[int], Sequence[tuple[int, ...]]], list[int]]


def draw_batch(
    words: list[IntArray], classes_of: Callable[[IntArray], EditClasses], choose: Choose, source: RandomSource
) -> list[IntArray]:
    """A private word for each word: first its class, then a word of that class.

    `choose(numbers, counts)` draws the classes of the words with these numbers, whose classes have these counts. Equal
    words share one table. What is drawn depends on the source alone, not on the number of processors.
    """
    numbers: dict[bytes, list[int]] = {}
    for number, codes in enumerate(words):
        numbers.setdefault(codes.tobytes(), []).append(number)
    groups = iter(numbers.values())
    private: dict[int, IntArray] = {}
    for tables in _in_order(classes_of, [words[group[0]] for group in numbers.values()]):
        drawn = [(number, classes) for classes in tables for number in next(groups)]
        distances = choose([number for number, _ in drawn], [classes.counts for _, classes in drawn])
        for (number, classes), distance in zip(drawn, distances, strict=True):
            private[number] = classes.word_at(distance, draw_below(source, classes.counts[distance]))
    return [private[number] for number in range(len(words))]  # a word without a private one is an error


def _in_order(make: Callable[[IntArray], EditClasses], words: Sequence[IntArray]) -> Iterator[list[EditClasses]]:
    """Lists of make(word), for all words in order; on several processors, and ahead as far as memory allows."""
    if not words:
        return
    first = make(words[0])
    yield [first]
    ahead = max(_AHEAD // first.size, 1)
    threads = processors()
    size = max(1, min(_TASK, ahead // (2 * threads), len(words) // threads))
    tasks = iter([words[begin : begin + size] for begin in range(1, len(words), size)])
    with ThreadPoolExecutor(threads) as pool:

        def start(count: int) -> list[Future[list[EditClasses]]]:
            return [pool.submit(lambda part: [make(word) for word in part], part) for part in islice(tasks, count)]

        waiting = start(min(2 * threads, ahead))
        while waiting:
            yield waiting.pop(0).result()
            waiting += start(1)
