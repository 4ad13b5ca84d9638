"""The distribution of the number of errors, computed from the class counts.

Both families of mechanisms give all words of one class the same probability, so a law needs only the counts N(ℓ)
and a score for each class (for the Hamming utility, -θℓ). Counts may have hundreds of digits; everything here works
with their logarithms. (docs/mathematics.md, "Exponential mechanism" and "Permute-and-flip")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import inf, log

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.markup import card, table, tag
from pathveil.numerics.arrays import FloatArray


class ErrorLaw:
    """How many errors a private word has: `pmf[ℓ]` is the probability of exactly ℓ.

    It depends on the sensitive word wherever the system is not a free alphabet: it is for the curator.
    """

    def __init__(self, log_pmf: FloatArray) -> None:
        self.log_pmf = log_pmf
        self.pmf: FloatArray = np.exp(log_pmf)
        self.pmf.flags.writeable = False

    @property
    def largest(self) -> int:
        """The largest number of errors that is told apart."""
        return len(self.pmf) - 1

    @property
    def mean(self) -> float:
        """The expected number of errors."""
        return float(self.pmf @ np.arange(len(self.pmf)))

    @property
    def variance(self) -> float:
        """The variance of the number of errors."""
        return float(self.pmf @ (np.arange(len(self.pmf)) - self.mean) ** 2)

    def quantile(self, q: float) -> int:
        """The smallest number of errors that is not exceeded with probability at least q."""
        if not 0 <= q <= 1:
            raise InvalidParameterError(f"a quantile is asked for at a probability from 0 to 1, not at {q!r}")
        # Rounding may leave the last cumulated value a hair below 1.
        reached = np.flatnonzero(np.cumsum(self.pmf) >= min(q, 1 - 1e-12))
        return int(reached[0])

    def _repr_html_(self) -> str:
        seen = [(errors, float(p)) for errors, p in enumerate(self.pmf) if p >= 0.0005]
        rows = [(errors, f"{p:.3f}", tag("meter", value=round(p, 6), max=1)) for errors, p in seen]
        facts = [("mean", f"{self.mean:.4g}"), ("standard deviation", f"{self.variance**0.5:.4g}")]
        return card("Number of errors", facts, table("probability", ["errors", "probability", ""], rows))

    def __repr__(self) -> str:
        return f"ErrorLaw(0 to {self.largest} errors, mean {self.mean:.4g})"


class LazyLaw(ErrorLaw):
    """A law with a mean that is known already; its probabilities are computed when somebody first looks at them."""

    def __init__(self, largest: int, mean: float, probabilities: Callable[[], FloatArray]) -> None:
        self._largest, self._mean, self._probabilities = largest, mean, probabilities

    @cached_property
    def pmf(self) -> FloatArray:  # type: ignore[override]
        pmf = self._probabilities()
        pmf.flags.writeable = False
        return pmf

    @cached_property
    def log_pmf(self) -> FloatArray:  # type: ignore[override]
        with np.errstate(divide="ignore"):
            return np.log(self.pmf)

    @property
    def mean(self) -> float:
        return self._mean

    @property
    def largest(self) -> int:
        return self._largest


def log_counts(counts: Sequence[int]) -> FloatArray:
    """Natural logarithms of exact integers of any size; -inf for 0."""
    return np.array([log(count) if count else -inf for count in counts])


def log_sum(values: FloatArray) -> float:
    """log Σ exp(values) without overflow."""
    top = float(np.max(values))
    return top if top == -inf else top + log(float(np.sum(np.exp(values - top))))


def exponential_log_law(counts: Sequence[int], scores: FloatArray) -> FloatArray:
    """log P(ℓ) of the exponential mechanism: P(ℓ) ∝ N(ℓ) e^score(ℓ).

    LEV's equation (18) leaves N(ℓ) out and is not ε-differentially private; see docs/papers.md.
    """
    weights = log_counts(counts) + scores
    law: FloatArray = weights - log_sum(weights)
    return law


_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(40)
_LAST_PANEL = 128.0  # the integrand falls at least like e^-s, so nothing that counts lies beyond


def permute_and_flip_log_law(counts: Sequence[int], scores: FloatArray) -> FloatArray:
    """log P(ℓ) of permute-and-flip, by the integral that PF's sum over all subsets of words collapses to.

    With B words in the best class, p_ℓ = e^(score(ℓ) - best score) and the sum over the other classes,

        G(t) = (1-t)^(B-1) exp Σ_j N(j) log(1 - p_j t)
        P(best) = B ∫₀¹ G(t) dt,   P(ℓ) = N(ℓ) p_ℓ ∫₀¹ G(t) (1-t)/(1 - p_ℓ t) dt.

    G falls like e^(-Λt) with Λ = Σ N p, which may be astronomical, so the integral is taken in s = Λt, on panels
    whose width doubles: Gauss–Legendre nodes on each. Every quantity is a ratio to Λ, formed from logarithms.
    """
    log_n = log_counts(counts)
    present = np.flatnonzero(log_n > -inf)
    best = present[np.argmax(scores[present])]
    others = present[present != best]
    log_p = scores - scores[best]
    log_lambda = log_sum((log_n + log_p)[present])

    end = np.exp(log_lambda) if log_lambda < log(_LAST_PANEL) else _LAST_PANEL
    edges = np.unique(np.minimum(np.concatenate([[0.0, 0.5], 2.0 ** np.arange(8)]), end))
    half = np.diff(edges)[:, None] / 2
    s = (edges[:-1, None] + half * (1 + _NODES)).ravel()
    ds = (half * _NODE_WEIGHTS).ravel()

    log_t = np.log(s) - log_lambda
    t = np.exp(log_t)
    rest = int(counts[best]) - 1
    exponent = -_losing(log(rest) + log_t, t) if rest else np.zeros_like(s)
    for j in others:
        exponent -= _losing(log_n[j] + log_p[j] + log_t, np.exp(log_p[j] + log_t))

    law = np.full(len(counts), -inf)
    law[best] = log_n[best] - log_lambda + log(ds @ np.exp(exponent))
    for j in others:
        x = np.exp(log_p[j] + log_t)
        integral = ds @ np.exp(exponent + np.log1p(-t) - np.log1p(-x))
        law[j] = log_n[j] + log_p[j] - log_lambda + log(integral)
    return law


def _losing(log_weight: FloatArray, x: FloatArray) -> FloatArray:
    """-N log(1-x), given log(N x): N x times the factor -log(1-x)/x, which is 1 where x vanishes."""
    factor = np.ones_like(x)
    np.divide(-np.log1p(-x), x, out=factor, where=x > 1e-200)
    product: FloatArray = np.exp(log_weight) * factor
    return product
