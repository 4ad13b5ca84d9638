"""A process that has loaded what commands need and becomes a program, in a child, whenever `programs.py` asks for one.

It runs as `python -m tests.program_server DESCRIPTOR`. A child has the streams that came with the request, made as
the interpreter makes its own, and ends as the interpreter does, but that it leaves what is in memory where it is:
throwing away all that was loaded takes longer than most commands.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import runpy
import socket
import sys
import threading
import traceback
from typing import Any

LOADED = (
    "pandas",  # which pyarrow looks for
    "pathveil.cli.commands",
    "pathveil.data",
    "pathveil.data.points",
    "pathveil.cli.ledger",
    "pathveil.models.chain",
    "pathveil.planning.choose",
    "pathveil.release",
    "pathveil.words.certified",
    "pydantic.types",  # for typer, which reads options with it
    "pyarrow.parquet",
)


def serve(connection: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Answer one request after another; returns a request in each child that is to become its program."""
    while True:
        request, received = b"", list[int]()
        while not request.endswith(b"\n"):
            part, with_part, _, _ = socket.recv_fds(connection, 1 << 16, 3)
            if not part:
                return None
            request += part
            received += with_part
        child = os.fork()
        if not child:
            connection.close()
            return json.loads(request), received
        for descriptor in received:
            os.close(descriptor)
        connection.sendall(f"{child}\n".encode())
        connection.sendall(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n".encode())


def take_streams(is_open: list[bool], received: list[int]) -> None:
    """Standard input, output and error: what came with the request, closed where nothing did."""
    given = iter(received)
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        own = getattr(sys, name)
        stream = None
        if is_open[number]:
            os.dup2(next(given), number)
            stream = open(number, mode, encoding=own.encoding, errors=own.errors, closefd=False)  # noqa: SIM115
            if name == "stderr":
                stream.reconfigure(line_buffering=True)
        else:
            os.close(number)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    for descriptor in received:
        os.close(descriptor)


def run(program: dict[str, Any]) -> int:
    """The exit code of the program, as the interpreter finds it."""
    try:
        if program["code"] is None:
            sys.argv = ["pathveil", *program["arguments"]]
            runpy.run_module("pathveil", run_name="__main__", alter_sys=True)
        else:
            sys.argv = ["-c", *program["arguments"]]
            exec(compile(program["code"], "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def end(code: int) -> None:
    """Wait for threads, do what was left for the end, and write what is in buffers: 120 where that fails."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except OSError:
            code = 120
            if stream is sys.stdout:
                traceback.print_exc()
    os._exit(code)


if __name__ == "__main__":
    for module in LOADED:
        importlib.import_module(module)
    asked = serve(socket.socket(fileno=int(sys.argv[1])))
    if asked is not None:
        program, streams = asked
        take_streams(program["open"], streams)
        os.chdir(program["folder"])
        os.environ.clear()
        os.environ.update(program["environment"])
        end(run(program))
