"""The largest change of log Z from all words: exactly what enumeration finds, with or without shorter words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import inf

import numpy as np
import pytest
from scipy import sparse

from pathveil.words.base import tilt_factor
from pathveil.words.certificate.search import AllWords
from pathveil.words.certificate.symbol_chain import Links, SymbolChain
from tests.reference.literal_nodes import Normalisers, words_of


def chains(number: int, seed: int) -> Iterator[tuple[SymbolChain, int]]:
    """Chains of 2 to 6 symbols with a length: dead ends, self loops, symbols that cannot come first or last."""
    rng = np.random.default_rng(seed)
    while number:
        m, length = int(rng.integers(2, 7)), int(rng.integers(1, 7))
        follows = sparse.csr_array((rng.random((m, m)) < rng.uniform(1, 3) / m).astype(float))
        first, last = rng.random(m) < rng.choice([0.5, 1.0]), rng.random(m) < rng.choice([0.5, 1.0])
        chain = SymbolChain(Links.of(follows), Links.of(follows.T.tocsr()), first, last)
        if 2 <= len(words_of(chain, length)) <= 200:
            number -= 1
            yield chain, length


def true_change(chain: SymbolChain, lengths: range, z: float) -> float:
    largest = 0.0
    for length in lengths:
        normalisers = Normalisers(chain, length, z)
        for w, v in product(normalisers.words, repeat=2):
            if sum(a != b for a, b in zip(w, v, strict=True)) == 1:
                largest = max(largest, normalisers.change(w, v))
    return largest


@pytest.mark.parametrize("up_to", [False, True])
@pytest.mark.parametrize("theta", [0.05, 0.7, 4.0, 40.0])
def test_the_largest_change_is_the_one_that_enumeration_finds(theta: float, up_to: bool) -> None:
    z = tilt_factor(theta)
    for chain, length in chains(25, seed=int(theta * 100)):
        true = true_change(chain, range(1 if up_to else length, length + 1), z)
        at_least, at_most = AllWords(chain, length, up_to=up_to).largest_change(z)
        assert at_least <= true + 1e-15
        assert true <= at_most + 1e-15
        assert at_most - at_least < 1e-11


def test_enumeration_tells_whether_ends_of_words_and_shorter_words_are_looked_at() -> None:
    """Planted mistakes: shorter words are forgotten, and every symbol may come first or last."""
    z, noticed = tilt_factor(0.7), [0, 0]
    for chain, length in chains(25, seed=70):
        true = true_change(chain, range(1, length + 1), z)
        anywhere = replace(chain, first=np.ones_like(chain.first), last=np.ones_like(chain.last))
        for k, words in enumerate((AllWords(chain, length, up_to=False), AllWords(anywhere, length, up_to=True))):
            at_least, at_most = words.largest_change(z)
            noticed[k] += not at_least <= true + 1e-15 <= at_most + 2e-15
    assert min(noticed) > 0


def test_long_words_and_large_systems_are_more_work_than_anyone_wants() -> None:
    follows = sparse.csr_array(np.ones((5, 5)))
    everything = np.ones(5, dtype=bool)
    chain = SymbolChain(Links.of(follows), Links.of(follows), everything, everything)
    work = [AllWords(chain, length, up_to=False).work for length in (2, 4, 8, 60)]
    assert work == sorted(work)
    assert work[-1] > 1e30
    ring = sparse.csr_array(np.roll(np.eye(600), 1, axis=1))
    large = SymbolChain(Links.of(ring), Links.of(ring.T.tocsr()), np.ones(600, dtype=bool), np.ones(600, dtype=bool))
    assert AllWords(large, 2, up_to=False).work == inf


def test_words_whose_weights_would_underflow_are_refused() -> None:
    follows = sparse.csr_array(np.ones((3, 3)))
    everything = np.ones(3, dtype=bool)
    chain = SymbolChain(Links.of(follows), Links.of(follows), everything, everything)
    assert AllWords(chain, 5, up_to=False).is_accurate(40.0)
    assert not AllWords(chain, 5, up_to=False).is_accurate(700.0)
    assert not AllWords(chain, 100, up_to=False).is_accurate(8.0)
