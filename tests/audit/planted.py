"""Mechanisms with a bug in them, each one that somebody has made or could make. Audits must find every one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

import pathveil as pv
from pathveil.numerics.arrays import AnyIntArray, IntArray
from pathveil.randomness.source import RandomSource
from pathveil.words.base.batch import Batch
from pathveil.words.certificate.certificate import ChainCertifier
from pathveil.words.edit.length_range import LengthRange
from pathveil.words.edit.tables import EditTables, Room
from tests.reference import printed

# No two 0s in a row: the number of words near a word depends much on the word.
SPARSE = pv.MarkovChain.from_edges([(0, 1), (1, 1), (1, 0)])
CHAIN = pv.MarkovChain.from_edges([(0, 1), (0, 0), (1, 2), (1, 0), (2, 0)])


def lev_without_multiplicity(symbols: str, epsilon: float, source: RandomSource) -> Callable[[str], str]:
    """LEV's equation (18) as printed: every distance has the weight of a single word."""
    prepared = cache(lambda word: printed.LevMechanism(symbols, tuple(word), epsilon, multiplicity=False))
    return lambda word: "".join(prepared(word).draw(source))


class TooLittleNoise(pv.PermuteAndFlip):
    """θ = ε/b is right for the online mechanism, not for permute-and-flip."""

    def theta(self, length: int) -> float:
        return 2 * super().theta(length)


class HalvedCertificate(pv.CertifiedExponential):
    """The largest θ with bθ + K/2 ≤ ε, where it should have been bθ + K."""

    @cache  # noqa: B019 - a test's mechanism does not live long
    def theta(self, length: int) -> float:
        certifier = ChainCertifier.of(self.world.compiled, length, self.adjacency, up_to=False, budget=self.contexts)
        assert isinstance(certifier, ChainCertifier)
        theta = self.epsilon / self.adjacency
        while self._claimed_loss(certifier, theta) > self.epsilon:
            theta *= 0.99
        return theta

    def _claimed_loss(self, certifier: ChainCertifier, theta: float) -> float:
        direct = self.adjacency * theta
        return direct + (certifier.certify(theta, 2 * self.epsilon - direct).loss - direct) / 2


class LooksAtTheWord(pv.CertifiedExponential):
    """A calibration from the sensitive word: words that begin with the first symbol get less noise."""

    def _draw(self, words: Batch, source: RandomSource) -> AnyIntArray:
        careful = pv.CertifiedExponential(self.world, self.epsilon / 3, self.adjacency)
        drawn, with_more_noise = super()._draw(words, source), careful._draw(words, source)
        for part in words.by_length:
            cells = part.cells[words.values[part.begins] != 0]
            drawn[cells] = with_more_noise[cells]
        return drawn


def one_seed_for_all(mechanism: pv.WordMechanism, source: RandomSource) -> Callable[[Sequence[str]], list[str]]:
    """A fresh seed for each release, but the same one for each word of the release."""

    def release(words: Sequence[str]) -> list[str]:
        seed = int(source.keystream(1)[0])
        return [mechanism.privatize(word, rng=pv.insecure_seed(seed)) for word in words]

    return release


class FavoursEarlyErrors(pv.PermuteAndFlip):
    """The right number of errors, but one word in ten has its errors moved to the front of the word."""

    def _draw(self, words: Batch, source: RandomSource) -> AnyIntArray:
        drawn = super()._draw(words, source)
        for word in np.flatnonzero(source.uniform(len(words)) < 0.1):
            cells = slice(words.offsets[word], words.offsets[word + 1])
            codes = words.values[cells]
            front = np.arange(len(codes)) < np.count_nonzero(drawn[cells] != codes)
            drawn[cells] = np.where(front, (codes + 1) % self.world.compiled.symbol_count, codes)
        return drawn


class TooFewEdits(pv.EditPermuteAndFlip):
    """θ = ε/b with permute-and-flip on edit distance, where ε/2b is right."""

    def theta(self, length: int | None = None) -> float:
        return 2 * super().theta(length)


class KeepsTheLength(pv.EditExponential):
    """Promises to protect the length, and releases words that are as long as the sensitive one."""

    def _tables(self, words: Sequence[IntArray], room: Room | None = None) -> EditTables:  # noqa: ARG002
        length = len(words[0])
        return EditTables(LengthRange(self.world.compiled, length, length), words[:1], self.cap)


class RareTruth(pv.EditExponential):
    """Right, but for one word in five that is released as it is."""

    def _private_words(self, words: list[IntArray], source: RandomSource) -> list[IntArray]:
        drawn = super()._private_words(words, source)
        honest = source.uniform(len(words)) < 0.2
        return [word if as_it_is else new for word, new, as_it_is in zip(words, drawn, honest, strict=True)]


def noisy_counts(scale: float, seed: int) -> Callable[[np.ndarray, int], np.ndarray]:
    """Laplace noise of this scale on counts, a batch at a time."""
    generator = np.random.default_rng(seed)
    return lambda counts, size: counts + generator.laplace(scale=scale, size=(size, len(counts)))


def dirichlet_rows(concentration: float, seed: int) -> Callable[[np.ndarray, int], np.ndarray]:
    """A Dirichlet vector for each row of a matrix, a batch at a time."""
    generator = np.random.default_rng(seed)

    def release(matrix: np.ndarray, size: int) -> np.ndarray:
        drawn = generator.standard_gamma(concentration * matrix, size=(size, *matrix.shape))
        return drawn / drawn.sum(axis=-1, keepdims=True)

    return release
