"""The budget that is charged, if one is, and who may see what the input says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.cli.options.input import Input
from pathveil.cli.printing import echo_notice
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.ledger.ledger import Ledger
    from pathveil.release import Release

_PANEL = "The budget, if you keep one (pathveil ledger)"
LedgerFile = Annotated[
    Path | None,
    typer.Option(
        "--ledger", help="The file of the budget. It is charged before anything is released.", rich_help_panel=_PANEL
    ),
]
Curator = Annotated[
    bool,
    typer.Option(
        "--curator",
        help="I may read the input: quote rows and counts in messages. (Without --ledger that is always so.)",
        rich_help_panel=_PANEL,
    ),
]


@dataclass(frozen=True)
class Budget:
    """The ledger to charge, and how."""

    ledger: LedgerFile = None
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Use the charge of an earlier run of this very command that was killed before its output could be "
            "read (not on Spark once it draws).",
            rich_help_panel=_PANEL,
        ),
    ] = False
    curator: Curator = False

    def __post_init__(self) -> None:
        if self.resume and self.ledger is None:
            raise InvalidParameterError("--resume is about a charge: it needs --ledger")

    @property
    def hides_content(self) -> bool:
        """Whether messages and figures must not show what the input says (printing/content.py)."""
        return self.ledger is not None and not self.curator

    def open(self) -> Ledger | None:
        """The ledger, checked before any work is done; None where none was asked for."""
        if self.ledger is None:
            return None
        from pathveil.ledger.ledger import Ledger

        return Ledger.open(self.ledger)

    def release(
        self, ledger: Ledger | None, command: str, input: Input, files: Sequence[str], layout: object, output: Path
    ) -> Release:
        """A release of this input, charged to the opened ledger."""
        from pathveil.data.sources import contents
        from pathveil.release import Release

        def fingerprint() -> str:  # all of the input has to be read for it
            return "" if ledger is None else ledger.fingerprint(contents(files, input.format))

        return Release(
            ledger,
            command=f"{command} {input}",
            request=f"{command} {input} as {layout!r} to {output}",
            fingerprint=fingerprint,
            resume=self.resume,
            notice=echo_notice,
        )
