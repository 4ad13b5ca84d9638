"""`pathveil privatize --engine spark`: the same release, into a folder; one charge for one job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from tests.cli.conftest import Run
from tests.data.spark.frames import needs_java

LINE = "privatize trips.parquet --column route --edges roads.csv --yes --engine spark --master local[2] --keep day"


def run_spark(line: str) -> subprocess.CompletedProcess[str]:
    surroundings = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run(
        [sys.executable, "-m", "pathveil", *line.split()], capture_output=True, text=True, env=surroundings, timeout=300
    )


@pytest.mark.spark
@needs_java
def test_one_job_makes_one_folder_and_one_charge(folder: Path) -> None:
    place = folder / "odd[name]50%20{x}*"  # to Spark a pattern, and to others an escaped blank
    place.mkdir()
    pv.Ledger.create(folder / "budget.db", epsilon=60.0, unit=pv.units.Symbols(1))
    (folder / "trips.parquet").rename(place / "trips.parquet")
    line = LINE.replace("trips.parquet", f"{place.name}/trips.parquet")
    done = run_spark(f"{line} --epsilon 60 --ledger budget.db --output {place.name}/out --json --curator")
    assert done.returncode == 0, done.stderr
    sensitive = pq.read_table(place / "trips.parquet").select(["route", "day"]).to_pylist()
    released = pq.read_table(place / "out").to_pylist()
    assert sorted(released, key=lambda row: row["day"]) == sensitive
    assert released != sensitive
    assert json.loads(done.stdout)["for_the_curator_only"]["words_released"] == 40
    assert json.loads((place / "out.manifest.json").read_text())["epsilon"] == 60
    ledger = pv.Ledger.open(folder / "budget.db")
    assert [entry.content["kind"] for entry in ledger.entries()] == ["created", "charged", "sealed", "completed"]
    again = run_spark(f"{line} --epsilon 60 --ledger budget.db --output more")
    assert again.returncode == 1
    assert "the budget does not cover" in again.stderr
    assert not (folder / "more").exists()


@pytest.mark.spark
@needs_java
def test_a_bad_row_costs_nothing_and_is_named_in_one_line(folder: Path) -> None:
    pv.Ledger.create(folder / "budget.db", epsilon=1.0, unit=pv.units.Symbols(1))
    pq.write_table(pa.table({"route": [["s0", "s1"], ["s0", "Nowhere"]], "day": [1, 2]}), folder / "trips.parquet")
    done = run_spark(f"{LINE} --epsilon 1 --ledger budget.db --output out --quiet")
    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if line.startswith("pathveil: ")]
    assert len(said) == 2  # the other one warns of --keep
    assert "trips.parquet, row 2, column 'route', position 2" in said[1]
    assert "Nowhere" not in done.stderr
    assert "Traceback" not in done.stderr
    assert len(pv.Ledger.open(folder / "budget.db").entries()) == 1
    assert not (folder / "out").exists()


# Ends the driver when private words lie in the workspace and the output is not there yet.
KILLED = """
import os, signal, sys
from pathveil.cli.app import main
from pathveil.data.spark import files

run = files._run

def dying(context, work, count):
    if getattr(work, "__name__", "") == "write":
        os.kill(os.getpid(), signal.SIGKILL)
    return run(context, work, count)

files._run = dying
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.spark
@needs_java
def test_a_run_that_was_killed_after_its_first_draw_is_charged_again(folder: Path) -> None:
    pv.Ledger.create(folder / "budget.db", epsilon=60.0, unit=pv.units.Symbols(1))
    line = f"{LINE} --epsilon 5 --ledger budget.db --output out --resume"
    dead = subprocess.run([sys.executable, "-c", KILLED, *line.split()], capture_output=True, timeout=300)
    assert dead.returncode == -9, dead.stderr
    assert not (folder / "out").exists()
    done = run_spark(line)
    assert done.returncode == 0, done.stderr
    assert "cannot be resumed" in done.stderr
    charges = pv.Ledger.open(folder / "budget.db").to_dict()["charges"]
    assert [charge["status"] for charge in charges] == ["charged, not completed", "completed"]
    assert charges[1]["output"].startswith("sha256:")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("privatize trips.parquet --column route --master local[2]", "--master is for --engine spark"),
        ("privatize visits.csv --case visit --order step --symbol page --engine spark", "Parquet"),
        ("privatize lines.txt --engine spark", "Parquet"),
        (
            "privatize trips.parquet --column route --engine spark --user driver --max-words-per-user 2",
            "embedded engine",
        ),
    ],
)
def test_what_spark_cannot_do_is_wrong_use(run, line: str, says: str) -> None:
    ran = run(f"{line} --alphabet zones.txt --epsilon 1 --output out")
    assert ran.code == 2
    assert says in ran.err


@pytest.mark.spark
@needs_java
def test_a_model_is_fitted_to_the_same_counts_on_both_engines(folder: Path) -> None:
    from dataclasses import replace

    from pathveil import data
    from pathveil.release import ModelChoices, SequenceChoices

    place = folder / "odd[name]{x}*"
    place.mkdir()
    (folder / "trips.parquet").rename(place / "trips.parquet")
    files, states = [str(place / "trips.parquet")], [f"s{i}" for i in range(8)]
    sequences = SequenceChoices(states=states, epsilon=2.0, delta=None, unit="word", max_length=7)
    layout = data.ListColumn("route")
    here, there = (
        one.counted(files, layout, None, None).words
        for one in (sequences, replace(sequences, engine="spark", master="local[2]"))
    )
    same = {"states": states, "epsilon": 2.0, "delta": 1e-3, "max_length": 7}
    models = [pv.fit_private_sequences(words, **same, rng=pv.insecure_seed(1)) for words in (here, there)]
    assert models[0].to_json() == models[1].to_json()  # the same seed, the same model, to the last bit
    chain = ModelChoices(states=states, epsilon=2.0, delta=None, unit="word", max_length=7)
    tables = [
        one.counted(files, layout, None, None).counts.tolist()
        for one in (chain, replace(chain, engine="spark", master="local[2]"))
    ]
    assert tables[0] == tables[1]
    pv.Ledger.create(folder / "budget.db", epsilon=60.0, unit=pv.units.Word(max_length=7))
    line = f"model {place.name}/trips.parquet --column route --states zones.txt --epsilon 8 --max-length 7 --order auto"
    done = run_spark(f"{line} --engine spark --master local[2] --ledger budget.db --output model.json")
    assert done.returncode == 0, done.stderr
    assert isinstance(pv.load_model(folder / "model.json"), pv.PrivateSequences)
    assert [entry.content["kind"] for entry in pv.Ledger.open(folder / "budget.db").entries()][-1] == "completed"
    persons = (
        f"{line} --user driver --max-words-per-user 2 --engine spark --master local[2] --output persons.json --json"
    )
    done = run_spark(persons)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["for_the_curator_only"]["words_over_limit"] == 40 - 2 * 7


def test_what_spark_cannot_count_is_wrong_use(run: Run) -> None:
    line = "--order 1 --max-length 4 --states pages.txt --epsilon 1 --engine spark --output model.json"
    ran = run(f"model lines.txt {line}")
    assert (ran.code, "one in a row of Parquet files" in ran.err) == (2, True), ran.err
    ran = run(f"model visits.csv --case visit --position step --symbol page {line}")
    assert (ran.code, "one in a row of Parquet files" in ran.err) == (2, True), ran.err
