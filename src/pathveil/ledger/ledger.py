"""The ledger: a privacy budget in a file that many processes may charge and none can overspend.

A budget belongs to one data set and one unit. Every release is charged what it costs in that unit (`cost`), or refused.

The order of things is what makes it safe. *Charge* first: when `charge` returns, the cost is on the disk. Then make the
release, under a temporary name. Then *seal* the charge, publish, and *complete* it. A crash anywhere wastes budget at
worst.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal, Self, Unpack

from pathveil.errors import InvalidParameterError, LedgerError, UnitMismatchError
from pathveil.ledger.account import FORMAT, Account, account_of
from pathveil.ledger.amounts import Amount, amount_of, decimal_text
from pathveil.ledger.cost import Circumstances, Cost, LossAt, buys, cost_in
from pathveil.ledger.entries import Charge, Entry, damaged
from pathveil.ledger.optimal import releases_that_fit
from pathveil.ledger.store import LedgerFile
from pathveil.privacy.guarantee import Guarantee
from pathveil.privacy.units import Known, Person, Unit


@dataclass(frozen=True)
class Verification:
    """What `Ledger.verify` found: everything is as written. Note `head` down elsewhere, and hand it in next time."""

    entries: int
    head: str

    def __str__(self) -> str:
        return f"{self.entries} entries, all as written; head {self.head}"


class Ledger:
    """A privacy budget in a file. Make one with `Ledger.create`, use it again with `Ledger.open`.

    The object holds a path and no open file, so it may be shared by threads and survives a fork. `with` is allowed and
    changes nothing.

    >>> import pathveil as pv, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "budget.db"
    >>> ledger = pv.Ledger.create(path, epsilon=1.0, unit=pv.units.Symbols(adjacency=1))
    >>> mechanism = pv.PermuteAndFlip(pv.Alphabet("abc"), epsilon=0.4)
    >>> charge = ledger.charge(mechanism.guarantee, command="weekly release", request="week 1")
    >>> private = mechanism.privatize("abcabc")
    >>> ledger.complete(charge, output="week1.csv")
    >>> print(ledger.remaining)
    ε = 0.6, δ = 0
    >>> folder.cleanup()
    """

    def __init__(self, file: LedgerFile, identity: str, unit: Unit, user: str | None) -> None:
        self._file = file
        self._identity = identity  # the hash of the first entry: a file that was exchanged has another one
        self._unit, self._user = unit, user

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        epsilon: float,
        delta: float = 0.0,
        *,
        unit: Unit | None = None,
        user: str | None = None,
        composition: Literal["basic", "pld"] = "basic",
        each: tuple[float, float] | None = None,
    ) -> Self:
        """A new ledger that allows (ε, δ) in total for one unit, which has to be named. A file is never overwritten.

        `unit` is what the budget protects: `pv.units.Symbols(b)`, `SameLength()`, `Word(max_length)`,
        `User(max_words, max_length)`, `UserSymbols(max_words)`, `Transition()` or another of `pv.units`. It cannot
        be changed later. For units of persons, `user` names the column that says whose word it is: a release that holds
        each of *these* users to fewer words than the unit allows is charged for fewer.

        With composition "pld", `each` is the (ε₀, δ₀) that no release will exceed. The ledger then works out how many
        such releases are (ε, δ)-private together by the optimal composition theorem, often several times as many as
        by adding up. The size has to be fixed here, before anything was released: that theorem does not hold for sizes
        that are chosen after looking at earlier releases. Adding up does.
        """
        total = amount_of(epsilon, delta, "the budget")
        if not total.epsilon:
            raise InvalidParameterError("epsilon of the budget is 0: a ledger needs something to spend")
        first = {
            "kind": "created",
            "format": FORMAT,
            **_written(total),
            "unit": _checked_unit(unit).to_dict(),
            "user": _checked_user(user, unit),
            **_composition(composition, total, each),
            "key": os.urandom(32).hex(),
            **_now(),
        }
        LedgerFile(path).create(first)
        return cls.open(path)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """An existing ledger, after checking that it is whole."""
        file = LedgerFile(path)
        entries = file.read()
        account = account_of(entries, str(file))
        return cls(file, entries[0].hash, account.unit, account.user)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, where: TracebackType | None
    ) -> None:
        """Nothing is left open between operations, so there is nothing to close."""

    def __repr__(self) -> str:
        return f"Ledger({str(self._file)!r})"

    # Charging and completing.

    def price(
        self,
        guarantee: Guarantee,
        *,
        longest: int | None = None,
        user: str | None = None,
        words_per_user: int | None = None,
        loss_at: LossAt | None = None,
    ) -> Cost:
        """What a release with this guarantee would cost in the unit of this budget; charges nothing.

        Where the budget's unit is wider than the guarantee's, more has to be known: `longest`, the number of symbols of
        the longest word, where lengths are public; `words_per_user`, the limit to which the release holds every `user`
        (it counts only if this is the column that the budget calls its persons); and for certified mechanisms
        `loss_at`, the mechanism's own bound for words farther apart. A guarantee that is itself about persons needs
        `user`, if the budget names their column. A `UnitMismatchError` says why a release cannot be expressed in this
        unit at all.
        """
        known = Known(longest=longest, words_per_user=words_per_user)
        if user is None or user != self._user:
            known = Known(longest=longest)
            if self._user is not None and isinstance(guarantee.protects, Person) and isinstance(self.unit, Person):
                persons = "whose column is not said" if user is None else f"named by the column {user!r}"
                raise UnitMismatchError(
                    f"this budget protects persons named by the column {self._user!r}, and the release persons "
                    f"{persons}: who is one person there may be several here. Release with `user={self._user}`."
                )
        return cost_in(self.unit, guarantee, known, loss_at)

    def charge(
        self,
        guarantee: Guarantee,
        *,
        command: str,
        request: str,
        fingerprint: str = "",
        **circumstances: Unpack[Circumstances],
    ) -> Charge:
        """Take what this release costs, on the disk before this returns; only then may the release be made.

        `command` says for people what is being released. `request` is any text by which a later run can recognise
        its own charge (see `resume`). `fingerprint` is what `Ledger.fingerprint` says of the sensitive input. The
        `circumstances` are the arguments of `price`. Raises `BudgetExceededError` where not enough is left and
        `UnitMismatchError` where the release has no cost in this unit; both charge nothing.
        """
        _require_texts(command=command, request=request, fingerprint=fingerprint)
        cost = self.price(guarantee, **circumstances)
        with self._file.appending() as file:
            self._account(file.entries).require_room(cost)
            entry = file.append(
                {
                    "kind": "charged",
                    **_written(cost.amount),
                    "conversion": cost.explanation,
                    "guarantee": guarantee.to_dict(),
                    "command": command,
                    "request": request,
                    "fingerprint": fingerprint,
                    **_now(),
                }
            )
        return Charge(entry.number, cost.amount, cost.explanation, request, entry.hash)

    def seal(self, charge: Charge, *, output: str) -> None:
        """Write down that the output is finished and may appear from now on: after this, no run can resume the charge.

        `output` says what came out: a SHA-256 digest by which the finished file can be recognised. Where this raises,
        do not publish: another run may have taken the charge over.
        """
        self._conclude("sealed", charge, output)

    def complete(self, charge: Charge, *, output: str = "") -> None:
        """Write down that the release is out. A charge that was not sealed has to be completed *before* publishing.

        Where this raises, publish nothing more: another run may have taken the charge over. `output` says for people
        what came out, if `seal` has not said so.
        """
        self._conclude("completed", charge, output)

    def _conclude(self, kind: str, charge: Charge, output: str) -> None:
        _require_texts(output=output)
        with self._file.appending() as file:
            account = self._account(file.entries)
            holder = account.holders.get(charge.number)
            if holder != charge.holder or (kind == "sealed" and charge.number in account.sealed):
                known = account.charges.get(charge.number)
                if known is None or known.content["request"] != charge.request:
                    why = "this ledger has no such charge"
                elif holder is None:
                    why = "it was completed before"
                elif holder == charge.holder:
                    why = "it was sealed before"
                else:
                    why = "another run has resumed it since, and the right to release went over to that run"
                raise LedgerError(f"{self._file}: charge {charge.number} cannot be {kind}: {why}. Publish nothing.")
            file.append({"kind": kind, "charge": charge.number, "output": output, **_now()})

    def find_open(self, request: str) -> Entry | None:
        """The latest charge of this request that was never completed, to look at; `resume` takes it over."""
        return self._account(self._file.read()).open_charge(request)

    def resume(
        self,
        guarantee: Guarantee,
        *,
        request: str,
        fingerprint: str = "",
        **circumstances: Unpack[Circumstances],
    ) -> Charge | None:
        """Take over the open charge of an earlier run that died, or None where there is none for exactly this.

        Guarantee, request and fingerprint have to be the same, and the release must not cost more today than was
        charged then (`circumstances` are the arguments of `price`). A sealed charge cannot be taken over: its output
        may have appeared. The earlier run, should it be alive after all, can no longer seal or complete its charge, and
        so must not publish. Call this only where nothing of that run can have been read; docs/ledger.md says why.
        """
        cost = self.price(guarantee, **circumstances)
        with self._file.appending() as file:
            found = self._account(file.entries).resumable(request)
            same = {"guarantee": guarantee.to_dict(), "fingerprint": fingerprint}
            if found is None or any(found.content[name] != value for name, value in same.items()):
                return None
            if not cost.amount.fits_in(found.amount):
                return None
            entry = file.append({"kind": "resumed", "charge": found.number, **_now()})
        return Charge(found.number, found.amount, str(found.content["conversion"]), request, entry.hash)

    def fingerprint(self, data: bytes | Iterable[bytes]) -> str:
        """HMAC-SHA256 of the sensitive input under this ledger's own key, in one piece or in several.

        Keyed, because sensitive inputs can often be guessed: with a plain hash, anyone who sees a listing could try
        guesses until one fits. The key stays in the ledger file and in no listing.
        """
        created = self._read()[0].content
        try:
            key = bytes.fromhex(created["key"])
        except (KeyError, TypeError, ValueError):
            raise damaged(str(self._file), "entry 0 was not written by PathVeil (no key)") from None
        made = hmac.new(key, digestmod="sha256")
        for piece in [data] if isinstance(data, bytes | bytearray | memoryview) else data:
            made.update(piece)
        return made.hexdigest()

    # Looking.

    @property
    def unit(self) -> Unit:
        """What this budget protects; every amount is in this unit."""
        return self._unit

    @property
    def user(self) -> str | None:
        """The column that says whose word it is, for a budget of persons; None where none was named."""
        return self._user

    @property
    def total(self) -> Amount:
        """The budget, as created."""
        return self._account(self._file.read()).total

    @property
    def spent(self) -> Amount:
        """The sum of all charges, completed or not."""
        return self._account(self._file.read()).spent

    @property
    def remaining(self) -> Amount:
        """The most that one more release may cost."""
        return self._account(self._file.read()).remaining

    def entries(self) -> list[Entry]:
        """Everything that was written down, in order; without the key."""
        first, *others = self._read()
        shown = {name: value for name, value in first.content.items() if name != "key"}
        return [Entry(first.number, shown, first.hash), *others]

    def verify(self, head: str | None = None) -> Verification:
        """Check every entry, the chain between them and the structure of the file, or say what is damaged and where.

        A ledger that was replaced by an older copy of itself is whole. To notice that too, give the `head` of an
        earlier verification, kept elsewhere: the ledger must still have that entry.
        """
        entries = self._file.read(thoroughly=True)
        account = self._account(entries)
        if account.releases is None and not account.spent.fits_in(account.total):
            over = account.spent.beyond(account.total)
            raise damaged(str(self._file), f"more was charged than the budget, by {over}")
        if account.releases is not None and len(account.charges) > account.releases:
            raise damaged(str(self._file), f"more than {account.releases} releases were charged")
        if head is not None and head not in [_head(entry) for entry in entries]:
            raise damaged(
                str(self._file),
                f"the entry {head} is not in it: an older copy was put in its place, or the last entries were removed",
                entries,
            )
        return Verification(len(entries), _head(entries[-1]))

    def to_dict(self) -> dict[str, Any]:
        """Everything but the key, for JSON. For the curator's eyes: it tells when the same input was used again."""
        entries = self.entries()
        account = self._account(entries)
        return {
            "budget": account.total.to_dict(),
            "composition": account.composition,
            "each": account.each.to_dict() if account.each else None,
            "releases": account.releases,
            "head": _head(entries[-1]),
            "unit": str(account.unit),
            "protects": account.unit.to_dict(),
            "user": account.user,
            "spent": account.spent.to_dict(),
            "remaining": account.remaining.to_dict(),
            "buys": [
                {"protects": what, "epsilon": float(epsilon)} for what, epsilon in buys(account.unit, account.remaining)
            ],
            "not_completed": len(account.holders),
            "charges": [
                {
                    "number": number,
                    **{name: entry.content[name] for name in ("time", "version", "command", "request", "fingerprint")},
                    "conversion": entry.content["conversion"],
                    **entry.amount.to_dict(),
                    "guarantee": entry.content["guarantee"],
                    "status": "charged, not completed" if number in account.holders else "completed",
                    "output": account.outputs.get(number),
                }
                for number, entry in account.charges.items()
            ],
        }

    def _read(self) -> list[Entry]:
        entries = self._file.read()
        self._account(entries)
        return entries

    def _account(self, entries: list[Entry]) -> Account:
        if entries[0].hash != self._identity:
            raise LedgerError(f"{self._file}: another ledger was put in this one's place since it was opened")
        return account_of(entries, str(self._file))


def _composition(name: str, total: Amount, each: tuple[float, float] | None) -> dict[str, Any]:
    """How releases are composed, as the first entry says it."""
    if name == "basic":
        if each is not None:
            raise InvalidParameterError("`each` belongs to composition 'pld'; adding up allows releases of any size")
        return {"composition": name}
    if name != "pld":
        raise InvalidParameterError(f"composition is {name!r}: it must be 'basic' or 'pld'")
    if each is None:
        raise InvalidParameterError(
            "composition 'pld' needs `each=(ε, δ)`, the most that any single release will cost: it has to be fixed "
            "before the first one"
        )
    if not total.delta:
        raise InvalidParameterError("composition 'pld' needs a delta above 0; at δ = 0 adding up is the best")
    size = amount_of(*each, "each release")
    if not size.epsilon:
        raise InvalidParameterError("epsilon of each release is 0: it must be above 0")
    releases = releases_that_fit(size, total)
    if releases < 1:
        raise InvalidParameterError(f"one release of {size} is more than the whole budget of {total}")
    return {"composition": name, "each": _written(size), "releases": releases}


def _checked_unit(unit: Unit | None) -> Unit:
    if isinstance(unit, Unit):
        return unit
    raise InvalidParameterError(
        f"unit is {unit!r}: say what the budget protects. One budget has one unit, and every release is charged what "
        "it costs in that unit: pv.units.Symbols(b) (b symbols of one word), SameLength() (all symbols of one word), "
        "`Word(max_length)` (a whole word, its length included), `User(max_words, max_length)` or "
        "`UserSymbols(max_words)` (all words of a person), Transition() (the destination of one transition). The "
        "wider the unit, the more a release costs, and the more the budget promises. (docs/ledger.md)"
    )


def _checked_user(user: str | None, unit: Unit | None) -> str | None:
    if user is None or (isinstance(user, str) and user and isinstance(unit, Person)):
        return user
    raise InvalidParameterError(f"user is {user!r}: the name of a column, and only for a budget of persons")


def _require_texts(**texts: object) -> None:
    for name, value in texts.items():
        if not isinstance(value, str):
            raise InvalidParameterError(f"{name} is {value!r}: it must be text, as it is written down for ever")


def _written(amount: Amount) -> dict[str, str]:
    return {"epsilon": decimal_text(amount.epsilon), "delta": decimal_text(amount.delta)}


def _now() -> dict[str, str]:
    """When, and by which version. For people only: clocks go back, so that nothing is ever decided by time."""
    from pathveil import __version__

    return {"time": datetime.now(UTC).isoformat(timespec="seconds"), "version": __version__}


def _head(entry: Entry) -> str:
    return f"{entry.number}:{entry.hash}"
