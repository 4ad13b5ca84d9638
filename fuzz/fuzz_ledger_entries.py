"""The entries of a ledger, one JSON text a line, with right hashes: as someone writes who knows how to forge them."""

from decimal import Decimal

from harness import fuzz, parsers

with parsers():
    from pathveil.ledger import entries
    from pathveil.ledger.account import account_of
    from pathveil.ledger.amounts import Amount


def read(data: bytes) -> None:
    rows, previous = [], entries.FIRST_HASH
    for number, text in enumerate(data.split(b"\n")):
        previous = entries._hash(previous, text)
        rows.append((number, text, previous.encode()))
    account = account_of(entries.unsealed(rows, len(rows), "budget.db"), "budget.db")
    for unit in [*account.units, "another unit"]:
        account.remaining(unit)
        account.require_room(Amount(Decimal("0.1"), Decimal(0)), unit)
        account.resumable("r", unit)
    account.open_charge("r")


fuzz(read)
