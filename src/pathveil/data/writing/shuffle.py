"""Rows in random order, every order with the same probability, whether or not they fit into memory.

What does not fit is dealt out: each row goes to one of many files, each file with the same probability, and then every
file is shuffled by itself. Given how many rows each file got, every order is equally likely, so that holds overall
(Rao 1961, Sandelius 1962).

The files hold what was drawn, so they are encrypted (encrypted_file.py says why).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pathveil.data.encrypted_file import EncryptedFile
from pathveil.randomness.source import RandomSource
from pathveil.words.base import flat_words, take_cells

_IN_MEMORY = 1 << 27  # bytes that are shuffled in memory
_PILES = 128
_ROWS = 1 << 17


def shuffled(
    batches: Iterable[pa.RecordBatch],
    source: RandomSource,
    workspace: Path,
    in_memory: int = _IN_MEMORY,
    piles: int = _PILES,
    rows_at_a_time: int = _ROWS,
) -> Iterator[pa.RecordBatch]:
    """The rows of all batches in random order, in new batches.

    More than `in_memory` bytes of them are dealt out to so many `piles`: a power of two, up to 256, so that a byte is
    enough to choose one without bias.
    """
    held: list[pa.RecordBatch] = []
    size = 0
    arriving = iter(batches)
    for batch in arriving:
        held.append(batch)
        size += batch.nbytes
        if size > in_memory:
            for rows in _dealt_to_piles(held, arriving, source, workspace, piles):
                yield from in_order(rows, random_order(source, rows.num_rows), rows_at_a_time)
            return
    if held:
        rows = pa.Table.from_batches(held)
        yield from in_order(rows, random_order(source, rows.num_rows), rows_at_a_time)


def random_order(source: RandomSource, count: int) -> npt.NDArray[np.int64]:
    """The numbers 0..count-1 in random order, every order with the same probability.

    Each number gets a random key, and they are sorted by their keys. Key and number share a word, the key in front:
    sorting such words is several times faster than finding out how other words would be sorted.
    """
    bits = np.uint64(count.bit_length())
    words = source.keystream(count)
    words >>= bits
    words <<= bits
    words |= np.arange(count, dtype=np.uint64)
    words.sort()
    keys = words >> bits
    words &= (np.uint64(1) << bits) - np.uint64(1)
    order = words.view(np.int64)
    same = np.flatnonzero(keys[1:] == keys[:-1])
    if len(same):
        # Numbers with equal keys stand in their old order. Those of each key are put into a random one.
        places = np.union1d(same, same + 1)
        again = random_order(source, len(places))
        again = again[np.argsort(keys[places][again], kind="stable")]
        order[places] = order[places][again]
    return order


def in_order(rows: pa.Table, order: npt.NDArray[np.int64], at_a_time: int = _ROWS) -> Iterator[pa.RecordBatch]:
    """The rows of a table, at least one, in this order."""
    [whole] = rows.combine_chunks().to_batches()
    yield from _taken(whole, order, at_a_time)


def take_rows(batch: pa.RecordBatch, rows: npt.NDArray[np.int64]) -> pa.RecordBatch:
    """These rows of a batch, at least one."""
    [taken] = _taken(batch, rows, len(rows))
    return taken


def _taken(batch: pa.RecordBatch, rows: npt.NDArray[np.int64], at_a_time: int) -> Iterator[pa.RecordBatch]:
    """These rows in batches; the words, which come first, in a faster way than Arrow's own."""
    words, *others = batch.columns
    values, offsets = flat_words(words)
    for begin in range(0, len(rows), at_a_time):
        some = rows[begin : begin + at_a_time]
        cells, taken = take_cells(offsets, some)
        lists = pa.ListArray.from_arrays(pa.array(taken), pa.array(np.take(values, cells)))
        places = pa.array(some)
        yield pa.RecordBatch.from_arrays([lists, *(other.take(places) for other in others)], names=batch.schema.names)


def _dealt_to_piles(
    held: list[pa.RecordBatch], arriving: Iterator[pa.RecordBatch], source: RandomSource, workspace: Path, count: int
) -> Iterator[pa.Table]:
    """Every row in a pile of its own choice; one pile after the other, those without a row left out."""
    schema = held[0].schema
    files = [EncryptedFile(workspace / f"pile-{i}.arrow") for i in range(count)]
    with contextlib.ExitStack() as stack:
        sinks = [stack.enter_context(file.for_writing()) for file in files]
        piles = [stack.enter_context(pa.ipc.new_stream(sink, schema)) for sink in sinks]
        while held:
            _deal(held.pop(), piles, source)
        for batch in arriving:
            _deal(batch, piles, source)
    for file in files:
        with file.for_reading() as opened, pa.ipc.open_stream(opened) as reader:
            rows = reader.read_all()
        file.path.unlink()
        if rows.num_rows:
            yield rows


def _deal(batch: pa.RecordBatch, piles: list[Any], source: RandomSource) -> None:
    """Every row to a pile of its own choice."""
    chosen = np.frombuffer(source.bytes(batch.num_rows), np.uint8) & (len(piles) - 1)
    for pile, rows in dealt(batch, chosen):
        piles[pile].write_batch(rows)


def dealt(batch: pa.RecordBatch, piles: npt.NDArray[np.integer]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """For each pile that gets something, the rows that go there, in the order they had."""
    order = np.argsort(piles, kind="stable")
    rows, sorted_piles = take_rows(batch, order), piles[order]
    begins = np.append(0, np.flatnonzero(np.diff(sorted_piles)) + 1)
    ends = np.append(begins[1:], len(piles))
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        yield int(sorted_piles[begin]), rows.slice(begin, end - begin)
