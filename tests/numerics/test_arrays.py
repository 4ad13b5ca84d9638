"""Different rows of arrays."""

import numpy as np
import pytest

from pathveil.numerics.arrays import distinct_rows


@pytest.mark.parametrize(("below", "columns"), [(1, 1), (3, 2), (7, 5), (43, 11), (43, 12), (10**6, 4), (2**31, 2)])
def test_different_rows_are_those_of_numpy_whatever_fits_into_one_number(below: int, columns: int) -> None:
    rng = np.random.default_rng(below + columns)
    several = rng.integers(0, below, (60, columns))
    for rows in (several[rng.integers(0, 60, 500)], np.empty((0, columns), dtype=np.int64), several[:1]):
        expected, which = np.unique(rows, axis=0, return_inverse=True)
        distinct, found = distinct_rows(rows, below)
        assert np.array_equal(distinct, expected)
        assert np.array_equal(found, which.ravel())
