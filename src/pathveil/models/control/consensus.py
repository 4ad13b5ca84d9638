"""Weights of a consensus protocol: noise on the edges of a graph, and what keeps averaging from standing still."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pathveil.models.laplace import laplace_noise
from pathveil.numerics.arrays import BoolArray, FloatArray
from pathveil.randomness.source import RandomSource

_FINENESS = 2**20  # so many steps of the grid of weights make up a change
_STANDSTILL = 1e-9  # a convergence factor this close to 1 means that averaging does not settle
_PUBLIC_SHARE = 0.05  # of public weights, mixed in where it does not


def noisy_edges(source: RandomSource, weights: FloatArray, change: float, epsilon: float) -> tuple[FloatArray, float]:
    """Weights with discrete Laplace noise, one of which may change by `change`; and the variance of the noise.

    Weights are cut to multiples of 1/G, G a power of 2, which makes integers of them. Two weights that differ by at
    most s become integers that differ by at most ⌈sG⌉; one more is allowed for the rounding of s itself.
    """
    grid = 2.0 ** math.ceil(math.log2(_FINENESS / change))
    noise = laplace_noise(epsilon, math.ceil(change * grid) + 1)
    cut = np.floor(weights * grid).astype(np.int64)
    values = (cut + noise.draw(source, len(cut)) + 0.5) / grid
    return np.asarray(values, dtype=np.float64), noise.variance / grid**2


def settling(weights: FloatArray, inside: BoolArray, factor: Callable[[FloatArray], float]) -> tuple[FloatArray, bool]:
    """The weights, with a little of public ones mixed in if averaging with them alone would never settle.

    That happens where noise has cut the graph in parts. Reads the private weights only, so it costs no privacy. Where
    the public graph itself is in parts nothing helps.
    """
    if factor(weights) < 1 - _STANDSTILL:
        return weights, False
    public = metropolis_weights(inside)
    if factor(public) >= 1 - _STANDSTILL:
        return weights, False
    mixed: FloatArray = (1 - _PUBLIC_SHARE) * weights + _PUBLIC_SHARE * public
    return mixed, True


def metropolis_weights(inside: BoolArray) -> FloatArray:
    """1/(1 + the larger of the two degrees) on each edge, the rest on the diagonal: the usual weights that need
    nothing but the graph."""
    graph = inside & ~np.eye(len(inside), dtype=bool)
    degrees = graph.sum(axis=1)
    weights: FloatArray = np.where(graph, 1 / (1 + np.maximum.outer(degrees, degrees)), 0.0)
    np.fill_diagonal(weights, 1 - weights.sum(axis=1))
    return weights
