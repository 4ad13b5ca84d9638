"""Reading sensitive words, for the harnesses of all layouts. One engine serves the whole run: starting one is slow."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness import allowed, fuzz_file, parsers

with parsers():
    from pathveil.data.database import Database
    from pathveil.data.formats import Extra, Layout
    from pathveil.data.reading import Checker
    from pathveil.data.sources import describe
    from pathveil.systems.alphabet import Alphabet

WORLD = Alphabet("abc")


def fuzz_layouts(layouts: Sequence[Layout], name: str, extra: Extra) -> None:
    """Read each file in all of these layouts."""
    with tempfile.TemporaryDirectory(prefix="pathveil-fuzz-") as overflow:
        database = Database(Path(overflow))

        def read(path: Path) -> None:
            for layout in layouts:
                with allowed():
                    _read(layout, database, path, extra)

        fuzz_file(read, name)


def _read(layout: Layout, database: Database, path: Path, extra: Extra) -> None:
    """Read in both ways of treating bad rows and of ordering words."""
    files = [describe(path)]
    layout.check(files, extra)
    released = 0
    for batch in Checker(WORLD, "skip").checked(layout.read(database, files, extra, keep_order=True)):
        batch.validate(full=True)
        words = batch.column(0).to_pylist()
        assert all(word and all(0 <= code < 3 for code in word) for word in words), words
        released += len(words)
    strictly = Checker(WORLD, "fail").checked(layout.read(database, files, extra, keep_order=False))
    assert sum(batch.num_rows for batch in strictly) == released, "nothing was skipped, so both ways agree"
