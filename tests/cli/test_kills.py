"""A process that is stopped at any moment: no partial output under the final name, nothing released uncharged."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pathveil.cli.app import main
from pathveil.ledger.ledger import Ledger
from pathveil.privacy.units import Symbols
from tests.cli.conftest import write_inputs
from tests.cli.kill_server import SERVER
from tests.programs import Programs

TRIPS = 3_000
LINE = (
    "privatize trips.parquet --column route --alphabet zones.txt --epsilon 2 --yes --ledger budget.db "
    "--output out.parquet -q"
)


def _run(folder: str, die_at: str | None = None) -> None:
    os.chdir(folder)
    if die_at is not None:
        _arrange_death(die_at)
    sys.exit(main(LINE.split()))


def _arrange_death(moment: str) -> None:
    """Let this process kill itself just before or just after a step."""
    from pathveil.data.writing import manifest

    def dying(step, before):
        def call(*arguments, **options):
            if before:
                os.kill(os.getpid(), signal.SIGKILL)
            step(*arguments, **options)
            os.kill(os.getpid(), signal.SIGKILL)

        return call

    when, name = moment.split()
    owner, attribute = {
        "charge": (Ledger, "charge"),
        "seal": (Ledger, "seal"),
        "complete": (Ledger, "complete"),
        "manifest": (manifest, "write_manifest"),
        "publish": (manifest, "publish"),
    }[name]
    setattr(owner, attribute, dying(getattr(owner, attribute), when == "before"))


def check_promises(folder: Path) -> list[str]:
    """What must hold whatever happened; returns the status of every charge."""
    ledger = Ledger.open(folder / "budget.db")
    ledger.verify()
    statuses = [charge["status"] for charge in ledger.to_dict()["charges"]]
    if (folder / "out.parquet").exists():
        assert pq.read_table(folder / "out.parquet").num_rows == TRIPS  # complete
        assert json.loads((folder / "out.parquet.manifest.json").read_text())["epsilon"] == 2.0
        assert len(statuses) == 1
    else:
        assert "completed" not in statuses
    return statuses


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    write_inputs(tmp_path, TRIPS)
    Ledger.create(tmp_path / "budget.db", epsilon=100.0, unit=Symbols(1))
    return tmp_path


@pytest.mark.parametrize(
    ("moment", "statuses", "published"),
    [
        ("before charge", [], False),
        ("after charge", ["charged, not completed"], False),
        ("before seal", ["charged, not completed"], False),
        ("after seal", ["charged, not completed"], False),
        ("after manifest", ["charged, not completed"], False),
        ("before publish", ["charged, not completed"], False),
        ("before complete", ["charged, not completed"], True),
        ("after complete", ["completed"], True),
    ],
)
def test_killed_at_each_step_nothing_is_released_uncharged_or_in_part(prepared, moment, statuses, published):
    child = SERVER.Process(target=_run, args=(str(prepared), moment))
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    assert check_promises(prepared) == statuses
    assert (prepared / "out.parquet").exists() == published


@pytest.mark.slow
def test_killed_at_thirty_random_moments_the_promises_hold_and_the_next_run_succeeds(tmp_path, programs):
    moments = random.Random(20)
    whole = 0.3
    seen = set()
    for attempt in range(30):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        write_inputs(folder, TRIPS)
        Ledger.create(folder / "budget.db", epsilon=100.0, unit=Symbols(1))
        child = SERVER.Process(target=_run, args=(str(folder),))
        begun = time.monotonic()
        child.start()
        # The first run shows how long a whole one takes; the others are cut off somewhere in that time.
        child.join(None if attempt == 0 else moments.uniform(0, whole))
        if attempt == 0:
            whole = time.monotonic() - begun
        child.kill()
        child.join()
        statuses = check_promises(folder)
        seen.add((tuple(statuses), (folder / "out.parquet").exists()))
        if attempt % 10 == 9 and not (folder / "out.parquet").exists():
            left_over = (folder / "out.parquet.manifest.json").exists()
            assert _finish(programs, folder, overwrite=left_over) == 0
            ledger = Ledger.open(folder / "budget.db").to_dict()
            assert [charge["status"] for charge in ledger["charges"]] == [*statuses, "completed"]
            assert not list(folder.glob(".pathveil-*"))  # what the killed run left behind is gone
    assert len(seen) > 1, f"every run was killed at the same stage: {seen}"


def _finish(programs: Programs, folder: Path, overwrite: bool = False, resume: bool = False) -> int:
    line = LINE + (" --overwrite" if overwrite else "") + (" --resume" if resume else "")
    with contextlib.chdir(folder):
        done = programs.run(*line.split())
    assert b"Traceback" not in done.stderr
    return done.returncode


def test_a_killed_run_may_be_resumed_under_its_own_charge(prepared, programs):
    child = SERVER.Process(target=_run, args=(str(prepared), "before seal"))
    child.start()
    child.join(60)
    assert _finish(programs, prepared, resume=True) == 0
    assert check_promises(prepared) == ["completed"]
    assert Ledger.open(prepared / "budget.db").spent.epsilon == 2


def test_a_run_that_was_killed_while_its_output_appeared_is_charged_again(prepared, programs):
    child = SERVER.Process(target=_run, args=(str(prepared), "after seal"))
    child.start()
    child.join(60)
    assert _finish(programs, prepared, resume=True) == 0
    statuses = [charge["status"] for charge in Ledger.open(prepared / "budget.db").to_dict()["charges"]]
    assert statuses == ["charged, not completed", "completed"]


@pytest.mark.slow
@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_politely_it_ends_soon_and_leaves_nothing_half_written(tmp_path, stop, code):
    write_inputs(tmp_path, 400_000)  # long enough that it has to be stopped
    with subprocess.Popen(
        [sys.executable, "-m", "pathveil", *LINE.replace("--ledger budget.db ", "").split()],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
    ) as process:
        while not list(tmp_path.glob(".pathveil-*")):  # at work
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(stop)
        _, messages = process.communicate(timeout=30)
        assert process.returncode == code
        assert b"Traceback" not in messages
    assert not list(tmp_path.glob("out.parquet*"))
    assert not list(tmp_path.glob(".pathveil-*"))
