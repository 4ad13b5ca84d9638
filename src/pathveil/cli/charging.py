"""Charge first, release after: how a command uses a ledger.

paid = charge(...)          # the cost is on the disk, or an error
make the release; what of it touches the disk is encrypted
paid.seal(digest)           # it may be read from now on, so no other run may use this charge
decrypt it, and give it its final name
paid.complete()             # it has appeared

Spark's tasks write files that can be read. So there the charge is sealed before anything is drawn.
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

    def seal(self, output: str) -> None:
        """Note that the release may be read from now on; `output` is its digest, where that is known."""
        if self._ledger is not None:
            for one in self._charges:
                self._ledger.seal(one, output=output)

    def complete(self, output: str = "") -> None:
        """Note that the release is out. If that fails, it is out and paid for all the same, and the error says so.

        `output` is the digest, if sealing has not named it.
        """
        if self._ledger is not None:
            from pathveil.errors import LedgerError

            try:
                for one in self._charges:
                    self._ledger.complete(one, output=output)
            except LedgerError as problem:
                raise LedgerError(
                    "the output is complete and has its name, and it is paid for. Only that could not be written down, "
                    f'so that the ledger goes on calling it "charged, not completed". {problem}'
                ) from None


def folder_digest(folder: Path) -> str:
    """SHA-256 of the names and digests of a folder's data files: so the output can be recognised."""
    whole = hashlib.sha256()
    for path in sorted(folder.glob("part-*")):
        with open(path, "rb") as file:
            whole.update(f"{path.name} sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return "sha256:" + whole.hexdigest()


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
    if resume and missing and ledger.find_open(request) is not None:
        print(
            "pathveil: an earlier run of this command cannot be resumed: what it drew may have been readable already "
            "(on Spark that is so from the first word on), or its input or its promise was another one. This run is "
            "charged again.",
            file=sys.stderr,
        )
    if missing:
        charges += ledger.charge_together(missing, command=command, request=request, fingerprint=fingerprint)
    return Paid(ledger, charges)
