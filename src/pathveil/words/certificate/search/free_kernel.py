"""The inner loop of `free_walks`, which explains the quantities."""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import checked_kernel


@checked_kernel
def improve(
    lo: Any,
    hi: Any,
    spread: Any,
    closed: Any,
    current: Any,
    sources: Any,
    rho: Any,
    z: float,
    shrink: float,
    slack: float,
) -> float:
    """Narrow the bounds lo and hi of X_j(y), by context, j and y; by which factor hi shrank most, for j = 0.

    `sources` has (offsets, contexts): those of the position before from which each context may come. `closed` has the
    X_j(y) of the words that begin with the symbols of a context, and no number if none does. Every bound holds at every
    position, so those that were narrowed already may serve the next ones: the longest walks come first.
    """
    offsets, before = sources
    contexts, steps, m = lo.shape[0], lo.shape[1] - 1, lo.shape[2]
    highest, lowest = np.empty(m), np.empty(m)
    most = 1.0
    for j in range(steps - 1, -1, -1):
        for k in range(contexts):
            begins = not np.isnan(closed[k, j, 0])
            if offsets[k] == offsets[k + 1] and not begins:
                continue  # no word has this context
            for y in range(m):
                highest[y] = closed[k, j, y] * (1.0 + slack) if begins else 0.0
                lowest[y] = closed[k, j, y] * (1.0 - slack) if begins else np.inf
            for i in range(offsets[k], offsets[k + 1]):
                s, w = before[i], current[before[i]]
                for end in range(2):
                    own = hi[s, 0, w] * (1.0 + slack) if end == 0 else lo[s, 0, w] * (1.0 - slack)
                    renewed = (1.0 - z) * min(rho[w] * own, 1.0)
                    t, rest = z / (z + renewed), renewed / (z + renewed)
                    for y in range(m):
                        anew = rest * spread[j + 1, w, y]
                        highest[y] = max(highest[y], (t * hi[s, j + 1, y] + anew) * (1.0 + slack))
                        lowest[y] = min(lowest[y], (t * lo[s, j + 1, y] + anew) * shrink)
            for y in range(m):
                if highest[y] < hi[k, j, y]:
                    if j == 0 and highest[y] > 0.0:
                        most = max(most, hi[k, j, y] / highest[y])
                    hi[k, j, y] = highest[y]
                lo[k, j, y] = max(lo[k, j, y], lowest[y])
    return most
