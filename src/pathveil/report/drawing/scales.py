"""From numbers to places on an axis, in percent of its length, and the numbers that are written there."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, log10

from pathveil.report.charts import Scale


def scale_of(kind: Scale, low: float, high: float) -> Callable[[float], float]:
    """Percent of the way from `low` to `high`."""
    if kind == "log":
        low, high = log10(low), log10(high)
    span = (high - low) or 1.0

    def percent(value: float) -> float:
        return 100 * ((log10(value) if kind == "log" else value) - low) / span

    return percent


def ticks_of(kind: Scale, low: float, high: float, most: int) -> list[float]:
    """About `most` round numbers between `low` and `high`."""
    if kind == "log":
        decades = range(floor(log10(low)), ceil(log10(high)) + 1)
        found = [float(f"{step}e{d}") for d in decades for step in (1, 2, 5)]
        found = [value for value in found if low * 0.999 <= value <= high * 1.001]
        if len(found) <= most:
            return found
        whole = [value for value in found if f"{value:e}".startswith("1.")]
        return whole[:: -(-len(whole) // most)]
    raw = ((high - low) or 1.0) / most
    size = 10.0 ** floor(log10(raw))
    step = next(factor * size for factor in (1, 2, 5, 10) if factor * size >= raw * (1 - 1e-9))
    return [float(f"{i * step:.12g}") for i in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]
