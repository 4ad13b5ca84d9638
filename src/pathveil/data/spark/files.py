"""From Parquet files to a folder of Parquet files. Spark shares out the work; tasks read and write the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

import pathveil
from pathveil.data.formats import RowWords
from pathveil.data.reading import CheckedWords, checker_for
from pathveil.data.spark.failures import plain_errors
from pathveil.data.spark.file_tasks import MOST_PILES, Checking, Drawing, Plan
from pathveil.data.spark.privatizing import checked_mechanism
from pathveil.data.spark.publishing import checked_destination, publish_folder
from pathveil.data.spark.row_groups import files_for_tasks, kept_columns, row_groups
from pathveil.data.spark.sending import Sent
from pathveil.data.workspace import private_workspace
from pathveil.data.writing import BeforeDrawing, CuratorSummary, file_guarantee
from pathveil.errors import DataFileError
from pathveil.randomness.derived import DerivingKey

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from pathveil.data.formats import Layout
    from pathveil.data.reading import OnBadRow
    from pathveil.data.sources import Format, Source
    from pathveil.randomness.source import RandomSource
    from pathveil.words.base import WordMechanism

T = TypeVar("T")

_BYTES_A_PILE = 1 << 25  # of words and kept columns as they are in memory
_BYTES_A_TASK = 1 << 27
_NO_WORD = "there is no word to release"
_TASKS_A_CORE = 4  # so that one slow task does not keep the others waiting for long


def check_files(
    session: SparkSession,
    source: Source,
    layout: Layout,
    mechanism: WordMechanism,
    *,
    keep: Sequence[str] = (),
    on_bad_row: OnBadRow = "fail",
    format: Format | None = None,
) -> CheckedWords:
    """Look at every row as `privatize_files` would, draw nothing, and say how many words there are and how long.

    What is wrong with the words is found here before a budget is charged for them.
    """
    context = session.sparkContext
    plan = _plan(context, source, layout, mechanism, keep, on_bad_row, format)
    lengths = Counter[int]()
    with plain_errors():
        for some in _run(context, Checking(Sent(plan, context), pathveil.__version__), plan.tasks):
            lengths.update(some)
    if not lengths:
        raise DataFileError(_NO_WORD, without_content=_NO_WORD)
    mechanism.prepare(lengths)  # a certificate that cannot be made says so here; one that can is kept
    return CheckedWords(lengths)


def privatize_files(
    session: SparkSession,
    source: Source,
    layout: Layout,
    mechanism: WordMechanism,
    output: str | Path,
    *,
    keep: Sequence[str] = (),
    keep_order: bool = False,
    on_bad_row: OnBadRow = "fail",
    overwrite: bool = False,
    format: Format | None = None,
    rng: RandomSource | None = None,
    before_drawing: BeforeDrawing | None = None,
) -> CuratorSummary:
    """What `data.privatize_file` does, in the tasks of a Spark session: Parquet files in, a folder of them out.

    The layout is a `ListColumn` or a `DelimitedColumn`. Every machine has to see the files and the folder of the output
    under these names. The output appears with its manifest when it is complete, or not at all. `before_drawing` is
    called before the job starts: the moment to charge a ledger and to seal the charge, since tasks write what they draw
    into files that can be read. If it raises, nothing is drawn.
    """
    context = session.sparkContext
    destination = checked_destination(output, overwrite)
    plan = _plan(context, source, layout, mechanism, keep, on_bad_row, format)
    key = DerivingKey(mechanism._source(rng))
    size, piles = sum(group.size for group in plan.groups), 1
    while piles < MOST_PILES and piles * _BYTES_A_PILE < size:
        piles *= 2
    with private_workspace(destination) as workspace, plain_errors():
        job = Drawing(Sent(plan, context), pathveil.__version__, key, piles, keep_order, workspace)
        job.make_folders()
        budget = None if before_drawing is None else before_drawing()
        drawn = _run(context, job.draw, plan.tasks)
        released = sum(task.words for task in drawn)
        if not released:
            raise DataFileError(_NO_WORD, without_content=_NO_WORD)
        _run(context, job.write, piles)
        guarantee = file_guarantee(mechanism, keep=keep, keep_order=keep_order, on_bad_row=on_bad_row)
        publish_folder(job.unfinished, destination, guarantee, mechanism.world, overwrite, budget)
    return CuratorSummary(
        guarantee=guarantee,
        words_released=released,
        symbols_released=sum(task.symbols for task in drawn),
        words_skipped=sum(task.skipped for task in drawn),
        skipped_examples=(),
        largest_words_per_user=None,
        words_over_limit=0,
    )


def _plan(
    context: SparkContext,
    source: Source,
    layout: Layout,
    mechanism: WordMechanism,
    keep: Sequence[str],
    on_bad_row: OnBadRow,
    format: Format | None,
) -> Plan:
    """All that can be wrong without looking at a row is an error here."""
    symbols = checker_for(checked_mechanism(mechanism), on_bad_row).symbols
    files = files_for_tasks(source, layout, format)
    assert isinstance(layout, RowWords)
    layout.require_writable(symbols)
    groups = row_groups(files, layout, keep)
    if not groups:
        raise DataFileError(f"{files[0].name}: there is no word to release")
    sizes = [group.size for group in groups]
    return Plan(
        mechanism=mechanism,
        layout=layout,
        groups=tuple(groups),
        shares=_shares(sizes, max(_TASKS_A_CORE * context.defaultParallelism, sum(sizes) // _BYTES_A_TASK)),
        keep=tuple(keep),
        kept_types=tuple(kept_columns(files[0], keep)),
        value_type=symbols.written_type(layout.value_type(files)),
        on_bad_row=on_bad_row,
    )


def _shares(sizes: Sequence[int], tasks: int) -> tuple[int, ...]:
    """Where to cut a row of things, so that there are about so many parts of about the same size."""
    ends = np.cumsum(np.maximum(sizes, 1))
    parts = (ends - 1) * min(tasks, len(sizes)) // ends[-1]
    return (0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(sizes))


def _run(context: SparkContext, work: Callable[[int], T], count: int) -> list[T]:
    """The work for 0, 1, ... in a task each."""
    return context.parallelize(range(count), count).map(work).collect()
