"""Commands as processes of their own: begun, watched, ended."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pathveil.studio.making.commands import Command

try:
    import fcntl
except ImportError:  # not a POSIX system: a command that outlives its studio is not noticed there
    fcntl = None  # type: ignore[assignment]

PROGRESS_FILE = "PATHVEIL_PROGRESS"
"""The variable of the environment that tells a command where to write how far it is."""

_TAIL = 8_000  # characters of messages that are kept
_PATIENCE = 20.0  # seconds that a command gets to clean up


@dataclass(frozen=True)
class Outcome:
    """How a command ended: its exit code, and what it said."""

    code: int
    message: str


class Running:
    """One command at work in the folder of a project.

    It has no terminal and its own session, so that Ctrl-C on the studio's terminal does not reach it: the studio ends
    it in an orderly way. The `lock` is inherited, and is held until the last process that has it is gone.
    """

    def __init__(
        self, command: Command, arguments: tuple[str, ...], folder: Path, private: Path, lock: IO[bytes] | None = None
    ) -> None:
        self._messages = private / "messages.txt"
        printed = folder / command.makes if command.printed else private / "printed.txt"
        environment = {**os.environ, PROGRESS_FILE: str(private / "progress.json"), "PYTHONIOENCODING": "utf-8"}
        with open(self._messages, "wb") as said, open(printed, "wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "pathveil", *arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=said,
                start_new_session=True,
                pass_fds=() if lock is None or fcntl is None else (lock.fileno(),),
            )

    def wait(self, seconds: float | None = None) -> Outcome:
        """The end of the command."""
        code = self._process.wait(seconds)
        return Outcome(code, _message(self._messages))

    def end(self) -> None:
        """Ask it to stop, as Ctrl-C does; it leaves nothing half-written."""
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def run(command: Command, folder: Path, private: Path) -> Outcome:
    """A short command, to its end."""
    private.mkdir(mode=0o700, exist_ok=True)
    return Running(command, command.arguments, folder, private).wait()


def progress(private: Path) -> dict[str, Any]:
    """How far the command says that it is; {} where it has not said anything."""
    try:
        said = json.loads((private / "progress.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def try_lock(path: Path) -> IO[bytes] | None:
    """The lock at this path; None if another process holds it."""
    file = open(path, "ab")  # noqa: SIM115 - it is held as long as it is open
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
    return file


def _message(path: Path) -> str:
    """What a command said, without its name in front."""
    text = path.read_bytes()[-_TAIL:].decode("utf-8", "replace").strip()
    return "\n".join(line.removeprefix("pathveil: ") for line in text.splitlines())
