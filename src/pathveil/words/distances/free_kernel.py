"""Compiled draws of single symbols from sums of weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel


@kernel
def draw_symbols(rows: Any, sums: Any, keystream: Any, margin: float, private: Any, in_doubt: Any) -> None:
    """For each cell the first symbol whose sum is above a uniform share of the total of its row."""
    last = sums.shape[1] - 1
    for cell in range(len(rows)):
        row = sums[rows[cell]]
        total = row[last]
        mark = (np.int64(keystream[cell] >> np.uint64(11)) + 0.5) * 2.0**-53 * total
        low, high = 0, last
        while low < high:
            middle = (low + high) >> 1
            if row[middle] > mark:
                high = middle
            else:
                low = middle + 1
        near = margin * total
        in_doubt[cell] = (low < last and row[low] - mark < near) or (low > 0 and mark - row[low - 1] < near)
        private[cell] = low
