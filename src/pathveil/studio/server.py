"""The server: on this machine only, for one person."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from pathveil.errors import FileItselfError
from pathveil.studio.app import Studio
from pathveil.studio.gate import Gate
from pathveil.studio.making import try_lock
from pathveil.studio.projects import Projects

_LOOPBACK = "127.0.0.1"


def serve(
    folder: Path,
    *,
    port: int = 0,
    open_browser: bool = True,
    say: Callable[[str], None] = print,
    most: int = 2_000_000_000,
) -> None:
    """Serve the pages until somebody stops the program. `say` is told the links that let a browser in.

    Projects are folders in `folder`, which is made if it is not there. Uploads of more than `most` bytes are refused.
    """
    os.umask(0o077)  # whatever is written, here and by commands, is for the owner only
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = try_lock(folder / ".lock")
    except OSError as problem:
        raise FileItselfError(f"{folder}: no projects can be kept there ({problem.strerror})") from None
    if lock is None:
        raise FileItselfError(f"{folder}: another studio is at work there. Close it first, or take another folder.")
    with contextlib.closing(lock), _listening(port) as listening:
        projects = Projects(folder.resolve())
        projects.clear()
        studio = Studio(projects, most)
        bound = listening.getsockname()[1]
        gate = Gate(studio.pages, bound, lambda link: say(f"The link was used. For another browser: {link}"))
        studio.base = gate.base
        say(f"PathVeil Studio is ready: {gate.link}\nProjects are kept in {folder.absolute()}. Ctrl-C ends it.")
        if open_browser:
            threading.Timer(0.5, webbrowser.open, (gate.link,)).start()
        settings = uvicorn.Config(
            gate,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            lifespan="off",
            timeout_graceful_shutdown=2,
        )
        try:
            uvicorn.Server(settings).run(sockets=[listening])
        finally:
            studio.close()


def _listening(port: int) -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((_LOOPBACK, port))
        listening.listen()  # the link is shown before the server runs: whoever is quick waits, and is not sent away
    except OSError as problem:
        listening.close()
        what = f"port {port} cannot be used ({problem.strerror}). Leave out --port, or take another."
        raise FileItselfError(what) from None
    return listening
