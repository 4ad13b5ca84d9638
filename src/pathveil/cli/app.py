"""The entry point of the command `pathveil`: what becomes of errors, interrupts and closed pipes.

Exit codes: 0 done; 1 the work failed (bad data, no budget left, no space); 2 wrong use (unknown option, a number that
makes no sense); 130 stopped with Ctrl-C, 143 with SIGTERM; 141 nobody reads the output any more (`| head -1`). The
last three are what a shell reports for a program that the signal itself has ended, so that scripts need to know only
one convention. Messages go to standard error. Only a bug in PathVeil shows a traceback.

Nothing is imported here that takes time: an interrupt may come while the rest is being loaded.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType

_FAILED = 1
_INTERRUPTED, _UNREAD = 128 + signal.SIGINT, 128 + 13  # SIGPIPE, which has no name on Windows


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        code = _UNREAD
    except OSError as problem:  # the disk is full where the output was sent
        code = _unwritable(problem)
    if code in (_UNREAD, _FAILED):
        _let_go_of_streams()
    return code


def _unwritable(problem: OSError) -> int:
    with contextlib.suppress(OSError):  # messages may go to the same disk
        _say(_FAILED, f"what was to be printed could not be written: {problem.strerror or problem}")
    return _FAILED


def _run(arguments: Sequence[str]) -> int:
    if threading.current_thread() is threading.main_thread():
        # A polite request to end leaves as little behind as Ctrl-C does.
        signal.signal(signal.SIGTERM, _end)
    _speak_any_language()
    for argument in arguments:
        if not _is_text(argument):
            return _say(2, f"the argument {argument!r} is not UTF-8. Give the file (or the column) another name.")
    from pathveil.cli.commands import app
    from pathveil.cli.printing import pass_messages_on

    pass_messages_on(silent=not {"--quiet", "-q", "--json"}.isdisjoint(arguments))
    try:
        app(arguments, prog_name="pathveil")
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            return _UNREAD  # typer has caught it, and says 1
        return end.code if isinstance(end.code, int) else 0
    except BrokenPipeError:
        raise
    except Exception as problem:
        code, message = _explained(problem)
        if code is None:
            raise
        return _say(code, message)
    return 0


def _say(code: int, message: str) -> int:
    print(f"pathveil: {message}", file=sys.stderr)
    return code


def _end(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _speak_any_language() -> None:
    """A terminal without ε, or without a letter of some file's name, shows an escape instead: no reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _is_text(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _let_go_of_streams() -> None:
    """Python flushes its streams at the very end, and would complain about a closed pipe or a full disk once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is None:
            continue
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _explained(problem: Exception) -> tuple[int | None, str]:
    """The exit code and the message for a problem that is not a bug of ours; no code for one that is."""
    from pathveil.cli.printing import with_options
    from pathveil.errors import InvalidParameterError, PathVeilError

    if isinstance(problem, PathVeilError):
        return 2 if isinstance(problem, InvalidParameterError) else 1, with_options(str(problem))
    if isinstance(problem, OSError):
        where = f"{problem.filename}: " if problem.filename else ""
        return 1, f"{where}{problem.strerror or problem}"
    if isinstance(problem, MemoryError):
        return 1, "there is not enough memory for this"
    if isinstance(problem, UnicodeEncodeError):
        # A file's name that is not UTF-8, or half a pair of surrogates in JSON.
        return 1, f"{problem.object!r} is not text that can be written as UTF-8. Give it another name."
    return None, ""
