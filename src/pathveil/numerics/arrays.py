"""The types of arrays, once for the whole house, and different rows of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
AnyIntArray = npt.NDArray[np.integer]
"""Whole numbers of any width, as they come in from Arrow."""
UintArray = npt.NDArray[np.uint64]
"""64 bits each: values of the keystream, and the limbs of large numbers."""
BoolArray = npt.NDArray[np.bool_]
BigIntArray = npt.NDArray[Any]
"""Python integers of any size."""


def distinct_rows(rows: IntArray, below: int) -> tuple[IntArray, IntArray]:
    """(the different rows in lexicographic order, which of these each row is); numbers are from 0 to `below` - 1.

    Like `np.unique` by rows, but one number for each row is sorted, which is several times as fast.
    """
    columns = rows.shape[1]
    if below**columns >= 1 << 62:
        distinct, which = np.unique(rows, axis=0, return_inverse=True)
        return distinct, which.ravel()
    places = below ** np.arange(columns, dtype=np.int64)[::-1]
    numbers, which = np.unique(rows @ places, return_inverse=True)
    return numbers[:, None] // places % below, which.ravel()
