"""The command `pathveil`: which commands there are, and what becomes of errors.

Exit codes: 0 done; 1 the work failed (bad data, no budget left, no space); 2 wrong use (unknown option, a number that
makes no sense); 130 stopped with Ctrl-C. Messages go to standard error. Only a bug in PathVeil shows a traceback.

Modules of this room import numerical libraries inside functions only: `pathveil --help` has to be quick.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType
from typing import Annotated

import typer

from pathveil.cli.compare import compare
from pathveil.cli.inspect_model import inspect
from pathveil.cli.ledger import ledger_app
from pathveil.cli.model import model
from pathveil.cli.plan import plan
from pathveil.cli.privatize import privatize
from pathveil.cli.report import report_app
from pathveil.cli.stream import stream
from pathveil.cli.synthesize import synthesize

app = typer.Typer(
    name="pathveil",
    help="Release symbolic trajectories and Markov models under differential privacy.",
    no_args_is_help=True,
    # A traceback with the values of variables in it could show sensitive words.
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (plan, privatize, stream, model, synthesize, inspect, compare):
    app.command()(command)
app.add_typer(ledger_app, name="ledger")
app.add_typer(report_app, name="report")


def _print_version(wanted: bool) -> None:
    if wanted:
        from pathveil import __version__

        typer.echo(f"pathveil {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[  # the callback does the work
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    pass


@app.command()
def demo() -> None:
    """A tour: a sensitive trip through a synthetic town, released at three levels of privacy.

    Example: [bold]pathveil demo[/bold]
    """
    from pathveil.cli.demo import run_demo

    run_demo()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    if threading.current_thread() is threading.main_thread():
        # A polite request to end leaves as little behind as Ctrl-C does.
        signal.signal(signal.SIGTERM, _end)
    try:
        app(arguments, prog_name="pathveil")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt:
        return 130
    except Exception as problem:
        code, message = _explained(problem)
        if code is None:
            raise
        print(f"pathveil: {message}", file=sys.stderr)
        return code
    return 0


def _end(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _explained(problem: Exception) -> tuple[int | None, str]:
    """The exit code and the message for a problem that is not a bug of ours; no code for one that is."""
    from pathveil.errors import InvalidParameterError, PathVeilError

    if isinstance(problem, InvalidParameterError):
        return 2, str(problem)
    if isinstance(problem, PathVeilError):
        return 1, str(problem)
    if isinstance(problem, OSError):
        where = f"{problem.filename}: " if problem.filename else ""
        return 1, f"{where}{problem.strerror or problem}"
    if isinstance(problem, MemoryError):
        return 1, "there is not enough memory for this"
    return None, ""
