"""Private words from Spark into a folder that appears when it is complete, with a manifest beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pathveil.data.spark.columns import checked_dataframe, quoted
from pathveil.data.spark.failures import plain_errors
from pathveil.data.spark.privatizing import privatize
from pathveil.data.workspace import private_workspace
from pathveil.data.writing import (
    BeforeDrawing,
    Budget,
    CuratorSummary,
    earlier_kept,
    file_guarantee,
    flush,
    manifest_path,
    refuse_existing,
    write_manifest,
)
from pathveil.errors import DataFileError, FileItselfError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from pathveil.data.reading import OnBadRow
    from pathveil.privacy.guarantee import Guarantee
    from pathveil.randomness.source import RandomSource
    from pathveil.systems.system import System
    from pathveil.words.base import WordMechanism


def privatize_to(
    dataframe: DataFrame,
    mechanism: WordMechanism,
    output: str | Path,
    column: str,
    *,
    separator: str | None = None,
    place: str | None = None,
    keep: Sequence[str] = (),
    keep_order: bool = False,
    on_bad_row: OnBadRow = "fail",
    overwrite: bool = False,
    rng: RandomSource | None = None,
    before_drawing: BeforeDrawing | None = None,
) -> CuratorSummary:
    """What `privatize` gives, as Parquet files in a folder that all machines see under this name.

    The folder appears under its name, with its manifest, when it is complete, or not at all. `before_drawing` is called
    before the job starts: the moment to charge a ledger and to seal the charge, since tasks write what they draw into
    files that can be read. If it raises, nothing is drawn.
    """
    checked_dataframe(dataframe)
    destination = checked_destination(output, overwrite)
    from pyspark.sql import Observation
    from pyspark.sql import functions as sql

    with private_workspace(destination) as workspace, plain_errors():
        unfinished = workspace / "unfinished"
        private = privatize(
            dataframe,
            mechanism,
            column,
            separator=separator,
            place=place,
            keep=keep,
            keep_order=keep_order,
            on_bad_row=on_bad_row,
            rng=rng,
        )
        seen = Observation()
        length = _length(private, column, separator)
        counted = private.observe(seen, sql.count(sql.lit(1)).alias("words"), sql.sum(length).alias("symbols"))
        budget = None if before_drawing is None else before_drawing()
        counted.write.parquet(f"file://{unfinished}")
        released = int(seen.get["words"])
        if not released:
            raise DataFileError("the DataFrame has no word to release")
        skipped = dataframe.count() - released if on_bad_row == "skip" else 0
        guarantee = file_guarantee(mechanism, keep=keep, keep_order=keep_order, on_bad_row=on_bad_row)
        for file in unfinished.iterdir():
            flush(file)
        publish_folder(unfinished, destination, guarantee, mechanism.world, overwrite, budget)
    return CuratorSummary(
        guarantee=guarantee,
        words_released=released,
        symbols_released=int(seen.get["symbols"]),
        words_skipped=skipped,
        skipped_examples=(),
        largest_words_per_user=None,
        words_over_limit=0,
    )


def checked_destination(output: str | Path, overwrite: bool) -> Path:
    """Where the folder will be; an error if it, or its manifest, is there already and may not be replaced."""
    destination = Path(output).absolute()
    refuse_existing_folder(destination, overwrite)
    refuse_existing(manifest_path(destination), overwrite)
    return destination


def refuse_existing_folder(output: Path, overwrite: bool) -> None:
    """An error if something has the name of the output already and may not be replaced."""
    if not overwrite and os.path.lexists(output):
        raise FileItselfError(
            f"{output} exists already. Choose another name, or say that it may be replaced (`overwrite=True`)."
        )


def publish_folder(
    finished: Path, output: Path, guarantee: Guarantee, world: System, overwrite: bool, budget: Budget | None = None
) -> None:
    """Give a complete folder in a private workspace its final name, and write its manifest."""
    flush(finished)
    workspace = finished.parent

    def is_out() -> bool:
        return not finished.exists()

    # An old output must never lie beside a new promise, not even briefly; if this fails, it gets its name back.
    with (
        earlier_kept(output, workspace, overwrite, unless=is_out),
        earlier_kept(manifest_path(output), workspace, overwrite, unless=is_out),
    ):
        # The manifest first: better a promise without words than words without a promise.
        made = write_manifest(workspace, output, guarantee, world, budget=budget, overwrite=overwrite)
        try:
            os.rename(finished, output)
        except BaseException:
            if not is_out():
                made.unlink(missing_ok=True)
            raise
    flush(output.parent)


def _length(private: DataFrame, column: str, separator: str | None) -> Column:
    """How many symbols a private word has."""
    from pyspark.sql import functions as sql

    words = sql.col(quoted(column))
    if dict(private.dtypes)[column] != "string":
        return sql.size(words)
    if separator == "":
        return sql.length(words)
    return sql.size(sql.split(words, "\\Q" + (" " if separator is None else separator) + "\\E", -1))
