"""What does the work of `pathveil privatize`: this process, or Apache Spark."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pathveil.cli.progress import ProgressBar
    from pathveil.data.checking import OnBadRow
    from pathveil.data.formats.layout import Layout
    from pathveil.data.sources import Format
    from pathveil.data.words import CuratorSummary
    from pathveil.words.mechanism import WordMechanism

EngineName = Literal["embedded", "spark"]


class Engine(Protocol):
    """Checks words before they are paid for, and privatizes them after."""

    def refuse_existing(self, output: Path, overwrite: bool) -> None: ...

    def check(self, mechanism: WordMechanism, keep: Sequence[str], on_bad_row: OnBadRow) -> int: ...

    def privatize(
        self,
        mechanism: WordMechanism,
        output: Path,
        *,
        keep: Sequence[str],
        keep_order: bool,
        max_words_per_user: int | None,
        on_bad_row: OnBadRow,
        overwrite: bool,
        before_drawing: Callable[[], None],
        before_publish: Callable[[Path], None],
    ) -> CuratorSummary: ...


def engine_for(
    name: EngineName,
    master: str | None,
    files: Sequence[str],
    layout: Layout,
    format: Format | None,
    user: str | None,
    bar: ProgressBar,
) -> Engine:
    """The engine with this name; wrong use where it cannot do what is asked."""
    if name == "embedded":
        if master is not None:
            raise InvalidParameterError("--master is for --engine spark")
        return _Embedded(files, layout, format, user, bar)
    if user is not None:
        raise InvalidParameterError(
            "--user and --max-words-per-user need the embedded engine: leave out --engine spark"
        )
    return _Spark(master or "local[*]", files, layout, format)


class _Embedded:
    def __init__(
        self, files: Sequence[str], layout: Layout, format: Format | None, user: str | None, bar: ProgressBar
    ) -> None:
        self._files, self._layout = files, layout
        self._common: dict[str, Any] = {"format": format, "user": user, "progress": bar}

    def refuse_existing(self, output: Path, overwrite: bool) -> None:
        from pathveil.data.output import refuse_existing

        refuse_existing(output, overwrite)

    def check(self, mechanism: WordMechanism, keep: Sequence[str], on_bad_row: OnBadRow) -> int:
        from pathveil.data.words import check_words

        return check_words(self._files, self._layout, mechanism, keep=keep, on_bad_row=on_bad_row, **self._common)

    def privatize(self, mechanism: WordMechanism, output: Path, **others: Any) -> CuratorSummary:
        from pathveil.data.words import privatize_file

        return privatize_file(self._files, self._layout, mechanism, output, **others, **self._common)


class _Spark:
    def __init__(self, master: str, files: Sequence[str], layout: Layout, format: Format | None) -> None:
        from pathveil.data.formats.delimited_column import DelimitedColumn
        from pathveil.data.formats.list_column import ListColumn
        from pathveil.data.sources import find_files

        found = find_files(files, Path(), format)
        if found[0].format != "parquet" or not isinstance(layout, (ListColumn, DelimitedColumn)):
            raise InvalidParameterError(
                f"{found[0].name}: on Spark, words stand in a column of Parquet files, one a row (--column). Convert "
                "the input, or leave out --engine spark."
            )
        self._column = layout.column
        self._separator = layout.separator if isinstance(layout, DelimitedColumn) else None
        self._files = [_as_spark_reads_it(file.path) for file in found]
        self._master = master
        self._read: DataFrame | None = None

    def refuse_existing(self, output: Path, overwrite: bool) -> None:
        from pathveil.data.spark.publishing import refuse_existing_folder

        refuse_existing_folder(output, overwrite)

    def check(self, mechanism: WordMechanism, keep: Sequence[str], on_bad_row: OnBadRow) -> int:
        from pathveil.data.spark import check_words

        return check_words(
            self._rows(), mechanism, self._column, separator=self._separator, keep=keep, on_bad_row=on_bad_row
        )

    def privatize(
        self, mechanism: WordMechanism, output: Path, *, max_words_per_user: int | None, **others: Any
    ) -> CuratorSummary:
        from pathveil.data.spark import privatize_to

        if max_words_per_user is not None:
            raise AssertionError("refused before")
        return privatize_to(self._rows(), mechanism, output, self._column, separator=self._separator, **others)

    def _rows(self) -> DataFrame:
        if self._read is None:
            self._read = _session(self._master).read.parquet(*self._files)
        return self._read


def _as_spark_reads_it(path: Path) -> str:
    """Spark takes names of files for patterns."""
    return "file://" + re.sub(r"([\\*?\[\]{}])", r"\\\1", str(path))


def _session(master: str) -> SparkSession:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession
    except ImportError:
        raise InvalidParameterError("Spark is not installed: pip install 'pathveil[spark]'") from None
    builder = SparkSession.builder.master(master).appName("pathveil privatize")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # nobody else takes part
    try:
        session = builder.getOrCreate()
    except PySparkRuntimeError as problem:
        raise InvalidParameterError(
            f"Spark does not start. It needs Java 17 (Debian: openjdk-17-jre-headless). It says: {problem}"
        ) from None
    session.sparkContext.setLogLevel("OFF")  # errors come as PathVeil's own, and without what words say
    return session
