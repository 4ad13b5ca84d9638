"""Drawing Dirichlet vectors, rounded to a public grid, with exactly the law that the mathematics says.

Floating-point noise has broken private systems before: the last bits of what is released can tell from which input they
came. Here x ~ Dirichlet(α) is a vector of *real* numbers, and what is released is the cell of a public grid that each
entry lies in, x_i ∈ [j, j+1)·2⁻⁴⁰: post-processing of x, as private as x itself. The cells are found from enclosures of
x; where an enclosure meets the end of a cell, more random bits are drawn and the row is computed again more precisely
(`gamma.py`). Given uniform bits, the released cells have exactly the probabilities that the Dirichlet law gives them.

The parameters must be exact, too: α = base + step·datum, with the two floats of the row taken as the binary numbers
that they are, and nothing rounded. So a record that moves between two entries moves exactly `step` between their
parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pathveil.models.gamma import GammaVariates, floors_below
from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.numerics.balls import Balls, sum_last
from pathveil.randomness.decisions import InDoubtError, with_enough_digits
from pathveil.randomness.source import RandomSource

if TYPE_CHECKING:
    from flint import arb

GRID_BITS = 40
EXACT_ON_GRID = (
    f"the draw is rounded to a public grid of 2^-{GRID_BITS} and made exactly, with as many bits as it takes"
)

_ENTRIES_AT_A_TIME = 2**15  # arrays of this size stay in the processor's cache


@dataclass(frozen=True, eq=False)
class DirichletRows:
    """Parameters of many rows: base + step·data where `inside`, and no entry elsewhere.

    `base` and `step` have one float for each row; `data` are counts (integers) or frequencies (floats).
    """

    base: FloatArray
    step: FloatArray
    data: npt.NDArray[Any]
    inside: BoolArray

    def part(self, start: int, end: int) -> DirichletRows:
        base, step = self.base[start:end], self.step[start:end]
        return DirichletRows(base, step, self.data[start:end], self.inside[start:end])

    def enclosed(self) -> Balls:
        """The parameters inside, row after row."""
        data = np.asarray(self.data, dtype=float)
        # Counts beyond 2⁵³ are rounded here.
        rounded = Balls(data, np.abs(data) * (2.0**-52 if self.data.dtype.kind == "i" else 0.0))
        return (rounded * self.step[:, None] + self.base[:, None])[self.inside]

    def exact(self, row: int, column: int) -> arb:
        """One parameter, to the precision of the context."""
        from flint import arb

        return arb(float(self.base[row])) + arb(float(self.step[row])) * arb(self.data[row, column].item())


def draw_dirichlet(source: RandomSource, parameters: FloatArray) -> FloatArray:
    """One Dirichlet vector for each row of parameters, which are positive, or 0 for entries off the support."""
    count = len(parameters)
    return draw_on_grid(source, DirichletRows(np.zeros(count), np.ones(count), parameters, parameters > 0))


def draw_on_grid(source: RandomSource, rows: DirichletRows) -> FloatArray:
    """One Dirichlet vector for each row, on the public grid.

    Each entry is the centre of its cell divided by the sum of all centres of the row, so that rows sum to 1 and entries
    inside are strictly positive. Off the support entries are 0.
    """
    cells = draw_cells(source, rows)
    centres = np.where(rows.inside, 2.0 * cells + 1.0, 0.0)
    result: FloatArray = centres / centres.sum(axis=1, keepdims=True)
    return result


def draw_cells(
    source: RandomSource, rows: DirichletRows, grid_bits: int = GRID_BITS, widening: float = 1.0
) -> IntArray:
    """For each entry inside the whole part of 2^grid_bits · x, x ~ Dirichlet; exactly. 0 outside.

    The same for every `widening` of what decides; more of it takes longer.
    """
    spare = source.branches(1)[0]  # for further bits, so that needing some does not change what is drawn next
    cells = np.zeros(rows.inside.shape, dtype=np.int64)
    at_a_time = max(1, _ENTRIES_AT_A_TIME // rows.inside.shape[1])
    for start in range(0, len(cells), at_a_time):
        part = rows.part(start, start + at_a_time)
        with np.errstate(all="ignore"):  # enclosures that say nothing are infinite or not numbers, and never certain
            cells[start : start + at_a_time] = _draw_part(source, spare, part, grid_bits, widening)
    return cells


def _draw_part(
    source: RandomSource, spare: RandomSource, rows: DirichletRows, grid_bits: int, widening: float
) -> IntArray:
    where = np.argwhere(rows.inside)
    variates = GammaVariates(source, spare, rows.enclosed(), lambda i: rows.exact(*where[i].tolist()), widening)
    value = _spread(variates.value, rows.inside)
    if variates.boosted.any():
        # Relative to the largest of the row; a shape of at least 1 has scale 0, and no scale is above 0.
        scale = _spread(variates.scale, rows.inside)
        largest = np.where(rows.inside, scale.mid, -np.inf).max(axis=1, keepdims=True)
        value = value * (scale - np.where(np.isfinite(largest), largest, 0.0)).exp()
    total = sum_last(value)[:, None]
    cells, certain = floors_below(value / total * 2.0**grid_bits, 2.0**grid_bits, widening)
    found = np.where(rows.inside & certain, cells, 0.0).astype(np.int64)
    first_of_row = np.concatenate([[0], np.cumsum(rows.inside.sum(axis=1))])
    for row in np.flatnonzero((~certain & rows.inside).any(axis=1)):
        here = range(int(first_of_row[row]), int(first_of_row[row + 1]))
        found[row, rows.inside[row]] = _cells_closely(variates, here, grid_bits)
    return found


def _spread(balls: Balls, inside: BoolArray) -> Balls:
    """The entries of rows in their places, exact zeros elsewhere."""
    result = Balls(np.zeros(inside.shape), np.zeros(inside.shape))
    result.mid[inside], result.rad[inside] = balls.mid, balls.rad
    return result


def _cells_closely(variates: GammaVariates, row: range, grid_bits: int) -> list[int]:
    """The cells of one row in ball arithmetic, with more and more bits until all are certain."""

    def decide(bits: int) -> list[int]:
        pairs = [variates.closely(i, bits) for i in row]
        largest = max(float(scale.mid()) for _, scale in pairs)
        weights = [value * (scale - largest).exp() for value, scale in pairs]
        total = sum(weights[1:], weights[0])
        return [_floor_below(weight / total * 2**grid_bits, 2**grid_bits) for weight in weights]

    return with_enough_digits(decide)


def _floor_below(ball: arb, end: int) -> int:
    """The whole part of a number that is known to lie between 0 and `end`."""
    if ball.is_finite():
        # Both ends are exact, so that their whole parts are unique.
        low, high = ball.lower().floor().unique_fmpz(), ball.upper().floor().unique_fmpz()
        if low is not None and high is not None:
            first, last = max(int(low), 0), min(int(high), end - 1)
            if first == last:
                return first
    raise InDoubtError
