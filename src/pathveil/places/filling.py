"""Ways between cells that are no neighbours, by a rule that is public and fixed.

A way has the fewest steps that the system allows. Of the cells that can come next on such a way, the one is taken whose
centre is nearest to the destination, and of several as near the first. The rule reads nothing but the public system.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pathveil.numerics.arrays import FloatArray, IntArray

_KEPT = 64  # destinations whose distances are kept: trips jump around within few places


class ShortestWays:
    """Shortest ways in a system, found one destination at a time and remembered."""

    def __init__(self, follows: sparse.csr_array, places: FloatArray) -> None:
        """`follows` has an entry where one cell may follow another; `places` the centres, one row each."""
        self._follows = sparse.csr_array(follows)
        self._backwards = sparse.csr_array(self._follows.T)
        self._places = places
        self._steps: dict[int, FloatArray] = {}
        self._ways: dict[tuple[int, int], IntArray | None] = {}

    def between(self, origins: IntArray, destinations: IntArray) -> tuple[IntArray, IntArray]:
        """The codes strictly between each pair, pair after pair, and how many each has; -1: there is no way."""
        pairs = np.column_stack([destinations, origins])
        # By destination, so that each is searched from once.
        unique, which = np.unique(pairs, axis=0, return_inverse=True)
        ways = [self._way(int(origin), int(destination)) for destination, origin in unique.tolist()]
        counts = np.array([-1 if way is None else len(way) for way in ways], dtype=np.int64)
        which = np.asarray(which).ravel()
        pieces = [way for way in (ways[i] for i in which.tolist()) if way is not None]
        codes = np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int64)
        return codes.astype(np.int64), counts[which]

    def _way(self, origin: int, destination: int) -> IntArray | None:
        if (origin, destination) not in self._ways:
            self._ways[origin, destination] = self._found(origin, destination)
        return self._ways[origin, destination]

    def _found(self, origin: int, destination: int) -> IntArray | None:
        steps = self._steps_to(destination)
        if not np.isfinite(steps[origin]):
            return None
        way, current = [], origin
        target = self._places[destination]
        while steps[current] > 1:
            following = self._follows.indices[self._follows.indptr[current] : self._follows.indptr[current + 1]]
            closer = np.sort(following[steps[following] == steps[current] - 1])
            far = np.hypot(*(self._places[closer] - target).T)
            current = int(closer[np.argmin(far)])
            way.append(current)
        return np.array(way, dtype=np.int64)

    def _steps_to(self, destination: int) -> FloatArray:
        from scipy.sparse import csgraph

        if destination not in self._steps:
            if len(self._steps) >= _KEPT:
                self._steps.pop(next(iter(self._steps)))
            found: FloatArray = csgraph.dijkstra(self._backwards, indices=[destination], unweighted=True)[0]
            self._steps[destination] = found
        return self._steps[destination]
