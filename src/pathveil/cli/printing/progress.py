"""Something that moves on a terminal while people wait."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE = 2.0  # seconds without a bar
_PROGRESS_FILE = "PATHVEIL_PROGRESS"  # the environment names a file for whoever shows the progress elsewhere
_BETWEEN = 0.2  # seconds between two writings of it
_SPECIAL = {"proving": "lengths certified", "forecasting": "mechanisms compared"}


@contextlib.contextmanager
def waiting(what: str, silent: bool) -> Iterator[None]:
    """Says what is being done, where it cannot be counted."""
    if silent or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


class ProgressBar:
    """A bar, on a terminal only and only after two seconds.

    It shows how much is done, how fast, and how long the rest will take where the total is known. A timer brings it
    up, so that it is there even if the first batch of words takes long (a certificate is computed, a large table is
    sorted). Where the environment names a file (PATHVEIL_PROGRESS), what is done stands there as JSON.
    """

    def __init__(self, silent: bool, unit: str = "words") -> None:
        self._unit = unit
        self._file = None if silent else os.environ.get(_PROGRESS_FILE)
        self._written = 0.0
        self._silent = silent or not sys.stderr.isatty()
        self._last = time.monotonic()
        self._shown: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._done: dict[str, int] = {}
        self._stage_begun: dict[str, float] = {}
        self._lock = threading.Lock()  # the timer has a thread of its own
        self._timer = threading.Timer(_PATIENCE, self._show)
        self._timer.daemon = True
        self.total: int | None = None

    def __call__(self, stage: str, done: int) -> None:
        """So many words, or whatever is counted, have gone through this stage."""
        with self._lock:
            if self.total is None:
                # What an earlier stage has counted is how much there is to do in this one.
                earlier = {"reading": "checking", "writing": "reading"}.get(stage)
                self.total = self._done.get(earlier) if earlier else None
            self._done[stage] = done
            self._stage_begun.setdefault(stage, self._last)
            self._last = time.monotonic()
            if self._shown is not None:
                self._update(self._shown, stage)
            if self._file and self._last - self._written > _BETWEEN:
                self._written = self._last
                self._write(Path(self._file), stage, done)

    def _write(self, file: Path, stage: str, done: int) -> None:
        """Replaced in one step; a disk that is full is no reason to stop the work."""
        with contextlib.suppress(OSError):
            unfinished = file.with_name(f".{file.name}-{os.getpid()}")
            unfinished.write_text(json.dumps({"stage": stage, "done": done, "total": self.total, "unit": self._unit}))
            unfinished.replace(file)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        with self._lock:
            if self._silent:
                return
            self._shown = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._tasks["working"] = self._shown.add_task("working", total=None, rate="")
            for stage in self._done:
                self._update(self._shown, stage)
            self._shown.start()

    def _update(self, bar: Progress, stage: str) -> None:
        if stage not in self._tasks:
            bar.update(self._tasks["working"], visible=False)  # from now on there is something to count
            self._tasks[stage] = bar.add_task(stage, total=self.total, rate="")
        done, seconds = self._done[stage], max(self._last - self._stage_begun[stage], 1e-9)
        speed = done / seconds
        rate = f"{speed:,.0f} {self._unit}/s" if speed >= 10 else f"{speed:.1f} {self._unit}/s"
        if stage in _SPECIAL:
            rate = f"{done} {_SPECIAL[stage]}"
        bar.update(self._tasks[stage], completed=done, total=self.total, rate=rate)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing moves for so long: something is said, or asked."""
        with self._lock:
            silent, self._silent = self._silent, True  # the timer may go off meanwhile
            if self._shown is not None:
                self._shown.stop()
        yield
        with self._lock:
            self._silent = silent
            if self._shown is not None:
                self._shown.start()
                return
        if not silent and not self._timer.is_alive():  # it went off in between
            self._show()

    def __enter__(self) -> ProgressBar:
        if not self._silent:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._silent = True  # for a timer that went off just now
            if self._shown is not None:
                self._shown.stop()
