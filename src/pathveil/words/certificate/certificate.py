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

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import exp, inf, log, sqrt

import numpy as np
from scipy import sparse

from pathveil.numerics.arrays import FloatArray
from pathveil.numerics.long_work import LongWork
from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import checked_length
from pathveil.words.base import LARGEST_TILT, tilt_factor
from pathveil.words.certificate.contexts import context_levels, least_work
from pathveil.words.certificate.kept_pairs import KeptPairs, one_step_wider
from pathveil.words.certificate.largest_tilt import FINEST_STEP, largest_tilt
from pathveil.words.certificate.protected_positions import protected_positions
from pathveil.words.certificate.ratio_bounds import Box, RatioBounds, united, united_so_far
from pathveil.words.certificate.run_sums import deciding_runs, harmless_bound, rounded_up, total_loss
from pathveil.words.certificate.runs import Runs
from pathveil.words.certificate.search import (
    LARGEST_FREE,
    AllWords,
    BranchAndBound,
    ContextTree,
    Outcome,
    WordLengths,
    free_box,
)
from pathveil.words.certificate.symbol_chain import Links, SymbolChain

_MOST_PAIRS = 70_000  # ratios with a bound of their own at each position
_LARGEST_WORK = 8_000_000_000  # additions for one θ; beyond that the published calibration is used
_MOST_NEAR = 40  # symbols, on average, that are looked at beside each symbol
_NODES = 3  # nodes of a search for each context of the budget
_CLOSE = 1.1  # a bound that exceeds a change found by less than this factor is close enough
_MOST_PRODUCTS = 2_000_000_000  # for one θ, where all words are looked at: some seconds
_BEFORE_ALL_WORDS = 3  # by what the budget is divided where all words will be looked at if that does not do
_ROUGH = 8  # by what the budget is divided where the answer only says which θ to try next
_LARGEST_SEARCH = 200_000  # symbols; beyond that the first bounds are taken as they are, a search would take minutes
_TRIALS = 6  # so many θ are tried, as a rule
_ADDITION = 5e-8  # seconds for each addition of `least_work`, for all θ that are tried
_RUNS_ON_DEMAND = 3  # lengths of runs beyond the adjacency that are proved when somebody asks for their loss

# One lock for all: a certifier goes to other processes together with its certificates, and a lock could not.
_PROVING = threading.RLock()


def _new_lock() -> None:
    """In a child process: the thread that held the lock, if any did, is not there."""
    global _PROVING
    _PROVING = threading.RLock()


os.register_at_fork(after_in_child=_new_lock)


@dataclass(frozen=True)
class Certificate:
    """Why `loss` bounds the privacy loss of the exponential mechanism at `theta` among feasible words.

    `run_bounds[r]` bounds the change of log Z over one run of r positions that cannot be split into shorter runs; a
    length of which there is no such run is absent. `protected_positions` is the expected number of positions with a
    feasible neighbour (another symbol fits there, all else equal) of a uniformly random feasible word: elsewhere the
    public system itself gives the symbol away to someone who knows the rest. None where that was not computed.
    Public throughout.
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
    found: float = 0.0
    """A change of log Z that two adjacent feasible words really have: no proof can bound the change by less."""
    given_up_at: float | None = field(default=None, repr=False, compare=False)
    """Where a proof was given up: what the loss comes to at least, by the runs that were looked at."""
    prove: Callable[[int], float] | None = field(default=None, repr=False, compare=False)
    """Bounds the change over one run of so many positions as well as we can, -inf if there is none."""

    def loss_at(self, distance: int) -> float:
        """The loss between two feasible words that differ in up to this many symbols, adjacent or not.

        Where another distance than the adjacency is asked for, better bounds for the runs that decide it are proved, up
        to a little longer than the adjacency; that may take some seconds. Still longer runs count as in the published
        calibration.
        """
        distance, adjacency = min(checked_length(distance), self.length), min(self.adjacency, self.length)
        bounds = dict(self.run_bounds)
        for run in range(adjacency + 1, distance + 1):
            bounds.setdefault(run, run * self.theta)
        asked = set(range(adjacency + _RUNS_ON_DEMAND + 1, distance + 1))
        while self.prove is not None and distance != adjacency:
            deciding = deciding_runs(self.theta, bounds, distance) - asked
            if not deciding:
                break
            run = min(deciding)
            asked.add(run)
            bounds[run] = min(self.prove(run), bounds[run])
        return total_loss(self.theta, bounds, distance)

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
    return min(epsilon / (2 * adjacency) * (1 - 4e-12), LARGEST_TILT)


def published_certificate(length: int, up_to: bool, adjacency: int, theta: float, why: str) -> Certificate:
    """The bound K ≤ bθ, which needs no proof about the system."""
    bounds = {run: run * theta for run in range(1, min(adjacency, length) + 1)}
    return Certificate(
        length, up_to, adjacency, theta, rounded_up(2 * adjacency * theta), bounds, f"published calibration: {why}"
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
    """Everything about one symbol chain, length and adjacency that does not depend on θ.

    `budget` is the number of contexts (`contexts`), `pairs` the number of ratios that have a bound of their own
    (`kept_pairs`): more of either makes the certificate tighter and slower, fewer never make it wrong.
    """

    def __init__(
        self, chain: SymbolChain, length: int, adjacency: int, *, up_to: bool, budget: int, pairs: int | None = None
    ) -> None:
        self.chain = chain
        self.length = length
        self.adjacency = adjacency
        self.up_to = up_to
        alive = chain.alive(length, up_to=up_to)
        # Read backwards, words of different lengths begin at different positions: no symbol can be ruled out there.
        backwards = chain.reversed()
        alive_backwards = backwards.alive(length, up_to=True) if up_to else alive[::-1]
        self._anew = partial(ChainCertifier, chain, length, adjacency, up_to=up_to, budget=budget, pairs=pairs)
        pairs = _MOST_PAIRS if pairs is None else pairs
        self._alive = alive
        self._prefixes, self._suffixes = (
            RatioBounds(read, context_levels(read, possible, budget), KeptPairs.within(read, pairs))
            for read, possible in ((chain, alive), (backwards, alive_backwards))
        )
        self._nodes = _NODES * budget
        self._runs_of: dict[int, Runs] = {}
        self._proved: dict[tuple[float, int], float] = {}
        self._boxes_at: tuple[float, list[Box], list[Box]] | None = None
        self._trees_at: tuple[ContextTree, ContextTree] | None = None
        self._process = os.getpid()

    @classmethod
    def of(
        cls,
        compiled: CompiledSystem,
        length: int,
        adjacency: int,
        *,
        up_to: bool,
        budget: int,
        pairs: int | None = None,
    ) -> ChainCertifier | str:
        """The certifier of a system, or the reason why there is none."""
        chain = SymbolChain.of(compiled)
        if chain is None:
            return "equal symbols do not imply equal states in this system, and nothing better is proved"
        if least_work(chain, length) > _LARGEST_WORK:
            return f"bounds for {chain.successors.count:,} transitions at {length} positions would take too long"
        return cls(chain, length, adjacency, up_to=up_to, budget=budget, pairs=pairs)

    @property
    def contexts(self) -> int:
        return self._prefixes.contexts + self._suffixes.contexts

    def certify(self, theta: float, within: float | None = None) -> Certificate:
        """The certificate at this θ, whatever its loss.

        With `within` the proof is given up, with the bounds that it has by then, once the loss is seen to exceed that.
        """
        with self._alone():
            return self._completed(self._certified(theta, inf)) if within is None else self._certified(theta, within)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One proof at a time: what is known about contexts grows with each, and threads would mix it up.

        A child process may have been made in the middle of a proof: it forgets what was known, and begins anew.
        """
        with _PROVING:
            if self._process != os.getpid():
                self._process, self._boxes_at, self._trees_at = os.getpid(), None, None
            yield

    def _certified(self, theta: float, within: float) -> Certificate:
        """Runs that are not in the worst sum keep their first bound; the others are searched, the short ones first."""
        b = min(self.adjacency, self.length)
        bounds: dict[int, float] = {}
        found: dict[int, float] = {}
        settled: dict[int, float] = {}  # what a length that was searched adds to every sum, whatever else is proved
        for run in range(1, b + 1):
            if total_loss(theta, settled, b) > within:
                bounds[run] = run * theta  # nobody looks any more
                continue
            if (bound := self._shallow(theta, run)) > -inf:
                bounds[run] = bound
            while run == b or total_loss(theta, bounds, b) > within:
                deciding = deciding_runs(theta, bounds, b) - settled.keys()
                if not deciding or total_loss(theta, settled, b) > within:
                    break
                one = min(deciding)
                outcome, settled[one] = self._decided(theta, one, bounds[one], settled, within)
                bounds[one], found[one] = outcome.bound, outcome.found
        least = total_loss(theta, settled, b)
        return Certificate(
            length=self.length,
            up_to=self.up_to,
            adjacency=self.adjacency,
            theta=theta,
            loss=total_loss(theta, bounds, b),
            run_bounds=bounds,
            method="certified",
            contexts=self.contexts,
            protected_positions=self._protected_positions,
            found=max(found.values(), default=0.0),
            given_up_at=least if least > within else None,
            prove=partial(self._best_bound, theta),
        )

    def _decided(
        self, theta: float, run: int, known: float, settled: dict[int, float], within: float
    ) -> tuple[Outcome, float]:
        """A bound for runs that decide, small enough not to or as good as the budget allows; and what they then add."""
        b = min(self.adjacency, self.length)
        if b * theta >= within * (1 - 1e-9):  # any change is too much, and how much only says which θ to try next
            outcome = self._searched(theta, run, known, 0.0, inf, self._nodes // _ROUGH)
            return outcome, sqrt(outcome.bound * (outcome.found or outcome.bound))
        enough = harmless_bound(theta, settled, run, b, total_loss(theta, settled, b) * (1 + FINEST_STEP / 4))
        too_much = within / (b // run) - run * theta
        outcome = self._searched(theta, run, known, enough, too_much, self._nodes)
        return outcome, outcome.found if outcome.found > too_much else outcome.bound

    def _completed(self, certificate: Certificate) -> Certificate:
        """A short look at the runs that do not decide: their changes may be the largest, their bounds can be better."""
        theta, bounds, found = certificate.theta, dict(certificate.run_bounds), certificate.found
        b = min(self.adjacency, self.length)
        with self._alone():
            for run in sorted(bounds.keys() - deciding_runs(theta, bounds, b)):
                outcome = self._searched(theta, run, bounds[run], 0.0, inf, self._nodes // _ROUGH)
                bounds[run], found = outcome.bound, max(found, outcome.found)
        return replace(certificate, run_bounds=bounds, found=found)

    def _best_bound(self, theta: float, run: int) -> float:
        """The best bound for runs of one length, within the adjacency or beyond, proved once."""
        with self._alone():
            if (theta, run) not in self._proved:
                bound = self._shallow(theta, run)
                if bound > 0:
                    bound = self._searched(theta, run, bound, 0.0, inf, self._nodes).bound
                self._proved[theta, run] = bound
            return self._proved[theta, run]

    def _shallow(self, theta: float, run: int) -> float:
        """A bound from the boxes of every position, without any context; -inf where there is no such run."""
        prefixes, suffixes = self._boxes(theta)
        bound = self._runs(run).bound(theta, prefixes, suffixes, self._prefixes.kept, self._suffixes.kept)
        return min(max(bound, 0.0), run * theta) if bound > -inf else bound

    def _searched(self, theta: float, run: int, known: float, enough: float, too_much: float, nodes: int) -> Outcome:
        """A better bound by branch and bound: at most `enough`, or as good as so many nodes make it.

        It ends as well where two words have a larger change than `too_much`.
        """
        pairs = self._runs(run).pairs
        if pairs is None or not len(pairs[0]) or known <= enough or self.chain.symbol_count > _LARGEST_SEARCH:
            return Outcome(known, 0.0, 0)
        if self.chain.symbol_count > LARGEST_FREE and tilt_factor(theta) * self._growth >= 1:
            return Outcome(known, 0.0, 0)  # what lies far away weighs as much as what is near: contexts tell nothing
        search = BranchAndBound(*pairs, *self._trees(theta), self._lengths, theta, tilt_factor(theta))
        if run > 1 or self._all_words.work > _MOST_PRODUCTS or nodes < self._nodes:
            return search.search(known, enough=enough, too_much=too_much, budget=nodes)
        outcome = search.search(known, enough=enough, too_much=too_much, budget=nodes // _BEFORE_ALL_WORDS)
        is_open = outcome.bound > max(enough, _CLOSE * outcome.found) and outcome.found <= too_much
        return self._from_all_words(theta, outcome) if is_open else outcome

    def _from_all_words(self, theta: float, outcome: Outcome) -> Outcome:
        """The change itself instead of its bounds, where words are few enough to look at them all."""
        words = self._all_words
        if not words.is_accurate(theta):
            return outcome
        at_least, at_most = words.largest_change(tilt_factor(theta))
        return Outcome(min(outcome.bound, at_most), max(outcome.found, at_least), outcome.nodes)

    @cached_property
    def _all_words(self) -> AllWords:
        return AllWords(self.chain, self.length, up_to=self.up_to)

    @cached_property
    def _growth(self) -> float:
        """By which factor the walks from one symbol multiply with each step, in the long run and at most."""
        walks: FloatArray = np.ones(self.chain.symbol_count)
        steps, logarithm = 64, 0.0
        for _ in range(steps):
            walks = np.asarray(self.chain.successors.matrix @ walks)
            largest = float(walks.max())
            if not largest:
                return 0.0
            walks, logarithm = walks / largest, logarithm + log(largest)
        return exp(logarithm / steps)

    def _boxes(self, theta: float) -> tuple[list[Box], list[Box]]:
        if self._boxes_at is None or self._boxes_at[0] != theta:
            z = tilt_factor(theta)
            prefixes, suffixes = self._prefixes.boxes(z), self._suffixes.boxes(z)
            if self.up_to:
                suffixes = united_so_far(suffixes)
            self._boxes_at, self._trees_at = (theta, prefixes, suffixes), None
        return self._boxes_at[1], self._boxes_at[2]

    def _trees(self, theta: float) -> tuple[ContextTree, ContextTree]:
        """What is known about contexts at this θ; it grows with every search."""
        boxes = self._boxes(theta)
        if self._trees_at is None:
            z, near = tilt_factor(theta), self._near
            prefixes, suffixes = (
                ContextTree(read.chain, near, united(own), read.kept, free_box(read.chain, z), z)
                for read, own in zip((self._prefixes, self._suffixes), boxes, strict=True)
            )
            self._trees_at = prefixes, suffixes
        return self._trees_at

    @cached_property
    def _near(self) -> Links:
        """The symbols that are looked at beside each symbol: those kept on either side, and those that replace it."""
        reads, m = (self._prefixes, self._suffixes), self.chain.symbol_count
        for read in reads:
            if read.kept.pairs.count == m * m:
                return read.kept.pairs
        near = [read.kept.pairs.matrix for read in reads]
        wider = [one_step_wider(read.chain, pairs) for read, pairs in zip(reads, near, strict=True)]
        if sum(pairs.nnz for pairs in wider) <= _MOST_NEAR * m:
            near = wider
        together = near[0] + near[1]
        replaced = self._runs(1).pairs
        if replaced is not None:
            w, v = (one[:, 0] for one in replaced)
            together += sparse.csr_array((np.ones(len(w)), (w, v)), shape=(m, m))
        return Links.of(sparse.csr_array(together))

    @cached_property
    def _lengths(self) -> WordLengths:
        return WordLengths(self.chain, self.length, up_to=self.up_to)

    def largest(self, epsilon: float) -> Certificate:
        """The certificate with the largest θ we can find whose loss stays within ε."""
        b = self.adjacency
        if any(self._runs(run).places is None for run in range(1, min(b, self.length) + 1) if b % run == 0):
            # b/r runs with K_r = rθ each lose 2bθ: nothing above ε/2b can pass.
            return self.certify(published_theta(epsilon, b))
        lengths = f"up to {self.length}" if self.up_to else f"{self.length}"
        seconds = least_work(self.chain, self.length) * _ADDITION
        work = LongWork(f"the proof for words of {lengths} symbols at ε = {epsilon:g}", _TRIALS, seconds=seconds)

        def certify(theta: float, within: float) -> Certificate:
            proof = self.certify(theta, within)
            work.part_done()
            return proof

        certificate = self._completed(largest_tilt(certify, epsilon, b, published_theta(epsilon, b)))
        if self.chain.symbol_count <= _LARGEST_SEARCH:
            return certificate
        # What a proof holds would stay in memory with its certificate: a gigabyte in a city of a million.
        prove = partial(_bound_anew, self._anew, certificate.theta, seconds / _TRIALS)
        return replace(certificate, prove=prove)

    def _runs(self, run: int) -> Runs:
        if run not in self._runs_of:
            self._runs_of[run] = Runs(self.chain, self._alive, run, up_to=self.up_to)
        return self._runs_of[run]

    @cached_property
    def _protected_positions(self) -> float | None:
        return protected_positions(self.chain, self.length)


def _bound_anew(anew: Callable[[], ChainCertifier], theta: float, seconds: float, run: int) -> float:
    """The bound for runs of one length by a proof that has been forgotten."""
    LongWork(f"the proof for runs of {run} symbols", 1, seconds=seconds)
    return anew()._best_bound(theta, run)
