"""How loops are compiled: the one place that knows numba.

numba is loaded when something is compiled, not before: that takes a second or more, and a program that draws a few
words never pays for it. So files of kernels (`kernel`) are imported by the functions that need them, and other files
compile at the first call (`compile_on_first_call`). What was compiled is kept on disk for the next run. That copy is
renewed when the kernel's own file changes, so a kernel calls no compiled function of another file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

Function = Callable[..., Any]


def part_of_kernel(function: Function) -> Function:
    """Code that is put in place wherever a kernel of the same file calls it: for short functions in inner loops."""
    import numba

    made: Function = numba.njit(nogil=True, error_model="numpy", inline="always")(function)
    return made


def kernel(function: Function) -> Function:
    """Compile a function of numbers and arrays that runs without the interpreter's lock.

    Threads are Python's own. Numba's parallel loops are not used: they keep threads alive that a forked process does
    not have, and leave it hanging or dead.
    """
    import numba

    try:
        made: Function = numba.njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's can be written: compile anew in each run
        made = numba.njit(nogil=True, error_model="numpy")(function)
    return made


def checked_kernel(function: Function) -> Function:
    """A kernel for proofs, where dividing by zero is an error, as in Python: no bound comes out of 0/0."""
    import numba

    try:
        made: Function = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # as above
        made = numba.njit(nogil=True)(function)
    return made


@cache
def compile_on_first_call(function: Function) -> Function:
    """The function as machine code, made at the first call. Dividing by zero is an error here, as in Python."""
    import numba

    made: Function = numba.njit(cache=True)(function)
    return made
