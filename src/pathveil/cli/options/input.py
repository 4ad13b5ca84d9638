"""The sensitive input as files: standard input is kept in a private folder while it is needed."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pathveil.errors import FileItselfError, InvalidParameterError

_BLOCK = 1 << 20


@contextlib.contextmanager
def input_files(sources: Sequence[str], format: str | None) -> Iterator[list[str]]:
    """The sources, with standard input (`-`) replaced by a file: it is read more than once."""
    from pathveil.data.workspace import private_workspace

    if "-" not in sources:
        yield list(sources)
        return
    if list(sources) != ["-"]:
        raise InvalidParameterError("standard input (-) does not go together with files")
    if format is None:
        raise InvalidParameterError("standard input has no name that tells its format: give --format")
    if sys.stdin is None:
        raise FileItselfError("standard input is closed: there is nothing to read. Connect it, or name a file.")
    with private_workspace() as workspace:
        path = workspace / "standard input"
        with open(path, "wb") as spool:
            shutil.copyfileobj(sys.stdin.buffer, spool, _BLOCK)
        yield [str(path)]


def rows_declared(sources: Sequence[str], format: str | None) -> int | None:
    """How many rows the files say they have, for a progress bar; None where only reading would tell."""
    from pathveil.data.sources import find_files

    files = find_files(sources, Path(), format)  # type: ignore[arg-type]
    if files[0].format != "parquet":
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return sum(int(pq.read_metadata(file.path).num_rows) for file in files)
    except (pa.ArrowException, OSError):
        return None  # reading will say what is wrong
