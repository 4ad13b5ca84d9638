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
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathveil.ledger.entries import Charge
    from pathveil.ledger.ledger import Ledger
    from pathveil.privacy.guarantee import Guarantee


class Paid:
    """The charge in a ledger for one release; none where there is no ledger."""

    def __init__(self, ledger: Ledger | None = None, charge: Charge | None = None) -> None:
        self._ledger = ledger
        self._charge = charge

    @property
    def for_manifest(self) -> dict[str, Any] | None:
        """What the manifest says about the budget: its unit, and what the release cost in it."""
        if self._ledger is None or self._charge is None:
            return None
        return {
            "unit": str(self._ledger.unit),
            **self._charge.amount.to_dict(),
            "conversion": self._charge.explanation,
        }

    def seal(self, output: str) -> None:
        """Note that the release may be read from now on; `output` is its digest, where that is known."""
        if self._ledger is not None and self._charge is not None:
            self._ledger.seal(self._charge, output=output)

    def complete(self, output: str = "") -> None:
        """Note that the release is out. If that fails, it is out and paid for all the same, and the error says so.

        `output` is the digest, if sealing has not named it.
        """
        if self._ledger is not None and self._charge is not None:
            from pathveil.errors import LedgerError

            try:
                self._ledger.complete(self._charge, output=output)
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
    promise: Guarantee,
    *,
    command: str,
    request: str,
    fingerprint: str,
    resume: bool = False,
    longest: int | None = None,
    words_per_user: int | None = None,
    loss_at: Callable[[int], float] | None = None,
) -> Paid:
    """Take what a release costs in the unit of the ledger, or go on with the charge of a run that was killed."""
    if ledger is None:
        return Paid()
    found = ledger.resume(promise, request=request, fingerprint=fingerprint) if resume else None
    if found is not None:
        return Paid(ledger, found)
    if not resume and ledger.find_open(request) is not None:
        print(
            "pathveil: an earlier run of this command was charged and not completed; this one is charged again. "
            "(--resume uses the earlier charge: see docs/ledger.md for when that is private.)",
            file=sys.stderr,
        )
    if resume and ledger.find_open(request) is not None:
        print(
            "pathveil: an earlier run of this command cannot be resumed: what it drew may have been readable already "
            "(on Spark that is so from the first word on), or its input or its promise was another one. This run is "
            "charged again.",
            file=sys.stderr,
        )
    made = ledger.charge(
        promise,
        command=command,
        request=request,
        fingerprint=fingerprint,
        longest=longest,
        words_per_user=words_per_user,
        loss_at=loss_at,
    )
    return Paid(ledger, made)
