"""What the tasks of a job from files to files do: draw private words for row groups, then write them in random order.

Spark shares out the work and does it again where a task fails. It does not see a row: tasks read and write files.

1. The words of a row group are drawn with a keystream that belongs to it, from its beginning, in the order of the file.
   A second keystream deals the private words out to piles. How many piles there are follows from the size of the input.
2. Each pile is put into random order, with a keystream of its own, and becomes one file of the output.

Every row goes to each pile with the same probability, and every order of a pile is equally likely, so that every order
of the output is (see data/writing/shuffle.py). And since keystreams belong to row groups and piles, neither the
private words nor their order depend on which task does what, how many tasks there are, and how often one is tried.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from pathveil.data.formats import RowWords, Style
from pathveil.data.reading import Checker, OnBadRow, checker_for, count_lengths
from pathveil.data.sources import describe
from pathveil.data.spark.failures import checked, require_same_version
from pathveil.data.spark.row_groups import RowGroup
from pathveil.data.spark.sending import Sent
from pathveil.data.symbols import SymbolTable
from pathveil.data.writing import TableWriter, dealt, flush, gathered, in_order, random_order
from pathveil.errors import DataFileError
from pathveil.randomness.derived import DerivingKey
from pathveil.words.base import WordMechanism

MOST_PILES = 1 << 14  # of which 16 random bits choose one
_HELD = 1 << 26  # bytes of private words that a task holds before it deals them out


@dataclass(frozen=True)
class Plan:
    """What tasks have to know: none of it is random. Task i has the row groups from `shares[i]` to `shares[i + 1]`."""

    mechanism: WordMechanism
    layout: RowWords
    groups: tuple[RowGroup, ...]
    shares: tuple[int, ...]
    keep: tuple[str, ...]
    kept_types: tuple[pa.DataType, ...]
    value_type: pa.DataType
    on_bad_row: OnBadRow

    @property
    def tasks(self) -> int:
        """How many tasks there are."""
        return len(self.shares) - 1

    def share(self, task: int) -> range:
        """The numbers of the row groups of a task."""
        return range(self.shares[task], self.shares[task + 1])

    def checked(self, group: RowGroup, checker: Checker) -> Iterator[pa.RecordBatch]:
        """Words as codes, and what is kept."""
        for raw in group.read(self.layout, self.keep):
            yield from checked(checker, raw)

    @property
    def schema(self) -> pa.Schema:
        """What such batches look like."""
        codes = pa.from_numpy_dtype(SymbolTable(self.mechanism.world.symbols).code_type)
        types = [pa.list_(codes), *self.kept_types]
        return pa.schema([(f"{i}", kind) for i, kind in enumerate(types)])


@dataclass(frozen=True)
class Checking:
    """A job that looks at every word and draws nothing."""

    plan: Sent[Plan]
    version: str

    def __call__(self, task: int) -> Counter[int]:
        """How many words have each length."""
        require_same_version(self.version)
        plan = self.plan.value
        checker = checker_for(plan.mechanism, plan.on_bad_row)
        lengths = Counter[int]()
        for number in plan.share(task):
            for batch in plan.checked(plan.groups[number], checker):
                lengths.update(count_lengths(batch))
        return lengths


@dataclass(frozen=True)
class Drawn:
    """What a task has done: for the curator."""

    words: int
    symbols: int
    skipped: int


@dataclass(frozen=True)
class Drawing:
    """A job that draws. `workspace` is a folder that all machines see, and nobody but the owner."""

    plan: Sent[Plan]
    version: str
    key: DerivingKey
    piles: int
    keep_order: bool
    workspace: Path

    def draw(self, task: int) -> Drawn:
        """The first step: private words for row groups, dealt out to piles."""
        require_same_version(self.version)
        plan = self.plan.value
        checker = checker_for(plan.mechanism, plan.on_bad_row)
        words = symbols = 0
        with self._appearing(self._dealt_file(task)) as path, _Dealer(path, plan.schema, self.piles) as dealer:
            for number in plan.share(task):
                group = plan.groups[number]
                source, chances = self.key.source("words of", *group.name), self.key.source("piles of", *group.name)
                for batch in gathered(plan.checked(group, checker)):
                    private = plan.mechanism.privatize_arrow(batch.column(0), source)
                    rows = pa.RecordBatch.from_arrays([private, *batch.columns[1:]], schema=plan.schema)
                    if self.keep_order:
                        dealer.add(number * self.piles // len(plan.groups), rows)
                    else:
                        chosen = np.frombuffer(chances.bytes(2 * rows.num_rows), "<u2") & (self.piles - 1)
                        for pile, some in dealt(rows, chosen):
                            dealer.add(pile, some)
                    words += rows.num_rows
                    symbols += len(private.values)
        return Drawn(words, symbols, checker.skipped.count)

    def write(self, pile: int) -> None:
        """The second step: a pile in random order, as a file of the output."""
        require_same_version(self.version)
        plan = self.plan.value
        rows = self._gathered_pile(pile, plan.tasks, plan.schema)
        if not rows.num_rows:
            return
        if self.keep_order:
            order = np.arange(rows.num_rows)
        else:
            order = random_order(self.key.source("order of", self.piles, pile), rows.num_rows)
        style = Style(SymbolTable(plan.mechanism.world.symbols), plan.value_type, plan.keep)
        with self._appearing(self.unfinished / f"part-{pile:05}.parquet") as path:
            with TableWriter(pa.OSFile(str(path), "wb"), describe(path, "parquet")) as writer:
                for batch in in_order(rows, order):
                    writer.write(plan.layout.render(batch.column(0), batch.columns[1:], 1, style))
            flush(path)

    @property
    def unfinished(self) -> Path:
        """The folder that becomes the output."""
        return self.workspace / "unfinished"

    def make_folders(self) -> None:
        """Before the first task."""
        for name in ("attempts", "dealt", "unfinished"):
            (self.workspace / name).mkdir()

    def _dealt_file(self, task: int) -> Path:
        return self.workspace / "dealt" / f"{task}.arrow"

    def _gathered_pile(self, pile: int, tasks: int, schema: pa.Schema) -> pa.Table:
        """All rows of a pile, in the order of the input."""
        batches: list[pa.RecordBatch] = []
        for task in range(tasks):
            try:
                with pa.OSFile(str(self._dealt_file(task))) as file, pa.ipc.open_file(file) as found:
                    batches += (found.get_batch(i) for i in range(pile, found.num_record_batches, self.piles))
            except FileNotFoundError:
                raise DataFileError(
                    f"a task does not see what another one has written in {self.workspace.parent}. All machines have "
                    "to see the folder of the output under the same name."
                ) from None
        return pa.Table.from_batches(batches, schema)

    @contextlib.contextmanager
    def _appearing(self, path: Path) -> Iterator[Path]:
        """A name to write to. What is written there gets its own name in one step.

        So nobody finds half a file of a task that was killed. If two attempts get this far, their files are the same.
        """
        attempt = self.workspace / "attempts" / uuid.uuid4().hex
        try:
            yield attempt
            os.replace(attempt, path)
        finally:
            attempt.unlink(missing_ok=True)


class _Dealer:
    """A file of private words on their way to piles: a batch for each pile, pile by pile, and again from the first."""

    def __init__(self, path: Path, schema: pa.Schema, piles: int) -> None:
        self._held: list[list[pa.RecordBatch]] = [[] for _ in range(piles)]
        self._size = 0
        self._empty = pa.RecordBatch.from_pylist([], schema)
        self._file = pa.ipc.new_file(str(path), schema)

    def add(self, pile: int, rows: pa.RecordBatch) -> None:
        """Rows that go to a pile, after those that are there."""
        self._held[pile].append(rows)
        self._size += rows.nbytes
        if self._size > _HELD:
            self._write()

    def _write(self) -> None:
        for held in self._held:
            self._file.write_batch(pa.concat_batches(held) if held else self._empty)
            held.clear()
        self._size = 0

    def __enter__(self) -> _Dealer:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._size:
            self._write()
        self._file.close()
