"""Ball arithmetic: numbers that carry their own error bound (python-flint's `arb`).

Whatever is computed from such a number holds the true value inside its ball. So a comparison that comes out true is
true, and one that is in doubt can be repeated with more digits.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

FIRST_PRECISION = 128
"""Bits to begin with: about twice as many as the random numbers that were not enough."""

# The precision is a setting of the whole library.
_one_at_a_time = threading.Lock()


class InDoubtError(Exception):
    """The balls are too wide to decide; caught by whoever can ask for more digits."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with so many bits, one thread at a time."""
    from flint import ctx

    with _one_at_a_time, ctx.workprec(bits):
        yield
