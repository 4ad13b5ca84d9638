"""A forked process never hands out bits that its parent, or another child, hands out as well.

Tests that stop threads at the worst moment do so inside a draw, by a cipher that calls back, and leave nothing to
chance.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher

import pathveil as pv
from pathveil.randomness import decisions
from pathveil.randomness import source as source_module
from pathveil.randomness.derived import DerivingKey
from pathveil.randomness.source import RandomSource, system_source
from tests.randomness import forks
from tests.randomness.fork_storm import storm
from tests.randomness.forks import in_a_child, received, send_and_exit
from tests.reference.number_checked_source import NumberCheckedSource
from tests.sizes import small_and_large

Make = Callable[[], RandomSource]


def branch() -> RandomSource:
    return RandomSource().branches(1)[0]


KINDS: dict[str, Make] = {"by itself": RandomSource, "branch": branch, "of a thread": system_source}


class CallingCipher:
    """A cipher that calls `hook` after each piece of keystream, while the source is in the middle of a draw."""

    hook: Callable[[], None] | None = None

    def __init__(self, *arguments: Any) -> None:
        self._cipher = Cipher(*arguments)

    def encryptor(self) -> CallingCipher:
        self._encryptor = self._cipher.encryptor()
        return self

    def update(self, data: bytes) -> bytes:
        made = self._encryptor.update(data)
        self._call(data)
        return made

    def update_into(self, data: bytes, buffer: Any) -> int:
        count = self._encryptor.update_into(data, buffer)
        self._call(data)
        return count

    def _call(self, data: bytes) -> None:
        hook, CallingCipher.hook = CallingCipher.hook, None
        if data and hook is not None:
            hook()
        else:
            CallingCipher.hook = hook


@pytest.fixture
def calling_cipher(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[CallingCipher]]:
    monkeypatch.setattr(source_module, "Cipher", CallingCipher)
    yield CallingCipher
    CallingCipher.hook = None


# ------------------------------------------------------------------------------------------ one process after another


def _goes_on_under_the_same_number(make: Make, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(os, "getpid", lambda: 4711)
    source = make()
    source.bytes(16)
    child = in_a_child(lambda: source.bytes(64))
    return child == source.bytes(64)


@pytest.mark.parametrize("kind", KINDS)
def test_a_process_with_the_number_of_its_ancestor_has_another_keystream(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not _goes_on_under_the_same_number(KINDS[kind], monkeypatch)


def test_a_source_that_compares_numbers_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control of the test above."""
    assert _goes_on_under_the_same_number(NumberCheckedSource, monkeypatch)


@pytest.mark.parametrize("kind", KINDS)
def test_children_and_grandchildren_have_keystreams_of_their_own(kind: str) -> None:
    source = KINDS[kind]()
    source.bytes(16)

    def generation(depth: int) -> list[bytes]:
        before = source.bytes(32)
        below = [] if depth == 0 else [*in_a_child(lambda: generation(depth - 1)), *in_a_child(lambda: generation(0))]
        return [before, *below, source.bytes(32)]

    drawn = generation(3)
    assert len(drawn) == 14
    assert len(set(drawn)) == 14


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_processes_of_multiprocessing_share_no_keystream(method: str) -> None:
    """With fork, children copy the sources of this process; with forkserver, those of a server that imported them."""
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload([forks.__name__])
    pool = context.Pool(3, maxtasksperchild=1)
    drawn = [forks.draw(), *pool.map(forks.draw, range(6), chunksize=1), forks.draw()]
    pool.close()  # a pool in a `with` is terminated instead, and a signal can get lost in a process that just begins
    pool.join()
    assert len({draw[1] for draw in drawn}) >= 4  # processes
    made_elsewhere = [maker for maker, process, *_ in drawn[1:-1] if maker != process]
    assert len(made_elsewhere) == (0 if method == "spawn" else 6)
    assert len({bits for draw in drawn for bits in draw[2:]}) == 16


# ------------------------------------------------------------------------------------------------ threads in the child


def _handed_to_two_threads(source: RandomSource, cipher: type[CallingCipher]) -> list[bytes]:
    """Two threads of a forked process that come to a source together, and the one that comes first is held up.

    The second one gets its keystream while the first is on its way to a key; then the first goes on, while the second
    stands in the middle of its draw. Where a lock keeps one from overtaking the other, waiting ends after a while.
    """
    first_waits, second_draws, first_has_a_key = (threading.Event() for _ in range(3))
    urandom = os.urandom
    drawn: list[bytes] = []

    def held_up(count: int) -> bytes:
        key = urandom(count)
        if threading.current_thread() is first and not first_waits.is_set():
            first_waits.set()
            second_draws.wait(1)
            first_has_a_key.set()
        return key

    def in_the_middle() -> None:
        if threading.current_thread() is second:
            second_draws.set()
            first_has_a_key.wait(1)
            threading.Event().wait(0.3)  # enough for the first to put its own in place

    def draw() -> None:
        for _ in range(10):
            drawn.append(source.bytes(16))

    first, second = (threading.Thread(target=draw) for _ in range(2))
    os.urandom, cipher.hook = held_up, in_the_middle
    first.start()
    first_waits.wait(5)
    second.start()
    first.join()
    second.join()
    return drawn


def test_threads_that_find_an_outdated_keystream_at_the_worst_moment_do_not_overwrite_each_other(
    calling_cipher: type[CallingCipher],
) -> None:
    source = RandomSource()
    source.bytes(16)
    drawn = in_a_child(lambda: _handed_to_two_threads(source, calling_cipher))
    assert len(drawn) == len(set(drawn)) == 20
    assert bytes(16) not in drawn


def test_the_worst_moment_is_one_indeed(calling_cipher: type[CallingCipher]) -> None:
    """Negative control: pieces replaced one by one make threads hand out zeros."""
    source = NumberCheckedSource()
    source.bytes(16)
    assert in_a_child(lambda: _handed_to_two_threads(source, calling_cipher)).count(bytes(16)) > 5


def test_streams_that_were_open_before_a_fork_do_not_repeat_their_noise_in_any_thread_or_process() -> None:
    """40 symbols of 1,000 that are nearly equally likely: two streams agree by chance with probability 1e-120."""
    streams = [pv.Online(pv.Alphabet(range(1000)), 1e-3).stream() for _ in range(8)]
    for stream in streams:
        stream.push(0)

    def push_all() -> list[tuple[object, ...]]:
        together = threading.Barrier(8)
        pushed: list[tuple[object, ...]] = []

        def push(stream: Any) -> None:
            together.wait()
            pushed.append(tuple(stream.push(0) for _ in range(40)))

        threads = [threading.Thread(target=push, args=(stream,)) for stream in streams]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return pushed

    pushed = [word for _ in range(10) for word in in_a_child(push_all)] + push_all()
    assert len(pushed) == len(set(pushed)) == 88
    # A buffer of zeros would emit one symbol again and again. Ten of 40 alike have a probability below 1e-20.
    assert min(len(set(word)) for word in pushed) > 30


@small_and_large("forks", 20, 200)
def test_no_block_is_handed_out_twice_in_a_storm_of_forks_and_threads(forks: int) -> None:
    """False alarms have a probability below 1e-25. `python -m tests.randomness.fork_storm 2000` is the long form."""
    seen = storm(forks, RandomSource, system_source)
    assert seen.blocks > 1_700 * forks
    assert seen.found_nothing, seen


def test_the_storm_notices_children_that_take_the_same_key() -> None:
    """Negative control that leaves nothing to chance; how often threads overwrite each other depends on the machine.

    `python -m tests.randomness.fork_storm 2000 --planted` does that: thousands of blocks are zero or repeated.
    """

    class OneKeyForAll(RandomSource):
        def branches(self, count: int) -> list[RandomSource]:
            return [OneKeyForAll() for _ in range(count)]

        def _renewed(self) -> source_module._Keystream:
            with source_module._renewing:
                if not self._keystream.belongs_here:
                    self._keystream = source_module._Keystream(bytes(32))
                return self._keystream

    seen = storm(2, OneKeyForAll)
    assert seen.repeated > 1000
    assert (seen.zeros, seen.failed) == (0, 0)


# -------------------------------------------------------------------------------------------- in the middle of a draw


@pytest.mark.parametrize("size", [16, 1 << 16, 200_000])
def test_a_thread_that_forks_in_the_middle_of_its_own_draw_does_not_share_it_with_the_child(
    size: int, calling_cipher: type[CallingCipher]
) -> None:
    """As a signal handler or a finaliser may do: both processes return into the draw."""
    source = RandomSource()
    read, write = os.pipe()
    children: list[int] = []

    calling_cipher.hook = lambda: children.append(os.fork())
    drawn = source.bytes(size)
    if children == [0]:  # pragma: no cover - runs in the child
        send_and_exit(write, lambda: drawn + source.bytes(size))
    drawn += source.bytes(size)
    theirs = received(read, write, children[0])
    blocks = [both[i : i + 16] for both in (drawn, theirs) for i in range(0, size, 16)]
    assert len(set(blocks)) == len(blocks)


def test_a_thread_that_forks_while_it_makes_branches_does_not_share_them_with_the_child(
    calling_cipher: type[CallingCipher],
) -> None:
    source = RandomSource()
    read, write = os.pipe()
    children: list[int] = []
    calling_cipher.hook = lambda: children.append(os.fork())
    drawn = [branch.bytes(32) for branch in source.branches(3)]
    if children == [0]:  # pragma: no cover - runs in the child
        send_and_exit(write, lambda: drawn)
    assert len({*drawn, *received(read, write, children[0])}) == 6


def _drawing_while_forking(source: RandomSource, cipher: type[CallingCipher], work: Callable[[], Any]) -> Any:
    """`work` in a process that was forked off while another thread stood in the middle of a draw of 100 bytes."""
    inside, go_on = threading.Event(), threading.Event()

    def stand() -> None:
        inside.set()
        go_on.wait(60)

    cipher.hook = stand
    thread = threading.Thread(target=lambda: source.bytes(100))
    thread.start()
    assert inside.wait(60)
    result = in_a_child(work)
    go_on.set()
    thread.join()
    return result


def test_a_lock_that_is_held_while_a_process_forks_is_not_waited_for_in_the_child(
    calling_cipher: type[CallingCipher],
) -> None:
    source = RandomSource()
    theirs = _drawing_while_forking(source, calling_cipher, lambda: source.bytes(3200))
    blocks = [both[i : i + 16] for both in (theirs, source.bytes(3200)) for i in range(0, 3200, 16)]
    assert len(set(blocks)) == 400
    assert bytes(16) not in blocks


def test_a_seeded_source_goes_on_after_the_last_draw_that_was_complete(calling_cipher: type[CallingCipher]) -> None:
    """Also if another thread of the parent is in the middle of one, and then the buffer is not yet there."""
    source = pv.insecure_seed(5)
    whole = pv.insecure_seed(5).bytes(70_000)
    source.bytes(7)
    source.bytes(65_529)
    theirs = _drawing_while_forking(source, calling_cipher, lambda: source.bytes(200))
    assert theirs == whole[65_536:65_736]
    assert source.bytes(100) == whole[65_636:65_736]
    assert in_a_child(lambda: source.bytes(1000)) == whole[65_736:66_736] == source.bytes(1000)


def test_threads_of_a_child_that_share_a_seeded_source_get_no_byte_twice() -> None:
    source = pv.insecure_seed(5)
    source.bytes(48)

    def draw_all() -> list[bytes]:
        drawn: list[bytes] = []
        together = threading.Barrier(8)

        def draw() -> None:
            together.wait()
            for _ in range(50):
                drawn.append(source.bytes(16))

        threads = [threading.Thread(target=draw) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return drawn

    whole = pv.insecure_seed(5).bytes(16 * 403)[48:]
    for _ in range(10):
        assert sorted(in_a_child(draw_all)) == sorted(whole[i : i + 16] for i in range(0, len(whole), 16))


def test_decisions_with_more_digits_are_taken_in_a_child_although_the_parent_was_taking_one() -> None:
    inside, go_on = threading.Event(), threading.Event()

    def slow(_: int) -> int:
        inside.set()
        go_on.wait(60)
        return 1

    thread = threading.Thread(target=decisions.with_enough_digits, args=(slow,))
    thread.start()
    assert inside.wait(60)
    try:
        assert in_a_child(lambda: decisions.with_enough_digits(lambda bits: bits)) == 128
    finally:
        go_on.set()
        thread.join()


# ---------------------------------------------------------------------------------------- sources that have a name


def test_a_source_with_a_name_refuses_to_go_on_in_a_child_and_can_be_asked_for_there() -> None:
    """A new key would be another draw under the same name; the old one gives two processes the same bits."""
    key = DerivingKey(system_source())
    source = key.source("pile", 3)
    [branch] = key.source("pile", 4).branches(1)
    source.bytes(16)

    def use() -> tuple[list[str], bytes]:
        refused = []
        for forbidden in (source, branch):
            with pytest.raises(pv.InvalidParameterError, match="Ask for the name in this process") as problem:
                forbidden.bytes(16)
            refused.append(str(problem.value))
        return refused, key.source("pile", 3).bytes(32)

    refused, found = in_a_child(use)
    assert len(refused) == 2
    assert found == key.source("pile", 3).bytes(32)
    assert source.bytes(16) == found[16:]  # the parent's own goes on


def test_a_source_with_a_name_from_a_seed_goes_on_in_a_child_like_every_seeded_one() -> None:
    source = DerivingKey(pv.insecure_seed(1)).source("pile", 3)
    source.bytes(16)
    assert in_a_child(lambda: source.bytes(16)) == source.bytes(16)
