"""Files to write must not be files that are read: not even --overwrite may destroy those."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from pathveil.errors import InvalidParameterError

_LOGS = ("", "-wal", "-shm", "-journal")  # what SQLite keeps beside a ledger is part of it
_OTHER = "Choose another name for the output."


def files_to_write(*named: Path | None) -> list[Path]:
    """The files as absolute paths, without those that were not asked for; wrong use if two are the same."""
    paths = [path.absolute() for path in named if path is not None]
    if len({_place(path) for path in paths}) < len(paths):
        raise InvalidParameterError(f"{', '.join(map(str, paths))}: two of these are the same file. Name two files.")
    return paths


def refuse_inputs(
    outputs: Iterable[Path],
    *,
    sources: Sequence[str] = (),
    public: Iterable[Path | None] = (),
    ledger: Path | None = None,
) -> None:
    """Wrong use if an output is the sensitive input, the public system or a ledger, be it that of another command."""
    read = [Path(file) for source in sources for file in named_files(source)]
    read += [path for path in public if path is not None]
    book = [] if ledger is None else [Path(f"{os.path.realpath(ledger)}{log}") for log in _LOGS]
    for output in outputs:
        if _is_ledger(output):
            raise InvalidParameterError(f"{output} is a ledger, and what it says was spent must not get lost. {_OTHER}")
        for path in (*read, *book):
            if _place(output) == _place(path) or (output.exists() and path.exists() and os.path.samefile(output, path)):
                what = "the ledger" if path in book else "a file that this command reads"
                raise InvalidParameterError(f"{output} would replace {what}. {_OTHER}")


def _is_ledger(path: Path) -> bool:
    from pathveil.ledger.store import APPLICATION_ID

    if not path.is_file():
        return False
    with open(path, "rb") as file:
        header = file.read(72)  # SQLite keeps the number of the application in bytes 68 to 71
    return header.startswith(b"SQLite format 3\0") and header[68:] == APPLICATION_ID.to_bytes(4, "big")


def _place(path: Path) -> str:
    """The same for all spellings of a name, whether or not there is a file."""
    return os.path.join(os.path.realpath(path.parent), path.name)


def named_files(source: str) -> list[str]:
    """The files that a part of the input stands for: a file, what is in a folder, or what a pattern matches."""
    if os.path.isdir(source):
        return [entry.path for entry in os.scandir(source)]
    return [source] if os.path.exists(source) else glob.glob(source)
