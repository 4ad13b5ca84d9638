"""A temporary file that only the process that writes it can read.

What was drawn must not be readable before its charge is sealed: until then a later run may take the charge over and
draw again, and whoever kills runs and collects what they left behind would get many draws for one charge. So everything
that was drawn and has to be put down before the seal lies on the disk encrypted (AES-256 in counter mode). The key is
made for this one file, lives in the memory of this process and is written nowhere: if the process dies, nobody can read
the file any more. How large the file is can still be seen.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from pathveil.randomness.source import system_source

_BLOCK = 1 << 20


class EncryptedFile:
    """Written once, from its beginning to its end; then read, or decrypted for everybody."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # The key is used for this file alone, and the file is written once, so the counter may begin at 0.
        self._cipher = Cipher(algorithms.AES(system_source().bytes(32)), modes.CTR(bytes(16)))
        self._digest = hashlib.sha256()

    @property
    def digest(self) -> str:
        """SHA-256 of what was written, as it will be when it is decrypted."""
        return "sha256:" + self._digest.hexdigest()

    def for_writing(self) -> pa.NativeFile:
        """The file for Arrow to write to, and to close. An error if it is there already."""
        return pa.PythonFile(_Writing(self.path, self._cipher.encryptor(), self._digest), mode="w")

    def for_reading(self) -> pa.NativeFile:
        """What was written, from its beginning."""
        return pa.PythonFile(_Reading(self.path, self._cipher.decryptor()), mode="r")

    def decrypt(self) -> None:
        """From now on the file is readable. It stays where it is and as large as it is: that needs no further space."""
        decryptor = self._cipher.decryptor()
        with open(self.path, "r+b") as file:
            while block := file.read(_BLOCK):
                file.seek(-len(block), os.SEEK_CUR)
                file.write(decryptor.update(block))


class _Writing:
    """As much of a Python file as Arrow needs in order to write."""

    def __init__(self, path: Path, encryptor: Any, digest: Any) -> None:
        self._file = open(path, "xb", buffering=_BLOCK // 16)  # noqa: SIM115 - Arrow closes it
        self._encryptor, self._digest = encryptor, digest

    def write(self, data: bytes | pa.Buffer) -> int:
        plain = memoryview(data).cast("B")
        self._digest.update(plain)
        return self._file.write(self._encryptor.update(plain))

    def tell(self) -> int:
        return self._file.tell()

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    @property
    def closed(self) -> bool:
        return self._file.closed


class _Reading:
    """As much of a Python file as Arrow needs in order to read from beginning to end."""

    def __init__(self, path: Path, decryptor: Any) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 - Arrow closes it
        self._decryptor = decryptor

    def read(self, count: int) -> bytes:
        plain: bytes = self._decryptor.update(self._file.read(count))
        return plain

    def close(self) -> None:
        self._file.close()

    @property
    def closed(self) -> bool:
        return self._file.closed
