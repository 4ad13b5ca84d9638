import hashlib
import hmac
import pickle

import pathveil as pv
from pathveil.randomness.derived import DerivingKey
from pathveil.randomness.source import system_source


def test_a_name_is_written_with_kinds_and_lengths_under_the_secret() -> None:
    secret = pv.insecure_seed(3).bytes(32)
    written = b"str:4:pile" + b"int:2:17" + b"bytes:3:\x00:1"
    expected = hmac.new(secret, written, hashlib.sha256).digest()
    assert DerivingKey(pv.insecure_seed(3)).key("pile", 17, b"\x00:1") == expected


def test_no_two_names_share_a_keystream() -> None:
    key = DerivingKey(pv.insecure_seed(3))
    names: list[tuple[str | int | bytes, ...]] = [
        *[(), ("",), (b"",), ("", ""), (1,), ("1",), (b"1",), ("ab",), ("a", "b"), ("b", "a"), ("a", "", "b")],
        *[("é",), ("\udce9",), ("a:1:b",), ("astr:1:b",), (12, 3), (1, 23), (-1,)],
    ]
    assert len({key.source(*name).bytes(32) for name in names}) == len(names)
    assert key.source("a").bytes(32) != DerivingKey(pv.insecure_seed(4)).source("a").bytes(32)


def test_a_copy_of_the_key_finds_the_same_keystream_again() -> None:
    key = DerivingKey(system_source())
    assert pickle.loads(pickle.dumps(key)).source("a", 1).bytes(32) == key.source("a", 1).bytes(32)


def test_sources_are_seeded_where_the_secret_came_from_a_seed_and_nowhere_else() -> None:
    for source in (pv.insecure_seed(0), system_source()):
        key = DerivingKey(source)
        assert key.is_seeded == key.source("a").is_seeded == source.is_seeded
