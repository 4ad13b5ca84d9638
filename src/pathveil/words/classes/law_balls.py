"""The law of the class in ball arithmetic, to as many digits as a draw may ask for.

Where many words share one law (free alphabets: all words of one length), their classes are drawn by comparing one
random number with the cumulated law, which is quicker than one noise for each class. These are the numbers to compare
with. permute_and_flip's integrals are python-flint's, whose error bounds are rigorous; law.py has the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import acb, arb


def exponential_balls(counts: Sequence[int], scores: Sequence[float]) -> list[arb]:
    """P(ℓ) ∝ N(ℓ) e^score(ℓ)."""
    from flint import arb

    top = max(score for count, score in zip(counts, scores, strict=True) if count)
    weights = [arb(count) * (arb(score) - top).exp() for count, score in zip(counts, scores, strict=True)]
    total = sum(weights, arb(0))
    return [weight / total for weight in weights]


def permute_and_flip_balls(counts: Sequence[int], scores: Sequence[float]) -> list[arb]:
    """P(best) = B ∫ G, and N p ∫ G (1-t)/(1 - p t) for every other class; see law.permute_and_flip_log_law."""
    from flint import acb, arb, ctx

    present = [k for k, count in enumerate(counts) if count]
    best = max(present, key=lambda k: scores[k])
    others = [k for k in present if k != best]
    p = {k: (arb(scores[k]) - arb(scores[best])).exp() for k in others}
    rate = arb(counts[best] - 1) + sum((counts[k] * p[k] for k in others), arb(0))
    # G(t) ≤ e^(-Λt), so that what lies beyond is at most e^(-Λ end)/Λ.
    end, tail = arb(1), arb(0)
    if rate > 2 * ctx.prec:
        end = (arb(2 * ctx.prec) / rate).mid()
        tail = (-rate * end).exp() / rate
        tail = arb(tail / 2, (tail / 2).upper())

    def integral(fewer: int | None) -> arb:
        """∫ G, with a factor (1-t)/(1 - p t) for this class."""

        def integrand(t: acb, _: bool) -> acb:
            # Powers would lose as many digits as the counts have; products of counts and logarithms lose none. But the
            # best class reaches the end of the interval, where there is no logarithm; it is small.
            exponent = acb(0)
            for k in others:
                exponent += (counts[k] - (k == fewer)) * (-p[k] * t).log1p()
            powers: acb = exponent.exp() * (1 - t) ** (counts[best] - (fewer is None))
            return powers

        return acb.integral(integrand, 0, end).real + tail

    law = [arb(0)] * len(counts)
    law[best] = counts[best] * integral(None)
    for k in others:
        law[k] = counts[k] * p[k] * integral(k)
    return law
