"""What tests of forks share."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from typing import Any

from pathveil.randomness.source import RandomSource

_PATIENCE = 60  # seconds until a child that hangs is ended


def in_a_child(work: Callable[[], Any]) -> Any:
    """What `work` returns in a forked process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - runs in the child
        send_and_exit(write, work)
    return received(read, write, child)


def send_and_exit(write: int, work: Callable[[], Any]) -> None:  # pragma: no cover - runs in the child
    """In a forked process: the result to the parent, and no way back into its tests."""
    signal.alarm(_PATIENCE)
    try:
        result = pickle.dumps(work())
        with os.fdopen(write, "wb") as pipe:
            pipe.write(result)
        os._exit(0)
    finally:
        os._exit(1)


def received(read: int, write: int, child: int) -> Any:
    """In the parent: what the child sent."""
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        sent = pipe.read()
    assert os.waitpid(child, 0)[1] == 0, "the child failed, or did not end"
    return pickle.loads(sent)


# For tests with `multiprocessing`: a source that is made where this module is imported first, and used by children.
MADE_BY = os.getpid()
SOURCE = RandomSource()
BRANCH = SOURCE.branches(1)[0]
SOURCE.bytes(16), BRANCH.bytes(16)


def draw(_: int = 0) -> tuple[int, int, bytes, bytes]:
    """Who made the sources, who draws, and what."""
    return MADE_BY, os.getpid(), SOURCE.bytes(32), BRANCH.bytes(32)
