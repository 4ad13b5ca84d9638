"""Releases of a project: numbered, made once each, and taken up again after a crash without paying twice.

What a release is made of is fixed when its number is claimed. Two tabs, a reloaded page or a form that is sent again
name the same number, and all but the first find that it exists. Its state is on the disk before each command begins:

    sensitive/release-3/state.json    the commands, how many of them are done, how it ended
    sensitive/release-3/lock          held by whatever works on it, also after the studio itself was killed
    releases/3/                       what may be handed over
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import IO, Any, Literal

from pathveil.data.sources import contents
from pathveil.errors import PathVeilError
from pathveil.ledger.entries import Entry
from pathveil.ledger.ledger import Ledger
from pathveil.studio.choices import Choices
from pathveil.studio.making.commands import Command, commands_for_release
from pathveil.studio.making.processes import Running, try_lock
from pathveil.studio.projects import Project, write_json

Status = Literal["running", "done", "failed", "cancelled", "interrupted"]

_STATE = "state.json"


@dataclass(frozen=True)
class State:
    """Where a release is. `done` commands have ended well; `message` is what the last one said."""

    number: int
    commands: tuple[Command, ...]
    choices: Mapping[str, str]
    done: int = 0
    status: Status = "running"
    message: str = ""
    system: str = ""
    """The digest of the public system for which the promise was reviewed."""

    @property
    def current(self) -> Command | None:
        """The command that is at work, or was when it ended."""
        return self.commands[self.done] if self.done < len(self.commands) else None

    @property
    def charged_output(self) -> str:
        """The file whose release is paid for."""
        return next(command.makes for command in self.commands if command.charged)


@dataclass(frozen=True)
class ChargeShown:
    """What the ledger says about a release: taken or not, and what came of it."""

    amount: str
    state: Literal["charged", "sealed", "completed"]


class Releases:
    """All releases of all projects that this studio works on. One at a time in a project."""

    def __init__(self) -> None:
        self._jobs: dict[Path, _Job] = {}
        self._lock = threading.Lock()

    def next_number(self, project: Project) -> int:
        """The number that the next release will have: also commands by hand may have filled a folder."""
        by_hand = (project.folder / "releases").glob("*/*")
        taken = [release_number(path.parent.name) for path in by_hand if path.parent.is_dir()]
        return max((number for number in (*taken, *(one.number for one in self.all(project))) if number), default=0) + 1

    def all(self, project: Project) -> list[State]:
        """Every release that was begun, the newest first."""
        folders = (project.folder / "sensitive").glob(f"release-*/{_STATE}")
        numbers = [release_number(path.parent.name.removeprefix("release-")) for path in folders]
        found = sorted((number for number in numbers if number is not None), reverse=True)
        return [state for state in (self.state(project, number) for number in found) if state is not None]

    def state(self, project: Project, number: int) -> State | None:
        """A release as it is now. One that says it is running, and that nothing works on, was interrupted."""
        private = private_folder(project, number)
        state = _read(private)
        if state is None or state.status != "running":
            return state
        with self._lock:
            if private in self._jobs:
                return state
        lock = try_lock(private / "lock")
        if lock is None:
            return state  # the command of a studio that was killed goes on by itself
        lock.close()
        return replace(_read(private) or state, status="interrupted")

    def running(self, project: Project) -> State | None:
        """The release that is being made."""
        return next((state for state in self.all(project) if state.status == "running"), None)

    def begin(self, project: Project, choices: Choices, number: int) -> bool:
        """Claim a number and begin; False where it was claimed before, and nothing is done."""
        with self._lock:
            if self._works_on(project):
                return False
            commands = tuple(commands_for_release(choices, number, new_budget=project.ledger is None))
            state = State(number, commands, dict(choices.values), system=project.system_digest)
            return _claim(project, state) and self._start(project, state)

    def go_on(self, project: Project, number: int) -> bool:
        """Take up a release that ended before its time; False where that cannot be done."""
        if self.running(project) is not None:
            return False
        with self._lock:
            state = _read(private_folder(project, number))
            if state is None or state.status == "done" or self._works_on(project):
                return False
            if why_lost(project, replace(state, status="interrupted")):
                return False
            return self._start(project, replace(state, status="running", message=""))

    def cancel(self, project: Project, number: int) -> bool:
        """Stop the command that is at work; nothing half-written stays. False where it is not one of this studio."""
        with self._lock:
            job = self._jobs.get(private_folder(project, number))
        if job is not None:
            job.cancel()
        return job is not None

    def close(self) -> None:
        """Stop everything: the studio ends."""
        with self._lock:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.cancel()
        for job in jobs:
            job.thread.join()

    def _start(self, project: Project, state: State) -> bool:
        private = private_folder(project, state.number)
        lock = try_lock(private / "lock")
        if lock is None:
            return False
        _write(private, state)  # before anybody is sent to its page
        job = _Job(project, state, lock, lambda: self._ended(private))
        self._jobs[private] = job
        job.thread.start()
        return True

    def _works_on(self, project: Project) -> bool:
        return any(job.project.folder == project.folder for job in self._jobs.values())

    def _ended(self, private: Path) -> None:
        with self._lock:
            self._jobs.pop(private, None)


@dataclass
class _Job:
    """The commands of one release, one after the other, in a thread that waits for them."""

    project: Project
    state: State
    lock: IO[bytes]
    ended: Callable[[], None]
    _running: Running | None = None
    _cancelled: bool = False
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._work, daemon=True)

    def cancel(self) -> None:
        """From any thread."""
        with self._guard:
            self._cancelled, running = True, self._running
        if running is not None:
            running.end()

    def _work(self) -> None:
        try:
            release_folder(self.project, self.state.number).mkdir(mode=0o700, exist_ok=True)
            for command in self.state.commands[self.state.done :]:
                if not self._one(command):
                    return
            self._keep(replace(self.state, status="done"))
        except Exception as problem:  # whatever it is, the page has to say it
            self._keep(replace(self.state, status="failed", message=f"{type(problem).__name__}: {problem}"))
        finally:
            self.lock.close()
            self.ended()

    def _one(self, command: Command) -> bool:
        """Whether a command ended well, or had done so before."""
        if command.charged and (self.project.folder / command.makes).exists():
            return self._next()  # it was out before it could be written down here
        if command.arguments[:2] == ("ledger", "init") and self.project.ledger is not None:
            return self._next()
        private = private_folder(self.project, self.state.number)
        with self._guard:
            if self._cancelled:
                self._keep(replace(self.state, status="cancelled"))
                return False
            self._running = Running(command, command.resumed, self.project.folder, private, self.lock)
        outcome = self._running.wait()
        if outcome.code == 0:
            return self._next(outcome.message)
        status: Status = "cancelled" if self._cancelled else "failed"
        message = outcome.message
        if outcome.code < 0 or not message:  # what it said before that is no reason
            message = f"The command was stopped from outside (exit code {outcome.code})."
        self._keep(replace(self.state, status=status, message=message))
        return False

    def _next(self, message: str = "") -> bool:
        self._keep(replace(self.state, done=self.state.done + 1, message=message))
        return True

    def _keep(self, state: State) -> None:
        self.state = state
        _write(private_folder(self.project, state.number), state)


def release_number(text: str) -> int | None:
    """The number that a text is, as it stands in an address or a name; None for anything else."""
    return int(text) if re.fullmatch("[1-9][0-9]{0,8}", text) else None


def private_folder(project: Project, number: int) -> Path:
    """What of a release only the curator may see."""
    return project.folder / "sensitive" / f"release-{number}"


def release_folder(project: Project, number: int) -> Path:
    """What of a release may be handed over."""
    return project.folder / "releases" / str(number)


def digest_of(project: Project, choices: Choices) -> str:
    """What was reviewed, in a few characters: a form for other choices, or another public system, is noticed."""
    text = json.dumps([choices.values, project.system_digest], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def charge_of(project: Project, state: State) -> ChargeShown | None:
    """What the ledger says about this release; None where nothing was charged."""
    if project.ledger is None:
        return None
    try:
        entries = Ledger.open(project.ledger).entries()
    except PathVeilError:
        return None
    mine = [entry for entry in entries if _is_for(entry, state)]
    if not mine:
        return None
    numbers = {entry.number for entry in mine}
    later = {entry.kind for entry in entries if entry.kind != "charged" and entry.charge in numbers}
    amount = " and ".join(str(entry.amount) for entry in mine)
    return ChargeShown(amount, "completed" if "completed" in later else "sealed" if "sealed" in later else "charged")


def _is_for(entry: Entry, state: State) -> bool:
    """Whether it is the charge of this release, wherever the folder of the project was at that time."""
    if entry.kind != "charged":
        return False
    output = PurePath(str(entry.content["request"]).rpartition(" to ")[2])
    return output.parts[-3:] == PurePath(state.charged_output).parts


def why_lost(project: Project, state: State) -> str:
    """Why a release that has ended before its time cannot be gone on with; "" where it can.

    Going on must never be charged a second time, and must make what was reviewed.
    """
    if state.status in ("running", "done") or (project.folder / state.charged_output).exists():
        return ""
    charge = charge_of(project, state)
    if charge is not None and charge.state != "charged":
        return (
            "It stopped at the very moment in which it appeared. Somebody may have read it, so that its charge cannot "
            "be used again."
        )
    if not project.system.exists() or project.system_digest != state.system:
        return "What is public was changed since it was reviewed."
    if charge is None or project.ledger is None:
        return ""
    ledger = Ledger.open(project.ledger)
    paid = next(entry for entry in reversed(ledger.entries()) if _is_for(entry, state))
    if not str(paid.content["request"]).endswith(f" to {project.folder.resolve() / state.charged_output}"):
        return "The folder of the project was moved since it was charged, and its charge is for the old place."
    source = next(command for command in state.commands if command.charged).arguments[1]
    try:
        same = ledger.fingerprint(contents(str(project.folder / source))) == paid.content["fingerprint"]
    except (PathVeilError, OSError):
        return "The data are no longer there."
    return "" if same else "The data were changed since it was charged."


def _claim(project: Project, state: State) -> bool:
    """Make the private folder of a release, with its state in it, in one step; False where it is there."""
    private = private_folder(project, state.number)
    unfinished = private.with_name(f".{private.name}-{secrets.token_hex(4)}")
    unfinished.mkdir(mode=0o700)
    try:
        _write(unfinished, state)
        unfinished.rename(private)  # an empty folder would be replaced, and one with a release in it is not
    except OSError:
        return False
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return True


def _write(private: Path, state: State) -> None:
    content = {**vars(state), "commands": [vars(command) for command in state.commands]}
    write_json(private / _STATE, content)


def _read(private: Path) -> State | None:
    try:
        content: dict[str, Any] = json.loads((private / _STATE).read_text(encoding="utf-8"))
        commands = tuple(Command(**{**one, "arguments": tuple(one["arguments"])}) for one in content["commands"])
        return State(**{**content, "commands": commands})
    except (OSError, ValueError, TypeError, KeyError):
        return None
