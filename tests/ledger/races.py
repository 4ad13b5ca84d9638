"""Processes that all charge one ledger at the same moment."""

from __future__ import annotations

import multiprocessing
import os

import pathveil as pv
from tests.ledger.conftest import charge

# Forked, because that starts in no time; a `Ledger` that was opened before the fork may be used on either side.
FORK = multiprocessing.get_context("fork")


def _race(ledger: pv.Ledger, barrier, tries: int, won) -> None:
    barrier.wait()
    for _ in range(tries):
        try:
            ledger.complete(charge(ledger, 0.1, request=str(os.getpid())))
        except pv.BudgetExceededError:
            continue
        with won.get_lock():
            won.value += 1


def race(ledger: pv.Ledger, processes: int, tries: int) -> int:
    """All processes charge 0.1 at the same moment, several times; how often one of them won."""
    won, barrier = FORK.Value("i", 0), FORK.Barrier(processes)
    racers = [FORK.Process(target=_race, args=(ledger, barrier, tries, won)) for _ in range(processes)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(120)
    assert [racer.exitcode for racer in racers] == [0] * processes
    return int(won.value)
