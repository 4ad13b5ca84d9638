"""How sources noticed a fork before there was a hook: a planted error that tests of forks must notice.

A source compares process numbers, and replaces what it has piece by piece, without a lock. So threads of a forked
process can overwrite each other's work and hand out a buffer of zeros, and a process with the number of an ancestor
goes on with that one's keystream.
"""

from __future__ import annotations

import os
import threading

from pathveil.randomness import source
from pathveil.randomness.source import RandomSource

_BLOCK = 1 << 16


class NumberCheckedSource(RandomSource):
    """A source of the operating system that does both wrong."""

    def __init__(self, key: bytes | None = None) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._start(os.urandom(32) if key is None else key)

    def _start(self, key: bytes) -> None:
        cipher = source.Cipher(source.algorithms.AES(key), source.modes.CTR(bytes(16)))
        self._encrypt = cipher.encryptor()
        self._buffer = bytearray(_BLOCK)
        self._position = _BLOCK
        self._process = os.getpid()

    def branches(self, count: int) -> list[RandomSource]:
        return [NumberCheckedSource(self.bytes(32)) for _ in range(count)]

    def _fill(self, wanted: memoryview) -> None:
        if self._process != os.getpid():
            self._lock = threading.Lock()
            self._start(os.urandom(32))
        with self._lock:
            done = 0
            while (missing := len(wanted) - done) > 0:
                if self._position == _BLOCK:
                    self._encrypt.update_into(bytes(_BLOCK), self._buffer)
                    self._position = 0
                end = min(_BLOCK, self._position + missing)
                wanted[done : done + end - self._position] = self._buffer[self._position : end]
                done += end - self._position
                self._position = end
