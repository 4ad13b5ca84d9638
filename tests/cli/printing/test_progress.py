"""The progress bar: on a terminal, after two seconds, and nowhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

# Many processes; and a bar that is missing is no wrong result.
pytestmark = pytest.mark.slow

# Each batch takes a tenth of a second, batches are small, and patience is shorter than in life.
_SLOW = """
import sys, time
from pathveil.cli.printing import progress
from pathveil.data.writing import drawing
progress._PATIENCE = 0.2
drawing._SYMBOLS = 20
told = progress.ProgressBar.__call__

def slowly(self, stage, words):
    time.sleep(0.1)
    told(self, stage, words)

progress.ProgressBar.__call__ = slowly
from pathveil.cli.app import main
sys.exit(main(sys.argv[1:]))
"""
PRIVATIZE = (
    "privatize trips.parquet --column route --edges roads.csv --epsilon 2 --mechanism online --output out.parquet"
)
MODEL = "model trips.parquet --column route --unit symbol --states zones.txt --epsilon 2 --output out.json"


def _shown(*arguments: str, before: str = _SLOW) -> str:
    """What a run writes to the terminal that is its standard error."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "120"}
    with subprocess.Popen(
        [sys.executable, "-c", before, *arguments], stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 65_536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            text += piece
        os.close(ours)
        process.communicate()
        assert process.returncode == 0, text
    return text.decode()


def test_a_slow_run_shows_a_bar_with_rate_and_remaining_time():
    shown = _shown(*PRIVATIZE.split())
    assert "reading" in shown
    assert "words/s" in shown
    assert "━" in shown
    assert "0:00:0" in shown
    assert shown.endswith("\x1b[2K")  # it is gone in the end


def test_a_run_that_says_nothing_for_long_shows_that_it_is_at_work():
    silent = "import time; from pathveil.models import chain\n"
    silent += "from pathveil.cli.printing import progress; progress._PATIENCE = 0.2\n"
    silent += "fit = chain.fit_private_chain\n"
    silent += "def slow(*arguments, **options):\n    time.sleep(1)\n    return fit(*arguments, **options)\n"
    silent += "chain.fit_private_chain = slow\n"
    silent += "import sys; from pathveil.cli.app import main; sys.exit(main(sys.argv[1:]))"
    shown = _shown(*MODEL.split(), before=silent)
    assert "counting" in shown or "working" in shown


@pytest.mark.parametrize("option", ["--quiet", "--json"])
@pytest.mark.parametrize("line", [PRIVATIZE, MODEL])
def test_quiet_and_json_show_no_bar(line, option):
    assert _shown(*line.split(), option) == ""


def test_a_quick_run_shows_no_bar():
    # However long it takes on a busy machine, patience lasts longer.
    quick = "from pathveil.cli.printing import progress; progress._PATIENCE = 1e6\n"
    quick += "import sys; from pathveil.cli.app import main; sys.exit(main(sys.argv[1:]))"
    assert (
        _shown(
            *["synthesize", "chain.json", "--count", "3", "--length", "2", "--output", "out.txt"],
            before=_chain() + quick,
        )
        == ""
    )


def _chain() -> str:
    return "import pathveil as pv; pv.MarkovChain.from_edges([('a', 'b'), ('b', 'a')]).to_json('chain.json')\n"


def test_without_a_terminal_there_is_no_bar():
    done = subprocess.run([sys.executable, "-c", _SLOW, *PRIVATIZE.split()], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "To expect: about 48% of the symbols wrong.\n")


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 1)])
def test_a_question_is_asked_without_a_bar_and_the_bar_comes_back(folder, answer, code):
    ours, theirs = pty.openpty()
    line = PRIVATIZE.replace("--epsilon 2", "--epsilon 0.1").split()
    with subprocess.Popen(
        [sys.executable, "-c", _SLOW, *line],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "200"},
    ) as process:
        os.close(theirs)
        text, asked = b"", -1
        while True:
            try:
                piece = os.read(ours, 65_536)
            except OSError:  # the other side is closed
                break
            text += piece
            if asked < 0 and b"[y/N]" in text:
                asked = len(text)
                os.write(ours, answer)
        os.close(ours)
        process.communicate()
    assert process.returncode == code
    assert asked > 0
    assert b"checking" in text[:asked], "the bar was there before the question"
    assert b"this release says little" in text[:asked]
    assert (b"reading" in text[asked:]) == (code == 0)
    assert (folder / "out.parquet").exists() == (code == 0)
