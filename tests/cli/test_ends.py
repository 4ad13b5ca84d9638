"""How a run ends from outside: Ctrl-C at any moment, a pipe that nobody reads, streams that are closed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.sizes import small_and_large

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


@contextmanager
def _nobody_reads() -> Iterator[int]:
    """A pipe that nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        yield writer
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
    with _nobody_reads() as writer:
        done = subprocess.run(
            [*COMMAND, *line.split()], stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE
        )
    assert (done.returncode, done.stderr) == (141, b"")


def test_messages_that_nobody_reads_end_quietly_too(programs):
    with _nobody_reads() as writer:
        assert programs.run("inspect", "none.json", stdout=writer, stderr=writer).returncode == 141


def test_a_summary_that_nobody_reads_takes_nothing_back(folder, run, programs):
    assert run("ledger init budget.db --epsilon 1 --unit symbols --adjacency 1").code == 0
    line = "privatize lines.txt --alphabet pages.txt --epsilon 1 --ledger budget.db --output out.txt"
    with _nobody_reads() as writer:
        done = programs.run(*line.split(), stdout=writer)
    assert done.returncode == 141
    assert all(line.startswith((b"Mechanism: ", b"To expect: ")) for line in done.stderr.splitlines())
    assert len((folder / "out.txt").read_text().splitlines()) == 3
    [charge] = json.loads(run("ledger show budget.db --json").out)["charges"]
    assert charge["status"] == "completed"


def test_a_stream_whose_reader_goes_away_ends_quietly_and_stays_charged(run, programs):
    assert run("ledger init budget.db --epsilon 2 --unit symbols --adjacency 1").code == 0
    line = "stream --alphabet pages.txt --epsilon 2 --ledger budget.db --quiet"
    with programs.with_pipes(*line.split()) as program:
        program.stdin.write(b"home\n")
        assert program.stdout.readline()
        program.stdout.close()  # head -1 has seen enough
        program.stdin.write(b"cart\n")
        program.stdin.close()
        assert program.wait() == 141
        assert program.stderr.read() == b""
    [charge] = json.loads(run("ledger show budget.db --json").out)["charges"]
    assert charge["status"] == "charged, not completed"


@small_and_large("own", False, True)
@pytest.mark.parametrize(
    ("line", "closed"),
    [
        ("stream --alphabet pages.txt --epsilon 1 --ledger budget.db", "<&-"),
        ("stream --alphabet pages.txt --epsilon 1 --ledger budget.db", ">&-"),
        ("privatize - --format text --alphabet pages.txt --epsilon 1 --ledger budget.db --output out.txt", "<&-"),
    ],
)
def test_a_standard_stream_that_is_closed_is_said_so_and_costs_nothing(folder, run, programs, line, closed, own):
    assert run("ledger init budget.db --epsilon 1 --unit symbols --adjacency 1").code == 0
    if own:  # a process that was started for it
        command = ["sh", "-c", f"exec {sys.executable} -m pathveil {line} {closed}"]
        done = subprocess.run(command, stderr=subprocess.PIPE)
    else:
        done = programs.run(*line.split(), **({"input": None} if closed == "<&-" else {"stdout": None}))
    assert done.returncode == 1
    assert b"is closed" in done.stderr
    assert b"Traceback" not in done.stderr
    assert json.loads(run("ledger show budget.db --json").out)["charges"] == []
    assert not (folder / "out.txt").exists()


def test_a_stream_that_is_not_utf_8_says_in_which_line(programs):
    done = programs.run("stream", "--alphabet", "pages.txt", "--epsilon", "60", "-q", input=b"home\ncart\n\xff\n")
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


def test_a_name_that_is_not_text_is_refused(folder, programs):
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
    done = programs.run("privatize", "inside", *["--alphabet", "pages.txt", "--epsilon", "1", "--output", "out.txt"])
    assert done.returncode in (0, 1)
    assert b"Traceback" not in done.stderr
