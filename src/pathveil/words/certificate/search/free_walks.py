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

import numpy as np

from pathveil.numerics.arrays import FloatArray
from pathveil.words.certificate.symbol_chain import SymbolChain

LARGEST_FREE = 64
"""Symbols. The tables have their number squared times the steps entries; larger systems do without this box."""

_LOCAL = 0.7  # weight that a step without the word keeps; below it words decide nearly everything, and this box is wide
_STEPS = 32
_ROUNDS = 100  # improvements at most
_ENOUGH = 1e-3  # a smaller improvement, relatively, is the last
_SLACK = 1e-11  # relative, outward; more than the rounding of the sums, products and quotients of one improvement

FreeBox = tuple[FloatArray, FloatArray]
"""(lo, hi): row c bounds α in some unit at a position where the word has c."""

NO_BOX: FreeBox = (np.empty((0, 0)), np.empty((0, 0)))


def free_box(chain: SymbolChain, z: float, *, steps: int = _STEPS, rounds: int = _ROUNDS) -> FreeBox:
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
    # Rows of lo and hi: the symbol of the word; then j, then y.
    hi = np.tile(spread.max(axis=1) * (1 + _SLACK), (m, 1, 1))
    lo = np.tile(spread.min(axis=1) * (1 - _SLACK), (m, 1, 1))
    share = chain.first * rho
    at_first = np.einsum("s,jsy->jy", share, spread)[:-1] / share.sum()
    symbols, before = np.arange(m), (chain.predecessors.offsets, chain.predecessors.symbols)
    for done in range(rounds):
        shares = np.empty((2, 2, m))
        for end, own in enumerate((hi[symbols, 0, symbols] * (1 + _SLACK), lo[symbols, 0, symbols] * (1 - _SLACK))):
            renewed = (1 - z) * np.minimum(rho * own, 1.0)
            shares[end] = z / (z + renewed), renewed / (z + renewed)
        shrink = least / most * (1 - _SLACK)
        change = improve(lo, hi, spread, at_first, shares, chain.first, before, shrink, _SLACK)
        if done > steps and change < 1 + _ENOUGH:
            break
    return np.ascontiguousarray(lo[:, 0]), np.ascontiguousarray(hi[:, 0])


def _growth(follows: FloatArray) -> tuple[FloatArray, float, float]:
    """(ρ, r, r'): a positive vector and how much a step makes of it at least and at most."""
    rho = np.ones(len(follows))
    for _ in range(1_000):
        rho = follows @ rho + rho  # the second term helps where walks come back only after an even number of steps
        rho = np.maximum(rho / rho.max(), 1e-9)
    growth = follows @ rho / rho
    return rho, float(growth.min()) * (1 - _SLACK), float(growth.max()) * (1 + _SLACK)


def _spread(follows: FloatArray, rho: FloatArray, growth: float, steps: int) -> FloatArray:
    """G_j(s, y) for j = 0..steps."""
    walks = [np.eye(len(follows))]
    for _ in range(steps):
        walks.append(follows @ walks[-1] / growth)
    return np.array(walks) / rho[:, None]
