"""Compiled search for the feasible words nearest to an infeasible one."""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel


@kernel
def nearest_classes(
    values: Any,
    begins: Any,
    length: int,
    plan: Any,
    plan_offsets: Any,
    offsets: Any,
    labels: Any,
    targets: Any,
    state_count: int,
    errors: Any,
    sizes: Any,
) -> None:
    """For each word the smallest number of errors of a feasible word, and how many feasible words have it."""
    far = length + 1
    distance, after = np.full(state_count, far), np.full(state_count, far)
    ways, ways_after = np.zeros(state_count), np.zeros(state_count)
    for word in range(len(begins)):
        after[:] = far
        ways_after[:] = 0.0
        for y in plan[plan_offsets[length] : plan_offsets[length + 1]]:
            after[y] = 0
            ways_after[y] = 1.0
        for i in range(length - 1, -1, -1):
            symbol = np.int64(values[begins[word] + i])
            distance[:] = far
            ways[:] = 0.0
            for y in plan[plan_offsets[i] : plan_offsets[i + 1]]:
                for edge in range(offsets[y], offsets[y + 1]):
                    x = targets[edge]
                    if after[x] == far:
                        continue
                    needed = after[x] + (labels[edge] != symbol)
                    if needed < distance[y]:
                        distance[y] = needed
                        ways[y] = 0.0
                    if needed == distance[y]:
                        ways[y] += ways_after[x]
            distance, after = after, distance
            ways, ways_after = ways_after, ways
        errors[word] = after[plan[0]]
        sizes[word] = ways_after[plan[0]]
