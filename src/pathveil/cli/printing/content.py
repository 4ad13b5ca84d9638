"""Who may see what the sensitive input says.

With a ledger, a command may be run by someone who may not read the input: what that person learns is what the budget
pays for. But checks come before the charge, and their messages quote rows. So under a ledger messages show the place
and the kind of a problem and no content, and figures that depend on the data are left out, unless `--curator` says that
whoever runs the command may read the input.

Nothing is shown that was not written for this: an error without such a message is called by its kind alone.
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from pathlib import Path

_MORE = " (Under a ledger, messages do not quote the input. Whoever may read it can add --curator.)"


@contextlib.contextmanager
def content_hidden(hidden: bool) -> Iterator[None]:
    """If `hidden`, errors inside become such that quote nothing from the sensitive input."""
    try:
        yield
    except Exception as problem:
        if not hidden:
            raise
        told = _without_content(problem)
        if told is None:
            raise
        from pathveil.errors import InvalidParameterError, PathVeilError

        # Wrong use stays wrong use: scripts tell it by the exit code.
        kind = InvalidParameterError if isinstance(problem, InvalidParameterError) else PathVeilError
        raise kind(told + _MORE) from None


def _without_content(problem: Exception) -> str | None:
    """What anyone may read; None if that is the problem's own message."""
    from pathveil.errors import (
        BudgetExceededError,
        FileItselfError,
        InvalidParameterError,
        InvalidSystemError,
        LedgerError,
        PathVeilError,
    )

    if isinstance(problem, PathVeilError) and problem.without_content is not None:
        return problem.without_content
    about_other_things = (BudgetExceededError, FileItselfError, InvalidParameterError, InvalidSystemError, LedgerError)
    if isinstance(problem, (*about_other_things, BrokenPipeError, MemoryError)):
        return None
    if isinstance(problem, PathVeilError):
        return f"the input cannot be used: {_kind(problem)}."
    if isinstance(problem, OSError) and problem.strerror:
        return None
    if isinstance(problem, UnicodeError):
        return "the input holds a text that is not UTF-8."
    last = traceback.extract_tb(problem.__traceback__)[-1]
    return f"this is a bug in PathVeil: {type(problem).__name__} in {Path(last.filename).name}, line {last.lineno}."


def _kind(problem: Exception) -> str:
    """The first sentence of the class's own explanation."""
    explained = (type(problem).__doc__ or type(problem).__name__).split("\n")[0]
    return explained.rstrip(".")
