"""Permute-and-flip by rejection from the exponential mechanism, without a table of error classes.

Let d be the smallest number of errors of a feasible word, B how many feasible words have it (a feasible word has d = 0
and B = 1), p = e^(-θ(ℓ - d)) for a word with ℓ errors, and

    g(t) = (1-t)^(B-1) Π (1 - p t)    over the feasible words with more than d errors.

Permute-and-flip gives a best word the probability ∫₀¹ g, and any other p ∫₀¹ g(t) (1-t)/(1 - p t) dt. The exponential
mechanism gives each word a probability ∝ p. So: propose a word from the exponential mechanism and t with density ∝ g;
keep a best word always, another one with probability (1-t)/(1 - p t); otherwise begin again with both. That is exact,
and keeps at least every second word: (1-t)/(1 - p t) averages to at least one half.

t is drawn from the exponential density ∝ e^(-λt) on [0, 1], with λ = B - 1 + Σ p, and kept with probability
g(t) e^(λt) = e^-x, where, with E_r = Σ p^r over the words that are not best,

    x = (B-1)(-log(1-t) - t) + Σ_{r≥2} (t^r / r) E_r.

E_r needs one pass of the exponential mechanism at the tilt rθ. It falls at least like e^(-θr), which bounds what the
missing terms can add, and hardly a draw needs more than a few of them. (docs/mathematics.md, "Permute-and-flip")
"""

from __future__ import annotations

from math import exp

import numpy as np

from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import AnyIntArray, CompiledSystem, IntArray
from pathveil.words.law import FloatArray
from pathveil.words.tilted import LaneEngine, LogEngine, engine_for, lanes_fit
from pathveil.words.visited import Visited


class FlipByRejection:
    """Ready for words of one length; `feasible` says that all of them are."""

    def __init__(self, compiled: CompiledSystem, length: int, theta: float, *, feasible: bool) -> None:
        self._compiled, self._length, self._theta, self._feasible = compiled, length, theta, feasible
        self._visited = Visited.of(compiled, length)
        self._engine = engine_for(compiled, length, theta)
        self._tilts: dict[int, LaneEngine | LogEngine] = {}

    def draw(self, values: AnyIntArray, begins: IntArray, private: AnyIntArray, source: RandomSource) -> None:
        """Private words for the words that begin at these cells, written to the same cells."""
        cells = begins[:, None] + np.arange(self._length)
        log_z = self._engine.draw(values, begins, private, source)
        around = Surroundings(self, values, begins, log_z)
        waiting = np.arange(len(begins))
        while True:
            t = around.draw_t(waiting, source)
            chosen = cells[waiting]
            errors = np.count_nonzero(values[chosen] != private[chosen], axis=1) - around.nearest[waiting]
            p = np.exp(-self._theta * errors)
            kept = (errors == 0) | (source.uniform(len(waiting)) * (1 - p * t) < 1 - t)
            waiting = waiting[~kept]
            if not len(waiting):
                return
            self._engine.draw(values, begins[waiting], private, source)

    def nearest(self, values: AnyIntArray, begins: IntArray) -> tuple[IntArray, FloatArray]:
        """d and B of each word."""
        if self._feasible:
            return np.zeros(len(begins), dtype=np.int64), np.ones(len(begins))
        from pathveil.words.class_kernels import nearest_classes

        compiled, visited = self._compiled, self._visited
        errors, sizes = np.empty(len(begins), dtype=np.int64), np.empty(len(begins))
        nearest_classes(
            values, begins, self._length, visited.states, visited.offsets, compiled.offsets, compiled.labels,
            compiled.targets, compiled.state_count, errors, sizes,
        )  # fmt: skip
        return errors, sizes

    def log_partition(self, r: int, values: AnyIntArray, begins: IntArray) -> FloatArray:
        """log Σ e^(-rθℓ) over the feasible words, for each word."""
        if r not in self._tilts:
            fits = lanes_fit(self._compiled, 1)  # two positions at a time
            self._tilts[r] = (
                LaneEngine(self._compiled, self._length, r * self._theta, self._visited)
                if fits
                else LogEngine(self._compiled, self._length, r * self._theta)
            )
        return self._tilts[r].log_partition(values, begins)

    @property
    def theta(self) -> float:
        return self._theta


class Surroundings:
    """What the draws of t need to know about the feasible words around each word of a block."""

    def __init__(self, flip: FlipByRejection, values: AnyIntArray, begins: IntArray, log_z: FloatArray) -> None:
        self._flip, self._values, self._begins = flip, values, begins
        self.nearest, self._best = flip.nearest(values, begins)
        with np.errstate(over="ignore"):
            # λ may be beyond floating point; t = s/λ is then 0, and so is everything that t multiplies.
            self._lambda = np.maximum(np.expm1(log_z + flip.theta * self.nearest), 0.0)
        self._sums: dict[int, FloatArray] = {1: np.maximum(self._lambda - (self._best - 1), 0.0)}

    def _others(self, r: int, which: IntArray) -> FloatArray:
        """E_r for these words; computed once for each word."""
        sums = self._sums.setdefault(r, np.full(len(self._begins), np.nan))
        missing = which[np.isnan(sums[which])]
        if len(missing):
            log_f = self._flip.log_partition(r, self._values, self._begins[missing])
            with np.errstate(over="ignore"):
                total = np.expm1(log_f + r * self._flip.theta * self.nearest[missing])
            sums[missing] = np.maximum(total - (self._best[missing] - 1), 0.0)
        return sums[which]

    def draw_t(self, which: IntArray, source: RandomSource) -> FloatArray:
        """For each of these words a t with density ∝ g."""
        t = np.empty(len(which))
        waiting = np.arange(len(which))
        while len(waiting):
            t[waiting] = truncated_exponential(self._lambda[which[waiting]], source)
            waiting = waiting[~self._keep(which[waiting], t[waiting], source.exponential(len(waiting)))]
        return t

    def _keep(self, which: IntArray, t: FloatArray, limits: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Is x below the limit? Terms are added until what is missing cannot change the answer."""
        z = exp(-self._flip.theta)
        kept = np.zeros(len(which), dtype=bool)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            x = np.where(t > 0, (self._best[which] - 1) * (-np.log1p(-t) - t), 0.0)
        open_ = np.arange(len(which))
        r = 1
        while True:
            now = t[open_]
            size = np.where(now > 0, self._others(r, which[open_]), 0.0)
            term = now**r / r * size
            if r > 1:
                x[open_] += term
            missing = term * now * z / (1 - now * z)
            above, below = limits[open_] <= x[open_], limits[open_] > x[open_] + missing
            kept[open_[below]] = True
            open_ = open_[~(above | below)]
            if not len(open_):
                return kept
            r += 1


def truncated_exponential(rates: FloatArray, source: RandomSource) -> FloatArray:
    """A number in [0, 1) for each rate λ ≥ 0, with density ∝ e^(-λt)."""
    u = source.uniform(len(rates))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = -np.log1p(u * np.expm1(-rates)) / rates
    # A rate so small that the density is flat; rounding must not reach 1, where a best word would be impossible.
    return np.minimum(np.where(rates < 1e-12, u, t), np.nextafter(1.0, 0.0))
