"""The distribution of the edit distance between a private word and the sensitive one."""

from __future__ import annotations

from pathveil.numerics.arrays import FloatArray
from pathveil.words.base import ErrorLaw


class EditLaw(ErrorLaw):
    """How far a private word is from the sensitive one: `pmf[ℓ]` is the probability of exactly ℓ edits.

    The last entry stands for `cap` edits or more, so that with a cap mean, variance and quantiles are those of
    min(distance, cap). It depends on the sensitive word: it is for the curator.
    """

    def __init__(self, log_pmf: FloatArray) -> None:
        super().__init__(log_pmf)
        self.cap = len(log_pmf) - 1

    def __repr__(self) -> str:
        return f"EditLaw(0 to {self.cap} edits, mean {self.mean:.4g})"
