"""Whether the words of an error class are equally likely."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from pathveil.audit.exhaustive import feasible_codes
from pathveil.audit.uniformity import symbol_shares
from pathveil.words.base.mechanism import hamming_distances
from tests.audit import planted


@pytest.mark.parametrize("world", [pv.Alphabet("abc"), planted.CHAIN, planted.SPARSE], ids=repr)
def test_shares_of_symbols_are_those_of_the_listed_words(world: pv.System) -> None:
    every = feasible_codes(world.compiled, 4)
    for codes in (every[0], every[-1], np.zeros(4, dtype=np.int64)):
        distance = hamming_distances(codes, every)
        shares = symbol_shares(world.compiled, codes)
        for errors in range(5):
            words = every[distance == errors]
            for i in range(4):
                seen = np.bincount(words[:, i], minlength=len(world.symbols)) / max(len(words), 1)
                assert shares[errors, i] == pytest.approx(seen)


def test_a_function_is_tested_against_the_world_of_its_outputs() -> None:
    # Swaps one symbol, always the first: not uniform over the positions.
    generator = np.random.default_rng(1)

    def release(word: str) -> str:
        return ("b" if generator.random() < 0.5 else word[0]) + word[1:]

    audit = pv.audit_uniformity(release, "aaa", 500, world=pv.Alphabet("ab"))
    assert not audit.holds
    assert audit.errors == 1
    assert "REFUTED" in str(audit)


def test_an_infeasible_output_is_an_error() -> None:
    with pytest.raises(pv.InfeasibleWordError, match="could not have produced"):
        pv.audit_uniformity(lambda word: (0, 0, 0, 0), (0, 1, 1, 1), 100, world=planted.SPARSE)  # noqa: ARG005
