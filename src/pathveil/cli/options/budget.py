"""How a command speaks of its ledger: opening it, the fingerprint of its input, what a person is told on the way."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathveil.ledger.ledger import Ledger


def open_ledger(path: Path | None) -> Ledger | None:
    """The ledger, checked before any work is done; None where none was asked for."""
    if path is None:
        return None
    from pathveil.ledger.ledger import Ledger

    return Ledger.open(path)


def fingerprint_of(ledger: Ledger | None, files: Sequence[str], format: str | None) -> Callable[[], str]:
    """The fingerprint of the input, for whoever asks for it: all of the input has to be read for it."""

    def fingerprint() -> str:
        from pathveil.data.sources import contents

        return "" if ledger is None else ledger.fingerprint(contents(files, format))  # type: ignore[arg-type]

    return fingerprint


def echo_notice(text: str) -> None:
    """What a person should know, whatever else is printed."""
    print(f"pathveil: {text}", file=sys.stderr)
