"""The shell completes commands, options and their values."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def _completed(line: str, shell: str = "bash") -> list[str]:
    """What the shell is offered for the last word of a line."""
    words = line.split(" ")
    environment = os.environ | {"_PATHVEIL_COMPLETE": f"complete_{shell}"}
    environment |= {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_TYPER_COMPLETE_ARGS": line}
    done = subprocess.run([sys.executable, "-m", "pathveil"], env=environment, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("pathveil pr", {"privatize"}),
        ("pathveil ledger ", {"init", "show", "verify"}),
        ("pathveil privatize --max", {"--max-length", "--max-words-per-user"}),
        ("pathveil privatize in.csv --mechanism p", {"permute-and-flip"}),
    ],
)
def test_commands_options_and_values_are_completed(line, offered):
    assert set(_completed(line)) == offered


def test_other_shells_are_served_too():
    assert "privatize" in " ".join(_completed("pathveil pr", "zsh"))


def test_the_completion_can_be_installed(run):
    text = run("--help").out
    assert "--install-completion" in text
    assert "--show-completion" in text


def test_completing_loads_no_numerical_library():
    code = (
        "import atexit, os, sys\n"
        "os.environ |= {'_PATHVEIL_COMPLETE': 'complete_bash', 'COMP_WORDS': 'pathveil p', 'COMP_CWORD': '1'}\n"
        "heavy = {'numpy', 'scipy', 'numba', 'pyarrow', 'duckdb', 'matplotlib'}\n"
        "atexit.register(lambda: print(sorted(heavy & set(sys.modules)), file=sys.stderr))\n"
        "from pathveil.cli.app import main; main([])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "[]\n"
    assert "plan" in done.stdout.split()
