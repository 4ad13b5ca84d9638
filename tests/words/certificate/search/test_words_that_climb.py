"""The search for two words between which log Z changes much: beside the best that enumeration finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pathveil.words.base import tilt_factor
from pathveil.words.certificate.search.concrete_words import climbed
from pathveil.words.certificate.symbol_chain import Links, SymbolChain
from tests.reference.literal_nodes import Normalisers, Word


@dataclass(frozen=True)
class Case:
    """Two words that differ in one run, and everything that may stand before and after it."""

    chain: SymbolChain
    z: float
    w: Word
    v: Word
    begin: int
    end: int
    normalisers: Normalisers

    def change(self, before: Word, after: Word) -> float:
        return self.normalisers.change(
            before + self.w[self.begin : self.end] + after, before + self.v[self.begin : self.end] + after
        )

    @property
    def befores(self) -> set[Word]:
        return {
            word[: self.begin] for word in self.normalisers.words if self._fit(word[: self.begin], self.w[self.end :])
        }

    @property
    def afters(self) -> set[Word]:
        return {
            word[self.end :] for word in self.normalisers.words if self._fit(self.w[: self.begin], word[self.end :])
        }

    def _fit(self, before: Word, after: Word) -> bool:
        words = [before + word[self.begin : self.end] + after for word in (self.w, self.v)]
        return all(word in self.normalisers.z_of for word in words)


def cases(number: int, seed: int) -> Iterator[Case]:
    """Words of 3 to 6 symbols on chains of 3 or 4, runs of up to 3: fewer contexts on either side than are kept."""
    rng = np.random.default_rng(seed)
    while number:
        m, length, run = int(rng.integers(3, 5)), int(rng.integers(3, 7)), int(rng.integers(1, 4))
        follows = sparse.csr_array((rng.random((m, m)) < rng.uniform(1.5, 3) / m).astype(float))
        first, last = rng.random(m) < rng.choice([0.5, 1.0]), rng.random(m) < rng.choice([0.5, 1.0])
        chain = SymbolChain(Links.of(follows), Links.of(follows.T.tocsr()), first, last)
        z = tilt_factor(float(rng.choice([0.3, 0.7, 1.5, 3.0])))
        if length <= run:
            continue
        begin = int(rng.integers(0, length - run + 1))
        normalisers = Normalisers(chain, length, z)
        if not 2 <= len(normalisers.words) <= 300:
            continue
        w = normalisers.words[int(rng.integers(len(normalisers.words)))]
        outside = [i for i in range(length) if not begin <= i < begin + run]
        others = [
            v
            for v in normalisers.words
            if all(w[i] == v[i] for i in outside) and all(w[i] != v[i] for i in range(begin, begin + run))
        ]
        if not others:
            continue
        number -= 1
        v = others[int(rng.integers(len(others)))]
        yield Case(chain, z, w, v, begin, begin + run, normalisers)


def test_no_other_context_on_one_side_makes_the_change_much_larger() -> None:
    climbs = 0
    for case in cases(45, seed=1):
        one, other = (tuple(word) for word in climbed(case.chain, list(case.w), list(case.v), case.z))
        before, after = one[: case.begin], one[case.end :]
        reached = case.change(before, after)
        assert (one, other) == tuple(before + word[case.begin : case.end] + after for word in (case.w, case.v))
        best = max(
            *(case.change(instead, after) for instead in case.befores if case.begin),
            *(case.change(before, instead) for instead in case.afters if case.end < len(one)),
            reached,
        )
        assert best <= max(reached, 0.0) * 1.01  # words whose change is below 0 are no evidence, and left as they are
        climbs += (one, other) != (case.w, case.v)
    assert climbs > 6
