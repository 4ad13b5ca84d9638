"""Five walks through the house: which files a typical call passes, in the order in which it enters them.

Each call is made once before it is traced, so that what is only loaded or compiled does not count; compiled loops are
not seen. `python -m tests.house` prints the walks.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import pathveil as pv
from tests.house import PACKAGE, files, room_of

STREETS = [(f"s{i}", f"s{(i + step) % 8}") for i in range(8) for step in (1, 2, 5)]


def walks() -> Iterator[str]:
    """One paragraph for each walk."""
    for what, entered in taken():
        rooms = list(dict.fromkeys(room_of(name) or "(top)" for name in entered))
        yield f"{what}: {len(entered)} files in {len(rooms)} rooms ({', '.join(rooms)})"
        yield "  " + " → ".join(name.removeprefix("pathveil.") for name in entered)


def taken() -> Iterator[tuple[str, list[str]]]:
    """What is called in each walk, and the files that it enters."""
    world = pv.MarkovChain.from_edges(STREETS)
    words = [world.random_word(6, pv.insecure_seed(i)) for i in range(20)]
    codes = np.tile(np.array([world.encode(word) for word in words]), (1000, 1))
    flip, certified = pv.PermuteAndFlip(world, epsilon=2.0), pv.CertifiedExponential(world, epsilon=2.0)
    edits = pv.CertifiedEditExponential(world, epsilon=2.0, cap=2, lengths=(5, 7))

    def model() -> None:
        pv.fit_private_chain(
            words=words, states=world.symbols, epsilon=1.0, delta=1e-6, unit="transition", mechanism="dirichlet"
        )

    yield _walk("one word (PermuteAndFlip.privatize)", lambda: flip.privatize(words[0]))
    yield _walk("one batch (CertifiedExponential.privatize_array)", lambda: certified.privatize_array(codes))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield _walk("one command with a ledger (pathveil privatize)", _command(words))
    yield _walk("one model (fit_private_chain)", model)
    yield _walk("one edit batch (CertifiedEditExponential.privatize_many)", lambda: edits.privatize_many(words))


def _command(words: list[Any]) -> Callable[[], None]:
    from pathveil.cli.app import main

    Path("roads.csv").write_text("from,to\n" + "".join(f"{a},{b}\n" for a, b in STREETS))
    Path("trips.txt").write_text("".join(" ".join(word) + "\n" for word in words))
    line = "privatize trips.txt --edges roads.csv --epsilon 2 --yes --ledger budget.db --output out.txt --overwrite -q"

    def run(arguments: str) -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as messages:
            code = main(arguments.split())
        if code:
            raise RuntimeError(messages.getvalue())

    run("ledger init budget.db --epsilon 100 --unit symbols --adjacency 1")
    return lambda: run(line)


def _walk(what: str, call: Callable[[], object]) -> tuple[str, list[str]]:
    call()
    return what, _entered(call)


def _entered(call: Callable[[], object]) -> list[str]:
    """The files whose functions are called, in order of the first call."""
    names = {str(path): name for name, path in files().items()}
    entered: dict[str, None] = {}

    def notice(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(str(PACKAGE) + os.sep):
            entered.setdefault(names[code.co_filename])

    threading.setprofile(notice)
    sys.setprofile(notice)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return list(entered)
