"""The command as a whole: help, version, start-up, stream, damage."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import pathveil
from tests.cli.conftest import Run
from tests.programs import Programs

COMMANDS = ["plan", "privatize", "stream", "model", "synthesize", "inspect", "compare", "demo"]


@pytest.mark.parametrize(
    "command", [*COMMANDS, "audit exhaustive", "audit statistical", "ledger init", "ledger show", "ledger verify"]
)
def test_every_help_has_a_worked_example(run: Run, command: str) -> None:
    ran = run(f"{command} --help")
    assert ran.code == 0
    assert f"pathveil {command}" in ran.out.split("Example")[1]


def test_the_first_screen_names_jobs_and_explains_its_words(run: Run) -> None:
    text = " ".join(run("--help").out.split())
    jobs = ["Protect my sequences", "Learn a model and make synthetic", "Check", "Keep a budget"]
    for begin in (0, text.index("─ Protect my sequences")):  # a line for each, and a box with its commands for each
        places = [text.index(job, begin) for job in jobs]
        assert places == sorted(places)
    assert "─ Commands ─" not in text  # every command belongs to a job
    explained = text[: text.index("Options ─")]
    for said in ("A word is one sequence", "its symbols are", "called ε (epsilon, --epsilon)", "differential privacy"):
        assert said in explained


# What only those know who have read the documentation.
JARGON = ("mechanism", "feasible", "adjacen", "markov", "stationary", "hamming", "composition", "curator", "sampler")


@pytest.mark.parametrize(
    "command",
    [
        *COMMANDS,
        "audit",
        "audit exhaustive",
        "audit statistical",
        "ledger",
        "ledger init",
        "ledger show",
        "ledger verify",
        "report",
        "report plan",
        "report curator",
        "report release",
        "system",
    ],
)
def test_the_first_sentences_of_every_help_are_in_words_that_everybody_knows(run: Run, command: str) -> None:
    paragraphs = run(f"{command} --help").out.split("\n" + " " * 20)  # lines are filled with blanks
    text = " ".join(paragraphs[1 if "Usage" in paragraphs[0] else 2].split()).lower()
    assert text
    assert not [word for word in JARGON if word in text], text


def test_the_version_is_printed(run: Run) -> None:
    assert run("--version").out == f"pathveil {pathveil.__version__}\n"


def test_help_loads_no_numerical_library() -> None:
    code = (
        "import sys; from pathveil.cli.app import main; main(['--help']); "
        "print(sorted({'numpy', 'scipy', 'numba', 'pyarrow', 'duckdb', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_public_names_are_found_where_they_live() -> None:
    assert set(pathveil.__all__) <= set(dir(pathveil))
    for name in pathveil.__all__:
        value = getattr(pathveil, name)
        assert getattr(value, "__module__", value.__name__).startswith("pathveil."), name
    with pytest.raises(AttributeError, match="nonsense"):
        _ = pathveil.nonsense  # type: ignore[attr-defined]


def test_a_stream_answers_each_symbol_before_the_next_is_read(run: Run, programs: Programs) -> None:
    assert run("ledger init budget.db --epsilon 100 --unit symbols --adjacency 1").code == 0
    line = "stream --edges roads.csv --epsilon 60 --ledger budget.db --quiet"
    with programs.with_pipes(*line.split()) as program:
        for symbol in (b"s0", b"s1", b"", b"s5"):
            program.stdin.write(symbol + b"\n")
            assert program.stdout.readline() == symbol + b"\n"
        [charge] = json.loads(run("ledger show budget.db --json").out)["charges"]
        assert charge["status"] == "charged, not completed"  # while it runs
        program.stdin.close()
        assert program.wait() == 0
    [charge] = json.loads(run("ledger show budget.db --json").out)["charges"]
    assert (charge["status"], charge["epsilon"]) == ("completed", 60.0)


def test_inspecting_a_model_shows_the_long_run_and_the_guarantee(run: Run) -> None:
    line = "model trips.parquet --column route --unit word --max-length 8 --states zones.txt --epsilon 9"
    assert run(line + " --output model.json").code == 0
    content = json.loads(run("inspect model.json --json").out)
    assert abs(sum(content["stationary_distribution"]) - 1) < 1e-9
    assert "one is replaced" in content["guarantee"]["unit"]
    assert all(row["records"] is None for row in content["rows"])  # protected with this unit
    assert "The promise" in run("inspect model.json").out


def test_a_damaged_ledger_is_noticed(run: Run) -> None:
    assert run("ledger init budget.db --epsilon 1 --unit symbols --adjacency 1").code == 0
    head = json.loads(run("ledger verify budget.db --json").out)["head"]
    assert run(f"ledger verify budget.db --head {head}").code == 0
    assert run("ledger init other.db --epsilon 1 --unit symbols --adjacency 1").code == 0
    ran = run(f"ledger verify other.db --head {head}")
    assert ran.code == 1
    assert "older copy" in ran.err


def test_optimal_composition_is_available_for_a_size_fixed_beforehand(run: Run) -> None:
    budget = "--epsilon 4 --delta 1e-5 --unit symbols --adjacency 1"
    ran = run(f"ledger init tight.db {budget} --composition pld --each-epsilon 0.1")
    assert ran.code == 0
    assert "88 releases" in ran.out
