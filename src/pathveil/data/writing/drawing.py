"""Checked words become private ones, many at a time."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from pathveil.randomness.source import RandomSource
from pathveil.words.base import Progress, WordMechanism

_SYMBOLS = 1 << 20  # symbols that a mechanism gets at a time: many words of each length, in little memory


def gathered(batches: Iterable[pa.RecordBatch], size: int = _SYMBOLS) -> Generator[pa.RecordBatch]:
    """Batches of about `size` symbols each, cut at whole words.

    Where one ends follows from the lengths of the words, and not from the batches in which they came: a seed gives the
    same private words whatever the reader does.
    """
    held: list[pa.RecordBatch] = []
    current = symbols = 0
    for batch in batches:
        marks = batch.column(0).offsets.to_numpy().astype(np.int64)
        numbers = (marks[:-1] - marks[0] + symbols) // size  # a word belongs where its first symbol does
        cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), batch.num_rows]
        for begin, end in pairwise(cuts):
            if numbers[begin] != current and held:
                yield pa.concat_batches(held)
                held = []
            current = int(numbers[begin])
            held.append(batch.slice(begin, end - begin))
        symbols += int(marks[-1] - marks[0])
    if held:
        yield pa.concat_batches(held)


def privatized(
    batches: Iterable[pa.RecordBatch], mechanism: WordMechanism, source: RandomSource, report: Progress
) -> Iterator[pa.RecordBatch]:
    """The same batches with a private word in the place of each word."""
    done = 0
    for batch in batches:
        private = mechanism.privatize_arrow(batch.column(0), source)
        done += batch.num_rows
        report("reading", done)
        yield pa.RecordBatch.from_arrays([private, *batch.columns[1:]], names=batch.schema.names)
