"""Words in files, read and checked.

    read_words       batches of checked words, as codes of the public system
    checked_words    the same for whoever counts them: beside the files, and with rows that stand for several words
    check_words      is there anything wrong with the input?

Nothing is held in memory but a few batches; what must be sorted overflows into a private folder.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pathveil.data.formats import Extra, Layout
from pathveil.data.reading.checking import Checker, OnBadRow, checker_for, no_word_to_release
from pathveil.data.reading.moments import Beside
from pathveil.data.reading.opening import opened
from pathveil.data.reading.user_limit import UserLimit, limit_for
from pathveil.data.sources import DataFile, Format, Source, Watch
from pathveil.errors import InvalidParameterError
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.system import System
from pathveil.words.base import Progress, WordMechanism


def read_words(
    source: Source,
    layout: Layout,
    world: System,
    *,
    keep: Sequence[str] = (),
    user: str | None = None,
    max_words_per_user: int | None = None,
    on_bad_row: OnBadRow = "fail",
    format: Format | None = None,
    rng: RandomSource | None = None,
) -> Iterator[pa.RecordBatch]:
    """The words of a source as Arrow batches: `word` (lists of codes of `world`), then the columns in `keep`.

    Words are checked against the public system. With `user` and `max_words_per_user`, at most so many words of each
    user come, chosen at random. Sensitive data as they are: nothing here is private.
    """
    checker, limit = Checker(world, on_bad_row), limit_for(user, max_words_per_user)
    extra = Extra(user, tuple(keep))
    with checked_words(source, layout, checker, extra, limit, keep_order=True, format=format, rng=rng) as (batches, _):
        for batch in batches:
            yield batch.rename_columns(["word", *keep])


@contextlib.contextmanager
def checked_words(
    source: Source,
    layout: Layout,
    checker: Checker,
    extra: Extra,
    limit: UserLimit | None = None,
    *,
    keep_order: bool = False,
    beside: Beside | None = None,
    format: Format | None = None,
    rng: RandomSource | None = None,
) -> Iterator[tuple[Iterator[pa.RecordBatch], list[DataFile]]]:
    """All words of a source, checked, and the files that they are in.

    The batches have the columns of `Checker.checked`. Where there is a `limit` for the users in `extra`, all words are
    read and checked first; then those that stay come, without the column of users. It is drawn once: what reads the
    batches sees one and the same choice. Times and groups in `extra` become numbers as `beside` says. Files that change
    in the meantime are an error.
    """
    layout.require_symbols(checker.symbols)
    if limit is not None and extra.count is not None:
        raise InvalidParameterError(
            "`count` does not go with `user`: which of a person's words stay is drawn word by word. Write one row for "
            "each word."
        )
    with opened(source, layout, extra, format) as (database, files, workspace):
        watch = Watch(files)
        raw = layout.read(database, files, extra, keep_order)
        if beside is not None:
            raw = beside.read(raw, are_json=files[0].format == "jsonl")
        batches = checker.checked(raw)
        if limit is not None:
            batches = limit.limited(batches, database, checked_source(rng), workspace)
        yield batches, files
        watch.require_unchanged()


@dataclass(frozen=True)
class CheckedWords:
    """What a look at all words has found, before anything is charged or drawn. For the curator."""

    lengths: Mapping[int, int]
    """How many words have each length."""

    @property
    def count(self) -> int:
        """How many words there are."""
        return sum(self.lengths.values())


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
    count, lengths = 0, Counter[int]()
    with opened(source, layout, extra, format) as (database, files, _):
        for batch in checker.checked(layout.read(database, files, extra, keep_order=False)):
            count += batch.num_rows
            lengths.update(count_lengths(batch))
            if progress is not None:
                progress("checking", count)
    if not count:
        raise no_word_to_release(files, checker)
    mechanism.prepare(lengths, progress)  # a certificate that cannot be made says so here; one that can is kept
    return CheckedWords(lengths)


def count_lengths(batch: pa.RecordBatch) -> dict[int, int]:
    """{length: how many words}, for a batch of checked words."""
    lengths, counts = np.unique(np.diff(batch.column(0).offsets.to_numpy()), return_counts=True)
    return dict(zip(lengths.tolist(), counts.tolist(), strict=True))
