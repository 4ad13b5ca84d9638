"""The errors of the online mechanism on a system, by their generating function."""

from __future__ import annotations

from math import exp

import numpy as np

from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import ErrorLaw, LazyLaw
from pathveil.words.laws.generating import GeneratingFunction, probabilities


def online_law(compiled: CompiledSystem, codes: IntArray, theta: float) -> ErrorLaw:
    """The errors when each symbol is drawn from those that may follow the last private one.

    Of d successors the true one has a weight of 1 and every other z; where it is not among them, all weigh the same.
    """
    z, degree = exp(-theta), np.maximum(np.diff(compiled.offsets), 1)
    function = GeneratingFunction(compiled, codes, 1 / (1 + (degree - 1) * z), 1 / degree, right_z=z)

    def pmf() -> FloatArray:
        return probabilities(function.ratios(1.0, function.roots_needed(1.0)), len(codes))

    return LazyLaw(len(codes), function.at([1.0])[0].mean, pmf)
