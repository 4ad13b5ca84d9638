"""How loops are compiled: the one place that knows numba.

Only files of kernels import this one, and they are imported by the functions that need them: compiling takes a second
or more, and a program that draws a few words never pays for it. What was compiled is kept on disk for the next run.
That copy is renewed when the kernel's own file changes, so a kernel calls no compiled function of another file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

Function = Callable[..., Any]


def part_of_kernel(function: Function) -> Function:
    """Code that is put in place wherever a kernel of the same file calls it: for short functions in inner loops."""
    compiled: Function = numba.njit(nogil=True, error_model="numpy", inline="always")(function)
    return compiled


def kernel(function: Function) -> Function:
    """Compile a function of numbers and arrays that runs without the interpreter's lock.

    Threads are Python's own. Numba's parallel loops are not used: they keep threads alive that a forked process does
    not have, and leave it hanging or dead.
    """
    try:
        compiled: Function = numba.njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's can be written: compile anew in each run
        compiled = numba.njit(nogil=True, error_model="numpy")(function)
    return compiled
