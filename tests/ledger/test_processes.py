"""Many processes, one ledger; and processes that are killed at any moment."""

from __future__ import annotations

import os
import random
import signal
import time
from decimal import Decimal
from pathlib import Path

import pathveil as pv
from tests.ledger.conftest import charge, promise
from tests.ledger.races import FORK, race
from tests.sizes import small_and_large


@small_and_large("attempts", 1, 5)
def test_of_sixteen_processes_exactly_one_gets_the_last_epsilon(tmp_path, attempts):
    for attempt in range(attempts):
        ledger = pv.Ledger.create(tmp_path / f"{attempt}.db", 1.0, unit=pv.units.Symbols(1))
        charge(ledger, 0.85)
        assert race(ledger, 16, tries=1) == 1
        assert ledger.spent.epsilon == Decimal("0.95")
        ledger.verify()


def test_sixteen_processes_spend_a_budget_to_the_last_digit_and_no_further(new_ledger):
    ledger = new_ledger(2.0)
    assert race(ledger, 16, tries=3) == 20
    assert ledger.spent.epsilon == 2
    assert ledger.to_dict()["not_completed"] == 0
    ledger.verify()


def _create(path: Path, barrier, won) -> None:
    barrier.wait()
    try:
        pv.Ledger.create(path, 1.0, unit=pv.units.Symbols(1))
    except pv.LedgerError:
        return
    with won.get_lock():
        won.value += 1


def _resume(ledger: pv.Ledger, barrier, won) -> None:
    barrier.wait()
    mine = ledger.resume(promise(0.5), request="lost")
    barrier.wait()  # by now all have taken it over, one after the other
    try:
        ledger.complete(mine)
    except pv.LedgerError:
        return
    with won.get_lock():
        won.value += 1


def test_of_many_processes_that_create_the_same_ledger_one_does(tmp_path):
    assert _winners(_create, tmp_path / "budget.db") == 1
    assert len(pv.Ledger.open(tmp_path / "budget.db").entries()) == 1
    assert os.listdir(tmp_path) == ["budget.db"]


def test_of_many_processes_that_resume_the_same_charge_one_may_publish(new_ledger):
    ledger = new_ledger()
    charge(ledger, 0.5, request="lost")
    assert _winners(_resume, ledger) == 1
    assert ledger.spent.epsilon == Decimal("0.5")


def _winners(contest, what) -> int:
    won, barrier = FORK.Value("i", 0), FORK.Barrier(8)
    rivals = [FORK.Process(target=contest, args=(what, barrier, won)) for _ in range(8)]
    for rival in rivals:
        rival.start()
    for rival in rivals:
        rival.join(60)
    assert [rival.exitcode for rival in rivals] == [0] * 8
    return int(won.value)


@small_and_large("times", 10, 40)
def test_a_process_killed_while_creating_leaves_a_whole_ledger_or_none(tmp_path, times):
    moments = random.Random(5)
    whole = 0
    for number in range(times):
        path = tmp_path / f"{number}.db"
        victim = FORK.Process(target=pv.Ledger.create, args=(path, 1.0))
        victim.start()
        time.sleep(moments.uniform(0.0, 0.04))
        os.kill(victim.pid, signal.SIGKILL)
        victim.join()
        try:
            whole += pv.Ledger.open(path).verify().entries
        except pv.LedgerError:
            assert not path.exists() or path.stat().st_size == 0  # the name was taken, and nothing can be charged to it
    assert whole < times  # some died early enough for the test to mean something


def _release_for_ever(path: Path, marker: Path) -> None:
    ledger = pv.Ledger.open(path)
    with open(marker, "a", encoding="ascii") as released:
        while True:
            mine = charge(ledger, 0.1)
            # Only what was charged is released: this line stands for the release.
            released.write("released\n")
            released.flush()
            ledger.complete(mine)


@small_and_large("times", 5, 30)
def test_a_process_killed_at_any_moment_never_leaves_less_in_the_ledger_than_it_released(new_ledger, tmp_path, times):
    ledger = new_ledger(1000.0)
    marker = tmp_path / "released"
    marker.touch()
    moments = random.Random(4)
    head = None
    for _ in range(times):
        # Two at a time, so that some die while the other waits for the lock, reads, or moves the log.
        victims = [FORK.Process(target=_release_for_ever, args=(tmp_path / "budget.db", marker)) for _ in range(2)]
        for victim in victims:
            victim.start()
        for victim in victims:
            time.sleep(moments.uniform(0.0, 0.15))
            os.kill(victim.pid, signal.SIGKILL)
        for victim in victims:
            victim.join()
            assert victim.exitcode < 0  # it was still at work, and died of a signal
        head = ledger.verify(head).head  # whole, and with every entry that was there before
        charged = sum(entry.kind == "charged" for entry in ledger.entries())
        assert marker.read_text().count("released\n") <= charged
        assert ledger.spent.epsilon == Decimal("0.1") * charged
    assert marker.read_text()  # the victims lived long enough for the test to mean something
    assert ledger.to_dict()["not_completed"] > 0
    ledger.complete(charge(ledger, 0.1))
