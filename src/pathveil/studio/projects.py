"""Projects: a folder each, with the data, what was chosen, the budget and the releases. Nothing lies outside of it.

project.json     what was chosen
budget.db        the ledger, from the first release on
public/          what is public: the files that were handed in, and system.json
sensitive/       the data, and for each release what only the curator may see
releases/3/      what may be handed over
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import AsyncIterator
from pathlib import Path, PurePath
from typing import Any

from pathveil.data.sources import named_format
from pathveil.studio.choices import Choices, Refusal

SYSTEM = "public/system.json"
LEDGER = "budget.db"
_FILE = "project.json"
_OURS = re.compile(r"words-\d+\.parquet|system\.json|symbols\.txt|checks|release-.*")  # names of the studio's files
_UNFINISHED = ".unfinished-"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


class Projects:
    """The folder that holds all projects."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> list[Project]:
        """Every project, by name."""
        folders = [path.parent for path in sorted(self.folder.glob(f"*/{_FILE}"))]
        return [Project(folder) for folder in folders if _NAME.fullmatch(folder.name)]

    def clear(self) -> None:
        """Remove what a studio that was killed left unfinished. Call it while no other works here."""
        for project in self.all():
            for part in (project.folder, project.folder / "sensitive", project.folder / "public"):
                for path in part.glob(f"{_UNFINISHED}*"):
                    path.unlink(missing_ok=True)

    def create(self, title: str) -> Project:
        """A new project; its folder can be opened by nobody else."""
        name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60].strip("-")
        if not _NAME.fullmatch(name):
            raise Refusal("title", "Give the project a name with letters or digits in it, such as bike trips.")
        folder = self.folder / name
        try:
            folder.mkdir(mode=0o700, exist_ok=_is_empty(folder))
            for part in ("public", "sensitive", "releases"):
                (folder / part).mkdir(mode=0o700, exist_ok=True)
        except FileExistsError:
            what = f"There is a project called {name} already: open it, or take another name."
            raise Refusal("title", what) from None
        except OSError as problem:
            raise Refusal("title", f"The folder {folder} cannot be made: {problem.strerror}.") from None
        project = Project(folder)
        project.write(Choices())
        return project

    def open(self, name: str) -> Project | None:
        """A project by its name; None where there is none."""
        folder = self.folder / name
        return Project(folder) if _NAME.fullmatch(name) and (folder / _FILE).is_file() else None


class Project:
    """One project. Everything is read from its folder each time: two tabs see the same."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name

    @property
    def choices(self) -> Choices:
        """What was chosen."""
        try:
            content = json.loads((self.folder / _FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            raise Refusal("", f"{self.folder / _FILE} cannot be read ({problem}). Restore it from a copy.") from None
        return Choices.from_dict(content)

    def write(self, choices: Choices) -> None:
        """Keep what was chosen. The file is replaced in one step."""
        write_json(self.folder / _FILE, choices.to_dict())

    @property
    def ledger(self) -> Path | None:
        """The file of the budget, if it was opened."""
        path = self.folder / LEDGER
        return path if path.exists() else None

    @property
    def system(self) -> Path:
        """The file of the public system."""
        return self.folder / SYSTEM

    @property
    def system_digest(self) -> str:
        """What the public system is, so that forecasts for another one are not taken for it."""
        return hashlib.sha256(self.system.read_bytes()).hexdigest()

    async def receive(self, folder: str, name: str, pieces: AsyncIterator[bytes], most: int) -> str:
        """Keep a file that the browser sends; its path in the project. No byte of it lies anywhere else.

        The name of the file only says what it is: the name on the disk is ours.
        """
        kept = safe_name(name)
        if _OURS.fullmatch(kept.lower()):
            kept = f"uploaded-{kept}"
        unfinished = self.folder / folder / f"{_UNFINISHED}{secrets.token_hex(8)}"
        try:
            size = 0
            with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                async for piece in pieces:
                    size += len(piece)
                    if size > most:
                        raise Refusal("input", too_large(most))
                    file.write(piece)
            if not size:
                raise Refusal("input", "The file is empty.")
            unfinished.replace(self.folder / folder / kept)
        finally:
            unfinished.unlink(missing_ok=True)
        return f"{folder}/{kept}"


def too_large(most: int) -> str:
    """The sentence for a file that is too large to be uploaded."""
    return (
        f"The file is larger than {most / 1e9:.3g} GB, the most that is taken through the browser. Give its place on "
        "this computer below instead: then it is read where it is."
    )


def safe_name(name: str) -> str:
    """A plain name with the same endings: letters, digits, points, hyphens, underscores."""
    plain = re.sub(r"[^A-Za-z0-9._]+", "-", PurePath(name.replace("\\", "/")).name).strip("-.") or "file"
    return plain[-80:].lstrip("-.")


def readable_file(path: str, project: Project, field: str) -> Path:
    """A file that somebody named: in the project, or anywhere on this computer. It has to be there."""
    try:
        found = (project.folder / Path(path).expanduser()).resolve()
        is_there = found.is_file()
    except (OSError, ValueError, RuntimeError):  # too long, with a NUL, of a person who is not known here
        is_there = False
    if not is_there:
        raise Refusal(field, f"There is no file {path!r}. Check the name, or choose the file from the list.")
    if not os.access(found, os.R_OK):
        raise Refusal(field, f"The file {path!r} cannot be read by you. Change its permissions, or take a copy.")
    return found


def as_argument(path: str, project: Project) -> str:
    """How commands are told of this file: from the folder of the project where it lies in it, never like an option."""
    whole = Path(os.path.abspath(project.folder / Path(path).expanduser()))
    named = whole.relative_to(project.folder) if whole.is_relative_to(project.folder) else whole
    return f"./{named}" if str(named).startswith("-") else str(named)


def require_data(path: Path) -> None:
    """A refusal for files that are no data."""
    if named_format(path) is None:
        raise Refusal(
            "input",
            f"{path.name}: the ending does not say what the file is. Files may end in .csv, .tsv, .parquet, .jsonl, "
            ".txt or .xes; .gz and .zst may follow.",
        )


def write_json(path: Path, content: Any) -> None:
    """Replace a file in one step, so that no reader sees half of it."""
    unfinished = path.with_name(f"{_UNFINISHED}{secrets.token_hex(8)}")
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _is_empty(folder: Path) -> bool:
    """Whether a folder holds nothing but what a studio made that was killed while it began the project."""
    return not any(path.is_file() for path in folder.rglob("*"))
