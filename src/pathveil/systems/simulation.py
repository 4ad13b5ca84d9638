"""Random paths of a Markov chain, fast.

Each step uses Walker's alias method (in Vose's form, 1991). The r entries of a row are cut and glued into r *cells*
of equal size that hold at most two states each: below the *cut* the cell's `own` state, above it the `other`. A uniform
number picks a cell and a point in it.

A long path spends its time waiting for memory, so what a step reads is kept small: 16 bits of the cut and the other
state. Only if the point agrees with the cut in all 16 bits is the full cut looked up.

Simulation draws with 53-bit uniform numbers, and cells are cut with the rounding of floating point: a probability is
met to about (row length)·1e-16. Simulating is no privacy mechanism and needs no more. A transition of probability
zero never happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.numerics.jit import compiled
from pathveil.randomness.source import RandomSource

_COARSE = 1 << 16

# Paths that advance side by side (more, where they are short) let the processor wait for several memory reads at once.
_PATHS_AT_ONCE = 64
# Uniform numbers drawn at a time: few enough to stay in the processor's cache.
_DRAWS_AT_ONCE = 1 << 15


@dataclass(frozen=True)
class AliasTables:
    """The cells of row i are the slice `offsets[i]:offsets[i+1]` of the other arrays."""

    offsets: IntArray
    cells: npt.NDArray[np.void]
    cuts: FloatArray
    own: npt.NDArray[np.int32]

    @classmethod
    def from_matrix(cls, P: sparse.csr_array) -> AliasTables:
        """From rows that are not empty and sum to 1, up to rounding."""
        P = P.sorted_indices()  # in a row without zeros, each cell's own state is then the number of the cell
        state_type = np.uint16 if P.shape[0] <= _COARSE else np.uint32
        cells = np.empty(P.nnz, dtype=[("cut", np.uint16), ("other", state_type)])
        offsets, own = P.indptr.astype(np.int64), P.indices.astype(np.int32)
        cuts, cells["other"] = compiled(_cut_cells)(offsets, own, P.data.astype(np.float64))
        cells["cut"] = np.minimum(cuts * _COARSE, _COARSE - 1)
        return cls(offsets, cells, cuts, own)


def simulate(tables: AliasTables, first: IntArray, length: int, source: RandomSource) -> IntArray:
    """One path of `length` states in each row, beginning with the states `first`."""
    walk = compiled(_walk)
    paths = np.empty((len(first), length), dtype=np.int64)
    paths[:, 0] = first
    height = max(_PATHS_AT_ONCE, _DRAWS_AT_ONCE // length)
    for top in range(0, len(first), height):
        block = paths[top : top + height]
        steps = max(_DRAWS_AT_ONCE // len(block), 1)
        for begin in range(1, length, steps):
            count = min(steps, length - begin)
            uniforms = source.uniform(count * len(block)).reshape(count, len(block))
            walk(tables.offsets, tables.cells, tables.cuts, tables.own, uniforms, block, begin)
    return paths


def _cut_cells(
    offsets: IntArray, own: npt.NDArray[np.int32], probabilities: FloatArray
) -> tuple[FloatArray, npt.NDArray[np.int32]]:
    """The cut of each cell, and its other state: what a rare state leaves of its cell goes to a frequent one."""
    cuts = np.ones(len(probabilities))
    other = own.copy()
    filled = np.empty(len(probabilities))  # how much of its own cell a state fills; above 1: more than one cell
    waiting = np.empty(len(probabilities), dtype=np.int64)
    for i in range(len(offsets) - 1):
        begin, end = offsets[i], offsets[i + 1]
        total = 0.0
        for k in range(begin, end):
            total += probabilities[k]
        # Rare states are stacked from the left of `waiting`, frequent ones from the right.
        rare, frequent = begin, end
        for k in range(begin, end):
            filled[k] = probabilities[k] / total * (end - begin)
            if filled[k] < 1.0:
                waiting[rare] = k
                rare += 1
            else:
                frequent -= 1
                waiting[frequent] = k
        # States that are still waiting when either stack is empty fill their own cells, up to rounding.
        while rare > begin and frequent < end:
            rare -= 1
            small, large = waiting[rare], waiting[frequent]
            cuts[small] = filled[small]
            other[small] = own[large]
            filled[large] = (filled[large] + filled[small]) - 1.0
            if filled[large] < 1.0:
                frequent += 1
                waiting[rare] = large
                rare += 1
    return cuts, other


def _walk(
    offsets: IntArray,
    cells: Any,
    cuts: FloatArray,
    own: npt.NDArray[np.int32],
    uniforms: FloatArray,
    paths: IntArray,
    begin: int,
) -> None:
    """Continue the paths (one a row) at position `begin` with one row of uniform numbers a step."""
    states = len(offsets) - 1
    for t in range(uniforms.shape[0]):
        for path in range(uniforms.shape[1]):
            state = paths[path, begin + t - 1]
            row = offsets[state]
            size = offsets[state + 1] - row
            place = uniforms[t, path] * size
            number = min(int(place), size - 1)
            point = place - number
            coarse = int(point * _COARSE)
            cell = cells[row + number]
            if coarse < cell.cut or (coarse == cell.cut and point < cuts[row + number]):
                paths[path, begin + t] = number if size == states else own[row + number]
            else:
                paths[path, begin + t] = cell.other
