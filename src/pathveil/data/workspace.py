"""The private folder that a file is made in.

Whatever is written on the way (the unfinished output, what the sort did not fit into memory) lies in one folder beside
the output that only its owner can open. It is removed when the work ends, well or badly. A process that is killed
cannot do that; the next run for the same output does.
"""

from __future__ import annotations

import contextlib
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pathveil.errors import FileItselfError

try:
    import fcntl
except ImportError:  # not a POSIX system: what a killed process left behind stays there
    fcntl = None  # type: ignore[assignment]

_MARK = ".pathveil-"


@contextlib.contextmanager
def private_workspace(output: Path | None = None) -> Iterator[Path]:
    """A folder beside the output (or in the system's place for temporary files) that is gone afterwards."""
    if output is not None and not output.parent.is_dir():
        raise FileItselfError(f"{output}: the folder {output.parent} does not exist. Make it first.")
    prefix = f"{_MARK}{'' if output is None else output.name}-"
    parent = Path(tempfile.gettempdir()) if output is None else output.parent
    folder = parent / f"{prefix}{secrets.token_hex(8)}"
    try:  # from here on, so that an interrupt at any moment leaves no folder behind
        _make_private(folder)
        with _locked(folder):
            if output is not None:
                _remove_leftovers(output.parent, prefix, folder)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700)
    except OSError as problem:
        raise FileItselfError(f"no temporary folder can be made beside the output: {problem}") from None


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Holds a lock as long as this process works in the folder; the system lets go of it when the process dies."""
    with open(folder / "lock", "wb") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def _remove_leftovers(parent: Path, prefix: str, own: Path) -> None:
    if fcntl is None:
        return
    for folder in parent.iterdir():
        if folder.name.startswith(prefix) and folder != own and folder.is_dir():
            with contextlib.suppress(OSError), open(folder / "lock", "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
