"""A source, opened: the files it stands for, a database to read them, a private folder for what overflows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from pathveil.data.database import Database
from pathveil.data.formats import Extra, Layout
from pathveil.data.sources import DataFile, Format, Source, find_files, without_header
from pathveil.data.workspace import private_workspace


@contextlib.contextmanager
def opened(
    source: Source, layout: Layout | None, extra: Extra, format: Format | None, output: Path | None = None
) -> Iterator[tuple[Database, list[DataFile], Path]]:
    """The database, the files and the workspace; all of it is put away afterwards."""
    with private_workspace(output) as workspace, contextlib.closing(Database(workspace)) as database:
        files = find_files(source, workspace, format or (layout.default_format if layout else None))
        if layout is not None:
            if not layout.header:
                files = without_header(files)
            layout.check(files, extra)
        yield database, files, workspace
