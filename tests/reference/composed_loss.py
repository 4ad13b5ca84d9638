"""The true loss of several releases from one input, by enumeration.

Releases are independent given the input, so for two inputs the worst outputs of all of them can come together: the
composed loss of a pair is the sum of the largest losses of each release for that pair.
"""

from __future__ import annotations

from collections import Counter
from math import inf

import numpy as np

import pathveil as pv
from pathveil.models.laplace import count_noises
from tests.reference.neighbours import Input


class WordRelease:
    """One private word for each word, by a mechanism for words."""

    def __init__(self, mechanism: pv.WordMechanism, words: list[str]) -> None:
        self.mechanism = mechanism
        accepted = mechanism.accepted_lengths
        self.accepts = {
            w
            for w in words
            if mechanism.world.is_feasible(w) and (not accepted or accepted[0] <= len(w) <= accepted[1])
        }
        self._logs: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}
        for w in sorted(self.accepts):
            outputs = tuple(v for v in sorted(self.accepts) if accepted or len(v) == len(w))
            self._logs[w] = outputs, np.array([mechanism.log_probability(w, v) for v in outputs])

    def loss(self, one: Input, other: Input) -> float:
        pairs = [(w, v) for p, q in zip(one, other, strict=True) for w, v in zip(p, q, strict=True) if w != v]
        return sum(self._word_loss(w, v) for w, v in pairs)

    def _word_loss(self, w: str, v: str) -> float:
        (outputs, logs), (others, other_logs) = self._logs[w], self._logs[v]
        return float(np.abs(logs - other_logs).max()) if outputs == others else inf


class ModelRelease:
    """A table of transitions with discrete Laplace noise, of unit "word" or "symbol"."""

    def __init__(self, states: str, epsilon: float, unit: str, max_length: int | None, words: list[str]) -> None:
        self.accepts = set(words)
        self._cut = max_length
        self._scale = float(
            count_noises("laplace", epsilon, 0.0, unit, max_length, {"transitions": 1.0})["transitions"].scale
        )
        self.guarantee = pv.fit_private_chain(
            words=[words[-1]],
            states=list(states),
            epsilon=epsilon,
            mechanism="laplace",
            unit=unit,
            max_length=max_length,
            rng=pv.insecure_seed(1),
        ).guarantee

    def loss(self, one: Input, other: Input) -> float:
        first, second = (self._counts(data) for data in (one, other))
        return sum(abs(first[pair] - second[pair]) for pair in first | second) / self._scale

    def _counts(self, data: Input) -> Counter[str]:
        words = [word[: self._cut] for person in data for word in person]
        return Counter(word[i : i + 2] for word in words for i in range(len(word) - 1))
