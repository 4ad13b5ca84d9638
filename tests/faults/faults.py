"""Ways to let things go wrong on purpose, and what must hold afterwards."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from pathveil.ledger.ledger import Ledger

_CALLS = ("os.fsync", "os.link", "os.mkdir", "os.rename", "os.replace", "pathlib.Path.write_text")


class FullDisk:
    """A disk on which the k-th call that writes something fails, counted from 1, and all after it succeed.

    SQLite and Arrow write in their own way and are not seen here: `no_file_beyond` is for them.
    """

    def __init__(self, fails: int) -> None:
        self.calls = 0
        self._fails = fails

    @contextmanager
    def installed(self) -> Iterator[FullDisk]:
        with mock.patch.multiple("os", **{name[3:]: self._failing(name) for name in _CALLS if name[:3] == "os."}):
            whole = Path.write_text

            def write_text(path: Path, text: str, **options: str) -> int:
                if self._is_time():
                    path.write_bytes(text.encode()[: len(text) // 2])  # half of it still went onto the disk
                    raise OSError(errno.ENOSPC, "No space left on device", str(path))
                return whole(path, text, **options)

            with mock.patch.object(Path, "write_text", write_text):
                yield self

    def _failing(self, name: str):
        whole = getattr(os, name[3:])

        def call(*arguments, **options):
            if self._is_time():
                raise OSError(errno.ENOSPC, "No space left on device")
            return whole(*arguments, **options)

        return call

    def _is_time(self) -> bool:
        self.calls += 1
        return self.calls == self._fails


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """The operating system refuses to let any file grow beyond this size: the whole library meets it as a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def statuses(ledger: Path) -> list[str]:
    """Of all charges, after checking the ledger."""
    book = Ledger.open(ledger)
    book.verify()
    return [charge["status"] for charge in book.to_dict()["charges"]]


def contents(folder: Path, *ignored: str) -> dict[str, bytes]:
    """Every file of a folder by name, hidden ones and folders too."""
    return {
        path.name: path.read_bytes() if path.is_file() else b"a folder"
        for path in folder.iterdir()
        if not path.name.startswith(ignored or "\0")
    }


@contextmanager
def nobody() -> Iterator[None]:
    """Without the power to write everywhere, where the tests run with it."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
