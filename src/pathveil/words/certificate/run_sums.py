"""The loss as a sum over runs: which lengths of runs decide it, and which have no say.

Adjacent words are turned into one another run by run, and a run of r positions loses rθ + K_r. The loss is the largest
sum over run lengths that add up to at most the adjacency. Only the lengths in that sum are worth better bounds.
"""

from __future__ import annotations

from collections.abc import Mapping


def total_loss(theta: float, bounds: Mapping[int, float], distance: int) -> float:
    """The largest Σ (rθ + K_r) over run lengths that add up to at most `distance`, rounded up; {r: K_r} is given."""
    return rounded_up(_largest_sums(theta, bounds, distance)[distance][0])


def deciding_runs(theta: float, bounds: Mapping[int, float], distance: int) -> set[int]:
    """The run lengths in that sum."""
    sums, left, found = _largest_sums(theta, bounds, distance), distance, set()
    while left:
        run = sums[left][1]
        found.add(run)
        left -= max(run, 1)
    return found - {0}


def harmless_bound(theta: float, settled: Mapping[int, float], run: int, distance: int, loss: float) -> float:
    """The largest K_run with which no sum of this length and the settled ones exceeds a loss; 0 if there is none."""
    sums = _largest_sums(theta, settled, distance)
    loss *= 1 - 1e-11  # more than what rounding up adds
    shares = [(loss - sums[distance - times * run][0]) / times for times in range(1, distance // run + 1)]
    return max(min(shares) - run * theta, 0.0)


def rounded_up(value: float) -> float:
    """A little larger, by more than the rounding error of the few operations behind it."""
    return float(value * (1 + 1e-12))


def _largest_sums(theta: float, bounds: Mapping[int, float], distance: int) -> list[tuple[float, int]]:
    """(the largest sum, a run length in it) for run lengths that add up to at most 0, 1, …, `distance`."""
    sums = [(0.0, 0)]
    for total in range(1, distance + 1):
        reached = [(sums[total - r][0] + r * theta + bound, r) for r, bound in bounds.items() if r <= total]
        sums.append(max([(sums[-1][0], 0), *reached]))
    return sums
