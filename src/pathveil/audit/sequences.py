"""Auditing models of sequences by what they show, on tiny data: the promise does not depend on states or lengths.

Two black boxes are asked for many outputs for neighbouring data: a look for frequent words, in which a word appears
that nobody else has, and a whole fit, of which every number that the model shows may give away a count. Neither knows
how the noise is made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.audit.statistical import StatisticalAudit, audit_statistically
from pathveil.models.laplace import exactly
from pathveil.models.sequences import CodedWords, Unit, checked_request, fit_private_sequences, look_for_frequent
from pathveil.numerics.arrays import FloatArray
from pathveil.privacy.units import Neighbours
from pathveil.randomness.source import RandomSource, checked_source

_OTHERS = 500  # words that all data have: so many that no noise makes a count negative
_LOOKS = 20  # draws of a look for each draw of a whole fit


def audit_sequences(
    epsilon: float,
    delta: float | None = None,
    *,
    unit: Unit = "word",
    max_words_per_user: int | None = None,
    neighbours: Neighbours = "replace",
    draws: int = 3_000,
    confidence: float = 0.99,
    rng: RandomSource | None = None,
) -> dict[str, StatisticalAudit]:
    """Bound the privacy loss of `fit_private_sequences` with these arguments from below, by drawing from it (slowly).

    "whole fits" compares models of neighbouring data; with a `delta`, "kept words" compares which words a look for
    frequent ones shows. A loss above what is claimed refutes it, at this `confidence` for all audits together. No
    sensitive data are read. Each of the `draws` is a fit, of some hundredths of a second.

        found = pv.audit_sequences(3.0, 1e-2)
        found["whole fits"].holds, found["whole fits"].epsilon_lower
    """
    source = checked_source(rng)
    asked = checked_request(epsilon, delta, 1, 1, unit, max_words_per_user, neighbours)
    most, replaces = max_words_per_user or 1, neighbours == "replace"
    each = 1 - (1 - confidence) / (1 if delta is None else 2)
    promise: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "unit": unit, "neighbours": neighbours}

    def fit(counts: Any) -> FloatArray:
        """What the model of a words "a" and b words "b" shows of both."""
        times = np.asarray(counts, dtype=np.int64)
        words = CodedWords(np.arange(2), np.arange(3), times, max_words_per_user)
        model = fit_private_sequences(
            words, states="ab", max_length=1, order=1, max_words_per_user=max_words_per_user, rng=source, **promise
        )
        shares = np.exp(model.law.log_probabilities(CodedWords.from_arrays(np.arange(2), np.arange(3))))
        return shares * (2 * _OTHERS)

    # Everything of the changed unit is the same word, or (replaced) changes sides.
    one = np.array([_OTHERS + most, _OTHERS])
    other = np.array([_OTHERS, _OTHERS + most * replaces])
    found = {
        "whole fits": audit_statistically(
            fit, one, other, draws=draws, confidence=each, epsilon=epsilon, delta=delta or 0.0, rng=source
        )
    }
    if delta is not None:

        def look(words: list[str], size: int) -> list[list[str]]:
            """Which words are kept, as often as asked for."""
            listed = sorted(set(words))
            codes = np.tile(np.array([ord(word) - ord("a") for word in listed]), size)
            counts = np.tile(np.array([words.count(word) for word in listed]), size)
            coded = CodedWords(codes, np.arange(len(codes) + 1), counts)
            kept = look_for_frequent(coded, exactly(epsilon), delta, asked.whole, source).kept.reshape(size, -1)
            return [[word for word, is_kept in zip(listed, row, strict=True) if is_kept] for row in kept.tolist()]

        found["kept words"] = audit_statistically(
            look, ["a", "a", *["c"] * most], ["a", "a", *["b"] * (most * replaces)], draws=draws * _LOOKS,
            confidence=each, epsilon=epsilon, delta=delta, batched=True, rng=source,
        )  # fmt: skip
    return found
