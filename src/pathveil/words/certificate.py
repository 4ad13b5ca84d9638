"""Certified calibration: how much privacy the exponential mechanism really costs on a symbol chain.

P(w'|w) = e^(-θ d(w, w')) / Z(w). Between adjacent words the exponent changes by at most bθ, and the published
calibration θ = ε/2b pays as much again for the change of log Z. If K bounds |log Z(v) - log Z(w)| over all adjacent
*feasible* words, the loss among feasible words is at most bθ + K, and a larger θ may do.

Where two adjacent words agree they stand in the same state, so they can be turned into one another run by run, a *run*
being a maximal block of consecutive positions in which they differ; all words on the way are feasible. For a run of
r positions that replaces c_1..c_r by d_1..d_r, let γ(y) be the weight of everything outside the run for a path
y_1..y_r inside it. Then

    Z(v)/Z(w) = Σ_y γ(y) z^d(y, v) / Σ_y γ(y) z^d(y, w),

and γ(y)/γ(c) lies in a box known from `ratio_bounds`. A quotient of two sums over a box is largest where each γ(y)
sits at its upper end if y is nearer to v than to w by more than some threshold, and at its lower end otherwise.
(docs/certified.md has the proof; K_r ≤ rθ always holds and is used where it is smaller.)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import exp, inf, log, nextafter

import numpy as np
from scipy import sparse

from pathveil.systems.compiled import BoolArray, CompiledSystem, IntArray
from pathveil.systems.system import checked_length
from pathveil.words.law import FloatArray
from pathveil.words.ratio_bounds import (
    Box,
    SymbolChain,
    context_levels,
    prefix_boxes,
    unite,
)

_LARGEST_BOXES = 30_000_000  # numbers held for all positions; beyond that the published calibration is used
_LARGEST_WALKS = 2_000  # walks of one length that are compared pairwise; beyond that K_r = rθ
_LARGEST_RUNS = 12_000_000  # numbers worked on for all pairs of runs of one length; beyond that K_r = rθ
_FINEST_STEP = 1e-3  # relative accuracy to which the largest passing θ is looked for


@dataclass(frozen=True)
class Certificate:
    """Why `loss` bounds the privacy loss of the exponential mechanism at `theta` among feasible words.

    `run_bounds[r]` bounds the change of log Z over one run of r positions; a run length that no two feasible words
    have is absent. `protected_positions` is the expected number of positions with a feasible neighbour (another
    symbol fits there, all else equal) of a uniformly random feasible word: elsewhere the public system itself gives
    the symbol away to someone who knows the rest. None where that was not computed. Public throughout.
    """

    length: int
    up_to: bool
    adjacency: int
    theta: float
    loss: float
    run_bounds: dict[int, float]
    method: str
    contexts: int = 0
    protected_positions: float | None = None

    def loss_at(self, distance: int) -> float:
        """The loss between two feasible words that differ in up to this many symbols, adjacent or not."""
        distance = min(checked_length(distance), self.length)
        bounds = dict(self.run_bounds)
        for run in range(self.adjacency + 1, distance + 1):
            bounds.setdefault(run, run * self.theta)
        return _total_loss(self.theta, bounds, distance)

    def __str__(self) -> str:
        lengths = f"up to {self.length}" if self.up_to else f"{self.length}"
        bounds = ", ".join(f"{r}: {bound:.4g}" for r, bound in self.run_bounds.items()) or "no two words are adjacent"
        text = (
            f"words of length {lengths}, θ = {self.theta:.6g}: loss at most {self.loss:.6g} between feasible words "
            f"that differ in at most {self.adjacency} (change of log Z by length of run: {bounds}; {self.method})"
        )
        if self.protected_positions is not None:
            text += f"; {self.protected_positions:.1f} of {self.length} positions have a feasible neighbour on average"
        return text


def published_theta(epsilon: float, adjacency: int) -> float:
    """ε/2b, a hair smaller, so that the loss computed from it and rounded up stays within ε."""
    return epsilon / (2 * adjacency) * (1 - 4e-12)


def published_certificate(length: int, up_to: bool, adjacency: int, theta: float, why: str) -> Certificate:
    """The bound K ≤ bθ, which needs no proof about the system."""
    bounds = {run: run * theta for run in range(1, min(adjacency, length) + 1)}
    return Certificate(
        length, up_to, adjacency, theta, _up(2 * adjacency * theta), bounds, f"published calibration: {why}"
    )


def free_certificate(symbol_count: int, length: int, up_to: bool, adjacency: int, theta: float) -> Certificate:
    """On a free alphabet Z does not depend on the word: K = 0."""
    return Certificate(
        length=length,
        up_to=up_to,
        adjacency=adjacency,
        theta=theta,
        loss=adjacency * theta,
        run_bounds=dict.fromkeys(range(1, length + 1), 0.0),
        method="free alphabet: Z is the same for every word",
        protected_positions=float(length if symbol_count > 1 else 0),
    )


class ChainCertifier:
    """Everything about one symbol chain, length and adjacency that does not depend on θ."""

    def __init__(self, chain: SymbolChain, length: int, adjacency: int, *, up_to: bool, budget: int) -> None:
        self.chain = chain
        self.length = length
        self.adjacency = adjacency
        self.up_to = up_to
        alive = chain.alive(length, up_to=up_to)
        # Read backwards, words of different lengths begin at different positions: no symbol can be ruled out there.
        backwards = chain.reversed()
        alive_backwards = backwards.alive(length, up_to=True) if up_to else alive[::-1]
        self._alive = alive
        self._levels = context_levels(chain, alive, budget)
        self._levels_backwards = context_levels(backwards, alive_backwards, budget)
        self._places_of: dict[int, list[IntArray] | None] = {}

    @classmethod
    def of(
        cls, compiled: CompiledSystem, length: int, adjacency: int, *, up_to: bool, budget: int
    ) -> ChainCertifier | str:
        """The certifier of a system, or the reason why there is none."""
        if compiled.symbol_states is None:
            return "equal symbols do not imply equal states in this system, and nothing better is proved"
        m = compiled.symbol_count
        size = max(length * m * m, compiled.edge_count * m)
        if size > _LARGEST_BOXES:
            return f"bounds for {m} symbols at {length} positions would be too large"
        chain = SymbolChain.of(compiled)
        assert chain is not None
        return cls(chain, length, adjacency, up_to=up_to, budget=budget)

    @property
    def contexts(self) -> int:
        return sum(len(level.last_symbol) for level in (*self._levels, *self._levels_backwards))

    def certify(self, theta: float) -> Certificate:
        """The certificate at this θ, whatever its loss."""
        z = exp(-theta)
        prefixes = prefix_boxes(self.chain, self._levels, z)
        suffixes = prefix_boxes(self.chain.reversed(), self._levels_backwards, z)
        if self.up_to:
            suffixes = list(accumulate(suffixes, unite))
        bounds = {}
        for run in range(1, min(self.adjacency, self.length) + 1):
            bound = self._run_bound(run, theta, prefixes, suffixes)
            if bound > -inf:
                bounds[run] = min(max(bound, 0.0), run * theta)
        return Certificate(
            length=self.length,
            up_to=self.up_to,
            adjacency=self.adjacency,
            theta=theta,
            loss=_total_loss(theta, bounds, min(self.adjacency, self.length)),
            run_bounds=bounds,
            method="certified",
            contexts=self.contexts,
            protected_positions=self._protected_positions,
        )

    def largest(self, epsilon: float) -> Certificate:
        """The certificate with the largest θ we can find whose loss stays within ε.

        From θ = ε/b downwards: where θ fails with a change K, nothing above (ε-K)/b can pass while K keeps growing
        on the way down, so that is tried next. θ = ε/2b passes always.
        """
        b = self.adjacency
        lowest = epsilon / (2 * b)
        if any(self._places(run) is None for run in range(1, min(b, self.length) + 1) if b % run == 0):
            # b/r runs with K_r = rθ each lose 2bθ: nothing above ε/2b can pass.
            return self.certify(published_theta(epsilon, b))
        failed, theta, nudge = inf, nextafter(epsilon / b, 0.0), _FINEST_STEP / 8
        while theta > lowest:
            certificate = self.certify(theta)
            if certificate.loss <= epsilon:
                return self._refined(certificate, failed, epsilon)
            failed = theta
            # The nudge gets past a limit that would only be approached; it grows, so that the search ends soon.
            theta = (theta - (certificate.loss - epsilon) / b) * (1 - nudge)
            nudge *= 2
        return self._refined(self.certify(published_theta(epsilon, b)), failed, epsilon)

    def _refined(self, passed: Certificate, failed: float, epsilon: float) -> Certificate:
        """Bisection between a θ that passes and one that does not."""
        while failed < inf and failed - passed.theta > _FINEST_STEP * passed.theta:
            attempt = self.certify((passed.theta + failed) / 2)
            if attempt.loss <= epsilon:
                passed = attempt
            else:
                failed = attempt.theta
        return passed

    # Runs.

    def _run_bound(self, run: int, theta: float, prefixes: list[Box], suffixes: list[Box]) -> float:
        """The largest log Z(v)/Z(w) over one run of this length; -inf if no two feasible words differ so."""
        places = self._places(run)
        if places is None:
            return run * theta
        walks, largest = self._walks(run), -inf
        for i, pairs in enumerate(places):
            if pairs.shape[1]:
                w, v = walks[pairs[0]], walks[pairs[1]]
                following = self.length - run - i
                largest = max(largest, _largest_change(self.chain, w, v, theta, prefixes[i], suffixes[following]))
        return largest

    def _places(self, run: int) -> list[IntArray] | None:
        """For each position where a run can begin, the pairs of walks; None where they are too many to work on."""
        if run not in self._places_of:
            self._places_of[run] = self._all_pairs(run)
        return self._places_of[run]

    def _all_pairs(self, run: int) -> list[IntArray] | None:
        walks, found = self._walks(run), []
        if len(walks) > _LARGEST_WALKS:
            return None
        known: dict[tuple[object, ...], IntArray] = {}
        room = _LARGEST_RUNS // (len(self.chain.first) * (2 * run + 1))
        for i in range(self.length - run + 1):
            following = self.length - run - i  # positions after the run; with `up_to`, at most so many
            place = (i == 0, following == 0, self._alive[i : i + run].tobytes())
            if place not in known:
                known[place] = self._pairs(walks, i, following)
            found.append(known[place])
            room -= known[place].shape[1]
            if room < 0:
                return None
        return found

    def _walks(self, run: int) -> IntArray:
        """All walks of this many symbols, one in each row; the enumeration stops where there are too many."""
        walks = np.arange(len(self.chain.first))[:, None]
        for _ in range(run - 1):
            if len(walks) > _LARGEST_WALKS:
                break
            parent, current = np.nonzero(self.chain.follows[walks[:, -1]])
            walks = np.hstack([walks[parent], current[:, None]])
        return walks

    def _pairs(self, walks: IntArray, i: int, following: int) -> IntArray:
        """Numbers of two walks that may replace one another at position i+1: they differ in every symbol, can stand
        there, and have a symbol before and a symbol after in common (or both begin, or both end, the word)."""
        chain, run = self.chain, walks.shape[1]
        usable = np.flatnonzero(self._alive[i : i + run][np.arange(run), walks].all(axis=1))
        chosen = walks[usable]
        before, after = chosen[:, 0], chosen[:, -1]
        joined = self._common_predecessor[np.ix_(before, before)] if i else _both(chain.first[before])
        ended = _both(chain.last[after])
        followed = self._common_successor[np.ix_(after, after)]
        joined = joined & (ended if not following else followed | ended if self.up_to else followed)
        for position in range(run):
            joined &= chosen[:, position, None] != chosen[None, :, position]
        return usable[np.argwhere(joined).T]

    @cached_property
    def _common_predecessor(self) -> BoolArray:
        follows = self.chain.follows.astype(np.float32)
        return follows.T @ follows > 0

    @cached_property
    def _common_successor(self) -> BoolArray:
        follows = self.chain.follows.astype(np.float32)
        return follows @ follows.T > 0

    @cached_property
    def _protected_positions(self) -> float | None:
        """Σ over positions of the share of feasible words in which another symbol fits there."""
        chain, n = self.chain, self.length
        m = len(chain.first)
        follows = chain.follows.astype(float)
        # Symbols m and m+1 stand before and after the word, so that both ends are ordinary positions.
        steps = np.zeros((m + 2, m + 2))
        steps[:m, :m] = follows
        steps[m, :m] = chain.first
        steps[:m, m + 1] = chain.last
        prefix, suffix = [np.eye(m + 2)[m]], [np.eye(m + 2)[m + 1]]
        for _ in range(n + 1):
            # Only ratios matter, so each vector is scaled; counts themselves would overflow.
            prefix.append(_scaled(prefix[-1] @ steps))
            suffix.append(_scaled(steps @ suffix[-1]))
        between = steps @ steps
        free = np.where(between >= 2, between, 0.0)
        share = 0.0
        for i in range(1, n + 1):
            before, after = prefix[i - 1], suffix[n - i]
            words = before @ between @ after
            if not words > 0:
                return None  # no feasible word of exactly this length
            share += float(before @ free @ after / words)
        return share


def _largest_change(chain: SymbolChain, w: IntArray, v: IntArray, theta: float, prefix: Box, suffix: Box) -> float:
    """The largest log Z(v)/Z(w) when the run w is replaced by the run v (one pair in each row).

    Infinite where the boxes know nothing.
    """
    run = w.shape[1]
    best = np.zeros(len(w))
    to_v, to_w = [], []
    for prefixes, suffixes in zip(prefix, suffix, strict=True):  # the lower ends, then the upper ones
        entering, leaving = prefixes[w[:, 0]], suffixes[w[:, -1]]
        to_v.append(_by_nearness(chain, v, w, theta, entering, leaving))
        to_w.append(_by_nearness(chain, w, v, theta, entering, leaving)[:, ::-1])
    # Columns 0..r-1 hold the paths nearer to v than to w, the nearest first.
    for threshold in range(1, run + 1):
        top, bottom = (
            sides[1][:, :threshold].sum(axis=1) + sides[0][:, threshold:].sum(axis=1) for sides in (to_v, to_w)
        )
        best = np.maximum(best, top / bottom)
    largest = float(np.max(best))
    if not largest < inf:  # nan included
        return inf
    if not largest:
        return -inf  # no prefix leads to both runs
    slack: float = (len(chain.first) + 64) * run * 2.0**-50  # more than the rounding error of these sums
    return log(largest) + slack


def _by_nearness(
    chain: SymbolChain, near: IntArray, far: IntArray, theta: float, entering: FloatArray, leaving: FloatArray
) -> FloatArray:
    """Σ γ(y) z^d(y, near) over the paths y through the run, in columns by k = d(y, near) - d(y, far), -r to r."""
    pairs, run = near.shape
    rows = np.arange(pairs)
    z = exp(-theta)
    backwards = sparse.csr_array(chain.follows.T.astype(float))  # sparse products: a run touches few symbols
    weight = np.zeros((len(chain.first), 2 * run + 1, pairs))
    weight[:, run] = entering.T
    for position in range(run):
        if position:
            weight = (backwards @ weight.reshape(len(weight), -1)).reshape(weight.shape)
        right, wrong = near[:, position], far[:, position]
        at_right, at_wrong = weight[right, :, rows], weight[wrong, :, rows]
        weight *= z
        weight[right, :, rows] = weight[wrong, :, rows] = 0.0
        weight[right, :-1, rows] += at_right[:, 1:]  # no error against near, one against far: k falls by one
        weight[wrong, 1:, rows] += z * at_wrong[:, :-1]  # the other way round
    gathered: FloatArray = np.einsum("ykp,yp->pk", weight, leaving.T)
    return gathered


def _total_loss(theta: float, run_bounds: dict[int, float], distance: int) -> float:
    """The largest Σ (rθ + K_r) over run lengths that add up to at most `distance`, rounded up."""
    largest = [0.0] * (distance + 1)
    for total in range(1, distance + 1):
        reached = [largest[total - r] + r * theta + bound for r, bound in run_bounds.items() if r <= total]
        largest[total] = max([largest[total - 1], *reached])
    return _up(largest[distance])


def _up(value: float) -> float:
    """A little larger, by more than the rounding error of the few operations behind it."""
    return float(value * (1 + 1e-12))


def _both(flags: BoolArray) -> BoolArray:
    return flags[:, None] & flags[None, :]


def _scaled(vector: FloatArray) -> FloatArray:
    top = vector.max()
    return vector / top if top > 0 else vector
