"""Which files are meant, and what they are: one file, a folder, a glob, several of these, or standard input."""

from __future__ import annotations

import glob
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pathveil.errors import FileItselfError, InvalidParameterError

Format = Literal["csv", "parquet", "jsonl", "text", "xes"]
Compression = Literal["gzip", "zstd"]
Source = str | Path | Iterable[str | Path]

_FORMATS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "text",
    ".xes": "xes",
}
_COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
STANDARD_INPUT = "-"
_BLOCK = 1 << 20  # bytes read at a time


@dataclass(frozen=True)
class DataFile:
    """One file of the input. `name` is what messages call it; without a header, CSV columns are called 1, 2, 3, …"""

    path: Path
    name: str
    format: Format
    compression: Compression | None
    has_header: bool = True


def find_files(source: Source, workspace: Path, format: Format | None = None) -> list[DataFile]:
    """The files of a source, in the order of their names; all of one format.

    `format` overrules the ending of the names, and must be given for standard input (`"-"`), which is kept in the
    workspace while it is needed.
    """
    listed = [source] if isinstance(source, (str, Path)) else list(source)
    files = [file for one in listed for file in _files_of(str(one), workspace, format)]
    if not files:
        raise FileItselfError("no input: name at least one file")
    formats = sorted({file.format for file in files})
    if len(formats) > 1:
        raise FileItselfError(f"the input mixes formats ({', '.join(formats)}): give files of one format at a time")
    _refuse_twice(files)
    return files


def without_header(files: list[DataFile]) -> list[DataFile]:
    """The same CSV files, read from their first line on."""
    if files[0].format != "csv":
        raise InvalidParameterError(f"{files[0].name}: only CSV files may have no header. Leave out `header=False`.")
    return [replace(file, has_header=False) for file in files]


def _refuse_twice(files: list[DataFile]) -> None:
    """A word that is read twice is released twice, and ε would hold for each release only, not for both."""
    seen: dict[tuple[int, ...], str] = {}
    for file in files:
        identity = _state(file)[:2]
        if identity in seen:
            raise InvalidParameterError(
                f"{file.name} is the same file as {seen[identity]}: its words would be released twice. Name each once."
            )
        seen[identity] = file.name


def contents(source: Source, format: Format | None = None) -> Iterator[bytes]:
    """The bytes of all files of a source, piece by piece, for a fingerprint."""
    for file in find_files(source, Path(), format):
        with open(file.path, "rb") as opened:
            while block := opened.read(_BLOCK):
                yield block
        yield b"\0"  # so that where one file ends and the next begins makes a difference


class Watch:
    """Notices that files were changed or exchanged since it was made.

    A file that is rewritten while it is read may show the same word twice, once at its old place and once at its new
    one, and ε would hold for each of the two only.
    """

    def __init__(self, files: list[DataFile]) -> None:
        self._seen = [(file, _state(file)) for file in files]

    def require_unchanged(self) -> None:
        """An error that names the first file that is no longer what it was."""
        for file, before in self._seen:
            if _state(file) != before:
                raise FileItselfError(
                    f"{file.name}: the file was changed while it was read; nothing was released. Run it again when "
                    "nobody writes to the file, or on a copy."
                )


def _state(file: DataFile) -> tuple[int, ...]:
    try:
        found = file.path.stat()
    except OSError as problem:
        raise FileItselfError(f"{file.name}: cannot be read ({problem.strerror})") from None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _files_of(source: str, workspace: Path, format: Format | None) -> list[DataFile]:
    if source == STANDARD_INPUT:
        return [_spooled_standard_input(workspace, format)]
    path = Path(source)
    if path.is_dir():
        inside = sorted(entry for entry in path.iterdir() if entry.is_file() and entry.name[0] not in "._")
        if not inside:
            raise FileItselfError(f"{path}: the folder holds no files")
        return [describe(entry, format) for entry in inside]
    if path.exists():
        return [describe(path, format)]
    matches = sorted(Path(match) for match in glob.glob(source) if Path(match).is_file())
    if not matches:
        kind = "no file matches this pattern" if glob.has_magic(source) else "there is no such file"
        raise FileItselfError(f"{source}: {kind}. Check the name.")
    return [describe(match, format) for match in matches]


def named_format(path: Path) -> Format | None:
    """The format that the ending of a name stands for; None if it stands for none."""
    ending = (Path(path.stem) if path.suffix.lower() in _COMPRESSIONS else path).suffix.lower()
    return _FORMATS.get(ending)


def describe(path: Path, format: Format | None = None) -> DataFile:
    """A file as its name describes it: `visits.csv.gz` is a compressed CSV file."""
    compression = _COMPRESSIONS.get(path.suffix.lower())
    known = format or named_format(path)
    if known is None:
        ending = (Path(path.stem) if compression else path).suffix.lower()
        raise FileItselfError(
            f"{path}: the ending {ending!r} does not say what the file is. Use one of {', '.join(_FORMATS)} "
            "(.gz and .zst may follow), or name the `format`."
        )
    if known == "parquet" and compression:
        raise FileItselfError(f"{path}: Parquet files compress themselves; {path.suffix} around one is not supported")
    return DataFile(path.absolute(), str(path), known, compression)


def _spooled_standard_input(workspace: Path, format: Format | None) -> DataFile:
    if format is None:
        raise FileItselfError("standard input has no name that tells its format: name the `format`")
    path = workspace / "standard-input"
    with open(path, "wb") as spool:
        shutil.copyfileobj(sys.stdin.buffer, spool, 1 << 20)
    return DataFile(path, "standard input", format, None)
