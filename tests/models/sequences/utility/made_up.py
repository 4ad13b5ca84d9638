"""Made-up words: from a random chain whose states end words at different rates, and as a log with a few usual cases."""

from __future__ import annotations

import numpy as np

from pathveil.models.sequences import CodedWords


def chain_words(states: int, count: int, max_length: int, seed: int, evenness: float = 0.5) -> CodedWords:
    """Words of a first-order chain. The smaller the evenness, the fewer transitions are really used."""
    rng = np.random.default_rng(seed)
    rows = np.cumsum(rng.dirichlet(np.full(states, evenness), size=states + 1), axis=1)
    ending = np.clip(rng.beta(1, 4, size=states), 0.02, 0.9)
    words = []
    for _ in range(count):
        word = [_next(rows[states], rng)]
        while len(word) < max_length and rng.random() > ending[word[-1]]:
            word.append(_next(rows[word[-1]], rng))
        words.append(word)
    return CodedWords.from_codes(words)


def _next(row: np.ndarray, rng: np.random.Generator) -> int:
    return min(int(np.searchsorted(row, rng.random())), len(row) - 1)


def log_words(count: int, seed: int) -> list[str]:
    """Cases of a process: most are one of a few usual ways, others wander."""
    rng = np.random.default_rng(seed)
    usual = ["abce", "abde", "acde", "abbce"]
    words = []
    for _ in range(count):
        if rng.random() < 0.8:
            words.append(usual[int(rng.choice(4, p=[0.5, 0.25, 0.15, 0.1]))])
        else:
            middle = "".join(rng.choice(list("bcd"), size=int(rng.integers(1, 8))))
            words.append(f"a{middle}e")
    return words
