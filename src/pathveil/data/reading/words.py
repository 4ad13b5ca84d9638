"""Words in files, read and checked.

    read_words       batches of checked words, as codes of the public system
    check_words      is there anything wrong with the input?

Nothing is held in memory but a few batches; what must be sorted overflows into a private folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pathveil.data.formats import Extra, Layout
from pathveil.data.reading.checking import Checker, OnBadRow, checker_for, no_word_to_release
from pathveil.data.reading.opening import opened
from pathveil.data.sources import Format, Source
from pathveil.systems.system import System
from pathveil.words.base import Progress, WordMechanism


def read_words(
    source: Source,
    layout: Layout,
    world: System,
    *,
    keep: Sequence[str] = (),
    on_bad_row: OnBadRow = "fail",
    format: Format | None = None,
) -> Iterator[pa.RecordBatch]:
    """The words of a source as Arrow batches: `word` (lists of codes of `world`), then the columns in `keep`.

    Words are checked against the public system. Sensitive data as they are: nothing here is private.
    """
    with opened(source, layout, Extra(None, tuple(keep)), format) as (database, files, _):
        checker = Checker(world, on_bad_row)
        layout.require_symbols(checker.symbols)
        for batch in checker.checked(layout.read(database, files, Extra(None, tuple(keep)), keep_order=True)):
            yield batch.rename_columns(["word", *keep])


@dataclass(frozen=True)
class CheckedWords:
    """What a look at all words has found, before anything is charged or drawn. For the curator."""

    count: int
    lengths: frozenset[int]


def check_words(
    source: Source,
    layout: Layout,
    mechanism: WordMechanism,
    *,
    keep: Sequence[str] = (),
    user: str | None = None,
    on_bad_row: OnBadRow = "fail",
    format: Format | None = None,
    progress: Progress | None = None,
) -> CheckedWords:
    """Read everything as `privatize_file` would, draw nothing, and say how many words there are and how long they are.

    What is wrong with the input is found here before a budget is charged for it.
    """
    extra = Extra(user, tuple(keep))
    checker = checker_for(mechanism, on_bad_row)
    layout.require_symbols(checker.symbols)
    layout.require_writable(checker.symbols)
    count = 0
    lengths: set[int] = set()
    with opened(source, layout, extra, format) as (database, files, _):
        for batch in checker.checked(layout.read(database, files, extra, keep_order=False)):
            count += batch.num_rows
            lengths.update(np.unique(np.diff(batch.column(0).offsets.to_numpy())).tolist())
            if progress is not None:
                progress("checking", count)
    if not count:
        raise no_word_to_release(files, checker)
    mechanism.prepare(lengths, progress)  # a certificate that cannot be made says so here; one that can is kept
    return CheckedWords(count, frozenset(lengths))
