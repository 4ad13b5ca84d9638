"""The errors of the exponential mechanism and of permute-and-flip on a system, by generating functions.

*Exponential mechanism.* E[u^errors] = F(zu)/F(z).

*Permute-and-flip*, for a feasible word. With G(t) = Π (1 - z^errors t) over all other feasible words,

    log G(t) = -Σ_{r≥1} (t^r / r) (F(z^r) - 1),
    E[u^errors] = ∫₀¹ G(t) dt + Σ_{j≥0} (F(z^(j+1) u) - 1) ∫₀¹ G(t) (1-t) t^j dt,

since a word with p = z^errors is drawn with probability p ∫ G(t) (1-t)/(1-pt) dt. All terms are positive at u = 1,
where they add up to 1: that tells when there are enough of them. (docs/mathematics.md, "Permute-and-flip")
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np

from pathveil.errors import TooLargeError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import ErrorLaw, LazyLaw
from pathveil.words.laws.generating import GeneratingFunction, Value, probabilities
from pathveil.words.local import LocalWorld, surroundings

_CHEAP_PASS = 4e6  # positions times edges: less than the surroundings of a word take to find
_LEFT_OUT = 1e-15  # of all weight, with excursions that are too long to be looked at
_OVERLAP = 50.0  # how many surroundings of symbols a state may be in, before all states are looked at instead
_TILTS = 8  # that take one pass together
_MOST_TILTS = 256
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(40)
_LAST_PANEL = 128.0  # G falls at least like e^-s: nothing that counts lies beyond


def exponential_law(compiled: CompiledSystem, codes: IntArray, theta: float) -> ErrorLaw:
    """The errors of the exponential mechanism at this tilt."""
    z = exp(-theta)
    function, value = _function(compiled, codes, z)

    def pmf() -> FloatArray:
        return probabilities(function.ratios(z, function.roots_needed(z)), len(codes))

    return LazyLaw(len(codes), value.mean, pmf)


def _function(compiled: CompiledSystem, codes: IntArray, z: float) -> tuple[GeneratingFunction, Value]:
    """F, and its value at z: over all words, or over those near the word where the others count for nothing."""

    def over_all() -> tuple[GeneratingFunction, Value]:
        function = GeneratingFunction(compiled, codes)
        return function, function.at([z])[0]

    if len(codes) * compiled.edge_count <= _CHEAP_PASS:
        try:
            return over_all()
        except TooLargeError:  # weights too far apart: those far away count for nothing
            if (near := _nearby(compiled, codes, z)) is None:
                raise
            return near
    return _nearby(compiled, codes, z) or over_all()


def _nearby(compiled: CompiledSystem, codes: IntArray, z: float) -> tuple[GeneratingFunction, Value] | None:
    world = LocalWorld.of(compiled)
    reach = None if world is None else world.reach_for(_LEFT_OUT, len(codes), z)
    if world is None or reach is None or not compiled.feasible_rows(codes[None, :])[0]:
        return None
    if world.states_around(reach) * len(codes) > compiled.state_count * _OVERLAP:
        return None
    around = surroundings(world, codes, reach)
    function = GeneratingFunction(around.compiled, around.codes, reached=around.reached)
    return function, function.at([z])[0]


def permute_and_flip_law(compiled: CompiledSystem, codes: IntArray, theta: float) -> ErrorLaw:
    """The errors of permute-and-flip at this tilt. Raises TooLargeError for a word that is not feasible."""
    if not compiled.feasible_rows(codes[None, :])[0]:
        raise TooLargeError(
            f"the law of permute-and-flip for an infeasible word of {len(codes)} symbols needs a table of error "
            "classes, which would be too large here"
        )
    function, _ = _function(compiled, codes, exp(-theta))
    sums = _FlipSums(function, theta)

    def pmf() -> FloatArray:
        tilts = [exp(-theta * (j + 1)) for j in range(len(sums.weights))]
        roots = max((function.roots_needed(z) for z in tilts), default=1)
        generated = np.full(roots, sums.unchanged - sums.subtracted, dtype=np.complex128)
        for z, weight in zip(tilts, sums.weights, strict=True):
            generated += weight * function.ratios(z, roots)
        return probabilities(generated, len(codes))

    return LazyLaw(len(codes), sums.mean, pmf)


class _FlipSums:
    """The integrals behind permute-and-flip: P(no error) = `unchanged`, and `weights[j]` = F(z^(j+1)) ∫ G (1-t) t^j."""

    def __init__(self, function: GeneratingFunction, theta: float) -> None:
        self._function, self._theta = function, theta
        self._values: list[Value] = []
        log_first = self._value(1).log
        end = exp(log_first) if log_first < log(_LAST_PANEL) else _LAST_PANEL
        edges = np.unique(np.minimum(np.concatenate([[0.0, 0.5], 2.0 ** np.arange(8)]), end))
        half = np.diff(edges)[:, None] / 2
        s = (edges[:-1, None] + half * (1 + _NODES)).ravel()
        log_t = np.log(s) - log_first
        t = np.minimum(np.exp(log_t), 1.0)
        measure = (half * _NODE_WEIGHTS).ravel() * np.exp(-self._exponent(log_t, t))  # F(z) G dt
        self.unchanged = float(measure @ np.ones_like(t)) * exp(-log_first)
        self.weights: list[float] = []
        self.mean, self.subtracted, total = 0.0, 0.0, self.unchanged
        while total < 1 - 1e-15 and len(self.weights) < _MOST_TILTS:
            j = len(self.weights)
            value = self._value(j + 1)
            size = measure * (1 - t) * np.exp(j * log_t - log_first)
            weight = float(size @ np.full_like(t, 1.0)) * _exp(value.log)
            if value.log > 600:  # the product is a number, its factors are not
                weight = float(np.sum(measure * (1 - t) * np.exp(j * log_t - log_first + value.log)))
            less = weight * exp(-value.log) if value.log < 600 else 0.0
            self.weights.append(weight)
            self.subtracted += less
            self.mean += weight * value.mean
            total += weight - less
            if weight - less < 1e-18 * (1 - exp(-theta)):
                break
        if abs(total - 1) > 1e-12:
            raise TooLargeError(f"the law of permute-and-flip comes out off by {total - 1:.0e}, which is too much")

    def _value(self, r: int) -> Value:
        """F at z^r."""
        while len(self._values) < r:
            done = len(self._values)
            tilts = [exp(-min(self._theta * k, 690.0)) for k in range(done + 1, done + _TILTS + 1)]
            self._values += self._function.at(tilts)
        return self._values[r - 1]

    def _exponent(self, log_t: FloatArray, t: FloatArray) -> FloatArray:
        """-log G at these t: terms are added until what is missing is less than rounding."""
        z, x = exp(-self._theta), np.zeros_like(t)
        for r in range(1, _MOST_TILTS):
            log_f = self._value(r).log
            # log(F - 1), which is what all other words weigh
            log_others = log_f + log(-np.expm1(-log_f)) if log_f > 0 else -inf
            term = np.exp(r * log_t + log_others) / r
            x += term
            missing = term * z * t / (1 - np.minimum(z * t, 1 - 1e-12))
            if np.all((missing < 1e-17) | (x > 200)):
                return x
        raise TooLargeError("the law of permute-and-flip needs too many tilts here")


def _exp(x: float) -> float:
    return exp(x) if x < 600 else inf
