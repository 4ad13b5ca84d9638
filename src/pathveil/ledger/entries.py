"""The entries of a ledger, and the chain of hashes that ties each to all before it.

An entry is a JSON text. Its hash is SHA-256 of the previous entry's hash and that text, so whoever changes, removes,
inserts or swaps entries breaks the chain at that place. There are five kinds:

- `created`: the first one; the total budget and its unit, how releases are composed, and the key for fingerprints.
- `charged`: budget taken for one release that is going to be made, in the budget's unit.
- `resumed`: a later run takes over a charge whose run died; the former holder can no longer complete it.
- `sealed`: the output under a charge is finished and may appear; nobody can resume the charge any more.
- `completed`: the release under a charge is out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pathveil.errors import DamagedLedgerError
from pathveil.ledger.amounts import Amount, amount_written

FIRST_HASH = "0" * 64  # stands before the first entry

HOW_TO_RECOVER = (
    "Release nothing more under this ledger, and keep the file as it is. If you have a copy that is whole, compare it "
    "with the manifests of what was released: it may be used only if no release is missing from it. Otherwise count "
    "what was released (a charge in doubt counts as spent) and create a new ledger with what is left of the budget."
)


@dataclass(frozen=True)
class Entry:
    """One line of the ledger. `content` is everything that was written down; the hash covers all of it."""

    number: int
    content: Mapping[str, Any]
    hash: str

    @property
    def kind(self) -> str:
        return str(self.content["kind"])

    @property
    def charge(self) -> int:
        """The number of the charge that a later entry is about; a charge is about itself."""
        return int(self.content.get("charge", self.number))

    @property
    def amount(self) -> Amount:
        """What a charge costs, or what a new ledger holds, exactly as written."""
        return amount_written(self.content)


@dataclass(frozen=True)
class Charge:
    """The right to make one release, once. Whoever holds it hands it to `Ledger.complete` before publishing."""

    number: int
    amount: Amount
    explanation: str  # how the amount comes about in the unit of the budget
    request: str
    holder: str  # hash of the entry that gave this right away: the charge, or the latest resumption


def text_and_hash(number: int, content: Mapping[str, Any], previous: str) -> tuple[str, str]:
    """The text to store for an entry, and its hash."""
    text = json.dumps({**content, "number": number}, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text, _hash(previous, text.encode("ascii"))


def _hash(previous: str, text: bytes) -> str:
    return hashlib.sha256(previous.encode("ascii") + b"\n" + text).hexdigest()


def checked_entries(rows: Iterable[tuple[object, object, object]], count: int, file: str) -> list[Entry]:
    """The entries in these (number, text, hash) rows, after checking every link of the chain.

    `count` is how many there should be, kept apart from the rows: a chain that was cut off at its end looks whole.
    """
    entries: list[Entry] = []
    previous = FIRST_HASH
    for number, text, stored in rows:
        where = len(entries)
        if number != where:
            raise damaged(file, f"entry {where} is missing: entry {number!r} stands in its place", entries)
        if not isinstance(text, bytes) or not isinstance(stored, bytes):
            raise damaged(file, f"entry {where} is not text", entries)
        if _hash(previous, text).encode("ascii") != stored:
            raise damaged(file, f"entry {where} was changed, or an entry before it was exchanged (wrong hash)", entries)
        previous = stored.decode("ascii")
        try:
            entries.append(Entry(where, json.loads(text), previous))
        except (ValueError, RecursionError):
            raise damaged(file, f"entry {where} was not written by PathVeil (no JSON)", entries) from None
    if len(entries) != count:
        raise damaged(file, f"there are {len(entries)} entries where {count} were written", entries)
    if not entries:
        raise damaged(file, "it has no entries at all", entries)
    return entries


def damaged(file: str, what: str, intact: Iterable[Entry] = ()) -> DamagedLedgerError:
    kept = list(intact)
    sound = f"Entries 0 to {len(kept) - 1} are as written. " if kept else ""
    return DamagedLedgerError(f"{file}: the ledger is damaged: {what}. {sound}{HOW_TO_RECOVER}", kept)
