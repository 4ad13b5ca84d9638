"""How good a private word with ℓ errors is: the utilities of the two word papers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import FloatArray


@runtime_checkable
class Utility(Protocol):
    """A utility that depends on the number of errors alone."""

    def score(self, errors: FloatArray) -> FloatArray:
        """The utility of a word with this many errors."""
        ...

    def sensitivity(self, adjacency: int) -> float:
        """The most that the score of one output can change between words that differ in `adjacency` symbols."""
        ...


@dataclass(frozen=True)
class HammingUtility:
    """u = -ℓ (PF, equation 1): every error costs the same."""

    def score(self, errors: FloatArray) -> FloatArray:
        return -errors

    def sensitivity(self, adjacency: int) -> float:
        return float(adjacency)


@dataclass(frozen=True)
class InverseUtility:
    """u = 1/(ℓ+α) (LEV, Definition 12): the first error costs most, and far words are nearly all alike."""

    alpha: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.alpha, int | float) or not 1e-100 <= self.alpha <= 1e100:
            raise InvalidParameterError(f"alpha must be a positive number, not {self.alpha!r}")

    def score(self, errors: FloatArray) -> FloatArray:
        scores: FloatArray = 1 / (np.asarray(errors, dtype=float) + self.alpha)
        return scores

    def sensitivity(self, adjacency: int) -> float:
        """LEV, Lemma 1: b/(α(b+α))."""
        return adjacency / (self.alpha * (adjacency + self.alpha))
