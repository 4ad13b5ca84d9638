"""What the compiled parts of a certificate compute, with dense matrices and all paths listed."""

from __future__ import annotations

from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from pathveil.words.certificate.symbol_chain import Links


class Intervals(NamedTuple):
    """An interval for each kept pair (c, y); all other y lie between 0 and `dropped[y]`."""

    lo: np.ndarray
    hi: np.ndarray
    dropped: np.ndarray
    kept: Links

    def of(self, c: int, shift: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends for every y; `shift` is where c's row begins, less where the kept y of c begin."""
        low, high = np.zeros(len(self.dropped)), self.dropped.copy()
        for j in range(self.kept.offsets[c], self.kept.offsets[c + 1]):
            low[self.kept.symbols[j]], high[self.kept.symbols[j]] = self.lo[j + shift], self.hi[j + shift]
        return low, high


def random_intervals(rng: np.random.Generator, m: int, share: float) -> Intervals:
    """Each pair is kept with the given probability, a symbol with itself always and with the ratio 1."""
    matrix = (rng.random((m, m)) < share) | np.eye(m, dtype=bool)
    owners, symbols = map(np.ascontiguousarray, np.nonzero(matrix))  # as `Links` holds them
    kept = Links(np.concatenate([[0], np.cumsum(matrix.sum(axis=1))]), symbols)
    lo = rng.uniform(0, 1.5, len(symbols))
    hi = lo * rng.uniform(1, 2, len(symbols))
    lo[owners == symbols] = hi[owners == symbols] = 1.0
    return Intervals(lo, hi, rng.uniform(0, 1, m), kept)


def quotient_of_symbols(w: int, v: int, prefix: Intervals, suffix: Intervals, z: float, slack: float) -> float:
    before_low, before_high = prefix.of(w)
    after_low, after_high = suffix.of(w)
    low = before_low * after_low
    others = sum(low[y] for y in range(len(low)) if y != w) * (1 - slack) - low[v]
    a, o = before_high[v] * after_high[v], max(others, 0.0)
    return float((a + z * (1 + o)) / (1 + z * (a + o)))


def quotient_of_runs(
    w: list[int], v: list[int], prefix: Intervals, suffix: Intervals, follows: np.ndarray, z: float
) -> float:
    """The largest over all thresholds, from every path through the run."""
    m, run = len(follows), len(w)
    before_low, before_high = prefix.of(w[0])
    after_low, after_high = suffix.of(w[-1])
    paths = []
    for y in product(range(m), repeat=run):
        if all(follows[a, b] for a, b in pairwise(y)):
            to_v = sum(a == b for a, b in zip(y, v, strict=True))
            to_w = sum(a == b for a, b in zip(y, w, strict=True))
            high = before_high[y[0]] * after_high[y[-1]] if before_high[y[0]] and after_high[y[-1]] else 0.0
            paths.append((to_v, to_w, before_low[y[0]] * after_low[y[-1]], high))
    largest = 0.0
    for threshold in range(1, run + 1):
        top = bottom = 0.0
        for to_v, to_w, low, high in paths:
            gamma = high if to_v - to_w >= threshold else low
            top += gamma * z ** (run - to_v)
            bottom += gamma * z ** (run - to_w)
        if top == np.inf:
            return float(np.inf)
        largest = max(largest, top / bottom)
    return largest


def step_of_context(
    c: int, new: int, low: np.ndarray, high: np.ndarray, follows: np.ndarray, z: float, slack: float
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of g(y)/g(new) for every y, c being the symbol before; not yet cut off where they are tiny or huge."""
    low, high = low.copy(), high.copy()
    low[c] = high[c] = 0.0
    m = len(follows)
    lower, upper = np.zeros(m), np.zeros(m)
    for y in range(m):
        if y == new:
            lower[y] = upper[y] = 1.0
            continue
        shared = [x for x in range(m) if follows[x, y] and follows[x, new]]
        to_y = [x for x in range(m) if follows[x, y]]
        to_new = [x for x in range(m) if follows[x, new]]
        direct = float(follows[c, y])

        def ends(xs: list[int], own: float) -> tuple[float, float]:
            return own + z * sum(low[x] for x in xs), own + z * sum(high[x] for x in xs)

        (top_low, top_high), (bottom_low, bottom_high) = ends(to_y, direct), ends(to_new, 1.0)
        both = ends(shared, 0.0)
        if top_high < np.inf:
            above = max(top_high - both[1], direct) + slack * top_high
            below = max(bottom_low - both[0] - slack * bottom_low, 1.0)
            upper[y] = max((above + b) / (below + b) for b in both) * (1 + slack)
        else:
            upper[y] = np.inf
        if bottom_high < np.inf:
            above = max(top_low - both[0] - slack * top_low, direct)
            below = max(bottom_high - both[1], 1.0) + slack * bottom_high
            lower[y] = min((above + b) / (below + b) for b in both) * (1 - slack)
    return lower, upper
