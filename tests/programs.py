"""Commands as programs of their own, without waiting a second for Python to load everything for each.

`Programs` has a server that has loaded it (`program_server.py`). How a program starts is tested with processes that are
started for it, in `cli/test_ends.py`; here it is about what a program does, and how it ends.
"""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

Descriptor = int | None  # None is a stream that is closed
ROOT = Path(__file__).parent.parent


@dataclass
class Program:
    """A program that runs, with the other ends of its streams where these are pipes."""

    pid: int
    answers: IO[bytes]
    stdin: IO[bytes] = field(default_factory=io.BytesIO)
    stdout: IO[bytes] = field(default_factory=io.BytesIO)
    stderr: IO[bytes] = field(default_factory=io.BytesIO)

    def wait(self) -> int:
        """Its exit code."""
        return int(self.answers.readline())


class Programs:
    """Starts programs, one at a time."""

    def __init__(self) -> None:
        self._connection, other = socket.socketpair()
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.program_server", str(other.fileno())],
            cwd=ROOT, pass_fds=[other.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        other.close()
        self._connection.settimeout(60)
        self._answers = self._connection.makefile("rb")

    def close(self) -> None:
        self._answers.close()
        self._connection.close()
        assert self._server.wait(60) == 0

    def start(
        self, *arguments: str, stdin: Descriptor, stdout: Descriptor, stderr: Descriptor, code: str | None = None
    ) -> Program:
        """`python -m pathveil` with these arguments, or `python -c` with this code, in the folder where we are."""
        streams = (stdin, stdout, stderr)
        request = {
            "arguments": arguments, "code": code, "folder": os.getcwd(), "environment": dict(os.environ),
            "open": [one is not None for one in streams],
        }  # fmt: skip
        given = [one for one in streams if one is not None]
        message = json.dumps(request).encode() + b"\n"
        sent = socket.send_fds(self._connection, [message], given)
        self._connection.sendall(message[sent:])
        return Program(int(self._answers.readline()), self._answers)

    @contextmanager
    def with_pipes(self, *arguments: str, code: str | None = None) -> Iterator[Program]:
        """A program whose streams are pipes, without buffers on this side."""
        with ExitStack() as ends:
            reads, writes = zip(*(os.pipe() for _ in range(3)), strict=True)
            theirs = {"stdin": reads[0], "stdout": writes[1], "stderr": writes[2]}
            stdin = ends.enter_context(open(writes[0], "wb", buffering=0))
            stdout, stderr = (ends.enter_context(open(end, "rb", buffering=0)) for end in reads[1:])
            program = self.start(*arguments, **theirs, code=code)
            for end in theirs.values():
                os.close(end)
            yield Program(program.pid, program.answers, stdin, stdout, stderr)

    def run(
        self, *arguments: str, input: bytes | None = b"", stdout: Descriptor = -1, stderr: Descriptor = -1,
        code: str | None = None,
    ) -> subprocess.CompletedProcess[bytes]:  # fmt: skip
        """Run a program to its end. Streams are kept and given back unless a descriptor is given for them."""
        with tempfile.TemporaryFile() as read, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            read.write(input or b"")
            read.seek(0)
            kept = [file.fileno() if one == -1 else one for file, one in ((out, stdout), (err, stderr))]
            stdin = None if input is None else read.fileno()
            exit_code = self.start(*arguments, stdin=stdin, stdout=kept[0], stderr=kept[1], code=code).wait()
            out.seek(0)
            err.seek(0)
            command: Sequence[str] = ["-c", code, *arguments] if code is not None else arguments
            return subprocess.CompletedProcess(command, exit_code, out.read(), err.read())
