"""Rows in random order, every order with the same probability, whether or not they fit into memory.

What does not fit is dealt out: each row goes to one of many files, each file with the same probability, and then every
file is shuffled by itself. Given how many rows each file got, every order is equally likely, so that holds overall
(Rao 1961, Sandelius 1962).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pathveil.randomness.exact import draw_permutation
from pathveil.randomness.source import RandomSource
from pathveil.words.ragged import flat_words, take_cells

_IN_MEMORY = 1 << 27  # bytes that are shuffled in memory
_PILES = 128  # a power of two, so that a byte is enough to choose one without bias
_ROWS = 1 << 17


def shuffled(
    batches: Iterable[pa.RecordBatch], source: RandomSource, workspace: Path, in_memory: int = _IN_MEMORY
) -> Iterator[pa.RecordBatch]:
    """The rows of all batches in random order, in new batches."""
    held: list[pa.RecordBatch] = []
    size = 0
    arriving = iter(batches)
    for batch in arriving:
        held.append(batch)
        size += batch.nbytes
        if size > in_memory:
            yield from _shuffled_in_piles(held, arriving, source, workspace)
            return
    if held:
        yield from _shuffled_in_memory(pa.Table.from_batches(held), source)


def _shuffled_in_memory(rows: pa.Table, source: RandomSource) -> Iterator[pa.RecordBatch]:
    order = draw_permutation(source, rows.num_rows)
    [whole] = rows.combine_chunks().to_batches()
    for begin in range(0, len(order), _ROWS):
        yield take_rows(whole, order[begin : begin + _ROWS])


def take_rows(batch: pa.RecordBatch, rows: npt.NDArray[np.int64]) -> pa.RecordBatch:
    """These rows; the words, which come first, in a faster way than Arrow's own."""
    words, *others = batch.columns
    values, offsets = flat_words(words)
    cells, taken = take_cells(offsets, rows)
    lists = pa.ListArray.from_arrays(pa.array(taken, pa.int32()), pa.array(values[cells]), type=words.type)
    places = pa.array(rows)
    return pa.RecordBatch.from_arrays([lists, *(other.take(places) for other in others)], names=batch.schema.names)


def _shuffled_in_piles(
    held: list[pa.RecordBatch], arriving: Iterator[pa.RecordBatch], source: RandomSource, workspace: Path
) -> Iterator[pa.RecordBatch]:
    schema = held[0].schema
    paths = [workspace / f"pile-{i}.arrow" for i in range(_PILES)]
    with contextlib.ExitStack() as stack:
        piles = [stack.enter_context(pa.ipc.new_stream(str(path), schema)) for path in paths]
        while held:
            _deal(held.pop(), piles, source)
        for batch in arriving:
            _deal(batch, piles, source)
    for path in paths:
        with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
            rows = reader.read_all()
        path.unlink()
        if rows.num_rows:
            yield from _shuffled_in_memory(rows, source)


def _deal(batch: pa.RecordBatch, piles: list[Any], source: RandomSource) -> None:
    """Every row to a pile of its own choice."""
    chosen = np.frombuffer(source.bytes(batch.num_rows), np.uint8) & (_PILES - 1)
    order = np.argsort(chosen, kind="stable")
    sorted_rows = take_rows(batch, order)
    ends = np.searchsorted(chosen[order], np.arange(_PILES), side="right")
    begin = 0
    for pile, end in zip(piles, ends.tolist(), strict=True):
        if end > begin:
            pile.write_batch(sorted_rows.slice(begin, end - begin))
        begin = end
