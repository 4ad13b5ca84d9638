"""Temporary files that only the process that writes them can read."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pathveil.data.encrypted_file import EncryptedFile


@given(pieces=some.lists(some.binary(max_size=3_000), max_size=20))
def test_what_was_written_is_read_and_decrypted_and_its_digest_known(tmp_path_factory, pieces: list[bytes]) -> None:
    file = EncryptedFile(tmp_path_factory.mktemp("encrypted") / "file")
    with file.for_writing() as sink:
        for piece in pieces:
            sink.write(piece)
    whole = b"".join(pieces)
    assert len(file.path.read_bytes()) == len(whole)
    with file.for_reading() as opened:
        assert opened.read(len(whole) + 1) == whole
    assert file.digest == f"sha256:{hashlib.sha256(whole).hexdigest()}"
    file.decrypt()
    assert file.path.read_bytes() == whole


def test_a_large_file_is_decrypted_block_by_block(tmp_path: Path) -> None:
    file, whole = EncryptedFile(tmp_path / "file"), bytes(range(256)) * 12_345
    with file.for_writing() as sink:
        sink.write(whole)
    assert whole[:1000] not in file.path.read_bytes()
    file.decrypt()
    assert file.path.read_bytes() == whole


def test_two_files_with_one_content_look_different_and_like_noise(tmp_path: Path) -> None:
    files = [EncryptedFile(tmp_path / name) for name in "ab"]
    for file in files:
        with file.for_writing() as sink:
            sink.write(bytes(1000))
    first, second = (file.path.read_bytes() for file in files)
    # Of 1000 random pairs of bytes about 4 are equal; more than 30 with probability below 1e-15.
    assert sum(a == b for a, b in zip(first, second, strict=True)) < 30
    assert first.count(0) < 30


def test_a_keystream_is_not_used_twice(tmp_path: Path) -> None:
    file = EncryptedFile(tmp_path / "file")
    file.for_writing().close()
    with pytest.raises(FileExistsError):
        file.for_writing()


def test_nothing_that_can_be_printed_shows_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = bytes(range(200, 232))
    monkeypatch.setattr("pathveil.randomness.source.RandomSource.bytes", lambda *_: key)
    file = EncryptedFile(tmp_path / "file")
    shown = repr(file) + repr(vars(file))
    assert key.hex() not in shown
    assert repr(key)[2:-1] not in shown
