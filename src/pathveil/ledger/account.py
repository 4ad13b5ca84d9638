"""What the entries of a ledger amount to: spent, left, open, done. Pure bookkeeping, no file."""

from __future__ import annotations

from collections.abc import Sequence

from pathveil.errors import BudgetExceededError, LedgerError, PathVeilError
from pathveil.ledger.amounts import NOTHING, Amount, amount_written
from pathveil.ledger.entries import Entry, damaged

FORMAT = 1
_TEXTS = ("command", "fingerprint", "request", "time", "version")  # what every charge says, beside its guarantee


class Account:
    """The budget of each unit, after all entries.

    Under "basic" composition the charges of a unit add up, and the sum has to stay within the total. Under "pld" every
    charge of a unit uses up one of a number of releases that was worked out when the ledger was created.
    """

    def __init__(self, entries: Sequence[Entry], file: str) -> None:
        created = entries[0].content
        if created.get("kind") != "created" or created.get("format") != FORMAT:
            raise LedgerError(
                f"{file}: this ledger has format {created.get('format')!r}, and this version of PathVeil reads format "
                f"{FORMAT}. Use the version that wrote it ({created.get('version')}), or a newer one."
            )
        self.total = entries[0].amount
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
        self._spent: dict[str, Amount] = {}
        self._count: dict[str, int] = {}
        for entry in entries[1:]:
            self._add(entry, file)

    def _add(self, entry: Entry, file: str) -> None:
        if entry.kind == "charged":
            if not all(isinstance(entry.content[name], str) for name in _TEXTS):
                raise TypeError(f"entry {entry.number} does not say what was charged")
            self._spent[entry.unit] = self.spent(entry.unit).plus(entry.amount)
            self._count[entry.unit] = self.count(entry.unit) + 1
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
    def units(self) -> list[str]:
        """In the order of their first charge."""
        return list(self._spent)

    def spent(self, unit: str) -> Amount:
        """The sum of all charges of this unit, completed or not."""
        return self._spent.get(unit, NOTHING)

    def count(self, unit: str) -> int:
        return self._count.get(unit, 0)

    def remaining(self, unit: str) -> Amount:
        """The most that one more release of this unit may cost."""
        if self.each is None or self.releases is None:
            return self.total.minus(self.spent(unit))
        return self.each if self.count(unit) < self.releases else NOTHING

    def require_room(self, amount: Amount, unit: str) -> None:
        left = self.remaining(unit)
        used_up = self.releases is not None and self.count(unit) >= self.releases
        if amount.fits_in(left) and not used_up:
            return
        reason = f"the budget does not cover this release; it is for the unit “{unit}”"
        if self.releases is not None:
            reason += f", with {self.count(unit)} of {self.releases} releases made, each of at most {self.each}"
        raise BudgetExceededError(reason, unit, amount, left)

    def open_charge(self, request: str) -> Entry | None:
        """The latest charge of this request that was not completed."""
        mine = [number for number in self.holders if self.charges[number].content["request"] == request]
        return self.charges[max(mine)] if mine else None

    def resumable(self, request: str, unit: str) -> Entry | None:
        """The latest open charge of this request and unit, if certainly nothing was published for it."""
        wanted = (request, unit)
        mine = [n for n in self.holders if (self.charges[n].content["request"], self.charges[n].unit) == wanted]
        return self.charges[max(mine)] if mine and max(mine) not in self.sealed else None


def account_of(entries: Sequence[Entry], file: str) -> Account:
    """The account, or a typed error where entries with right hashes make no sense (somebody else wrote them)."""
    try:
        return Account(entries, file)
    except PathVeilError:
        raise
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as problem:
        raise damaged(file, f"an entry was not written by PathVeil ({type(problem).__name__}: {problem})") from None
