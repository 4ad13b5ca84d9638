"""Errors on their way from an executor to the user.

An error in a task ends up in Spark's logs, event log and web pages, which more people read than the curator. So it
tells the place of a bad row and what is wrong with it, but not what the word says.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

import pathveil
from pathveil import errors
from pathveil.data.formats import RawWords
from pathveil.data.reading import SKIP_BAD_ROWS, Checker
from pathveil.errors import DataFileError, PathVeilError

_RAISED = re.compile(r"^(?:\S*: )?pathveil\.errors\.(\w+): (.*?)(?: SQLSTATE: \w+)?\s*$", re.MULTILINE)
_OF_A_BAD_ROW = f". Correct the data, or {SKIP_BAD_ROWS}."  # such messages quote nothing: see `checked`
_NOT_THERE = re.compile(r"ModuleNotFoundError: No module named '(pathveil|pyarrow|numpy|numba|cryptography)[.'\w]*")


def checked(checker: Checker, raw: RawWords) -> Iterator[pa.RecordBatch]:
    """What the checker lets through. An error says where a bad row is, and nothing of what the word says."""
    try:
        yield from checker.checked([raw])
    except PathVeilError as problem:
        if problem.without_content is None:
            raise
        raise type(problem)(problem.without_content) from None


def require_same_version(version: str) -> None:
    """An error on an executor whose PathVeil is another one: it might draw differently from the same bits."""
    if pathveil.__version__ != version:
        raise errors.InvalidParameterError(
            f"an executor has PathVeil {pathveil.__version__}, the driver {version}. Install the same everywhere."
        )


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """Inside, a Spark job that fails because of PathVeil raises PathVeil's own error, without Java's traceback.

    ```
    with spark.plain_errors():
        private.write.parquet("private")
    ```
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JJavaError) as failure:
        problem = _plain(_whole_text(failure))
        if problem is None:
            raise
        raise problem from None


def _plain(text: str) -> PathVeilError | None:
    for name, message in reversed(_RAISED.findall(text)):
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, PathVeilError):
            return kind(message, without_content=message if message.endswith(_OF_A_BAD_ROW) else None)
    if missing := _NOT_THERE.search(text):
        return DataFileError(
            f"an executor's Python has no {missing.group(1)}: install 'pathveil[spark]' for it, or set PYSPARK_PYTHON "
            "to a Python that has it, before the session is made"
        )
    return None


def _whole_text(failure: Any) -> str:
    """All messages on the way down to the cause, in Python's and in Java's chain."""
    texts = [str(failure)]
    java = getattr(failure, "java_exception", None) or getattr(failure, "_origin", None)
    while java is not None and len(texts) < 20:
        texts.append(str(java.getMessage()))
        java = java.getCause()
    return "\n".join(texts)
