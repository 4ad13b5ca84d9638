"""Charge first, release after: how a command uses a ledger.

with charged(...) as complete:      # the cost is on the disk, or an error
    make the release under a temporary name
    complete(path)                  # says in the ledger that it is finished
    give it its final name
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathveil.ledger.ledger import Ledger
    from pathveil.privacy.guarantee import Guarantee

Complete = Callable[[Path], None]


def open_ledger(path: Path | None) -> Ledger | None:
    """The ledger, checked before any work is done; None where none was asked for."""
    if path is None:
        return None
    from pathveil.ledger.ledger import Ledger

    return Ledger.open(path)


@contextlib.contextmanager
def charged(
    ledger: Ledger | None,
    promises: Sequence[Guarantee],
    *,
    command: str,
    request: str,
    fingerprint: str,
    resume: bool = False,
) -> Iterator[Complete]:
    """Take what the promises cost, one entry for each unit that they are about, before the body runs.

    Several promises about one release (one word, all words of a user) are charged one after the other. If a later
    one is refused, the earlier ones stay charged: budget can be wasted, not given away.
    """
    if ledger is None:
        yield lambda _path: None
        return
    charges = []
    for promise in promises:
        # One release may have an open charge for each unit: a rerun has to find its own.
        mine = f"{request}; {promise.unit}"
        charge = ledger.resume(promise, request=mine, fingerprint=fingerprint) if resume else None
        if charge is None:
            if ledger.find_open(mine) is not None and not resume:
                print(
                    "pathveil: an earlier run of this command was charged and not completed; this one is charged "
                    "again. (--resume uses the earlier charge: see docs/ledger.md for when that is private.)",
                    file=sys.stderr,
                )
            charge = ledger.charge(promise, command=command, request=mine, fingerprint=fingerprint)
        charges.append(charge)

    def complete(finished: Path) -> None:
        digest = _digest(finished)
        for charge in charges:
            ledger.complete(charge, output=digest)

    yield complete


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
