"""log δ(ε) for many Dirichlet rows at once, by quadrature of a positive, log-concave function.

    δ(ε) = ∫_0^∞ f(t + y) (1 - e^(-hy)) dy,      t = ε/h,  f the density of logit Beta(a+h, a).

Every step works on arrays of rows: a chain with hundreds of rows is calibrated in a few of these calls.
"""

from __future__ import annotations

import numpy as np

from pathveil.numerics.arrays import FloatArray
from pathveil.privacy.worst_pair import log_peak_density, log_relative_density

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_NEGLIGIBLE = 45.0  # e^-45 is 3e-20 of the integrand's peak
_HALVINGS = 2.0 ** -np.arange(6.0, 0.0, -1.0)


def log_hockey_sticks(epsilon: FloatArray, a: FloatArray, h: FloatArray) -> FloatArray:
    """log δ(ε) for each row; the arguments are vectors of the same length."""
    t, a, h = (x[:, None] for x in (epsilon / h, a, h))
    edges = panel_edges(t, a, h)
    half = np.diff(edges)[:, :, None] / 2
    y = (edges[:, :-1, None] + half * (1 + _NODES)).reshape(len(t), -1)
    with np.errstate(divide="ignore"):  # panels of width zero: a logarithm of zero, and no weight
        logs = _log_integrand(y, t, a, h)
    top = logs.max(axis=1, keepdims=True)
    weights = (half * _WEIGHTS).reshape(len(t), -1)
    result: FloatArray = (top + log_peak_density(a, h))[:, 0] + np.log((weights * np.exp(logs - top)).sum(axis=1))
    return result


def _log_integrand(y: FloatArray, t: FloatArray, a: FloatArray, h: FloatArray) -> FloatArray:
    """But for the density's largest value, which is a constant of the row."""
    result: FloatArray = log_relative_density(t + y, a, h) + np.log(-np.expm1(-h * y))
    return result


def _below(u: FloatArray) -> FloatArray:
    """1/(1 + e^u) for u ≥ 0."""
    e = np.exp(-u)
    result: FloatArray = e / (1 + e)
    return result


def _slope(log_y: FloatArray, t: FloatArray, a: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The derivative of the log-integrand with respect to log y, which falls from 1 to -∞, and its own derivative."""
    y = np.exp(log_y)
    z = np.minimum(h * y, 700.0)
    grown = np.expm1(z)
    rising = z / grown
    r = _below(t + y)
    falling = y * ((2 * a + h) * r - a)
    turning = rising * (1 - z - rising) + falling - y * y * (2 * a + h) * r * (1 - r)
    return rising + falling, turning


def _log_peak(t: FloatArray, a: FloatArray, h: FloatArray) -> FloatArray:
    """log y where the integrand is largest: Newton's method, kept inside a bracket."""
    low = high = -np.log(a + h)
    step = 1.0
    while (rises := _slope(high, t, a, h)[0] > 0).any():
        high, step = np.where(rises, high + step, high), 2 * step
    step = 1.0
    while (falls := _slope(low, t, a, h)[0] <= 0).any():
        low, step = np.where(falls, low - step, low), 2 * step
    x = (low + high) / 2
    for _ in range(60):
        value, derivative = _slope(x, t, a, h)
        low, high = np.where(value > 0, x, low), np.where(value > 0, high, x)
        newton = x - value / np.minimum(derivative, -1e-300)
        following = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        moved = float(np.abs(following - x).max())
        x = following
        if moved < 1e-3:  # the peak only says where panels begin
            break
    return x


def panel_edges(t: FloatArray, a: FloatArray, h: FloatArray) -> FloatArray:
    """0 = y_0 ≤ y_1 ≤ …, a row each: panels double away from the peak, and halve towards 0.

    To the right of the peak the curvature of the log-integrand only falls, so panels that double in width never meet a
    feature narrower than themselves. Towards 0 the integrand is nearly linear in y.
    """
    peak = np.exp(_log_peak(t, a, h))
    r = _below(t + peak)
    z = np.minimum(h * peak, 700.0)
    turn = z / (2 * np.sinh(z / 2)) / peak
    width = np.minimum(peak, 1 / np.sqrt((2 * a + h) * r * (1 - r) + turn * turn))
    top = _log_integrand(peak, t, a, h)
    doublings = 4
    while (_log_integrand(peak + width * 2.0 ** (doublings - 1), t, a, h) > top - _NEGLIGIBLE).any():
        doublings += 2
    reach = width * 2.0 ** np.arange(doublings)
    right = peak + reach
    # Where a row's own integrand is negligible already, its further panels shrink to nothing.
    needed = _log_integrand(right[:, :-1], t, a, h) > top - _NEGLIGIBLE
    right[:, 1:] = np.where(needed, right[:, 1:], 0.0)
    right = np.maximum.accumulate(right, axis=1)
    apart = (reach < peak / 2).any(axis=0)
    left = np.maximum(peak - reach[:, apart][:, ::-1], peak / 2)
    return np.concatenate([np.zeros_like(peak), peak * _HALVINGS, left, peak, right], axis=1)
