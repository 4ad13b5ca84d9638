"""Tilted draws by logarithms: P(w'|w) ∝ e^(-θ d(w, w')) over the feasible words, for any θ and any length.

β_i(y), the weight of everything that may follow position i in state y, comes from one pass backwards, and the word is
drawn forwards. The logarithms can neither overflow nor underflow. That is slow, but needs no compiler: it serves small
batches, and the rare words whose weights span more than floating point can hold. Words for which a random number comes
closer to a border than rounding can be trusted are decided by `exact`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np

from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray, UintArray
from pathveil.randomness.source import as_uniform
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import rounding_margin

_CHUNK = 1 << 21  # numbers held at a time while a batch is worked on


def rows_at_once(compiled: CompiledSystem, length: int) -> int:
    """How many words of this length are worked on at a time."""
    return max(1, _CHUNK // max(compiled.edge_count, length * compiled.state_count))


def log_normalisers(compiled: CompiledSystem, codes: IntArray, theta: float) -> FloatArray:
    """log Σ e^(-θ d(w, w')) over the feasible words w', for each row w; no more than two messages are held."""
    for message in _messages(compiled, codes, theta):  # noqa: B007 - the last one is wanted
        pass
    return message[:, compiled.start]


def _edge_weights(compiled: CompiledSystem, symbols: IntArray, after: FloatArray, theta: float) -> FloatArray:
    """log(z^[label ≠ symbol] β(target)) for every word (rows) and edge (columns)."""
    weights: FloatArray = after[:, compiled.targets]
    weights -= theta * (compiled.labels != symbols[:, None])
    return weights


def _messages(compiled: CompiledSystem, codes: IntArray, theta: float) -> Iterator[FloatArray]:
    """Messages n, n - 1, …, 0: log β_i(y) for every word (rows) and state (columns)."""
    batch, length = codes.shape
    with np.errstate(divide="ignore"):
        message = np.tile(np.log(compiled.accepting.astype(float)), (batch, 1))
    yield message
    alive = np.flatnonzero(np.diff(compiled.offsets))  # states with successors; the others have weight 0
    for i in range(length - 1, -1, -1):
        weights = _edge_weights(compiled, codes[:, i], message, theta)
        top = np.maximum.reduceat(weights, compiled.offsets[alive], axis=1)
        shift = np.where(top > -np.inf, top, 0.0)
        weights -= np.repeat(shift, np.diff(compiled.offsets)[alive], axis=1)
        with np.errstate(divide="ignore"):
            sums = np.log(np.add.reduceat(np.exp(weights), compiled.offsets[alive], axis=1)) + shift
        message = np.full((batch, compiled.state_count), -np.inf)
        message[:, alive] = sums
        yield message


def draw_rows(
    compiled: CompiledSystem, codes: IntArray, z: float, keystream: UintArray
) -> tuple[IntArray, FloatArray, BoolArray]:
    """A private word for each row of codes, from one keystream value a symbol; log Z, and which words are in doubt."""
    batch, length = codes.shape
    theta = -log(z)  # of the number that is used
    messages = list(_messages(compiled, codes, theta))[::-1]
    margin = log_margin(compiled, length, theta)
    states, in_doubt = np.full(batch, compiled.start), np.zeros(batch, dtype=bool)
    private = np.empty_like(codes)
    for i in range(length):
        first = compiled.offsets[states]
        degree = compiled.offsets[states + 1] - first
        # One row for each word, one column for each edge of its current state; shorter rows are padded.
        columns = np.arange(degree.max())
        padding = columns >= degree[:, None]
        edges = np.where(padding, first[:, None], first[:, None] + columns)
        right = (compiled.labels[edges] == codes[:, i, None]) & ~padding
        # The word's own symbol comes first, then the others in their order.
        edges = np.take_along_axis(edges, np.argsort(~right, axis=1, kind="stable"), axis=1)
        weights = np.take_along_axis(messages[i + 1], compiled.targets[edges], axis=1)
        weights -= theta * (compiled.labels[edges] != codes[:, i, None])
        weights[padding] = -np.inf
        chosen, close = pick_columns(weights, keystream[:, i], margin)
        in_doubt |= close
        taken = edges[np.arange(batch), chosen]
        private[:, i] = compiled.labels[taken]
        states = compiled.targets[taken]
    return private, messages[0][:, compiled.start], in_doubt


def log_margin(compiled: CompiledSystem, length: int, theta: float) -> float:
    """How far rounding can carry a sum of weights, relatively; the loops without logarithms are more precise.

    At each position, logarithms of a size of up to n(θ + log d) are added, shifted and rounded, and d weights added up.
    `exp` and `log` are taken to be right to 16 units in the last place, four times what numpy allows them.
    """
    size = length * (theta + log(compiled.largest_degree)) if compiled.largest_degree else 0.0
    return rounding_margin((length + 2) * (int(4 * size) + compiled.largest_degree + 48))


def pick_columns(log_weights: FloatArray, keystream: UintArray, margin: float) -> tuple[IntArray, BoolArray]:
    """For each row a column, with probability proportional to exp(log weight); and which rows are in doubt."""
    sums = np.cumsum(np.exp(log_weights - log_weights.max(axis=1, keepdims=True)), axis=1)
    total = sums[:, -1]
    # Never the total itself, or no column would be reached.
    marks = np.minimum(as_uniform(keystream) * total, np.nextafter(total, 0))
    columns: IntArray = np.argmax(sums > marks[:, None], axis=1)
    in_doubt: BoolArray = np.any(np.abs(sums - marks[:, None]) < margin * total[:, None], axis=1)
    return columns, in_doubt
