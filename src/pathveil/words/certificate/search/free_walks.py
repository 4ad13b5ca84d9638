"""How weights are spread at small θ, whatever the word: a box that comes from walks which ignore the word.

z^[x≠w] = z + (1-z)[x=w], so a step from position i to the next spreads the weights as if there were no word, and adds a
second share that starts anew from the symbol of the word. After many steps without a word every start looks alike.
Let A be the matrix of steps, ρ > 0 a vector with r ρ ≤ Aρ ≤ r' ρ, and

    X_j(y) = (α A^j)(y) / (r^j α·ρ),      G_j(s, y) = A^j(s, y) / (r^j ρ(s)).

X_j(y) is a mean of G_j(·, y), and with q = X_0(w)ρ(w) and t = z/(z + (1-z)q) the next position has

    X'_j(y) = r/κ (t X_{j+1}(y) + (1-t) G_{j+1}(w, y))     for some κ from r to r'.

Bounds for X_0 are what we want; they follow from bounds for X_J, which hold for all weights, in J steps. All of them
hold at every position, so they may be improved as often as we like. (docs/certified.md, "Small θ")
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import count

import numpy as np

from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.words.certificate.symbol_chain import Links, SymbolChain

LARGEST_FREE = 64
"""Symbols. The tables have their number squared times the steps entries; larger systems do without this box."""

_LOCAL = 0.7  # weight that a step without the word keeps; below it words decide nearly everything, and this box is wide
_STEPS = 32
_ROUNDS = 100  # improvements at most
_ENOUGH = 1e-3  # a smaller improvement, relatively, is the last
_CONTEXTS = 1_000  # one symbol more is remembered while that makes no more contexts
_MEMORY = 6  # symbols that are remembered at most
_SLACK = 1e-11  # relative, outward; more than the rounding of the sums, products and quotients of one improvement

FreeBox = tuple[FloatArray, FloatArray]
"""(lo, hi): row c bounds α in some unit at a position where the word has c."""

NO_BOX: FreeBox = (np.empty((0, 0)), np.empty((0, 0)))


def free_box(
    chain: SymbolChain, z: float, *, steps: int = _STEPS, rounds: int = _ROUNDS, contexts: int = _CONTEXTS
) -> FreeBox:
    """Bounds for α(y)/(α·ρ) for each symbol c of the word and each y; `NO_BOX` where they would say nothing."""
    from pathveil.words.certificate.search.free_kernel import improve

    m = chain.symbol_count
    if m > LARGEST_FREE or not chain.successors.degrees.all() or not chain.first.any():
        return NO_BOX
    follows = chain.successors.matrix.toarray()
    rho, least, most = _growth(follows)
    if not least > 0.9 * most or z * most < _LOCAL:
        return NO_BOX
    spread = _spread(follows, rho, least, steps)
    # Rows of lo and hi: the context; then j, then y.
    hi = np.tile(spread.max(axis=1) * (1 + _SLACK), (m, 1, 1))
    lo = np.tile(spread.min(axis=1) * (1 - _SLACK), (m, 1, 1))
    known, exact = _single_symbols(chain), _no_words(m)
    for remembered in count():
        begun = np.einsum("ks,jsy->kjy", known.begun * rho / (known.begun @ rho)[:, None], spread)
        for _ in range(rounds):
            sources = known.sources.offsets, known.sources.symbols
            shrink = least / most * (1 - _SLACK)
            change = improve(lo, hi, spread, begun, known.current, sources, rho, z, shrink, _SLACK)
            if change < 1 + _ENOUGH:
                break
        if remembered == _MEMORY or known.sources.count > contexts:
            break
        exact = _united(exact, known, begun[:, 0])
        lo, hi = lo[known.sources.owners], hi[known.sources.owners]
        known = known.longer(chain, follows, z)
    return _by_symbol(known, lo[:, 0], hi[:, 0], exact)


@dataclass(frozen=True)
class _Contexts:
    """The last symbols of words, as many for each context: the word's own at this position, and those before it.

    `sources` has the contexts of the position before from which each may come, in the order of the predecessors of its
    earliest symbol. `begun` are the weights of the word that begins with these symbols, none if no word does.
    """

    current: IntArray
    earliest: IntArray
    sources: Links
    begun: FloatArray

    def longer(self, chain: SymbolChain, follows: FloatArray, z: float) -> _Contexts:
        """With one symbol more, before the others."""
        # A longer context without its current symbol is a source of the same one without its earliest.
        whole, earlier = self.sources.owners, self.sources.symbols
        _, sources = Links(self.sources.offsets, np.arange(len(whole))).expand(earlier)
        earliest = self.earliest[earlier]
        offsets = np.concatenate([[0], np.cumsum(chain.predecessors.degrees[earliest])])
        own = np.arange(len(follows)) == self.current[earlier][:, None]
        begun = (self.begun[earlier] * np.where(own, 1.0, z)) @ follows
        return _Contexts(self.current[whole], earliest, Links(offsets, sources), begun)


def _single_symbols(chain: SymbolChain) -> _Contexts:
    own = np.arange(chain.symbol_count)
    begun = np.where(chain.first[:, None], chain.first.astype(float), np.nan)
    return _Contexts(own, own, chain.predecessors, begun)


def _growth(follows: FloatArray) -> tuple[FloatArray, float, float]:
    """(ρ, r, r'): a positive vector and how much a step makes of it at least and at most."""
    return _known_growth(follows.tobytes(), len(follows))


@lru_cache(maxsize=32)  # every θ that is tried asks for it anew, and on small systems it takes most of the time
def _known_growth(matrix: bytes, symbol_count: int) -> tuple[FloatArray, float, float]:
    follows = np.frombuffer(matrix).reshape(symbol_count, symbol_count)
    rho = np.ones(symbol_count)
    for _ in range(1_000):
        rho = follows @ rho + rho  # the second term helps where walks come back only after an even number of steps
        rho = np.maximum(rho / rho.max(), 1e-9)
    growth = follows @ rho / rho
    rho.flags.writeable = False
    return rho, float(growth.min()) * (1 - _SLACK), float(growth.max()) * (1 + _SLACK)


def _spread(follows: FloatArray, rho: FloatArray, growth: float, steps: int) -> FloatArray:
    """G_j(s, y) for j = 0..steps."""
    walks = [np.eye(len(follows))]
    for _ in range(steps):
        walks.append(follows @ walks[-1] / growth)
    return np.array(walks) / rho[:, None]


def _no_words(symbol_count: int) -> FreeBox:
    return np.full((symbol_count, symbol_count), np.inf), np.zeros((symbol_count, symbol_count))


def _united(box: FreeBox, known: _Contexts, weights: FloatArray) -> FreeBox:
    """The box with the exact weights of the words that begin with a context, by their last symbol."""
    begins = ~np.isnan(weights[:, 0])
    return _widened(box, known.current[begins], weights[begins] * (1 - _SLACK), weights[begins] * (1 + _SLACK))


def _by_symbol(known: _Contexts, lo: FloatArray, hi: FloatArray, exact: FreeBox) -> FreeBox:
    """One row for each symbol, for all contexts that words have; nothing is known of symbols that no word has."""
    happens = (known.sources.degrees > 0) | ~np.isnan(known.begun[:, 0])
    lo, hi = _widened(exact, known.current[happens], lo[happens], hi[happens])
    return np.where(hi > 0, lo, 0.0), np.where(hi > 0, hi, np.inf)


def _widened(box: FreeBox, symbols: IntArray, lo: FloatArray, hi: FloatArray) -> FreeBox:
    least, most = (end.copy() for end in box)
    np.minimum.at(least, symbols, lo)
    np.maximum.at(most, symbols, hi)
    return least, most
