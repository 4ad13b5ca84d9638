"""Frequent words as a black box: which words are kept is drawn many times for neighbours, and held against (ε, δ).

False alarms: each audit refutes a true claim with probability at most 1e-6. Negative controls must be refuted.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.laplace import CountNoise, exactly
from pathveil.models.people import WholeWords
from pathveil.models.sequences import CodedWords, frequent
from pathveil.models.sequences.frequent import find_frequent

CONFIDENCE = 1 - 1e-6
EPSILON, DELTA = 1.0, 0.04
CODES = {"a": [0], "b": [1], "c": [2]}


def kept_words(whole: WholeWords, seed: int):
    """A function from a list of words to the words that are kept, as often as asked for, independently."""
    source = pv.insecure_seed(seed)

    def look(words, size):
        counts = Counter(words)
        listed = sorted(counts)
        one = CodedWords.from_codes([CODES[word] for word in listed] * size, np.tile([counts[w] for w in listed], size))
        kept = find_frequent(one, exactly(EPSILON), DELTA, whole, source).kept.reshape(size, -1)
        return [[word for word, is_kept in zip(listed, row, strict=True) if is_kept] for row in kept.tolist()]

    return look


def audit(whole: WholeWords, one: list[str], other: list[str], delta: float, seed: int) -> pv.StatisticalAudit:
    return pv.audit_statistically(
        kept_words(whole, seed), one, other, draws=30_000, confidence=CONFIDENCE, epsilon=EPSILON, delta=delta,
        batched=True, rng=pv.insecure_seed(seed),
    )  # fmt: skip


# A word of one person alone, several words of one, and a word that others have, too: its count alone tells.
NEW = WholeWords("add-remove"), ["a", "a", "c"], ["a", "a"], DELTA
REPLACED = WholeWords("replace"), ["a", "a", "c"], ["a", "a", "b"], DELTA
PERSON = WholeWords("add-remove", 2), ["a", "c", "c"], ["a"], DELTA
COMMON = WholeWords("add-remove"), ["a", "a", "a"], ["a", "a"], 0.0


@pytest.mark.parametrize("case", [NEW, REPLACED, PERSON, COMMON], ids=["new", "replaced", "person", "common"])
def test_an_audit_does_not_refute_frequent_words(case):
    assert audit(*case, seed=1).holds


@pytest.mark.parametrize("case", [NEW, REPLACED, PERSON], ids=["new", "replaced", "person"])
def test_a_threshold_that_is_too_low_is_refuted(case, monkeypatch):
    right = frequent.threshold
    monkeypatch.setattr(frequent, "threshold", lambda noise, *rest: right(noise, *rest) - round(float(noise.scale)))
    assert not audit(*case, seed=2).holds


def test_noise_of_seven_tenths_is_refuted(monkeypatch):
    right = frequent.laplace_noise

    def too_little(epsilon, l1):
        return CountNoise("laplace", right(epsilon, l1).scale * 7 / 10)

    monkeypatch.setattr(frequent, "laplace_noise", too_little)
    assert not audit(*COMMON, seed=3).holds


def fitted(words):
    return pv.fit_private_sequences(words, states="abc", epsilon=2.0, delta=0.3, max_length=1, neighbours="add-remove")


@pytest.mark.slow
@pytest.mark.parametrize(("less", "holds"), [(0, True), (12, False)])
def test_the_words_of_a_fitted_model_are_audited_as_a_whole(less, holds, monkeypatch):
    right = frequent.threshold
    monkeypatch.setattr(frequent, "threshold", lambda *given: right(*given) - less)
    found = pv.audit_statistically(
        fitted, ["a", "c"], ["a"], draws=1000, confidence=CONFIDENCE, epsilon=2.0, delta=0.3,
        rng=pv.insecure_seed(4),
    )  # fmt: skip
    assert found.holds is holds
