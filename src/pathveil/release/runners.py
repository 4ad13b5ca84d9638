"""What does the work of `pathveil privatize` and `pathveil model`: this process, or Apache Spark."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pathveil.data.formats import Layout
    from pathveil.data.reading import CheckedWords
    from pathveil.data.sources import Format, Watch
    from pathveil.data.writing import BeforeDrawing, Budget, CuratorSummary
    from pathveil.release.words import WordChoices
    from pathveil.words.base import Progress, WordMechanism

RunnerName = Literal["embedded", "spark"]


class Runner(Protocol):
    """What runs the work (`--engine`): it checks words before they are paid for, and privatizes them after."""

    def refuse_existing(self, output: Path, overwrite: bool) -> None:
        """An error where something has the name of the output already and may not be replaced."""

    def check(self, mechanism: WordMechanism, choices: WordChoices) -> CheckedWords:
        """Look at all words, draw nothing."""

    def require_unchanged(self) -> None:
        """An error where a file of the input is no longer what it was when the runner was made."""

    def privatize(
        self,
        mechanism: WordMechanism,
        output: Path,
        choices: WordChoices,
        *,
        before_drawing: BeforeDrawing,
        seal: Callable[[str], None],
    ) -> CuratorSummary:
        """Draw, and publish; `seal` is called with the digest of the output before anybody can read it."""

    def digest(self, output: Path) -> str:
        """The digest of an output that is out, where it was not known when its charge was sealed."""


def runner_for(
    name: RunnerName,
    master: str | None,
    files: Sequence[str],
    layout: Layout,
    format: Format | None = None,
    progress: Progress | None = None,
) -> Runner:
    """The runner with this name; wrong use where it cannot do what is asked."""
    if name == "embedded":
        return _Embedded(files, layout, format, progress)
    return _Spark(master or "local[*]", files, layout, format)


@contextmanager
def spark_frame(master: str | None, files: Sequence[str], layout: Layout, format: Format | None) -> Iterator[DataFrame]:
    """The rows of Parquet files as a DataFrame of Spark. Files that change in the meantime are an error."""
    from pathveil.data.sources import Watch
    from pathveil.data.spark import files_for_tasks

    found = files_for_tasks(files, layout, format)  # wrong use is found before Spark starts
    watch = Watch(found)
    places = [re.sub(r"([\\*?\[\]{}])", r"\\\1", str(file.path)) for file in found]  # to Spark, names are patterns
    yield _session(master or "local[*]").read.parquet(*places)
    watch.require_unchanged()


def _watch(files: Sequence[str], layout: Layout, format: Format | None) -> Watch:
    from pathveil.data.sources import Watch, find_files

    return Watch(find_files(files, Path(), format or layout.default_format))


class _Embedded:
    def __init__(
        self,
        files: Sequence[str],
        layout: Layout,
        format: Format | None,
        progress: Progress | None,
    ) -> None:
        self._files, self._layout = files, layout
        self._common: dict[str, Any] = {"format": format, "progress": progress}
        self._watch = _watch(files, layout, format)

    def refuse_existing(self, output: Path, overwrite: bool) -> None:
        from pathveil.data.writing import refuse_existing

        refuse_existing(output, overwrite)

    def check(self, mechanism: WordMechanism, choices: WordChoices) -> CheckedWords:
        from pathveil.data.reading import check_words

        asked: dict[str, Any] = {"keep": choices.keep, "user": choices.user, "on_bad_row": choices.on_bad_row}
        return check_words(self._files, self._layout, mechanism, **asked, **self._common)

    def require_unchanged(self) -> None:
        self._watch.require_unchanged()

    def privatize(
        self,
        mechanism: WordMechanism,
        output: Path,
        choices: WordChoices,
        *,
        before_drawing: BeforeDrawing,
        seal: Callable[[str], None],
    ) -> CuratorSummary:
        from pathveil.data.writing import privatize_file

        return privatize_file(
            self._files,
            self._layout,
            mechanism,
            output,
            **_arguments(choices),
            before_drawing=before_drawing,
            before_publish=seal,
            **self._common,
        )

    def digest(self, output: Path) -> str:  # noqa: ARG002 - named when the charge was sealed
        return ""


class _Spark:
    def __init__(self, master: str, files: Sequence[str], layout: Layout, format: Format | None) -> None:
        from pathveil.data.spark import files_for_tasks

        files_for_tasks(files, layout, format)  # wrong use is found before Spark starts
        self._master, self._files, self._layout, self._format = master, files, layout, format
        self._watch = _watch(files, layout, format)

    def refuse_existing(self, output: Path, overwrite: bool) -> None:
        from pathveil.data.spark import refuse_existing_folder

        refuse_existing_folder(output, overwrite)

    def check(self, mechanism: WordMechanism, choices: WordChoices) -> CheckedWords:
        from pathveil.data.spark import check_files

        asked: dict[str, Any] = {"keep": choices.keep, "on_bad_row": choices.on_bad_row, "format": self._format}
        return check_files(_session(self._master), self._files, self._layout, mechanism, **asked)

    def require_unchanged(self) -> None:
        self._watch.require_unchanged()

    def privatize(
        self,
        mechanism: WordMechanism,
        output: Path,
        choices: WordChoices,
        *,
        before_drawing: BeforeDrawing,
        seal: Callable[[str], None],
    ) -> CuratorSummary:
        from pathveil.data.spark import privatize_files

        if choices.user is not None or choices.max_words_per_user is not None:
            raise AssertionError("refused before")

        def charge_and_seal() -> Budget | None:
            budget = before_drawing()
            seal("")  # tasks write what they draw into files that can be read: there is no digest yet
            return budget

        arguments = _arguments(choices)
        del arguments["user"], arguments["max_words_per_user"]
        return privatize_files(
            _session(self._master),
            self._files,
            self._layout,
            mechanism,
            output,
            format=self._format,
            before_drawing=charge_and_seal,
            **arguments,
        )

    def digest(self, output: Path) -> str:
        """SHA-256 of the names and digests of the folder's data files."""
        whole = hashlib.sha256()
        for path in sorted(output.glob("part-*")):
            with open(path, "rb") as file:
                whole.update(f"{path.name} sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
        return "sha256:" + whole.hexdigest()


def _arguments(choices: WordChoices) -> dict[str, Any]:
    """The choices by their names, as the functions of `data` take them."""
    return {field.name: getattr(choices, field.name) for field in fields(choices)}


def _session(master: str) -> SparkSession:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        from pyspark.errors import PySparkRuntimeError
        from pyspark.sql import SparkSession
    except ImportError:
        raise InvalidParameterError("Spark is not installed: pip install 'pathveil[spark]'") from None
    builder = SparkSession.builder.master(master).appName("pathveil")
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
