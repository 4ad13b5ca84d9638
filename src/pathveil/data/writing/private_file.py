"""From a file of words to a private file and its manifest.

Nothing is held in memory but a few batches; what must be sorted or shuffled overflows into a private folder beside
the output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pathveil.data.encrypted_file import EncryptedFile
from pathveil.data.formats import Extra, Layout, LongTable
from pathveil.data.reading import OnBadRow, checker_for, limit_for, no_word_to_release, opened
from pathveil.data.sources import Format, Source, Watch
from pathveil.data.writing.drawing import gathered, privatized
from pathveil.data.writing.form import form_of
from pathveil.data.writing.manifest import BeforeDrawing, file_guarantee, manifest_path, publish_with_manifest
from pathveil.data.writing.pipeline import prefetched
from pathveil.data.writing.publishing import refuse_existing
from pathveil.data.writing.shuffle import shuffled
from pathveil.errors import InvalidParameterError
from pathveil.privacy.guarantee import Guarantee
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.words.base import Progress, WordMechanism


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
    words_tied: int = 0
    """Words with symbols that stand in the order of the file, because nothing else says which comes first."""


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
    output_layout: Layout | None = None,
    progress: Progress | None = None,
    before_drawing: BeforeDrawing | None = None,
    before_publish: Callable[[str], None] | None = None,
) -> CuratorSummary:
    """One private word for each word of a source, in a file, with a manifest beside it.

    The ending of the output says in which format it is written. The words stand in it as they did in the input as far
    as that format can (docs/files.md has the table), or in another layout, `output_layout`.

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
    destination = _free_destination(output, overwrite)
    limit = limit_for(user, max_words_per_user)
    draws = checked_source(rng)
    extra = Extra(user, tuple(keep))
    checker = checker_for(mechanism, on_bad_row)
    layout.require_symbols(checker.symbols)
    _require_as_long(mechanism, layout, extra.keep)
    report = progress or (lambda _stage, _words: None)
    with opened(source, layout, extra, format, destination) as (database, files, workspace):
        watch = Watch(files)
        form = form_of(files, layout, destination, checker.symbols, extra.keep, output_layout)
        checked = gathered(checker.checked(layout.read(database, files, extra, keep_order)))
        unfinished = EncryptedFile(workspace / "unfinished")
        budget = None if before_drawing is None else before_drawing()

        with prefetched(checked, database.interrupt) as words:
            private = privatized(words, mechanism, draws, report)
            if limit is not None:
                private = limit.limited(private, database, draws, workspace)
            if not keep_order:
                private = shuffled(private, draws, workspace)
            released, symbols = form.write(private, unfinished.for_writing(), report)
        if not released:
            raise no_word_to_release(files, checker)
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
        words_tied=checker.words_tied,
    )


def _free_destination(output: str | Path, overwrite: bool) -> Path:
    """Where the output will be; an error if it, or its manifest, is there already and may not be replaced."""
    destination = Path(output).absolute()
    refuse_existing(destination, overwrite)
    refuse_existing(manifest_path(destination), overwrite)
    return destination


def _require_as_long(mechanism: WordMechanism, layout: Layout, keep: tuple[str, ...]) -> None:
    """Kept columns of a long table have a value for each symbol, so a private word must have as many symbols."""
    if keep and isinstance(layout, LongTable) and mechanism.accepted_lengths is not None:
        raise InvalidParameterError(
            f"`keep`: {keep[0]!r} has a value for each symbol of a long table, and a private word may not have as many "
            "symbols as the sensitive one under edit distance. Leave it out."
        )
