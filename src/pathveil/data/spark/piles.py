"""What the tasks of a job do: deal the rows out to piles, then draw private words, one pile at a time.

Every place has a random number (see places.py). Some of its bits say to which pile the row goes, and all of them say
when it is its turn there. So which rows share a pile, and in which order they are drawn, depends on the key of the job
and on the places of the rows, but not on how Spark cuts the input into tasks, in which order rows arrive, or how many
tries a task needs. Each pile has a keystream of its own, whose name has the places of its rows and their words in it.
It is used from its beginning, once, for the whole pile, with the same kernels as in the embedded engine: the same pile
gives the same private words, each time, and other words at the same places get other bits.

Piles and turns are random, so the private words come in random order as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pathveil.data.formats import RawWords, join, split
from pathveil.data.reading import OnBadRow, checker_for
from pathveil.data.spark.failures import checked, require_same_version
from pathveil.data.spark.places import PlaceNumbers, place_in_batch
from pathveil.data.spark.sending import Sent
from pathveil.data.symbols import SymbolTable
from pathveil.data.writing import gathered, take_rows
from pathveil.errors import InvalidParameterError
from pathveil.randomness.derived import DerivingKey
from pathveil.words.base import flat_words

if TYPE_CHECKING:
    from pathveil.words.base import WordMechanism

Batches = Iterable[pa.RecordBatch]
WORD = "word"
DEALT = pa.schema([("pile", pa.int32()), ("rows", pa.binary())])
DEALT_IN_SPARK = "pile int, rows binary"

_HELD = 1 << 26  # bytes of rows that a task collects before it deals them out
_LARGEST = 1 << 17  # bytes of a message: Spark puts up to 10,000 of them into one batch of less than 2 GiB


@dataclass(frozen=True)
class Job:
    """Everything that a task has to know."""

    mechanism: Sent[WordMechanism]
    key: DerivingKey
    piles: int
    column: str
    separator: str | None
    value_type: pa.DataType | None
    place: str | None
    kept: tuple[str, ...]
    on_bad_row: OnBadRow
    version: str


def dealing(job: Job) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The first half of the job: rows in, messages to piles out."""

    def deal(batches: Batches) -> Iterator[pa.RecordBatch]:
        require_same_version(job.version)
        held: list[pa.RecordBatch] = []
        size = 0
        for batch in _checked(job, batches):
            held.append(batch)
            size += batch.nbytes
            if size > _HELD:
                yield from _dealt(held, job.piles)
                held, size = [], 0
        if held:
            yield from _dealt(held, job.piles)

    return deal


def checking(job: Job) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Nothing but the checks: the number of words that can be released."""

    def check(batches: Batches) -> Iterator[pa.RecordBatch]:
        require_same_version(job.version)
        count = sum(batch.num_rows for batch in _checked(job, batches))
        yield pa.RecordBatch.from_pydict({"words": pa.array([count], pa.int64())})

    return check


def _checked(job: Job, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Words as codes, both halves of the number of their place, and what is kept."""
    mechanism = job.mechanism.value
    checker = checker_for(mechanism, job.on_bad_row)
    numbers = PlaceNumbers(job.key)
    for batch in batches:
        if not batch.num_rows:
            continue
        listed = batch.column(WORD)
        words = split(listed, job.separator) if job.value_type is None else listed
        halves = map(pa.array, numbers.of(batch))
        kept = (batch.column(name) for name in job.kept)
        place = place_in_batch(batch, job.place, job.column)
        yield from checked(checker, RawWords(words, None, (*halves, *kept), place))


def _dealt(held: list[pa.RecordBatch], piles: int) -> Iterator[pa.RecordBatch]:
    """Rows, pile by pile, in messages that are not too large."""
    batch = pa.concat_batches(held)
    chosen = (batch.column(1).to_numpy() & np.uint64(piles - 1)).astype(np.int32)
    order = np.argsort(chosen, kind="stable")
    batch, chosen = take_rows(batch, order), chosen[order]
    sizes = np.diff(batch.column(0).offsets.to_numpy()) * 4 + batch.nbytes // batch.num_rows  # rather too large
    cuts = np.flatnonzero(np.diff(chosen) | np.diff(np.cumsum(sizes) // _LARGEST)) + 1
    begins, ends = np.append(0, cuts), np.append(cuts, batch.num_rows)
    messages = [_message(batch.slice(b, e - b)) for b, e in zip(begins.tolist(), ends.tolist(), strict=True)]
    yield pa.RecordBatch.from_arrays([pa.array(chosen[begins]), pa.array(messages, pa.binary())], schema=DEALT)


def _message(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_batch(rows)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def drawing(job: Job) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The second half of the job: messages in, sorted by pile; private words out."""

    def draw(batches: Batches) -> Iterator[pa.RecordBatch]:
        require_same_version(job.version)
        symbols = SymbolTable(job.mechanism.value.world.symbols)
        for pile, rows in _piles(batches):
            for batch in _privatized(job, pile, rows):
                words = batch.column(0)
                if job.value_type is None:
                    written = join(words, symbols.names, job.separator)
                else:
                    written = pa.ListArray.from_arrays(words.offsets, symbols.decode(words.values, job.value_type))
                yield pa.RecordBatch.from_arrays([written, *batch.columns[3:]], names=[WORD, *job.kept])

    return draw


def _piles(batches: Batches) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Whole piles, one after the other."""
    held: list[pa.RecordBatch] = []
    current = -1
    for batch in batches:
        for pile, message in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            if pile != current and held:
                yield current, pa.concat_batches(held)
                held = []
            current = pile
            held.extend(pa.ipc.open_stream(message.as_buffer()))
    if held:
        yield current, pa.concat_batches(held)


def _privatized(job: Job, pile: int, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    high, low = rows.column(1).to_numpy(), rows.column(2).to_numpy()
    order = np.argsort(high, kind="stable")
    if np.any(high[order][1:] == high[order][:-1]):  # next to never: then the other half decides
        order = np.lexsort((low, high))
    high, low = high[order], low[order]
    if np.any((high[1:] == high[:-1]) & (low[1:] == low[:-1])):
        # Two rows with one place may be one row twice, so that somebody would pay twice.
        raise InvalidParameterError(
            "two rows have the same place. Read no file twice, make no row into several (join, explode) before words "
            "are privatized, and give every row a value of its own in the column that is named in `place=…`."
        )
    ordered = take_rows(rows, order)
    # Which rows are there, and what their words say, is part of the name. If a file was rewritten since, other words
    # must not meet bits that were used before: whoever saw both results could compare them.
    there = hashlib.sha256(high.tobytes() + low.tobytes()).digest()
    source = job.key.source("pile", job.piles, pile, there, _digest(ordered.column(0)))
    for batch in gathered([ordered]):
        private = job.mechanism.value.privatize_arrow(batch.column(0), source)
        yield pa.RecordBatch.from_arrays([private, *batch.columns[1:]], names=batch.schema.names)


def _digest(words: pa.ListArray) -> bytes:
    """What the words say, in 32 bytes. The key of the job goes over it before it is used: nobody can try guesses."""
    codes, offsets = flat_words(words)
    made = hashlib.sha256((offsets - offsets[0]).astype("<i8").tobytes())
    made.update(codes.tobytes())
    return made.digest()
