"""Files that appear under their name only when they are complete, and the private folder they are made in.

Whatever is written on the way (the unfinished output, what the sort did not fit into memory) lies in one folder beside
the output that only its owner can open. It is removed when the work ends, well or badly. A process that is killed
cannot do that; the next run for the same output does.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
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


def refuse_existing(output: Path, overwrite: bool) -> None:
    """An error if the output is there already and may not be replaced, or is a folder, a device or a pipe."""
    if output.is_dir():
        raise FileItselfError(f"{output} is a folder: name a file to write to")
    if output.exists() and not output.is_file():
        raise FileItselfError(f"{output} is a device or a pipe, and an output replaces what has its name. Name a file.")
    if not overwrite and os.path.lexists(output):
        raise FileItselfError(f"{output} exists already. Choose another name, or say that it may be replaced.")


def publish(finished: Path, output: Path, overwrite: bool) -> None:
    """Give a complete file its final name, in one step, and make both outlast a power failure."""
    flush(finished)
    if overwrite:
        os.replace(finished, output)
    else:
        try:
            os.link(finished, output)  # unlike a rename, this fails if someone took the name meanwhile
        except FileExistsError:
            refuse_existing(output, overwrite)
            raise
        except OSError:  # a file system without hard links
            refuse_existing(output, overwrite)
            os.rename(finished, output)
    flush(output.parent)


def is_out(finished: Path, output: Path) -> bool:
    """Has a complete file got its final name? Then the release is made, whatever goes wrong afterwards."""
    return not finished.exists() or (output.exists() and output.samefile(finished))


@contextlib.contextmanager
def earlier_kept(path: Path, workspace: Path, overwrite: bool, unless: Callable[[], bool]) -> Iterator[None]:
    """While a file is replaced, the earlier one waits in the workspace; if the block fails, it gets its name back.

    `unless` says that the new files are out although the block has failed (it was interrupted a moment too late).
    """
    earlier = workspace / f"earlier-{path.name}"
    if overwrite and os.path.lexists(path):
        os.replace(path, earlier)
    try:
        yield
    except BaseException:
        if os.path.lexists(earlier) and not unless():
            os.replace(earlier, path)
        raise


def flush(path: Path) -> None:
    """Force what was written to a file, or to the list of a folder's files, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
