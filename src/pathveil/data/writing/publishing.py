"""Files that appear under their name only when they are complete, in one step."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from pathveil.errors import FileItselfError


def refuse_existing(output: Path, overwrite: bool) -> None:
    """An error if the output is there already and may not be replaced, or is a folder, a device or a pipe."""
    if output.is_dir():
        raise FileItselfError(f"{output} is a folder: name a file to write to")
    if output.exists() and not output.is_file():
        raise FileItselfError(f"{output} is a device or a pipe, and an output replaces what has its name. Name a file.")
    if not overwrite and os.path.lexists(output):
        raise FileItselfError(
            f"{output} exists already. Choose another name, or say that it may be replaced (`overwrite=True`)."
        )


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
