"""How a run ends from outside: Ctrl-C at any moment, a pipe that nobody reads, streams that are closed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "pathveil"]

# Ctrl-C while a module is imported. A shell may have told its children to ignore it, so it is asked for by name.
_INTERRUPTED_IMPORT = """
import os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)

class Interrupter:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupter())
sys.argv = ["pathveil", *{arguments!r}]
{start}
"""
_STARTS = {
    "module": 'runpy.run_module("pathveil", run_name="__main__")',
    "script": "from pathveil.cli.app import main; sys.exit(main())",
}


@pytest.mark.parametrize("start", ["module", pytest.param("script", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name",
    [
        "typer",
        "pathveil.cli.privatize",
        "duckdb",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("rich", "numpy", "pyarrow")),
    ],
)
def test_an_interrupt_during_imports_ends_quietly_with_130(folder, start, name):
    line = "privatize lines.txt --alphabet pages.txt --epsilon 1 --output out.txt --no-such-option"
    arguments = line.split() if name == "rich" else line.split()[:-1]  # rich is for messages
    code = _INTERRUPTED_IMPORT.format(name=name, arguments=arguments, start=_STARTS[start])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "")
    assert not list(folder.glob("out.txt*"))
    assert not list(folder.glob(".pathveil-*"))


def test_hardly_anything_is_loaded_before_interrupts_are_handled_and_nothing_that_takes_long_before_it_is_needed():
    code = """if True:
        import sys, pathveil.__main__
        print(*{"typer", "rich", "numpy"} & sys.modules.keys())
        import pathveil.cli.commands, pathveil.cli.privatize, pathveil.data, pathveil.release, pathveil.words.certified
        print(*{"numba", "matplotlib", "pandas", "scipy.optimize", "scipy.spatial", "scipy.stats"} & sys.modules.keys())
    """
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "\n\n"


def _with_closed_pipe(*arguments: str, stderr_too: bool = False) -> subprocess.CompletedProcess[bytes]:
    """Run with a standard output that nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(
            [*COMMAND, *arguments],
            stdout=writer,
            stderr=writer if stderr_too else subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
    finally:
        os.close(writer)


@pytest.mark.parametrize(
    "line",
    [
        "ledger show budget.db",
        *(
            pytest.param(line, marks=pytest.mark.slow)
            for line in ("ledger show budget.db --json", "--help", "--version")
        ),
    ],
)
def test_output_that_nobody_reads_ends_quietly(run, line):
    """141 = 128 + SIGPIPE, as a shell reports it for any program that writes to a closed pipe."""
    assert run("ledger init budget.db --epsilon 1 --unit symbols --adjacency 1").code == 0
    done = _with_closed_pipe(*line.split())
    assert (done.returncode, done.stderr) == (141, b"")


def test_messages_that_nobody_reads_end_quietly_too():
    assert _with_closed_pipe("inspect", "none.json", stderr_too=True).returncode == 141


def test_a_summary_that_nobody_reads_takes_nothing_back(folder, run):
    assert run("ledger init budget.db --epsilon 1 --unit symbols --adjacency 1").code == 0
    line = "privatize lines.txt --alphabet pages.txt --epsilon 1 --ledger budget.db --output out.txt"
    done = _with_closed_pipe(*line.split())
    assert done.returncode == 141
    assert all(line.startswith((b"Mechanism: ", b"To expect: ")) for line in done.stderr.splitlines())
    assert len((folder / "out.txt").read_text().splitlines()) == 3
    [charge] = json.loads(run("ledger show budget.db --json").out)["charges"]
    assert charge["status"] == "completed"


def test_a_stream_whose_reader_goes_away_ends_quietly_and_stays_charged(run):
    assert run("ledger init budget.db --epsilon 2 --unit symbols --adjacency 1").code == 0
    line = "stream --alphabet pages.txt --epsilon 2 --ledger budget.db --quiet"
    with subprocess.Popen(
        [*COMMAND, *line.split()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"home\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.stdout.close()  # head -1 has seen enough
        process.stdin.write(b"cart\n")
        process.stdin.close()
        assert process.wait(30) == 141
        assert process.stderr.read() == b""
    [charge] = json.loads(run("ledger show budget.db --json").out)["charges"]
    assert charge["status"] == "charged, not completed"


@pytest.mark.parametrize(
    ("line", "closed"),
    [
        ("stream --alphabet pages.txt --epsilon 1 --ledger budget.db", "<&-"),
        ("stream --alphabet pages.txt --epsilon 1 --ledger budget.db", ">&-"),
        ("privatize - --format text --alphabet pages.txt --epsilon 1 --ledger budget.db --output out.txt", "<&-"),
    ],
)
def test_a_standard_stream_that_is_closed_is_said_so_and_costs_nothing(folder: Path, run, line, closed):
    assert run("ledger init budget.db --epsilon 1 --unit symbols --adjacency 1").code == 0
    done = subprocess.run(["sh", "-c", f"exec {sys.executable} -m pathveil {line} {closed}"], stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert b"is closed" in done.stderr
    assert b"Traceback" not in done.stderr
    assert json.loads(run("ledger show budget.db --json").out)["charges"] == []
    assert not (folder / "out.txt").exists()


def test_a_stream_that_is_not_utf_8_says_in_which_line():
    done = subprocess.run(
        [*COMMAND, *["stream", "--alphabet", "pages.txt", "--epsilon", "60", "-q"]],
        input=b"home\ncart\n\xff\n",
        capture_output=True,
    )
    assert (done.returncode, done.stdout) == (1, b"home\ncart\n")
    assert b"line 3" in done.stderr


def test_a_terminal_without_greek_letters_gets_the_release_all_the_same(folder):
    line = "privatize lines.txt --alphabet pages.txt --epsilon 1 --output out.txt"
    done = subprocess.run(
        [*COMMAND, *line.split()], env=os.environ | {"PYTHONIOENCODING": "latin-1"}, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert all(line.startswith(("Mechanism: ", "To expect: ")) for line in done.stderr.splitlines())
    assert r"(\u03b5 = 1)" in done.stdout
    assert (folder / "out.txt.manifest.json").exists()


def test_a_name_that_is_not_text_is_refused(folder):
    done = subprocess.run(
        [
            *COMMAND,
            *["privatize", "lines.txt", "--alphabet", "pages.txt", "--epsilon", "1", "--output"],
            b"out\xff.txt",
        ],
        capture_output=True,
    )
    assert done.returncode == 2
    assert b"is not UTF-8" in done.stderr
    os.rename(folder / "lines.txt", os.fsencode(folder) + b"/lines\xff.txt")
    (folder / "inside").mkdir()
    os.rename(os.fsencode(folder) + b"/lines\xff.txt", os.fsencode(folder) + b"/inside/lines\xff.txt")
    done = subprocess.run(
        [*COMMAND, *["privatize", "inside", "--alphabet", "pages.txt", "--epsilon", "1", "--output", "out.txt"]],
        capture_output=True,
    )
    assert done.returncode in (0, 1)
    assert b"Traceback" not in done.stderr
