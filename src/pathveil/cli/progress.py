"""A progress bar for people who wait: on a terminal only, and only after two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE = 2.0  # seconds without a bar


class ProgressBar:
    """Shows how many words are done, how fast, and how long the rest will take where the total is known."""

    def __init__(self, silent: bool) -> None:
        self._silent = silent or not sys.stderr.isatty()
        self._begun = self._last = time.monotonic()
        self._shown: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._done: dict[str, int] = {}
        self._stage_begun: dict[str, float] = {}
        self.total: int | None = None

    def __call__(self, stage: str, words: int) -> None:
        """`words` words have gone through this stage."""
        if stage == "writing" and self.total is None and "reading" in self._done:
            self.total = self._done["reading"]
        self._done[stage] = words
        self._stage_begun.setdefault(stage, self._last)
        self._last = time.monotonic()
        if self._silent or (self._shown is None and time.monotonic() - self._begun < _PATIENCE):
            return
        bar = self._bar()
        if stage not in self._tasks:
            self._tasks[stage] = bar.add_task(stage, total=self.total, rate="")
        seconds = max(time.monotonic() - self._stage_begun[stage], 1e-9)
        bar.update(self._tasks[stage], completed=words, total=self.total, rate=f"{words / seconds:,.0f} words/s")

    def done(self, stage: str) -> int:
        """How many words have gone through a stage."""
        return self._done.get(stage, 0)

    def _bar(self) -> Progress:
        if self._shown is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

            self._shown = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._shown.start()
        return self._shown

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown is not None:
            self._shown.stop()
