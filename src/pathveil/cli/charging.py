"""Charge first, release after: how a command uses a ledger.

paid = charge(...)          # the cost is on the disk, or an error
make the release under a temporary name
paid.seal(path)             # it may appear from now on, so no other run may use this charge
give it its final name
paid.complete()             # it has appeared
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathveil.ledger.entries import Charge
    from pathveil.ledger.ledger import Ledger
    from pathveil.privacy.guarantee import Guarantee


class Paid:
    """Charges in a ledger for one release; none where there is no ledger."""

    def __init__(self, ledger: Ledger | None, charges: Sequence[Charge]) -> None:
        self._ledger = ledger
        self._charges = charges

    def seal(self, finished: Path) -> None:
        if self._ledger is not None:
            digest = _digest(finished)
            for one in self._charges:
                self._ledger.seal(one, output=digest)

    def complete(self) -> None:
        """Note that the release is out. If that fails, it is out and paid for all the same, and the error says so."""
        if self._ledger is not None:
            from pathveil.errors import LedgerError

            try:
                for one in self._charges:
                    self._ledger.complete(one)
            except LedgerError as problem:
                raise LedgerError(
                    "the output is complete and has its name, and it is paid for. Only that could not be written down, "
                    f'so that the ledger goes on calling it "charged, not completed". {problem}'
                ) from None


def _digest(finished: Path) -> str:
    """SHA-256 of a file, or of the names and digests of a folder's data files: so the output can be recognised."""
    if finished.is_dir():
        lines = [f"{path.name} {_digest(path)}\n" for path in sorted(finished.glob("part-*"))]
        return "sha256:" + hashlib.sha256("".join(lines).encode()).hexdigest()
    with open(finished, "rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def open_ledger(path: Path | None) -> Ledger | None:
    """The ledger, checked before any work is done; None where none was asked for."""
    if path is None:
        return None
    from pathveil.ledger.ledger import Ledger

    return Ledger.open(path)


def charge(
    ledger: Ledger | None,
    promises: Sequence[Guarantee],
    *,
    command: str,
    request: str,
    fingerprint: str,
    resume: bool = False,
) -> Paid:
    """Take what the promises about one release cost (for one word, for all words of a user): all, or nothing."""
    if ledger is None:
        return Paid(None, [])
    missing, charges = [], []
    for promise in promises:
        found = ledger.resume(promise, request=request, fingerprint=fingerprint) if resume else None
        if found is None:
            missing.append(promise)
        else:
            charges.append(found)
    if not resume and ledger.find_open(request) is not None:
        print(
            "pathveil: an earlier run of this command was charged and not completed; this one is charged again. "
            "(--resume uses the earlier charge: see docs/ledger.md for when that is private.)",
            file=sys.stderr,
        )
    if missing:
        charges += ledger.charge_together(missing, command=command, request=request, fingerprint=fingerprint)
    return Paid(ledger, charges)
