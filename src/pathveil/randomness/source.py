"""The one place where entropy enters PathVeil.

A `RandomSource` is an AES-256 keystream in counter mode. Its key comes from the operating system, except for
sources made by `insecure_seed`, which are for tests and demonstrations: whoever knows the seed can undo the release.
"""

from __future__ import annotations

import hashlib
import operator
import os
import sys
import threading
from typing import NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import FloatArray, UintArray

_BLOCK = 1 << 16  # keystream bytes fetched at a time: large enough that a single draw costs next to nothing
_ZEROS = bytes(_BLOCK)  # the keystream is what zeros are encrypted to


class RandomSource:
    """A stream of random bits. Make one with `system_source()` or `insecure_seed(n)`, not by hand.

    Threads may share a source: no byte is handed out twice. A forked process must not continue its parent's stream,
    or two people would get the same noise, so a source that was keyed by the operating system is keyed anew there.
    """

    def __init__(self, key: bytes, *, seed: int | None = None) -> None:
        self._seed = seed
        self._lock = threading.Lock()
        self._start(key)

    def _start(self, key: bytes) -> None:
        self._encrypt = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        self._buffer = bytearray(_BLOCK)
        self._position = _BLOCK  # nothing fetched yet
        self._process = os.getpid()

    def __reduce__(self) -> NoReturn:
        """No copies, no pickles: two of them would hand out the same bits."""
        raise TypeError("a RandomSource cannot be copied or pickled")

    @property
    def is_seeded(self) -> bool:
        """True where the bits can be reproduced by anyone who knows the seed."""
        return self._seed is not None

    def __repr__(self) -> str:
        return f"insecure_seed({self._seed})" if self.is_seeded else "RandomSource(operating system)"

    def bytes(self, count: int) -> bytes:
        """The next `count` bytes of the keystream; no byte is ever handed out twice."""
        if count < 0:
            raise ValueError(f"cannot draw {count} bytes")
        taken = bytearray(count)
        self._fill(memoryview(taken))
        return bytes(taken)

    def words64(self, count: int) -> UintArray:
        """`count` uniform 64-bit words."""
        words = np.empty(count, dtype=np.uint64)
        self.fill(words)
        return words

    def fill(self, words: UintArray) -> None:
        """Uniform 64-bit words into an array that exists already: the keystream is written there and nowhere else."""
        self._fill(words.data.cast("B"))
        if sys.byteorder == "big":  # the same words from the same seed on every machine
            words.byteswap(inplace=True)

    def branches(self, count: int) -> list[RandomSource]:
        """`count` sources for threads or blocks of work, each with a key of its own from this keystream.

        They share no state and no keystream, so it makes no difference to what each of them hands out which thread
        uses it, and when. Branches of a seeded source are seeded.
        """
        keys = self.bytes(32 * count)
        return [RandomSource(keys[i : i + 32], seed=self._seed) for i in range(0, 32 * count, 32)]

    def _fill(self, wanted: memoryview) -> None:
        """The next len(wanted) bytes of the keystream."""
        if self._process != os.getpid():
            self._lock = threading.Lock()  # the parent's may be held by a thread that does not exist here
            if self.is_seeded:
                self._process = os.getpid()
            else:
                self._start(os.urandom(32))
        with self._lock:
            done = 0
            while (missing := len(wanted) - done) > 0:
                if self._position == _BLOCK and missing >= _BLOCK:
                    # Whole blocks go straight to where they are wanted.
                    self._encrypt.update_into(_ZEROS, wanted[done : done + _BLOCK])
                    done += _BLOCK
                    continue
                if self._position == _BLOCK:
                    self._encrypt.update_into(_ZEROS, self._buffer)
                    self._position = 0
                end = min(_BLOCK, self._position + missing)
                wanted[done : done + end - self._position] = self._buffer[self._position : end]
                done += end - self._position
                self._position = end

    def uniform(self, count: int) -> FloatArray:
        """`count` floating-point numbers in (0, 1)."""
        return as_uniform(self.words64(count))

    def exponential(self, count: int) -> FloatArray:
        """`count` standard exponential variates, to floating-point accuracy."""
        return -np.log(self.uniform(count))


def as_uniform(words: UintArray) -> FloatArray:
    """A number in (0, 1) for each 64-bit word: the centre of one of 2**53 equal cells, so never 0 and never 1."""
    cells = (words >> np.uint64(11)).astype(np.float64)
    # The last cell's centre rounds to 1.0, which would become an infinite or zero exponential variate.
    return np.minimum((cells + 0.5) * 2.0**-53, np.nextafter(1.0, 0.0))


def insecure_seed(seed: int) -> RandomSource:
    """A reproducible source for tests and demonstrations. **Never release real data made with it.**

    Guarantees of releases that used one say so.

    >>> import pathveil as pv
    >>> pv.insecure_seed(7).words64(1) == pv.insecure_seed(7).words64(1)
    array([ True])
    """
    try:
        number = operator.index(seed)
    except TypeError:
        raise InvalidParameterError(f"a seed is a whole number, not {seed!r}") from None
    return RandomSource(hashlib.sha256(b"pathveil insecure seed %d" % number).digest(), seed=number)


_local = threading.local()


def checked_source(rng: RandomSource | None) -> RandomSource:
    """The source to draw from: the one given, or the operating system's."""
    if rng is None:
        return system_source()
    if not isinstance(rng, RandomSource):
        raise InvalidParameterError(
            f"rng is None (operating-system entropy) or pv.insecure_seed(n), not {type(rng).__name__}"
        )
    return rng


def system_source() -> RandomSource:
    """This thread's source, keyed once from the operating system."""
    source: RandomSource | None = getattr(_local, "source", None)
    if source is None:
        source = _local.source = RandomSource(os.urandom(32))
    return source
