"""The exponential mechanism on a system as one would write it down first: what the compiled loops are compared with.

One word after the other, plain loops over the edges, no table that words share, numba's own (not cryptographic) random
numbers, and no check whether a word is feasible. Compiled as well, and on as many threads.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import exp

import numba
import numpy as np

from pathveil.numerics.arrays import IntArray
from pathveil.systems.compiled import CompiledSystem


@numba.njit(nogil=True)
def _draw(codes, offsets, labels, targets, accepting, start, z, private):  # type: ignore[no-untyped-def]
    batch, length = codes.shape
    states = len(accepting)
    beta = np.empty((length + 1, states))
    for word in range(batch):
        for y in range(states):
            beta[length, y] = 1.0 if accepting[y] else 0.0
        for i in range(length - 1, -1, -1):
            for y in range(states):
                total = 0.0
                for edge in range(offsets[y], offsets[y + 1]):
                    weight = 1.0 if labels[edge] == codes[word, i] else z
                    total += weight * beta[i + 1, targets[edge]]
                beta[i, y] = total
        y = start
        for i in range(length):
            mark = np.random.random() * beta[i, y]
            taken = offsets[y]
            for edge in range(offsets[y], offsets[y + 1]):
                weight = 1.0 if labels[edge] == codes[word, i] else z
                mark -= weight * beta[i + 1, targets[edge]]
                taken = edge
                if mark < 0.0:
                    break
            private[word, i] = labels[taken]
            y = targets[taken]


def draw(compiled: CompiledSystem, codes: IntArray, theta: float) -> IntArray:
    """A private word for each row of codes, on all processors."""
    private = np.empty_like(codes)
    system = (compiled.offsets, compiled.labels, compiled.targets, compiled.accepting, compiled.start, exp(-theta))
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    cuts = np.linspace(0, len(codes), threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        tasks = [pool.submit(_draw, codes[a:b], *system, private[a:b]) for a, b in pairwise(cuts)]
        for task in tasks:
            task.result()
    return private
