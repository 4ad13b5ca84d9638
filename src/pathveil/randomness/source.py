"""The one place where entropy enters PathVeil.

A `RandomSource` is an AES-256 keystream in counter mode. Its key comes from the operating system, except for
sources made by `insecure_seed`, which are for tests and demonstrations: whoever knows the seed can undo the release.

**Forks.** A forked process is a copy of its parent, keystreams included, and two people must not get the same noise.
Every keystream therefore bears the mark of the process that made it. A hook gives a forked process a new mark before
any of its own code runs, and a source that finds a keystream with another mark replaces it as a whole: cipher, buffer
and lock. Nothing of the parent's is written to or waited for, so it makes no difference what other threads of the
parent were doing when it forked. The hook runs for `os.fork`, `os.forkpty` and what is built on them
(`multiprocessing` with fork and forkserver, `concurrent.futures`, Spark's workers); `subprocess` and `multiprocessing`
with spawn start a new interpreter, which copies nothing. An extension in C that forks behind Python's back runs no
hooks. There the number of the process is all that tells, and numbers are used again: don't do that.

What a fork cannot take back are bits that had been handed out before: they are ordinary variables of the program, and
both processes have them.
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

_process = object()  # the mark of this process: it is compared by identity and never comes again
_renewing = threading.Lock()  # so that threads which find the same keystream outdated replace it once


def _begin_as_another_process() -> None:
    global _process, _renewing
    _renewing = threading.Lock()  # the parent's may be held by a thread that does not exist here
    _process = object()


if hasattr(os, "register_at_fork"):  # where there are forks at all
    os.register_at_fork(after_in_child=_begin_as_another_process)


class _Keystream:
    """The keystream of one key, and how far it has been handed out, in one process."""

    def __init__(self, key: bytes | None, begin: int = 0) -> None:
        """From byte `begin` on; without a key, with one from the operating system."""
        # The mark comes first. Should this thread fork before the key is in use (in a signal handler, say), then both
        # processes have the key, and the child will find that the mark is not its own.
        self.mark, self._number = _process, os.getpid()
        counter, skipped = divmod(begin, 16)  # AES makes 16 bytes at a time
        key = os.urandom(32) if key is None else key
        cipher = Cipher(algorithms.AES(key), modes.CTR(counter.to_bytes(16, "big")))
        self._encrypt = cipher.encryptor()
        self._encrypt.update(bytes(skipped))
        self._unused = memoryview(
            b""
        )  # fetched, but not handed out yet: there is never a buffer that waits to be filled
        self._lock = threading.Lock()
        self.handed_out = begin

    @property
    def belongs_here(self) -> bool:
        """Was it made by this process, rather than by one that this is a copy of?"""
        return self.mark is _process and self._number == os.getpid()

    def fill(self, wanted: memoryview) -> None:
        """The next len(wanted) bytes."""
        with self._lock:
            done, count = 0, len(wanted)
            while (missing := count - done) > 0:
                if not self._unused and missing >= _BLOCK:
                    # Whole blocks go straight to where they are wanted.
                    self._encrypt.update_into(_ZEROS, wanted[done : done + _BLOCK])
                    done += _BLOCK
                    continue
                unused = self._unused or memoryview(self._encrypt.update(_ZEROS))
                taken, self._unused = unused[:missing], unused[missing:]
                wanted[done : done + len(taken)] = taken
                done += len(taken)
            self.handed_out += count


class RandomSource:
    """A stream of random bits. Make one with `system_source()` or `insecure_seed(n)`, not by hand.

    Threads may share a source: no byte is handed out twice. What a source does in a forked process depends on where its
    key is from:

    - the operating system: it gets a new one there, so that nobody gets the noise of somebody else;
    - a seed: it goes on where the parent was at the time of the fork, because a seed promises the same bits again;
    - a name (derived.py): it refuses to go on. A new key would break the promise that a name gives the same bits
      everywhere, and the old one would give the same bits to two processes. The child can ask for the name itself.

    Branches do as the source they are from. A signal handler must not draw from a source that the interrupted code is
    drawing from: it would wait for itself.
    """

    def __init__(self, key: bytes | None = None, *, seed: int | None = None, named: bool = False) -> None:
        """Without a key, one from the operating system. `seed` is where the key is from a seed, and that seed."""
        self._seed = seed
        self._named = named
        self._key = None if seed is None else key  # to go on in a forked process; other keys are not kept
        self._keystream = _Keystream(key)

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

    def keystream(self, count: int) -> UintArray:
        """The next `count` values of the keystream, uniform on 64 bits."""
        values = np.empty(count, dtype=np.uint64)
        self.fill(values)
        return values

    def fill(self, values: UintArray) -> None:
        """The next values of the keystream into an array that exists already, and nowhere else."""
        self._fill(values.data.cast("B"))
        if sys.byteorder == "big":  # the same values from the same seed on every machine
            values.byteswap(inplace=True)

    def branches(self, count: int) -> list[RandomSource]:
        """`count` sources for threads or blocks of work, each with a key of its own from this keystream.

        They share no state and no keystream, so it makes no difference to what each of them hands out which thread
        uses it, and when. Branches of a seeded source are seeded.
        """
        while True:
            before = _process
            keys = self.bytes(32 * count)
            made = [
                RandomSource(keys[i : i + 32], seed=self._seed, named=self._named) for i in range(0, 32 * count, 32)
            ]
            if _process is before:
                return made
            # This thread forked in between (in a signal handler, say): the parent has these keys, too.

    def _fill(self, wanted: memoryview) -> None:
        """The next len(wanted) bytes of the keystream."""
        while True:
            keystream = self._keystream
            if not keystream.belongs_here:
                keystream = self._renewed()
            keystream.fill(wanted)
            if keystream.mark is _process or self.is_seeded:
                return
            # This thread forked in the middle of the draw: the parent has these bytes, too.

    def _renewed(self) -> _Keystream:
        """In a forked process: the keystream to use here, in place of the parent's."""
        with _renewing:
            if not self._keystream.belongs_here:
                if self.is_seeded:
                    self._keystream = _Keystream(self._key, self._keystream.handed_out)
                elif self._named:
                    raise InvalidParameterError(
                        "this random source was made under a name, by a process that has forked since. Ask for the "
                        "name in this process: DerivingKey.source(...)."
                    )
                else:
                    self._keystream = _Keystream(None)
            return self._keystream

    def uniform(self, count: int) -> FloatArray:
        """`count` floating-point numbers in (0, 1)."""
        return as_uniform(self.keystream(count))

    def exponential(self, count: int) -> FloatArray:
        """`count` standard exponential variates, to floating-point accuracy."""
        return -np.log(self.uniform(count))


def as_uniform(keystream: UintArray) -> FloatArray:
    """A number in (0, 1) for each value: the centre of one of 2**53 equal cells, so never 0 and never 1."""
    cells = (keystream >> np.uint64(11)).astype(np.float64)
    # The last cell's centre rounds to 1.0, which would become an infinite or zero exponential variate.
    return np.minimum((cells + 0.5) * 2.0**-53, np.nextafter(1.0, 0.0))


def insecure_seed(seed: int) -> RandomSource:
    """A reproducible source for tests and demonstrations. **Never release real data made with it.**

    Guarantees of releases that used one say so.

    >>> import pathveil as pv
    >>> pv.insecure_seed(7).keystream(1) == pv.insecure_seed(7).keystream(1)
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
        source = _local.source = RandomSource()
    return source
