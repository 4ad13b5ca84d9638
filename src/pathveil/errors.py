"""Everything that PathVeil raises on purpose.

All of these are `PathVeilError`s, and all of those are `ValueError`s, so that `except ValueError` keeps working in
code that does not know us. Messages say what was wrong, where, and what to do next. A message about a sensitive
word is written for the curator: don't log it where others read. `without_content` is for the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathveil.ledger.amounts import Amount
    from pathveil.ledger.entries import Entry


class PathVeilError(ValueError):
    """The common parent: catch this to catch everything that PathVeil raises on purpose.

    `without_content` says where and what is wrong without a word of the sensitive data; None where there is no such
    message, so that those who may not read the data get to know the kind of error and no more.
    """

    def __init__(self, message: str = "", *, without_content: str | None = None) -> None:
        super().__init__(message)
        self.without_content = without_content


class InvalidParameterError(PathVeilError):
    """A number or an option is outside what the mathematics allows (ε ≤ 0, b < 1, an unknown option, ...)."""


class InvalidSystemError(PathVeilError):
    """The public system itself is malformed: duplicate symbols, rows that do not sum to one, no symbol at all."""


class UnknownSymbolError(PathVeilError):
    """A word contains a symbol that the system does not have."""


class EmptyWordError(PathVeilError):
    """A word has no symbols; there is nothing to protect and nothing to release."""


class InfeasibleWordError(PathVeilError):
    """The public system could not have produced this word."""


class NoFeasibleWordError(PathVeilError):
    """The public system has no word of the requested length at all."""


class DeadEndError(PathVeilError):
    """A state without successor: a stream or a simulated path could get stuck, and there is no long run."""


class ReducibleChainError(PathVeilError):
    """A chain has several recurrent classes where a question has one answer only for a single one."""


class LengthMismatchError(PathVeilError):
    """A word has not the length that it must have: that of another word, or one in a public range."""


class TooLargeError(PathVeilError):
    """The exact computation would not fit; the message names the size and a way out."""


class UnreachablePrivacyError(PathVeilError):
    """No amount of noise keeps the promise that was asked for; the message says what would have to change."""


class InvalidCountsError(PathVeilError):
    """Counts or probabilities are not what they claim to be: negative, not whole, off the simplex, off the support."""


class LedgerError(PathVeilError):
    """A ledger file cannot be used as asked: missing, not a ledger, read-only, busy for too long, already there, ..."""


class DamagedLedgerError(LedgerError):
    """A ledger is not what was written; the message says where it breaks and how to go on.

    `intact` has the entries before the first damaged one. What came after them may have been spent too.
    """

    def __init__(self, message: str, intact: Sequence[Entry] = ()) -> None:
        super().__init__(message)
        self.intact = tuple(intact)


class BudgetExceededError(PathVeilError):
    """A release would cost more than is left. Nothing was charged, and nothing may be released.

    `requested`, `remaining` and `difference` are (ε, δ) amounts for this `unit`; `reason` is the first line.
    """

    def __init__(self, reason: str, unit: str, requested: Amount, remaining: Amount) -> None:
        self.unit = unit
        self.requested = requested
        self.remaining = remaining
        self.difference = requested.beyond(remaining)
        super().__init__(f"{reason}\nrequested:  {requested}\nremaining:  {remaining}\ndifference: {self.difference}")


class UnitMismatchError(InvalidParameterError):
    """A release cannot be expressed in the unit of a budget; the message says why, and what would go."""


class DataFileError(PathVeilError):
    """A data file cannot be read or written as asked: missing, damaged, of another shape, or already there."""


class FileItselfError(DataFileError):
    """The file itself is the trouble, and not what is in it: it is missing, there already, changed, of an unknown kind.

    The message quotes nothing from inside a file.
    """
