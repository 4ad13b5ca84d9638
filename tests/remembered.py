"""Commands prove the same certificates again and again: in tests of commands, each is proved once by a process.

A certificate follows from the public system and the options alone, which are its key here. What certificates prove is
tested in `tests/words/certificate`, where nothing is remembered.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pathveil.words.certified import CertifiedExponential

_KNOWN: dict[tuple[object, ...], Any] = {}


@pytest.fixture(scope="module", autouse=True)
def certificates_are_proved_once() -> Iterator[None]:
    with proved_once():
        yield


@contextmanager
def proved_once() -> Iterator[None]:
    """For fixtures of a session, which are made before those of a module."""
    prove = CertifiedExponential._certify

    def remembered(self: CertifiedExponential, length: int) -> Any:
        if self._prices is not None:
            return prove(self, length)
        system = self.world.compiled
        arrays = (system.offsets, system.labels, system.targets, system.accepting)
        key = (
            *(array.tobytes() for array in arrays), system.start, system.symbol_count, length, self.epsilon,
            self.adjacency, self.max_length, self.contexts, self.on_infeasible,
        )  # fmt: skip
        if key not in _KNOWN:
            _KNOWN[key] = prove(self, length)
        return _KNOWN[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CertifiedExponential, "_certify", remembered)
        yield
