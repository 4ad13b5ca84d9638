"""The types of arrays, once for the whole house."""

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
