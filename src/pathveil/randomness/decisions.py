"""Decisions in ball arithmetic, whose numbers carry their own error bound (python-flint's `arb`).

Whatever is computed from such a number holds the true value inside its ball. So a comparison that comes out true is
true, and one that is in doubt can be repeated with more digits. (`pathveil.numerics.balls` has whole arrays of such
numbers, with floating-point precision.)
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TypeVar

_FIRST_PRECISION = 128  # bits: twice as many as the random numbers that were not enough
_one_at_a_time = threading.Lock()  # the precision is a setting of the whole library

Decision = TypeVar("Decision")


def _release_in_another_process() -> None:
    global _one_at_a_time
    _one_at_a_time = threading.Lock()  # the parent's may be held by a thread that does not exist here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_in_another_process)


class InDoubtError(Exception):
    """The balls are too wide to decide; caught by whoever can ask for more digits."""


def with_enough_digits(decide: Callable[[int], Decision]) -> Decision:
    """What `decide(bits)` says, called with more and more bits of precision until it raises no `InDoubtError`."""
    from flint import ctx

    bits = _FIRST_PRECISION
    while True:
        with _one_at_a_time, ctx.workprec(bits):
            try:
                return decide(bits)
            except InDoubtError:
                bits *= 2
