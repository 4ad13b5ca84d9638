"""`pathveil stream`: a private symbol out for each symbol in, at once."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from pathveil.cli.options import (
    Adjacency,
    Budget,
    Curator,
    Distance,
    Epsilon,
    LedgerFile,
    Places,
    Quiet,
    SystemFile,
    takes_bundles,
)
from pathveil.cli.printing import content_hidden

if TYPE_CHECKING:
    from pathveil.systems.system import Symbol
    from pathveil.words.online import Online


@takes_bundles
def stream(
    *,
    epsilon: Epsilon,
    system: SystemFile,
    adjacency: Adjacency = 1,
    places: Places,
    ledger: LedgerFile = None,
    curator: Curator = False,
    quiet: Quiet = False,
) -> None:
    """Protect symbols while they arrive: a line in on standard input, a private line out at once.

    There is one symbol a line, and an empty line ends a word. Each word is protected by itself. When a symbol is
    written tells when one was read.

    With --coordinates a near symbol is a smaller error than a far one, and --within protects what lies near.

    Example: [bold]printf 'home\\ncart\\n' | pathveil stream --alphabet pages.txt --epsilon 2[/bold]
    """
    world, budget = system.read(), Budget(ledger, curator=curator)
    from pathveil.errors import FileItselfError
    from pathveil.words.online import Online

    measured = places.measured(Distance())
    mechanism = Online(world, epsilon, adjacency, **({} if measured is None else measured.options))
    promise = mechanism.guarantee
    promise = replace(promise, public=(*promise.public, "how many words there are", "when each symbol was read"))
    if sys.stdin is None or sys.stdout is None:
        raise FileItselfError("standard input or output is closed: a stream needs both. Connect them.")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="strict")  # as in files, whatever the terminal speaks
    from pathveil.release import Release

    names = {str(symbol): symbol for symbol in world.symbols}
    with Release(budget.open(), command="stream of standard input", request="stream") as release:
        release.charge(promise)
        release.seal("standard output")  # symbols appear one by one: nothing of it can be taken back
        if not quiet:
            print(f"The promise, for each word: {promise}", file=sys.stderr)
        with content_hidden(budget.hides_content):
            _privatize_lines(mechanism, names)


def _privatize_lines(mechanism: Online, names: dict[str, Symbol]) -> None:
    from pathveil.errors import UnknownSymbolError

    word = mechanism.stream()
    for number, name in _lines():
        if not name:
            word = mechanism.stream()
            print(flush=True)
            continue
        if name not in names:
            raise UnknownSymbolError(
                f"standard input, line {number}: unknown symbol {name!r}. Correct the input, or give a public system "
                f"that has this symbol (this one has {len(names)}, the first is {next(iter(names))!r}).",
                without_content=f"standard input, line {number}: the symbol is not one of the public system's",
            )
        print(word.push(names[name]), flush=True)


def _lines() -> Iterator[tuple[int, str]]:
    """The lines of standard input as they come, numbered, without their ends."""
    from pathveil.errors import DataFileError

    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            yield number, line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            what = f"standard input, line {number}: this is not UTF-8. Convert the input."
            raise DataFileError(what, without_content=what) from None
