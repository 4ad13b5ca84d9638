"""Would it pay to share backward work between words with a common ending?

    python benchmarks/suffixes.py

The messages that a draw needs are made from the end of a word to its beginning, so words that end alike could share the
first of them, if the batch is sorted by reversed word. For real and random words: which part of the work could be
shared, and what sharing does to the time of a plain compiled loop (one word after the other, its draws included), with
the time for sorting. The last column is the library as it is, which shares nothing and works on sixteen words side by
side or in the renewal form. Processor time, so that a busy machine does not count; the best of three.

The chains of the real words are made from these words, which is fine for a stopwatch and wrong for a release.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pathveil as pv

DATA = Path(os.environ.get("PATHVEIL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
LONGEST, THETA = 30, 2.0

Batch = tuple[np.ndarray, np.ndarray]
"""The codes of all words in one array, and the offsets."""


@numba.njit(nogil=True, cache=True)
def draw(values, offsets, order, shares, system, z, beta, private):  # type: ignore[no-untyped-def]
    """Private words; returns how many steps backwards were made. beta[d] belongs to the last d symbols of a word."""
    edge_offsets, labels, targets, accepting, start = system
    states = len(accepting)
    for y in range(states):
        beta[0, y] = 1.0 if accepting[y] else 0.0
    steps, before = 0, -1
    for word in order:
        begin, end = offsets[word], offsets[word + 1]
        known = 0
        if shares and before >= 0:
            last = offsets[before + 1]
            most = min(end - begin, last - offsets[before])
            while known < most and values[end - known - 1] == values[last - known - 1]:
                known += 1
        before = word
        steps += end - begin - known
        for depth in range(known + 1, end - begin + 1):
            symbol = values[end - depth]
            for y in range(states):
                total = 0.0
                for edge in range(edge_offsets[y], edge_offsets[y + 1]):
                    total += (1.0 if labels[edge] == symbol else z) * beta[depth - 1, targets[edge]]
                beta[depth, y] = total
        y = start
        for i in range(begin, end):
            mark = np.random.random() * beta[end - i, y]
            taken = edge_offsets[y]
            for edge in range(edge_offsets[y], edge_offsets[y + 1]):
                mark -= (1.0 if labels[edge] == values[i] else z) * beta[end - i - 1, targets[edge]]
                taken = edge
                if mark < 0.0:
                    break
            private[i] = labels[taken]
            y = targets[taken]
    return steps


def by_reversed_word(values: np.ndarray, offsets: np.ndarray, symbol_count: int) -> np.ndarray:
    """The words in the order of their reversals; as many symbols as fit are compared in one number."""
    ends, lengths = offsets[1:], np.diff(offsets)
    bits = int(symbol_count).bit_length()  # 0 stands for "no more symbol"
    keys = []
    for first in range(0, int(lengths.max()), 64 // bits):
        key = np.zeros(len(ends), dtype=np.uint64)
        for depth in range(first, min(first + 64 // bits, int(lengths.max()))):
            symbols = np.where(depth < lengths, values[np.maximum(ends - 1 - depth, 0)] + 1, 0)
            key = (key << np.uint64(bits)) | symbols.astype(np.uint64)
        keys.append(key)
    return np.lexsort(keys[::-1])


class Shares(NamedTuple):
    """What words sorted by their reversals have in common; the last three as parts of all work."""

    steps_left: int
    different: float
    one_by_one: float
    """Each word has the messages of the word before it."""
    by_sixteen: float
    """Sixteen words side by side make the messages of their common ending once."""
    renewal: float
    """As one by one, where the d-th step from the end costs d multiplications."""


def shares_of(values: np.ndarray, offsets: np.ndarray, order: np.ndarray) -> Shares:
    words = [values[offsets[i] : offsets[i + 1]][::-1].tolist() for i in order.tolist()]
    known = [common(word, before) for word, before in zip(words, [[], *words], strict=False)]
    steps, squares = (sum(cost(len(word)) for word in words) for cost in (int, triangle))
    groups = [words[i : i + 16] for i in range(0, len(words), 16)]
    return Shares(
        steps - sum(known),
        sum(word != before for word, before in zip(words, [[], *words], strict=False)) / len(words),
        sum(known) / steps,
        sum((len(group) - 1) * common(group[0], group[-1]) for group in groups) / steps,
        sum(map(triangle, known)) / squares,
    )


def common(word: list[int], other: list[int]) -> int:
    """How many symbols two words have in common at their beginning."""
    both = zip(word, other, strict=False)
    return next((k for k, (a, b) in enumerate(both) if a != b), min(len(word), len(other)))


def triangle(n: int) -> int:
    return n * (n + 1) // 2


def best(action: Callable[[], Any], repeats: int = 3) -> float:
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        action()
        seconds.append(time.process_time() - begin)
    return min(seconds)


def some_of(column: pa.ChunkedArray, count: int) -> Batch:
    """Words of 2 to LONGEST symbols, chosen at random."""
    words = column.combine_chunks()
    lengths = words.value_lengths().to_numpy()
    fitting = np.flatnonzero((lengths >= 2) & (lengths <= LONGEST))
    chosen = np.random.default_rng(1).permutation(fitting)[:count]
    taken = words.take(pa.array(chosen))
    return taken.flatten().to_numpy().astype(np.int64), np.cumsum([0, *lengths[chosen]])


def chain_of(values: np.ndarray, offsets: np.ndarray) -> pv.MarkovChain:
    """Every step that occurs in the words."""
    inner = np.ones(len(values), dtype=bool)
    inner[offsets[1:] - 1] = False
    places = np.flatnonzero(inner)
    return pv.MarkovChain.from_edges(
        sorted(set(zip(values[places].tolist(), values[places + 1].tolist(), strict=True)))
    )


def flights(count: int, length: int) -> Batch:
    """Itineraries: from each airport on as the flights of 2001 did."""
    table = pq.read_table(DATA / "flights3m_od.parquet")
    origins, goals = (table.column(name).to_numpy() for name in ("o", "d"))
    order = np.argsort(origins, kind="stable")
    goals = goals[order].astype(np.int64)
    bounds = np.searchsorted(origins[order], np.arange(goals.max() + 2))
    rng = np.random.default_rng(1)
    words = np.empty((count, length), dtype=np.int64)
    words[:, 0] = goals[rng.integers(0, len(goals), count)]
    for i in range(1, length):
        low, high = bounds[words[:, i - 1]], bounds[words[:, i - 1] + 1]
        words[:, i] = goals[np.minimum(low + (rng.random(count) * (high - low)).astype(np.int64), len(goals) - 1)]
    return words.reshape(-1), np.arange(count + 1) * length


def town_words(count: int, length: int) -> tuple[pv.MarkovChain, Batch]:
    town, source = pv.example_town(), pv.insecure_seed(1)
    words = np.array([town.encode(town.random_word(length, source)) for _ in range(count)])
    return town, (words.reshape(-1), np.arange(count + 1) * length)


def batches(count: int) -> Iterator[tuple[str, pv.MarkovChain, Batch]]:
    for name, file in (("MSNBC visits", "msnbc"), ("days of rental bikes", "bikeshare2014_bike_day")):
        values, offsets = some_of(pq.read_table(DATA / f"{file}.parquet").column("seq"), count)
        chain = chain_of(values, offsets)
        codes = np.full(int(values.max()) + 1, -1)
        codes[np.array(chain.symbols)] = np.arange(len(chain.symbols))
        yield name, chain, (codes[values], offsets)
    values, offsets = flights(count, 6)
    chain = chain_of(values, offsets)
    codes = np.full(int(values.max()) + 1, -1)
    codes[np.array(chain.symbols)] = np.arange(len(chain.symbols))
    yield "itineraries of 6 flights", chain, (codes[values], offsets)
    yield "random trips of 14 in the town", *town_words(count, 14)


def row(name: str, chain: pv.MarkovChain, batch: Batch) -> str:
    """One line of the table."""
    values, offsets = batch
    compiled, count, symbols = chain.compiled, len(offsets) - 1, len(chain.symbols)
    system = (compiled.offsets, compiled.labels, compiled.targets, compiled.accepting, compiled.start)
    beta, private = np.zeros((LONGEST + 1, compiled.state_count)), np.empty_like(values)
    given, z = np.arange(count), exp(-THETA)
    order = by_reversed_word(values, offsets, symbols)
    shares = shares_of(values, offsets, order)
    if draw(values, offsets, order, True, system, z, beta, private) != shares.steps_left:
        raise AssertionError("the loop does not share what can be shared")
    plain = best(lambda: draw(values, offsets, given, False, system, z, beta, private))
    sharing = best(lambda: draw(values, offsets, order, True, system, z, beta, private))
    sorting = best(lambda: by_reversed_word(values, offsets, symbols))
    mechanism = pv.Exponential(chain, 2 * THETA)
    words = pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(values))
    mechanism.privatize_arrow(words)
    library = best(lambda: mechanism.privatize_arrow(words))
    times = (f"{1e9 * t / count:,.0f}" for t in (plain, sharing, sorting, library))
    return (
        f"| {name} | {count:,} | {compiled.state_count}, {compiled.edge_count:,} | {len(values) / count:.1f} "
        f"| {shares.different:.0%} | {shares.one_by_one:.0%} | {shares.by_sixteen:.0%} | {shares.renewal:.0%} "
        f"| {' | '.join(times)} |"
    )


def main(counts: tuple[int, ...] = (2_000, 20_000)) -> None:
    shared = "shared one by one | by sixteen | renewal"
    print(
        f"| words | number | states, edges | mean length | different | {shared} | plain | sharing | sorting | library |"
    )
    print("|---" + "|--:" * 11 + "|")
    for count in counts:
        for one in batches(count):
            print(row(*one), flush=True)


if __name__ == "__main__":
    main()
