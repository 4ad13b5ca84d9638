"""What the entries of a ledger amount to: spent, left, open, done. Pure bookkeeping, no file."""

from __future__ import annotations

from collections.abc import Sequence

from pathveil.errors import BudgetExceededError, LedgerError, PathVeilError
from pathveil.ledger.amounts import NOTHING, Amount, amount_written
from pathveil.ledger.cost import Cost
from pathveil.ledger.entries import Entry, damaged
from pathveil.privacy.units import unit_from_dict

FORMAT = 2
_TEXTS = ("command", "conversion", "fingerprint", "request", "time", "version")  # what every charge says


class Account:
    """The budget after all entries.

    Every charge is an amount in the one unit of the budget. Under "basic" composition the charges add up, and the sum
    has to stay within the total. Under "pld" every charge uses up one of a number of releases that was worked out when
    the ledger was created.
    """

    def __init__(self, entries: Sequence[Entry], file: str) -> None:
        created = entries[0].content
        if created.get("format") == 1:
            raise LedgerError(
                f"{file}: this ledger was made by a version of PathVeil that kept a budget for each unit by itself, so "
                "that promises about the same people did not add up. It cannot be continued. Create a new ledger for "
                "one unit, with what is left of the budget after all that was released."
            )
        if created.get("kind") != "created" or created.get("format") != FORMAT:
            raise LedgerError(
                f"{file}: this ledger has format {created.get('format')!r}, and this version of PathVeil reads format "
                f"{FORMAT}. Use the version that wrote it ({created.get('version')}), or a newer one."
            )
        self.total = entries[0].amount
        self.unit = unit_from_dict(created["unit"])
        self.user: str | None = created["user"]
        if not isinstance(self.user, str | None):
            raise TypeError("user")
        self.composition = str(created["composition"])
        self.each: Amount | None = None
        self.releases: int | None = None
        if self.composition == "pld":
            self.each = amount_written(created["each"])
            self.releases = int(created["releases"])
        self.charges: dict[int, Entry] = {}
        self.holders: dict[int, str] = {}  # open charges, and the hash of the entry that holds each
        self.outputs: dict[int, str] = {}  # what sealing or completing said of the output
        self.sealed: set[int] = set()
        self.spent = NOTHING  # by all charges, completed or not
        for entry in entries[1:]:
            self._add(entry, file)

    def _add(self, entry: Entry, file: str) -> None:
        if entry.kind == "charged":
            if not all(isinstance(entry.content[name], str) for name in _TEXTS):
                raise TypeError(f"entry {entry.number} does not say what was charged")
            self.spent = self.spent.plus(entry.amount)
            self.charges[entry.number] = entry
            self.holders[entry.number] = entry.hash
        elif entry.kind in self._next_kinds(entry.charge):
            self._follow(entry, entry.charge)
        else:
            raise damaged(file, f"entry {entry.number} ({entry.kind}) does not follow from those before it")

    def _next_kinds(self, charge: int) -> tuple[str, ...]:
        """Which entries about this charge may come."""
        if charge not in self.holders:
            return ()
        return ("completed",) if charge in self.sealed else ("resumed", "sealed", "completed")

    def _follow(self, entry: Entry, charge: int) -> None:
        """What becomes of an open charge."""
        if entry.kind == "resumed":
            self.holders[charge] = entry.hash
            return
        self.outputs[charge] = str(entry.content["output"] or self.outputs.get(charge, ""))
        if entry.kind == "sealed":
            self.sealed.add(charge)
        else:
            del self.holders[charge]

    @property
    def remaining(self) -> Amount:
        """The most that one more release may cost."""
        if self.each is None or self.releases is None:
            return self.total.minus(self.spent)
        return self.each if len(self.charges) < self.releases else NOTHING

    def require_room(self, cost: Cost) -> None:
        """An error where the budget does not cover this."""
        used_up = self.releases is not None and len(self.charges) >= self.releases
        if cost.amount.fits_in(self.remaining) and not used_up:
            return
        reason = f"the budget does not cover this release. {cost.explanation}"
        if self.releases is not None:
            reason += f"; {len(self.charges)} of {self.releases} releases were made, each of at most {self.each}"
        raise BudgetExceededError(reason, str(self.unit), cost.amount, self.remaining)

    def open_charge(self, request: str) -> Entry | None:
        """The latest charge of this request that was not completed."""
        mine = [number for number in self.holders if self.charges[number].content["request"] == request]
        return self.charges[max(mine)] if mine else None

    def resumable(self, request: str) -> Entry | None:
        """The latest open charge of this request, if certainly nothing of it was ever readable."""
        found = self.open_charge(request)
        return None if found is None or found.number in self.sealed else found


def account_of(entries: Sequence[Entry], file: str) -> Account:
    """The account, or a typed error where entries with right hashes make no sense (somebody else wrote them)."""
    try:
        return Account(entries, file)
    except PathVeilError:
        raise
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as problem:
        raise damaged(file, f"an entry was not written by PathVeil ({type(problem).__name__}: {problem})") from None
