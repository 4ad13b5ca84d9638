"""How much the normaliser of the exponential mechanism can change between words, when distances are edit distances.

Z(w) = Σ e^(-θ min(d(w, o), c)) over all possible outputs o. The published calibration θ = ε/2b pays as much for a
change of Z as for a change of the distance itself. Among feasible words Z cannot change that much: w is one of the
outputs, and if no feasible word has more than U(ℓ) outputs at distance ℓ, then, with z = e^-θ and T outputs in all,

    1 + (T - 1) z^c  ≤  Z(w)  ≤  T z^c + Σ_{ℓ<c} U(ℓ) (z^ℓ - z^c).

K is the logarithm of the ratio of these bounds, and θ is certified if θ min(b, c) + K ≤ ε. U does not depend on θ.
(docs/edit-distance.md, "A certified calibration", has the proof.)

U counts *tidy scripts* instead of words. A script turns w into o by matching, substituting, inserting and deleting,
from left to right. Every o has a cheapest script that is tidy: no insertion or deletion directly after a substitution,
nor after a match of the same symbol, and no insertion beside a deletion. Tidy scripts are counted step by step along
w, and where several words lead to the same place, the largest number is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import expm1, log

import numpy as np

from pathveil.numerics.arrays import BoolArray, FloatArray
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import log_sum, share
from pathveil.words.edit.length_range import LengthRange

_LARGEST_WORK = 20_000_000_000  # multiplications; more would take minutes
_STEPS = 400  # candidates for θ between ε/2b and ε/b
_ROUNDING = 1e-9  # far more than floating-point sums can be off
_NOTHING = -1  # no symbol read yet


@dataclass(frozen=True)
class EditCertificate:
    """The proof, in numbers, that words are released within ε."""

    theta: float
    distance_loss: float
    """θ min(b, c): what the change of the distance can cost."""
    normaliser_loss: float
    """What the change of the normaliser can cost: K, or again θ min(b, c) where nothing better is known."""
    how: str
    bounds_all_words: bool = False
    """Does `normaliser_loss` hold between any two feasible words, however far apart?"""

    @property
    def loss(self) -> float:
        """What an adjacent feasible word can change in the logarithm of a probability."""
        return self.distance_loss + self.normaliser_loss

    def loss_at(self, edits: int) -> float:
        """The same for words that are so many edits apart (no more than the cap), adjacent or not, rounded up."""
        change = self.normaliser_loss if self.bounds_all_words else self.theta * edits
        return (self.theta * edits + change) * (1 + 1e-12)


def published_edit_certificate(cap: int, epsilon: float, adjacency: int, why: str) -> EditCertificate:
    """θ = ε/(2 min(b, c)), which holds for every word, feasible or not."""
    reach = min(adjacency, cap)
    theta = share(epsilon, 2 * reach)
    return EditCertificate(theta, theta * reach, theta * reach, f"the published calibration: {why}")


def edit_certificate(words: LengthRange, cap: int, epsilon: float, adjacency: int) -> EditCertificate:
    """The largest θ, of a grid between ε/2b and ε/b, that can be certified; from public quantities only."""
    published = published_edit_certificate(cap, epsilon, adjacency, "no larger θ can be certified at this ε")
    bounds = neighbour_bounds(words, cap)
    if bounds is None:
        return published_edit_certificate(cap, epsilon, adjacency, "the system is too large for bounds")
    log_bounds = np.full(cap, -np.inf)
    log_bounds[bounds > 0] = np.log(bounds[bounds > 0])
    reach = min(adjacency, cap)
    for theta in np.linspace(share(epsilon, reach), published.theta, _STEPS, endpoint=False).tolist():
        change = _change(log_bounds, log(words.total), theta)
        if theta * reach + change <= epsilon:
            how = "bounds on the numbers of words at each distance"
            return EditCertificate(theta, theta * reach, change, how, bounds_all_words=True)
    return published


def _change(log_bounds: FloatArray, log_total: float, theta: float) -> float:
    """K(θ), rounded up."""
    cap = len(log_bounds)
    distances = np.arange(cap, dtype=float)
    near = log_bounds - theta * distances + np.log(-np.expm1(-theta * (cap - distances)))
    far = log_total - theta * cap
    upper = log_sum(np.append(near, far))
    lower = float(np.logaddexp(log(-expm1(-theta * cap)), far))  # 1 - z^c + T z^c
    return max(upper - lower, 0.0) + _ROUNDING * (1 + abs(upper) + abs(lower))


class _Writing:
    """How the numbers of scripts change when the output goes on; rows are scripts, columns states of the system."""

    def __init__(self, compiled: CompiledSystem) -> None:
        self._any: FloatArray = compiled.adjacency.toarray()
        self._compiled = compiled

    def any_symbol(self, scripts: FloatArray) -> FloatArray:
        written: FloatArray = scripts @ self._any
        return written

    def this_symbol(self, scripts: FloatArray, symbol: int) -> FloatArray:
        written = np.zeros_like(scripts)
        if symbol != _NOTHING:
            sources, targets = self._compiled.edges_with_label(symbol)
            np.add.at(written.T, targets, scripts[:, sources].T)
        return written

    def another_symbol(self, scripts: FloatArray, symbol: int) -> FloatArray:
        # Rounded up before the difference is taken: what is left may be small, and must not come out too small.
        return self.any_symbol(scripts) * (1 + 1e-12) - self.this_symbol(scripts, symbol)


@dataclass(frozen=True)
class _Scripts:
    """Numbers of tidy scripts by their last step, each by edits so far (rows) and state of the output (columns)."""

    matched: FloatArray
    substituted: FloatArray
    inserted: FloatArray
    deleted: FloatArray

    def with_insertions(self, last: int, writing: _Writing) -> _Scripts:
        """The same, with all insertions before the next symbol of the word; `last` is the symbol matched last."""
        inserted = _one_edit_more(writing.another_symbol(self.matched, last))
        for edits in range(2, len(inserted)):
            inserted[edits] += writing.any_symbol(inserted[edits - 1])
        return _Scripts(self.matched, self.substituted, inserted, self.deleted)

    def after(self, symbol: int, differs: bool, writing: _Writing) -> _Scripts:
        """One symbol of the word further; `differs` from the last one."""
        return _Scripts(
            writing.this_symbol(self.total, symbol),
            _one_edit_more(writing.another_symbol(self.total, symbol)),
            np.zeros_like(self.inserted),
            _one_edit_more(self.deleted + self.matched if differs else self.deleted),
        )

    def largest(self, other: _Scripts) -> _Scripts:
        """Entry by entry, for whichever of two words has more."""
        return _Scripts(
            np.maximum(self.matched, other.matched),
            np.maximum(self.substituted, other.substituted),
            np.maximum(self.inserted, other.inserted),
            np.maximum(self.deleted, other.deleted),
        )

    @cached_property
    def total(self) -> FloatArray:
        every: FloatArray = self.matched + self.substituted + self.inserted + self.deleted
        return every


def _one_edit_more(scripts: FloatArray) -> FloatArray:
    """Each row one further down; those with the most edits are beyond the cap now."""
    shifted = np.zeros_like(scripts)
    shifted[1:] = scripts[:-1]
    return shifted


def neighbour_bounds(words: LengthRange, cap: int) -> FloatArray | None:
    """U(0), ..., U(c-1): no feasible word in the range has more outputs at that edit distance. None: too large."""
    compiled = words.compiled
    # On a free alphabet one symbol stands for all, whatever the symbol before it.
    moves = [{0: 0}] if compiled.is_free else compiled.moves
    if words.hi * cap * compiled.state_count**2 * sum(map(len, moves)) > _LARGEST_WORK:
        return None
    writing = _Writing(compiled)
    begin = np.zeros((cap, compiled.state_count))
    begin[0, compiled.start] = 1.0
    none = np.zeros_like(begin)
    # By the last two symbols of the word and its state: words that agree in these share one table.
    scripts = {(_NOTHING, _NOTHING, compiled.start): _Scripts(begin, none, none, none)}
    most = np.zeros(cap)
    for length in range(words.hi + 1):
        scripts = {key: found.with_insertions(key[1], writing) for key, found in scripts.items()}
        if length >= words.lo:
            most = np.maximum(most, _largest_totals(scripts, compiled.accepting))
        following: dict[tuple[int, int, int], _Scripts] = {}
        for (_, last, y), found in scripts.items():
            for symbol, target in moves[y].items():
                after = found.after(symbol, last != symbol or compiled.is_free, writing)
                known = following.get((last, symbol, target))
                following[last, symbol, target] = after if known is None else known.largest(after)
        scripts = following
    bounds: FloatArray = most * (1 + _ROUNDING)
    return bounds


def _largest_totals(scripts: dict[tuple[int, int, int], _Scripts], accepting: BoolArray) -> FloatArray:
    """For each number of edits, the largest number of complete scripts among the words that may end here."""
    ended = [found.total[:, accepting].sum(axis=1) for (*_, y), found in scripts.items() if accepting[y]]
    totals: FloatArray = np.max(ended, axis=0) if ended else np.zeros(1)
    return totals
