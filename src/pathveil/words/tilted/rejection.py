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

Comparisons that come closer than rounding can be trusted are left to `rejection_exact`, with the same random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np

from pathveil.numerics.arrays import AnyIntArray, BoolArray, FloatArray, IntArray, UintArray
from pathveil.randomness.lazy import LazyUniform
from pathveil.randomness.source import RandomSource, as_uniform
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import rounding_margin, tilt_factor
from pathveil.words.tilted.draw import engine_for, precise_local_reach
from pathveil.words.tilted.engines import LaneEngine, LogEngine, MarksEngine, lanes_fit
from pathveil.words.tilted.exact import fits
from pathveil.words.tilted.logs import log_margin
from pathveil.words.tilted.reachable_states import ReachableRows, ReachableStates
from pathveil.words.tilted.rejection_exact import ExactComparisons

LARGEST_EXACT_FLIP = 1 << 16  # positions times states: an exact comparison takes a second then
_ROUNDING = 16  # more roundings than there are behind a number, an `exp` or `log` among them
_LEFT_OUT = 1e-13  # of a sum, by looking at the surroundings of a word only
_UNKNOWN = 2.0**-12  # relative errors above it count as infinite: the bounds hold for small ones only


def flip_reach(compiled: CompiledSystem, length: int, theta: float) -> int | None:
    """The longest excursion that is looked at around feasible words; None where all of the system is passed over."""
    return precise_local_reach(compiled, length, theta, _LEFT_OUT)


class FlipByRejection:
    """Ready for words of one length; `feasible` says that all of them are."""

    def __init__(self, compiled: CompiledSystem, length: int, theta: float, *, feasible: bool) -> None:
        self._compiled, self._length, self._theta, self._feasible = compiled, length, theta, feasible
        self.z = tilt_factor(theta)
        self.theta = -log(self.z)  # of the number that is used
        # Of infeasible words the remainder is not known beforehand, and sums must be as precise as rounding allows.
        self._reach = flip_reach(compiled, length, theta) if feasible else None
        self._engine = self._local_engine(1) or engine_for(compiled, length, theta)
        self._tilts: dict[int, MarksEngine | LaneEngine | LogEngine] = {}

    @cached_property
    def _reachable(self) -> ReachableStates:
        return ReachableStates.of(self._compiled, self._length)

    @cached_property
    def _rows(self) -> ReachableRows:
        return ReachableRows.of(self._compiled, self._length)

    def _local_engine(self, r: int) -> MarksEngine | None:
        """What draws at the tilt rθ by local work; None where that does not pay. All share the same tables of walks."""
        if self._reach is None:
            return None
        return MarksEngine(self._compiled, self._length, r * self._theta, self._reach, over_all=engine_for)

    def draw(self, values: AnyIntArray, begins: IntArray, private: AnyIntArray, source: RandomSource) -> None:
        """Private words for the words that begin at these cells, written to the same cells."""
        cells = begins[:, None] + np.arange(self._length)
        log_z = self._engine.draw(values, begins, private, source)
        around = Surroundings(self, values, begins, log_z)
        waiting = np.arange(len(begins))
        while True:
            tries = around.draw_t(waiting, source)
            chosen = cells[waiting]
            errors = np.count_nonzero(values[chosen] != private[chosen], axis=1) - around.nearest[waiting]
            waiting = waiting[~around.keep_words(waiting, tries, errors, source)]
            if not len(waiting):
                return
            self._engine.draw(values, begins[waiting], private, source)

    def nearest(self, values: AnyIntArray, begins: IntArray) -> tuple[IntArray, FloatArray]:
        """d and B of each word."""
        if self._feasible:
            return np.zeros(len(begins), dtype=np.int64), np.ones(len(begins))
        from pathveil.words.tilted.nearest_kernel import nearest_classes

        compiled, reachable = self._compiled, self._reachable
        errors, sizes = np.empty(len(begins), dtype=np.int64), np.empty(len(begins))
        nearest_classes(
            values, begins, self._length, reachable.states, reachable.offsets, compiled.offsets, compiled.labels,
            compiled.targets, compiled.state_count, errors, sizes,
        )  # fmt: skip
        return errors, sizes

    def log_partition(self, r: int, values: AnyIntArray, begins: IntArray) -> FloatArray:
        """log Σ e^(-rθℓ) over the feasible words, for each word."""
        if r not in self._tilts:
            self._tilts[r] = self._local_engine(r) or self._engine_over_all(r)
        found = self._tilts[r]
        if not isinstance(found, MarksEngine):
            return found.log_partition(values, begins)
        log_z = found.log_partition(values, begins)
        unknown = np.flatnonzero(np.isnan(log_z))
        if len(unknown):
            log_z[unknown] = self._engine_over_all(r).log_partition(values, begins[unknown])
        return log_z

    def _engine_over_all(self, r: int) -> LaneEngine | LogEngine:
        if lanes_fit(self._compiled, 1):  # two positions at a time
            return LaneEngine(self._compiled, self._length, r * self._theta, self._rows)
        return LogEngine(self._compiled, self._length, r * self._theta)

    def margin(self, r: int) -> float:
        """How far rounding can carry the sum behind `log_partition(r)`, relatively."""
        rounding = log_margin(self._compiled, self._length, r * self._theta) + rounding_margin(8 * r * self._length)
        return rounding if self._reach is None else rounding + _LEFT_OUT

    def exactly(self, codes: list[int]) -> ExactComparisons | None:
        """What decides without rounding; None where there is no room for it, and floating point has the last word."""
        if not fits(self._compiled, self._length, LARGEST_EXACT_FLIP):
            return None
        return ExactComparisons(self._compiled, self._reachable, codes, self.z)

    @property
    def length(self) -> int:
        return self._length


@dataclass
class Tries:
    """The t of some words, each with a bound of its relative error and the random number it comes from."""

    t: FloatArray
    error: FloatArray
    keystream: UintArray
    continued: dict[int, LazyUniform]
    """Numbers of which more bits were looked at already."""

    def number(self, which: int, source: RandomSource) -> LazyUniform:
        return self.continued.get(which) or LazyUniform(int(self.keystream[which]), source)


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

    def draw_t(self, which: IntArray, source: RandomSource) -> Tries:
        """For each of these words a t with density ∝ g."""
        tries = Tries(np.empty(len(which)), np.empty(len(which)), np.empty(len(which), dtype=np.uint64), {})
        waiting = np.arange(len(which))
        while len(waiting):
            numbers, now = which[waiting], source.keystream(len(waiting))
            limits = source.keystream(len(waiting))
            tries.keystream[waiting] = now
            tries.t[waiting] = truncated_exponential(self._lambda[numbers], as_uniform(now))
            # log t moves by at most 3 times the change of λ where λ < 1, and by its relative change elsewhere.
            tries.error[waiting] = _uniform_error(now) + 12 * self._flip.margin(1)
            kept, in_doubt = self._keep(numbers, tries.t[waiting], tries.error[waiting], limits)
            for k in np.flatnonzero(in_doubt).tolist():
                exact = self._exactly(int(numbers[k]))
                if exact is not None:
                    uniform = LazyUniform(int(now[k]), source)
                    kept[k] = exact.keeps_t(uniform, LazyUniform(int(limits[k]), source))
                    tries.continued[int(waiting[k])] = uniform
            waiting = waiting[~kept]
            for again in waiting.tolist():
                tries.continued.pop(again, None)
        return tries

    def keep_words(self, which: IntArray, tries: Tries, errors: IntArray, source: RandomSource) -> BoolArray:
        """Which of the proposed words are kept; `errors` beyond those of the nearest words."""
        keystream = source.keystream(len(which))
        p, t = self._flip.z ** errors.astype(float), tries.t
        left, right = as_uniform(keystream) * (1 - p * t), 1 - t
        kept: BoolArray = (errors == 0) | (left < right)
        # A t of 0 is one too small for floating point, and so is what it may be wrong by.
        margin = np.where(t > 0, _finite(tries.error), 0.0) * t + rounding_margin(_ROUNDING)
        in_doubt = (errors > 0) & (np.abs(left - right) <= margin)
        for k in np.flatnonzero(in_doubt).tolist():
            exact = self._exactly(int(which[k]))
            if exact is not None:
                second = LazyUniform(int(keystream[k]), source)
                kept[k] = exact.keeps_word(tries.number(k, source), second, int(errors[k]))
        return kept

    def _exactly(self, word: int) -> ExactComparisons | None:
        begin = self._begins[word]
        return self._flip.exactly(self._values[begin : begin + self._flip.length].tolist())

    def _keep(
        self, which: IntArray, t: FloatArray, error: FloatArray, keystream: UintArray
    ) -> tuple[BoolArray, BoolArray]:
        """Is x below the limit, an exponential variate? And where may rounding have decided that?

        Terms are added until what is missing cannot change the answer.
        """
        z, limits = self._flip.z, -np.log(as_uniform(keystream))
        kept, in_doubt = np.zeros(len(which), dtype=bool), np.zeros(len(which), dtype=bool)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            others = self._best[which] - 1
            x = np.where(t > 0, others * (-np.log1p(-t) - t), 0.0)
            margin = np.where(t > 0, others * (t * t / (1 - t) * error + rounding_margin(_ROUNDING) * t), 0.0)
        margin += _finite(_uniform_error(keystream) * limits)
        open_ = np.arange(len(which))
        r = 1
        while True:
            now = t[open_]
            size = np.where(now > 0, self._others(r, which[open_]), 0.0)
            term = now**r / r * size
            # t^r is off by r times the error of t, and the sum by its own, which is that of E_r + B.
            off = 2 * (r * error[open_] + rounding_margin(_ROUNDING)) * term
            off += now**r / r * (size + self._best[which[open_]]) * 2 * self._flip.margin(r)
            if r > 1:
                x[open_] += term
                margin[open_] += off
            share = now * z / (1 - now * z)
            missing = term * share
            above, below = limits[open_] <= x[open_], limits[open_] > x[open_] + missing
            kept[open_[below]] = True
            near = _finite(margin[open_])
            nearer = _finite(margin[open_] + share * (off + 2 * term * error[open_] / (1 - now * z)))
            in_doubt[open_] = np.where(
                above, limits[open_] > x[open_] - near, limits[open_] < x[open_] + missing + nearer
            )
            open_ = open_[~(above | below)]
            if not len(open_):
                return kept, in_doubt
            r += 1


def _uniform_error(keystream: UintArray) -> FloatArray:
    """How far the bits that were not looked at can move -log u, or t, relatively: u is known to 2^-53."""
    u = as_uniform(keystream)
    error: FloatArray = 2.0**-51 / (u * (1 - u))
    return error


def _finite(errors: FloatArray) -> FloatArray:
    """Errors too large for bounds of first order count as infinite."""
    return np.where(errors < _UNKNOWN, errors, np.inf)


def truncated_exponential(rates: FloatArray, u: FloatArray) -> FloatArray:
    """A number in [0, 1) for each rate λ ≥ 0 and uniform number, with density ∝ e^(-λt)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = -np.log1p(u * np.expm1(-rates)) / rates
    # Without a rate the density is flat; rounding must not reach 1, where a best word would be impossible.
    return np.minimum(np.where(rates < 1e-290, u, t), np.nextafter(1.0, 0.0))
