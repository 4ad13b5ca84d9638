"""Many words at once: a table for each different word, made on all processors, and kept for when it occurs again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from pathveil.numerics.arrays import IntArray
from pathveil.randomness.blocks import processors
from pathveil.randomness.exact import draw_below
from pathveil.randomness.source import RandomSource
from pathveil.words.edit.kept import KeptTables
from pathveil.words.edit.tables import EditTables, Room

_AHEAD = 1 << 30  # bytes of tables made before they are needed
_TASK = 32  # tables made in one go, at most
_FEW = 64  # different words: the tables of more are kept only if they are large, since small ones are soon made again

Choose = Callable[[Sequence[int], Sequence[tuple[int, ...]] | IntArray], list[int]]
Make = Callable[[Sequence[IntArray], Room | None], EditTables]
"""The tables of the first of these words, at least of one, made in the room if they fit into it."""


def draw_batch(
    words: list[IntArray], make: Make, kept: KeptTables, choose: Choose, source: RandomSource
) -> list[IntArray]:
    """A private word for each word: first its class, then a word of that class.

    `choose(numbers, counts)` draws the classes of the words with these numbers, whose classes have these counts. Equal
    words share one table, and one that is `kept` is not made again. What is drawn depends on the source alone, not on
    the number of processors or on what was kept.
    """
    numbers = _numbers_of_words(words)
    private: dict[int, IntArray] = {}
    for found in _with_tables(words, numbers, make, kept):
        drawn = [(number, tables, owner) for key, tables, owner in found for number in numbers[key]]
        counts = [tables.counts[owner] for _, tables, owner in drawn]
        distances = choose([number for number, _, _ in drawn], counts)
        by_tables: dict[EditTables, list[tuple[int, int, int, int]]] = {}
        for (number, tables, owner), sizes, distance in zip(drawn, counts, distances, strict=True):
            rank = draw_below(source, sizes[distance])
            by_tables.setdefault(tables, []).append((number, owner, distance, rank))
        for tables, asked in by_tables.items():
            of_these, owners, classes, ranks = zip(*asked, strict=True)
            private.update(zip(of_these, tables.words_at(owners, classes, ranks), strict=True))
    return [private[number] for number in range(len(words))]  # a word without a private one is an error


def draw_counted(
    words: list[IntArray],
    count: Callable[[Sequence[IntArray]], IntArray],
    draw_far: Callable[[Sequence[IntArray], RandomSource], list[IntArray]],
    make: Make,
    kept: KeptTables,
    choose: Choose,
    source: RandomSource,
) -> list[IntArray]:
    """The same where most private words are of the last class, as far away as any: only the others need a table.

    `count` says how large the classes around each word are (-1 first where that takes a table), and `draw_far` draws
    words of the last class. What is drawn depends on the source alone here, too, but not as in `draw_batch`.
    """
    numbers = _numbers_of_words(words)
    sizes = count([words[same[0]] for same in numbers.values()])
    of = np.empty(len(words), dtype=np.int64)
    for different, same in enumerate(numbers.values()):
        of[same] = different
    counted = np.flatnonzero(sizes[of, 0] >= 0)
    classes = np.array(choose(counted.tolist(), sizes[of[counted]]) if len(counted) else [], dtype=np.int64)
    is_far = classes == sizes.shape[1] - 1
    far = counted[is_far].tolist()
    private = dict(zip(far, draw_far([words[number] for number in far], source), strict=True))
    known = dict(zip(counted[~is_far].tolist(), classes[~is_far].tolist(), strict=True))
    rest = [number for number in range(len(words)) if number not in private]

    def choose_rest(asked: Sequence[int], counts: Any) -> list[int]:
        pairs = [(rest[number], row) for number, row in zip(asked, counts, strict=True)]
        return [known[number] if number in known else choose([number], [row])[0] for number, row in pairs]

    drawn = draw_batch([words[number] for number in rest], make, kept, choose_rest, source)
    private.update(zip(rest, drawn, strict=True))
    return [private[number] for number in range(len(words))]


def _numbers_of_words(words: list[IntArray]) -> dict[bytes, list[int]]:
    """For each different word the numbers at which it stands."""
    numbers: dict[bytes, list[int]] = {}
    for number, codes in enumerate(words):
        numbers.setdefault(codes.tobytes(), []).append(number)
    return numbers


def _with_tables(
    words: list[IntArray], numbers: dict[bytes, list[int]], make: Make, kept: KeptTables
) -> Iterator[list[tuple[bytes, EditTables, int]]]:
    """Some of the different words at a time, all of them in order: (its key, tables, which of them)."""
    known = kept.look_up(numbers)
    new = [words[numbers[key][0]] for key in numbers if key not in known]
    keys = iter(numbers)
    for tables in _in_order(make, new):
        found: list[tuple[bytes, EditTables, int]] = []
        owner = 0
        while owner < len(tables):
            key = next(keys)
            if key in known:
                found.append((key, *known[key]))
            else:
                found.append((key, tables, owner))
                if not tables.is_borrowed:
                    kept.keep(key, tables, owner)
                owner += 1
        yield found
    rest = [(key, *known[key]) for key in keys if key in known]
    if rest:
        yield rest


def _in_order(make: Make, words: Sequence[IntArray]) -> Iterator[EditTables]:
    """The tables of all words, in order; on several processors, and ahead as far as memory allows."""
    if not words:
        return
    first = make(words[:1], None)
    yield first
    threads = processors()
    most = 2 * threads
    rooms: list[Room | None] = [Room(_TASK) if len(words) > _FEW else None for _ in range(most)]
    largest, task, begin = first.size, min(_TASK, -(-len(words) // threads)), 1
    waiting: deque[tuple[Sequence[IntArray], Room | None, Future[EditTables]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        while waiting or begin < len(words):
            while begin < len(words) and len(waiting) < max(1, min(most, _AHEAD // largest)):
                part, room = words[begin : begin + task], rooms.pop()
                waiting.append((part, room, pool.submit(make, part, room)))
                begin += len(part)
            part, room, future = waiting.popleft()
            tables = future.result()
            yield tables
            largest = max(largest, tables.size)
            if len(tables) == len(part):
                rooms.append(room)
            else:  # they are large
                task = len(tables)
                rest = part[len(tables) :]
                waiting.appendleft((rest, room, pool.submit(make, rest, room)))
