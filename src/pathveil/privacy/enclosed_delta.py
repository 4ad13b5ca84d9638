"""log δ(ε) from above, proven: the integral of `hockey_stick.py` with every error accounted for.

    δ(ε) = ∫_0^∞ f(t + y) (1 - e^(-hy)) dy,      t = ε/h,  f the density of logit Beta(a+h, a).

Three things are left out by Gauss's rule on finitely many panels in floating point, and each is bounded:

- *Rounding.* All is evaluated with `Balls`, and the upper ends are added up.
- *The rule.* A function with |F| ≤ M on the ellipse with foci ±1 and semi-axes (ρ ± 1/ρ)/2 has Chebyshev coefficients
  of at most 2Mρ^-j. The rule with 16 nodes is exact up to degree 31, and both the integral and the rule are at most 2
  for each Chebyshev polynomial: the error is at most Σ_{j≥32} 8Mρ^-j = 8Mρ^-32/(1 - 1/ρ). Any ρ will do; the best of
  a few is taken for each panel. M comes from |f(x+iv)| = f(x)·(1 - 4r(1-r) sin²(v/2))^(-m/2), r = 1/(1+e^x), m = 2a+h.
- *The tail.* f is log-concave, so that beyond Y its integral is at most f(Y) over the slope of log f at Y.

For tiny a and h the panels are far wider than the scale on which f bends, and the rule's bound is poor. But then
f(u) = C e^(-au) / (1 + e^-u)^m hardly differs from C e^(-au), which is never smaller; that gives a bound in closed
form, C e^(-at) h/(a(a+h)), too large by m³ at most (relatively). The smaller of the two bounds is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pathveil.numerics.arrays import FloatArray
from pathveil.numerics.balls import Balls, sum_last, where
from pathveil.privacy.hockey_stick import panel_edges
from pathveil.privacy.worst_pair import log_relative_density

Gain = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

_X, _W = np.polynomial.legendre.leggauss(16)
# Nodes and weights of Gauss's rule are within 2⁻⁵⁰ of these (a test compares them with proven ones).
NODES = Balls(1 + _X, np.full(16, 2.0**-50))
WEIGHTS = Balls(_W, np.full(16, 2.0**-50))
_ELLIPSES = (1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0, 20.0)
_NEAR = 0.03
_ROWS_AT_A_TIME = 256  # so that arrays stay small
_SERIES = [(-1.0) ** r / (r * (r - 1)) for r in range(2, 14)]
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)
_NEXT_STIRLING = 691 / 360360


def log_delta_bounds(epsilon: FloatArray, a: Balls, h: Balls) -> FloatArray:
    """For each row a number that log δ(ε) does not exceed. ε is exact; a and h may be anywhere in their balls."""
    parts = [slice(i, i + _ROWS_AT_A_TIME) for i in range(0, len(epsilon), _ROWS_AT_A_TIME)]
    with np.errstate(all="ignore"):  # where nothing can be said, the bound comes out as infinite
        return np.concatenate([_log_delta_bounds(epsilon[part], a[part], h[part]) for part in parts])


def log_densities(u: Balls, a: Balls, h: Balls) -> Balls:
    """log of the density of logit Beta(a+h, a) at points of either sign, enclosed: f(-u) = f(u) e^(-hu)."""
    inside = _log_relative_density(Balls(np.abs(u.mid), u.rad), a, h) + _log_peak_density(a, h)
    return where(u.mid < 0, inside + u * h, inside)


def _log_delta_bounds(epsilon: FloatArray, a: Balls, h: Balls) -> FloatArray:
    t = Balls.exact(epsilon) / h
    t, a, h = (x[:, None] for x in (t, a, h))
    edges = np.maximum.accumulate(panel_edges(t.mid, a.mid, h.mid), axis=1)
    left, half = edges[:, :-1, None], (Balls.exact(edges[:, 1:, None]) - edges[:, :-1, None]) * 0.5
    rows = len(epsilon)
    y = _flat(half * NODES + left, rows)
    logs, gains = _log_relative_density(t + y, a, h), (h * y).one_minus_exp()
    top = (logs.mid + np.log(gains.mid)).max(axis=1, keepdims=True)
    terms = _flat(half * WEIGHTS, rows) * ((logs - top).exp() * gains)
    nodes = sum_last(terms).upper

    def log_gain(middle: FloatArray, along: FloatArray, across: FloatArray) -> FloatArray:
        """|1 - e^(-hz)| ≤ e^(h·back) min(2, h|z|), where the rectangle reaches `back` to the left of y = 0."""
        y = middle - t.mid
        reach = np.maximum(y + along, along - y) + across
        return h.mid * np.maximum(along - y, 0.0) + np.log(np.minimum(2.0, h.mid * reach))

    left_out = rule_errors(t.mid + edges, a.mid, h.mid, top, log_gain).sum(axis=1)
    left_out += _tail(edges[:, -1:], t, a, h, top)[:, 0]
    # Twice: for the rounding of the bounds themselves.
    total = Balls.exact(np.minimum(np.nan_to_num(nodes + 2.001 * left_out, nan=1e300), 1e300)) * (1 + 2.0**-45)
    by_rule = total.log() + _log_peak_density(a, h)[:, 0] + top[:, 0]
    # log C from the density at its peak, where e^u = (a+h)/a.
    log_c = _log_peak_density(a, h) + a * ((a + h) / a).log() + (a * 2.0 + h) * (a / (a + h)).log1p()
    plain = (log_c - a * t + (h / (a * (a + h))).log())[:, 0]
    return np.minimum(np.fmin(_upper(by_rule), _upper(plain)), 0.0)


def _upper(balls: Balls) -> FloatArray:
    return np.where(np.isfinite(balls.rad), balls.upper, np.inf)


def _flat(balls: Balls, rows: int) -> Balls:
    return Balls(balls.mid.reshape(rows, -1), balls.rad.reshape(rows, -1))


def _log_relative_density(u: Balls, a: Balls, h: Balls) -> Balls:
    """`worst_pair.log_relative_density` for u ≥ 0, enclosed."""
    m = a * 2.0 + h
    shrunk = (-u).exp()
    grown = shrunk + 1.0
    fold = shrunk.log1p()
    low, high = m * shrunk / grown, m / grown
    gap = (a * u.one_minus_exp() - h * shrunk) / grown  # a - low
    first = where(np.abs(gap.mid) <= _NEAR * low.mid, _near(gap, low), a * ((a / m).log() + u + fold) - gap)
    second = where(
        np.abs(gap.mid) <= _NEAR * high.mid, _near(-gap, high), (a + h) * (fold - (a / (a + h)).log1p()) + gap
    )
    return -(first + second)


def _near(gap: Balls, mean: Balls) -> Balls:
    """The deviance of mean + gap from mean: mean·Σ (-1)^r e^r / (r(r-1)), e = gap/mean, |e| ≤ 0.03 and a little."""
    close = np.abs(gap.mid) <= _NEAR * mean.mid
    e = where(close, gap, Balls.exact(np.zeros_like(gap.mid))) / where(close, mean, Balls.exact(np.ones_like(gap.mid)))
    series = Balls.exact(np.full_like(e.mid, _SERIES[-1]))
    for coefficient in _SERIES[-2::-1]:
        series = series * e + Balls.constant(coefficient)
    # What the series leaves out is below 0.04^12 of its first term, ½.
    series = Balls(series.mid, series.rad + 1e-16)
    return where(close, mean, Balls.exact(np.zeros_like(gap.mid))) * (series * e.square())


def _log_peak_density(a: Balls, h: Balls) -> Balls:
    m = a * 2.0 + h
    two_pi = Balls.constant(2 * math.pi)
    main = (a.log() + (a + h).log() - (m * two_pi).log()) * 0.5
    return main + stirling_remainder(m) - stirling_remainder(a) - stirling_remainder(a + h)


def stirling_remainder(x: Balls) -> Balls:
    """log Γ(x) less (x - ½) log x - x + ½ log 2π, by its asymptotic series, which errs by less than its next term.

    Below 10 by way of Γ(x) = Γ(x+10) / (x (x+1) … (x+9)).
    """
    small = x.mid < 10
    far = where(small, x + 10.0, x)
    square = Balls.exact(np.ones_like(x.mid)) / far.square()
    series = Balls.exact(np.full_like(x.mid, _STIRLING[-1]))
    for coefficient in _STIRLING[-2::-1]:
        series = series * square + Balls.constant(coefficient)
    remainder = series / far
    remainder = Balls(remainder.mid, (remainder.rad + 1.001 * _NEXT_STIRLING * far.lower**-11.0) * 1.001)
    if not small.any():
        return remainder
    near = where(small, x, Balls.exact(np.ones_like(x.mid)))
    product = near
    for j in range(1, 10):
        product = product * (near + float(j))
    shifted = (near + 9.5) * (near + 10.0).log() - 10.0 - (near - 0.5) * near.log() - product.log()
    return where(small, shifted + remainder, remainder)


def rule_errors(edges: FloatArray, a: FloatArray, h: FloatArray, top: FloatArray, log_gain: Gain) -> FloatArray:
    """For each panel of u a bound on what Gauss's rule leaves out of ∫ f(u)·gain(u) du, relative to e^top.

    `log_gain(middle, along, across)` bounds log|gain| on the rectangle of these half-widths around the panel's middle.
    Relative to the peak of f, that is; all of it is rounded by far less than the factor 2 that callers allow for.
    """
    middle, half = (edges[:, 1:] + edges[:, :-1]) / 2, (edges[:, 1:] - edges[:, :-1]) / 2
    mode, m = np.log1p(h / a), 2 * a + h
    # Integrand and rule are positive: the error is no larger than panel times maximum. That settles negligible panels.
    largest = log_relative_density(np.clip(mode, edges[:, :-1], edges[:, 1:]), a, h)
    best = 2 * half * np.exp(largest + log_gain(middle, half, 0 * half) - top)
    for rho in _ELLIPSES:
        along, across = half * (rho + 1 / rho) / 2, half * (rho - 1 / rho) / 2
        start, end = middle - along, middle + along
        density = log_relative_density(np.clip(mode, start, end), a, h)
        shrunk = np.exp(-np.abs(np.clip(0.0, start, end)))
        bend = np.minimum(shrunk / (1 + shrunk) ** 2 * np.minimum(across**2, 4.0), 1.0)
        growth = -(m / 2) * np.log1p(-bend)
        bound = half * np.exp(density + growth + log_gain(middle, along, across) - top) * 8 * rho**-32.0 / (1 - 1 / rho)
        best = np.fmin(best, bound)
    return np.where(half > 0, best, 0.0)


def _tail(y: FloatArray, t: Balls, a: Balls, h: Balls, top: FloatArray) -> FloatArray:
    u = (t + y).mid
    slope = a.mid - (2 * a.mid + h.mid) / (1 + np.exp(np.minimum(u, 700.0)))
    return np.where(slope > 0, np.exp(log_relative_density(u, a.mid, h.mid) - top) / slope, np.inf)
