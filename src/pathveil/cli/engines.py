"""What does the work of `pathveil privatize`: this process, or Apache Spark."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pathveil.cli.progress import ProgressBar
    from pathveil.data.checking import OnBadRow
    from pathveil.data.formats.layout import Layout
    from pathveil.data.manifest import BeforeDrawing, Budget
    from pathveil.data.sources import Format
    from pathveil.data.words import CheckedWords, CuratorSummary
    from pathveil.words.base import WordMechanism

EngineName = Literal["embedded", "spark"]


class Engine(Protocol):
    """Checks words before they are paid for, and privatizes them after."""

    def refuse_existing(self, output: Path, overwrite: bool) -> None: ...

    def check(self, mechanism: WordMechanism, keep: Sequence[str], on_bad_row: OnBadRow) -> CheckedWords: ...

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
        before_drawing: BeforeDrawing,
        before_publish: Callable[[str], None],
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

    def check(self, mechanism: WordMechanism, keep: Sequence[str], on_bad_row: OnBadRow) -> CheckedWords:
        from pathveil.data.words import check_words

        return check_words(self._files, self._layout, mechanism, keep=keep, on_bad_row=on_bad_row, **self._common)

    def privatize(self, mechanism: WordMechanism, output: Path, **others: Any) -> CuratorSummary:
        from pathveil.data.words import privatize_file

        return privatize_file(self._files, self._layout, mechanism, output, **others, **self._common)


class _Spark:
    def __init__(self, master: str, files: Sequence[str], layout: Layout, format: Format | None) -> None:
        from pathveil.data.spark.row_groups import files_for_tasks

        files_for_tasks(files, layout, format)  # wrong use is found before Spark starts
        self._master, self._files, self._layout, self._format = master, files, layout, format

    def refuse_existing(self, output: Path, overwrite: bool) -> None:
        from pathveil.data.spark.publishing import refuse_existing_folder

        refuse_existing_folder(output, overwrite)

    def check(self, mechanism: WordMechanism, keep: Sequence[str], on_bad_row: OnBadRow) -> CheckedWords:
        from pathveil.data.spark import check_files

        session = _session(self._master)
        return check_files(
            session, self._files, self._layout, mechanism, keep=keep, on_bad_row=on_bad_row, format=self._format
        )

    def privatize(
        self,
        mechanism: WordMechanism,
        output: Path,
        *,
        max_words_per_user: int | None,
        before_drawing: BeforeDrawing,
        before_publish: Callable[[str], None],
        **others: Any,
    ) -> CuratorSummary:
        from pathveil.data.spark import privatize_files

        if max_words_per_user is not None:
            raise AssertionError("refused before")

        def charge_and_seal() -> Budget | None:
            budget = before_drawing()
            before_publish("")  # tasks write what they draw into files that can be read: there is no digest yet
            return budget

        session = _session(self._master)
        return privatize_files(
            session,
            self._files,
            self._layout,
            mechanism,
            output,
            format=self._format,
            before_drawing=charge_and_seal,
            **others,
        )


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
