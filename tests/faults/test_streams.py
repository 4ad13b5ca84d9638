"""`pathveil stream` with a slow reader: it waits, and a long stream takes no more memory than a short one."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

WORDS = 1_500

# Reads slowly at first, so that the pipe is full and the stream has to wait; then says how much memory it took.
_WATCHED = """
import resource, sys
from pathveil.cli.app import main
code = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def memory_of_stream(words: int) -> int:
    """Peak memory of a stream of so many words of three symbols, in kB; the output is checked."""
    line = "stream --alphabet pages.txt --epsilon 60 --quiet"
    with subprocess.Popen(
        [sys.executable, "-c", _WATCHED, *line.split()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None

        def write() -> None:
            with process.stdin as pipe:
                for _ in range(words):
                    pipe.write(b"home\ncart\nhelp\n\n")

        writer = threading.Thread(target=write)
        writer.start()
        read = 0
        while block := os.read(process.stdout.fileno(), 50 if read < 2_000 else 1 << 16):
            read += len(block)
        writer.join()
        messages = process.stderr.read()
        assert process.wait(60) == 0, messages
    assert read == words * len("home\ncart\nhelp\n\n")  # false alarm: 2 e^-30 for each symbol
    return int(messages)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_stream():
    short, long = memory_of_stream(10), memory_of_stream(WORDS)
    assert long < short + 4_000  # 4 MB
