"""Many streams side by side: each has the law of a single one."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pathveil as pv
from tests.reference.enumeration import feasible_words
from tests.statistics import FALSE_ALARM, chi_square_p_value, counted_rows
from tests.worlds import CHAIN

WORD = (0, 1, 2, 0)


@pytest.mark.parametrize("count", [20_000, 140_000])
def test_streams_side_by_side_are_drawn_like_words(count: int) -> None:
    """By plain loops, and in several blocks by compiled ones."""
    mechanism = pv.Online(CHAIN, 2.0)

    def streamed(m: pv.Online, seed: int) -> dict[tuple[int, ...], int]:
        streams = m.streams(count, rng=pv.insecure_seed(seed))
        return counted_rows(np.stack([streams.push(np.full(count, s)) for s in WORD], axis=1))

    law = {v: math.exp(mechanism.log_probability(WORD, v)) for v in feasible_words(CHAIN, len(WORD))}
    # False-alarm probability 1e-6; negative control: a third less noise.
    assert chi_square_p_value(streamed(mechanism, 1), law) > FALSE_ALARM
    assert chi_square_p_value(streamed(pv.Online(CHAIN, 3.0), 2), law) < FALSE_ALARM
    assert mechanism.guarantee.seeded


def test_every_keystream_word_leads_to_a_successor_with_its_share() -> None:
    from pathveil.words.online_kernel import push_symbols

    world = pv.MarkovChain.from_edges([("a", "a"), ("a", "b"), ("a", "c"), ("b", "a"), ("c", "a")], initial="a")
    compiled, mechanism = world.compiled, pv.Online(world, 1.0)
    each = int(mechanism._each[3])
    words = [0, each - 1, each, 2 * each - 1, 2 * each, 2**64 - 1]

    def pushed(symbol: int, start: int) -> list[int]:
        private, states = np.empty(len(words), dtype=np.int64), np.full(len(words), start)
        push_symbols(
            np.full(len(words), symbol), 0, len(words), compiled.offsets, compiled.labels, compiled.targets,
            mechanism._each, np.array(words, dtype=np.uint64), states, private,
        )  # fmt: skip
        return private.tolist()

    assert pushed(1, compiled.start) == [0, 0, 2, 2, 1, 1]  # 'b' is true: the others own `each` words, 'b' the rest
    b = int(compiled.moves[compiled.start][1])
    assert pushed(1, b) == [0] * 6  # 'b' cannot follow itself: the one successor, whatever the word


def test_streams_name_what_they_cannot_take() -> None:
    streams = pv.Online(CHAIN, 1.0).streams(3)
    with pytest.raises(pv.InvalidParameterError, match="one symbol code for each of the 3 streams"):
        streams.push([0, 1])
    with pytest.raises(pv.InvalidParameterError, match="whole numbers"):
        streams.push([0.5, 1.0, 2.0])
    with pytest.raises(pv.UnknownSymbolError, match="stream 1: code 3"):
        streams.push([0, 3, 1])
    with pytest.raises(pv.InvalidParameterError, match="number of streams"):
        pv.Online(CHAIN, 1.0).streams(0)
    assert streams.push([0, 1, 2]).shape == (3,)
    assert "3 streams, 1 symbols so far" in repr(streams)
