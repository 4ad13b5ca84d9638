"""The keystream itself: what it is made of, and what is made of it, number by number."""

from __future__ import annotations

import hashlib
import math
import os
import threading
from fractions import Fraction

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import pathveil as pv
from pathveil.randomness import source as source_module
from pathveil.randomness.source import RandomSource, as_uniform, system_source


def keystream(key: bytes, count: int) -> bytes:
    """AES-256 in counter mode from zero, in one piece."""
    return Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(count))


def test_a_source_hands_out_the_keystream_of_its_key() -> None:
    key = bytes(range(32))
    assert RandomSource(key).bytes(70_000) == keystream(key, 70_000)
    seeded = hashlib.sha256(b"pathveil insecure seed -12").digest()
    assert pv.insecure_seed(-12).bytes(100) == keystream(seeded, 100)
    assert pv.insecure_seed(np.int64(-12)).bytes(100) == keystream(seeded, 100)  # type: ignore[arg-type]


@pytest.mark.parametrize("block", [1 << bits for bits in range(19)])
def test_pieces_of_any_size_continue_each_other_whatever_the_size_of_a_block(block: int) -> None:
    """Keystream is fetched in blocks; of whatever size they are, pieces here end before, at and after their ends."""
    expected = keystream(bytes(32), 10 * block + 20)
    for first in (0, 1, 3, block - 1, block, block + 1, 2 * block):
        source, position = RandomSource(bytes(32)), 0
        for size in (first, 0, 1, block, block - 1, 2 * block, 3 * block + 1, 5):
            assert source.bytes(size) == expected[position : position + size]
            position += size


def test_words_are_read_from_the_keystream_lowest_byte_first() -> None:
    raw = keystream(bytes(32), 80)
    expected = [int.from_bytes(raw[i : i + 8], "little") for i in range(0, 80, 8)]
    assert RandomSource(bytes(32)).keystream(10).tolist() == expected
    words = np.zeros(10, dtype=np.uint64)
    RandomSource(bytes(32)).fill(words)
    assert words.tolist() == expected


def test_on_a_machine_that_reads_the_highest_byte_first_words_are_turned_round(monkeypatch: pytest.MonkeyPatch) -> None:
    turned = RandomSource(bytes(32)).keystream(5).byteswap()
    monkeypatch.setattr(source_module.sys, "byteorder", "big")
    assert (RandomSource(bytes(32)).keystream(5) == turned).all()


def test_branches_are_keyed_by_the_next_bytes_of_the_keystream() -> None:
    source = RandomSource(bytes(32), seed=5)
    raw = keystream(bytes(32), 100)
    branches = source.branches(3)
    for i, branch in enumerate(branches):
        assert branch.bytes(40) == keystream(raw[32 * i : 32 * (i + 1)], 40)
    assert source.bytes(4) == raw[96:100]
    assert repr(branches[0]) == "insecure_seed(5)"
    assert source.branches(0) == []


def test_uniform_numbers_are_the_centres_of_their_cells() -> None:
    words = np.array([0, (1 << 11) - 1, 1 << 11, 1 << 63, 2**64 - 1 - (1 << 11)], dtype=np.uint64)
    cells = [int(word) >> 11 for word in words]
    assert [Fraction(x) for x in as_uniform(words[:3]).tolist()] == [Fraction(2 * c + 1, 2**54) for c in cells[:3]]
    # Above ½ the centre is no float any more and is rounded; the last cell stays below 1.
    assert as_uniform(words[3:]) == pytest.approx([float(Fraction(2 * c + 1, 2**54)) for c in cells[3:]], rel=2e-16)
    assert as_uniform(np.array([2**64 - 1], dtype=np.uint64)).tolist() == [1 - 2.0**-53]


def test_uniform_and_exponential_numbers_are_made_of_the_next_words() -> None:
    words = pv.insecure_seed(1).keystream(50)
    uniform = pv.insecure_seed(1).uniform(50)
    assert (uniform == as_uniform(words)).all()
    assert pv.insecure_seed(1).exponential(50) == pytest.approx([-math.log(u) for u in uniform.tolist()])


def test_a_seed_is_given_by_name_and_no_number_of_bytes_is_negative() -> None:
    with pytest.raises(TypeError, match="positional"):
        RandomSource(bytes(32), 5)  # type: ignore[misc]
    assert RandomSource(key=bytes(32), seed=5).is_seeded
    assert RandomSource(bytes(32)).bytes(0) == b""
    with pytest.raises(ValueError, match="-1 bytes"):
        RandomSource(bytes(32)).bytes(-1)


def test_every_thread_has_one_system_source_of_its_own() -> None:
    assert system_source() is system_source()
    others: list[RandomSource] = []
    thread = threading.Thread(target=lambda: others.extend([system_source(), system_source()]))
    thread.start()
    thread.join()
    assert others[0] is others[1]
    assert others[0] is not system_source()


def _in_a_child(source: RandomSource, count: int) -> bytes:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - runs in the child
        os.write(write, source.bytes(count) + source.bytes(count))
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        return pipe.read()


def test_a_seeded_source_goes_on_in_a_forked_process_and_one_of_the_system_begins_anew_there() -> None:
    seeded = pv.insecure_seed(3)
    seeded.bytes(10)
    assert _in_a_child(seeded, 20) == pv.insecure_seed(3).bytes(50)[10:]
    secret = RandomSource(bytes(32))
    secret.bytes(10)
    theirs = _in_a_child(secret, 20)
    assert len(theirs) == 40
    assert theirs[:20] != theirs[20:]  # keyed once, not before every draw
    assert theirs[:20] not in keystream(bytes(32), 1000)
    assert secret.bytes(20) == keystream(bytes(32), 30)[10:]


def test_another_process_goes_on_with_a_seed_and_begins_anew_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, but in this process, under the number of another."""
    pairs = [(pv.insecure_seed(3), pv.insecure_seed(3)), (pv.RandomSource(bytes(32)), pv.RandomSource(bytes(32)))]
    for here, _ in pairs:
        here.bytes(8)
    monkeypatch.setattr(os, "getpid", lambda: -7)
    there = [(here.bytes(16), fresh.bytes(24)) for here, fresh in pairs]
    assert there[0][0] == there[0][1][8:]
    assert there[1][0] != there[1][1][8:]
