"""Online: which keystream word leads to which symbol, and where a stream can go."""

from __future__ import annotations

import mpmath
import numpy as np
import pyarrow as pa
import pytest

import pathveil as pv
from tests.reference.planted import PlantedSource
from tests.worlds import CHAIN


def test_online_emits_each_successor_for_its_share_of_the_keystream() -> None:
    """Each wrong one of three successors owns `each` of the 2^64 words, from 0 on, the true one the rest."""
    world = pv.MarkovChain.from_edges([("a", "a"), ("a", "b"), ("a", "c"), ("b", "a"), ("c", "a")], initial="a")
    mechanism = pv.Online(world, 1.3)
    each = int(mechanism._each[3])
    with mpmath.workdps(40):
        z = mpmath.exp(-mpmath.mpf(1.3))
        assert abs(each - 2**64 * z / (1 + 2 * z)) < 2**64 * 1e-15
    assert mechanism._each[:2].tolist() == [1, 1]  # one successor owns all of them
    a, b, c = (world.symbols.index(s) for s in "abc")
    for true, others in [(a, (b, c)), (b, (a, c)), (c, (a, b))]:
        expected = {0: others[0], each - 1: others[0], each: others[1], 2 * each - 1: others[1], 2 * each: true}
        for word, symbol in [*expected.items(), (2**64 - 1, true)]:
            start = np.array([world.compiled.start])
            emitted, states = mechanism._emit(start, np.array([true]), PlantedSource([word]))
            assert emitted.tolist() == [symbol]
            assert states.tolist() == [world.compiled.moves[world.compiled.start][symbol]]
    # From 'b' only 'a' can follow, whatever is true and whatever the keystream says.
    state = np.array([world.compiled.moves[world.compiled.start][b]] * 2)
    for word in (0, 2**63, 2**64 - 1):
        assert mechanism._emit(state, np.array([b, a]), PlantedSource([word]))[0].tolist() == [a, a]


def test_where_the_true_symbol_cannot_follow_all_successors_have_equal_shares() -> None:
    world = pv.MarkovChain.from_edges([(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)], initial=0)
    mechanism = pv.Online(world, 1.0)
    third = -(-(2**64) // 3)
    start = np.array([world.compiled.start])
    for word, symbol in [(0, 1), (third - 1, 1), (third, 2), (2**63, 2), (2**64 - third, 2), (2**64 - third + 1, 3)]:
        emitted, _ = mechanism._emit(start, np.array([0]), PlantedSource([word]))
        assert emitted.tolist() == [symbol]


def test_large_batches_online_are_cut_between_words() -> None:
    words = pa.array([(0, 1, 2, 0), (1,), (2, 2), (0, 0, 0), (1, 2, 0, 1, 1)] * 10_000)  # more than two blocks
    assert pv.Online(CHAIN, 1e6).privatize_arrow(words).equals(words)
    streams = pv.Online(CHAIN, 1e6).streams(140_000)
    codes = np.arange(140_000) % 2
    assert np.array_equal(streams.push(codes), codes)
    assert not streams.push(np.zeros(140_000, dtype=np.int8)).any()


def test_streams_are_counted_and_begin_before_the_first_symbol() -> None:
    mechanism = pv.Online(CHAIN, 1e6)
    stream = mechanism.stream()
    assert "OnlineStream(0 symbols so far" in repr(stream)
    assert [stream.push(s) for s in (0, 1, 2, 0)] == [0, 1, 2, 0]
    assert "OnlineStream(4 symbols so far" in repr(stream)
    streams = mechanism.streams(2)
    streams.push([0, 1])
    streams.push([1, 2])
    assert "2 streams, 2 symbols so far" in repr(streams)
    for shape in ([0], [[0, 1]], 0):
        with pytest.raises(pv.InvalidParameterError, match="2 streams"):
            streams.push(shape)


def test_online_looks_only_at_states_that_can_be_reached() -> None:
    """'c' and 'd' lead nowhere and could not be last, but no word gets there."""
    counts = [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    world = pv.MarkovChain.from_counts("abcd", counts, initial={"a"}, final={"a", "b"})
    assert pv.Online(world, 1e6).privatize("aab") == "aab"
    with pytest.raises(pv.DeadEndError, match="'d' has no successor"):
        pv.Online(pv.MarkovChain.from_counts("abcd", counts), 1.0)
    with pytest.raises(pv.InvalidSystemError, match="restricts the last symbol"):
        pv.Online(pv.MarkovChain.from_counts("abcd", counts, initial={"a"}, final={"b"}), 1.0)
