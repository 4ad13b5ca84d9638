"""Words in files: read them, and write a private word for each.

    read_words       batches of checked words, as codes of the public system
    check_words      is there anything wrong with the input?
    privatize_file   from a file to a private file and its manifest

Nothing is held in memory but a few batches; what must be sorted or shuffled overflows into a private folder beside
the output.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from pathveil.data.database import Database, csv_header
from pathveil.data.formats.layout import Extra, Layout, Style
from pathveil.data.reading.checking import Checker, OnBadRow
from pathveil.data.sources import DataFile, Format, Source, Watch, describe, find_files
from pathveil.data.writing.encrypted_file import EncryptedFile
from pathveil.data.writing.manifest import BeforeDrawing, file_guarantee, manifest_path, publish_with_manifest
from pathveil.data.writing.pipeline import prefetched, written_behind
from pathveil.data.writing.publishing import private_workspace, refuse_existing
from pathveil.data.writing.shuffle import shuffled
from pathveil.data.writing.table_writer import TableWriter
from pathveil.data.writing.user_limit import UserLimit
from pathveil.errors import DataFileError, InvalidParameterError
from pathveil.privacy.guarantee import Guarantee
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.system import System
from pathveil.words.base import Progress, WordMechanism

"""Called now and then with what is being done ("reading", "writing") and the number of words done so far."""

_SYMBOLS = 1 << 20  # symbols that a mechanism gets at a time: many words of each length, in little memory


@dataclass(frozen=True)
class CuratorSummary:
    """What happened, for the curator's eyes: all of it but `guarantee` depends on the data. Not for release."""

    guarantee: Guarantee
    words_released: int
    symbols_released: int
    words_skipped: int
    skipped_examples: tuple[str, ...]
    largest_words_per_user: int | None
    words_over_limit: int


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
        raise _no_word(files, checker)
    mechanism.prepare(lengths, progress)  # a certificate that cannot be made says so here; one that can is kept
    return CheckedWords(count, frozenset(lengths))


def privatize_file(
    source: Source,
    layout: Layout,
    mechanism: WordMechanism,
    output: str | Path,
    *,
    rng: RandomSource | None = None,
    keep: Sequence[str] = (),
    keep_order: bool = False,
    user: str | None = None,
    max_words_per_user: int | None = None,
    on_bad_row: OnBadRow = "fail",
    overwrite: bool = False,
    format: Format | None = None,
    progress: Progress | None = None,
    before_drawing: BeforeDrawing | None = None,
    before_publish: Callable[[str], None] | None = None,
) -> CuratorSummary:
    """One private word for each word of a source, in a file of the same shape and format, with a manifest beside it.

    The words come in random order, unless `keep_order`; cases are numbered afresh; columns are dropped, except
    those in `keep`, which are released as they are. With `user` and `max_words_per_user`, at most so many words of
    each user are released and the rest are dropped at random. Words that cannot be released (empty, unknown symbols,
    infeasible) end the work, or are left out with `on_bad_row="skip"`: then it can be seen in the release that they
    are not there.

    The output appears under its name when it is complete, or not at all. `before_drawing` is called when the options
    and the place of the output are checked and nothing is drawn yet: the moment to charge a ledger. What it returns
    stands in the manifest as the cost in the unit of a budget. `before_publish` is called with the SHA-256 digest of
    the output when that is complete and still encrypted, under a key that nobody else has: the moment to seal the
    charge. If one of them raises, nothing is published and nobody can read what was drawn.
    """
    destination = Path(output).absolute()
    refuse_existing(destination, overwrite)
    refuse_existing(manifest_path(destination), overwrite)
    if (user is None) != (max_words_per_user is None):
        raise InvalidParameterError("user and max_words_per_user belong together: give both or none")
    limit = None if max_words_per_user is None else UserLimit(max_words_per_user)
    draws = checked_source(rng)
    extra = Extra(user, tuple(keep))
    checker = checker_for(mechanism, on_bad_row)
    layout.require_writable(checker.symbols)
    report = progress or (lambda _stage, _words: None)
    with opened(source, layout, extra, format, destination) as (database, files, workspace):
        watch = Watch(files)
        target = _target(destination, files[0])
        # JSON declares no types: a system of numbers is written in numbers there.
        numbers = files[0].format == "jsonl" and checker.symbols.are_numbers
        kind = pa.int64() if numbers else layout.value_type(files)
        style = Style(checker.symbols, checker.symbols.written_type(kind), tuple(keep))
        checked = gathered(checker.checked(layout.read(database, files, extra, keep_order)))
        unfinished = EncryptedFile(workspace / "unfinished")
        delimiter = csv_header(files[0], [*layout.columns(), *keep])[0] if target.format == "csv" else ","
        json_columns = frozenset(keep) if target.format == "jsonl" else frozenset()
        budget = None if before_drawing is None else before_drawing()
        released = symbols = 0

        with (
            prefetched(checked, database.interrupt) as words,
            TableWriter(unfinished.for_writing(), target, delimiter, json_columns) as writer,
            written_behind(writer.write) as write,
        ):
            batches = _privatized(words, mechanism, draws, report)
            if limit is not None:
                batches = limit.limited(batches, database, draws, workspace)
            if not keep_order:
                batches = shuffled(batches, draws, workspace)
            for batch in batches:
                listed = batch.column(0)
                write(layout.render(listed, batch.columns[1:], released + 1, style))
                released += batch.num_rows
                symbols += len(listed.flatten())
                report("writing", released)
        if not released:
            raise _no_word(files, checker)
        watch.require_unchanged()
        guarantee = replace(
            file_guarantee(mechanism, keep=extra.keep, keep_order=keep_order, on_bad_row=on_bad_row),
            seeded=draws.is_seeded,
        )
        if before_publish is not None:
            before_publish(unfinished.digest)
        unfinished.decrypt()
        publish_with_manifest(
            unfinished.path,
            destination,
            guarantee,
            mechanism.world,
            max_words_per_user,
            budget=budget,
            overwrite=overwrite,
        )
    return CuratorSummary(
        guarantee=guarantee,
        words_released=released,
        symbols_released=symbols,
        words_skipped=checker.skipped.count,
        skipped_examples=tuple(checker.skipped.examples),
        largest_words_per_user=None if limit is None else limit.measured,
        words_over_limit=0 if limit is None else limit.dropped,
    )


@contextlib.contextmanager
def opened(
    source: Source, layout: Layout | None, extra: Extra, format: Format | None, output: Path | None = None
) -> Iterator[tuple[Database, list[DataFile], Path]]:
    """The database, the files and the workspace; all of it is put away afterwards."""
    with private_workspace(output) as workspace, contextlib.closing(Database(workspace)) as database:
        files = find_files(source, workspace, format or (layout.default_format if layout else None))
        if layout is not None:
            layout.check(files, extra)
        yield database, files, workspace


def checker_for(mechanism: WordMechanism, on_bad_row: OnBadRow) -> Checker:
    """What finds the words that this mechanism would refuse."""
    accepts_infeasible = mechanism.on_infeasible == "nearest"
    return Checker(mechanism.world, on_bad_row, accepts_infeasible, mechanism.accepted_lengths)


def _no_word(files: Sequence[DataFile], checker: Checker) -> DataFileError:
    skipped = checker.skipped
    why = f"; {skipped.count} were skipped, e.g. {skipped.examples[0]}" if skipped.count else ""
    none = f"{files[0].name}: there is no word to release"
    return DataFileError(none + why, without_content=none)


def _target(output: Path, source: DataFile) -> DataFile:
    """What to write: the format of the source, compressed if the name of the output says so."""
    target = describe(output, source.format)
    with contextlib.suppress(DataFileError):  # a name that says nothing is fine
        if (named := describe(output).format) != source.format:
            raise InvalidParameterError(
                f"{output.name} is the name of a {named} file, but the input is {source.format}: the output has the "
                "format of the input"
            )
    return target


def gathered(batches: Iterable[pa.RecordBatch]) -> Generator[pa.RecordBatch]:
    """Batches of about `_SYMBOLS` symbols each, cut at whole words.

    Where one ends follows from the lengths of the words, and not from the batches in which they came: a seed gives the
    same private words whatever the reader does.
    """
    held: list[pa.RecordBatch] = []
    current = symbols = 0
    for batch in batches:
        marks = batch.column(0).offsets.to_numpy().astype(np.int64)
        numbers = (marks[:-1] - marks[0] + symbols) // _SYMBOLS  # a word belongs where its first symbol does
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


def _privatized(
    batches: Iterable[pa.RecordBatch], mechanism: WordMechanism, source: RandomSource, report: Progress
) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in batches:
        private = mechanism.privatize_arrow(batch.column(0), source)
        done += batch.num_rows
        report("reading", done)
        yield pa.RecordBatch.from_arrays([private, *batch.columns[1:]], names=batch.schema.names)
