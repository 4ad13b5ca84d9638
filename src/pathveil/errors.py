"""Everything that PathVeil raises on purpose.

All of these are `PathVeilError`s, and all of those are `ValueError`s, so that `except ValueError` keeps working in
code that does not know us. Messages say what was wrong, where, and what to do next. A message about a sensitive
word is written for the curator: don't log it where others read.
"""


class PathVeilError(ValueError):
    """The common parent: catch this to catch everything that PathVeil raises on purpose."""


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
    """Two words that must have the same length do not."""


class TooLargeError(PathVeilError):
    """The exact computation would not fit; the message names the size and a way out."""


class UnreachablePrivacyError(PathVeilError):
    """No amount of noise keeps the promise that was asked for; the message says what would have to change."""


class InvalidCountsError(PathVeilError):
    """Counts or probabilities are not what they claim to be: negative, not whole, off the simplex, off the support."""


class DataFileError(PathVeilError):
    """A data file cannot be read or written as asked: missing, damaged, of another shape, or already there."""
