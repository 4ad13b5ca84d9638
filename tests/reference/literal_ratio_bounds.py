"""The boxes behind a certificate, one context and one symbol at a time: no dropping, no rounding, no shared work."""

from __future__ import annotations

import numpy as np

from pathveil.words.certificate.symbol_chain import SymbolChain

Context = tuple[int, ...]
Intervals = list[tuple[float, float]]


def literal_boxes(chain: SymbolChain, alive: np.ndarray, memory: int, z: float) -> list[dict[int, Intervals]]:
    """For every position {current symbol: (lo, hi) of s(y) for each y}, over all contexts of `memory` symbols."""
    m = chain.symbol_count
    follows = chain.successors.matrix.toarray() > 0
    start = [(float(first), float(first)) for first in chain.first]
    boxes: dict[Context, Intervals] = {(c,): start for c in range(m) if alive[0][c]}
    result = [_by_last_symbol(boxes)]
    for possible in alive[1:]:
        following: dict[Context, Intervals] = {}
        for context, s in boxes.items():
            c = context[-1]
            for new in range(m):
                if follows[c, new] and possible[new]:
                    extended = (*context, new)[-memory:]
                    box = [_interval(follows, s, c, new, y, z) for y in range(m)]
                    following[extended] = _united(following.get(extended), box)
        boxes = following
        result.append(_by_last_symbol(boxes))
    return result


def _interval(follows: np.ndarray, s: Intervals, c: int, new: int, y: int, z: float) -> tuple[float, float]:
    """The range of g(y)/g(new) over the box: every s(x) has one value, in the numerator and in the denominator."""
    if y == new:
        return 1.0, 1.0
    others = [x for x in range(len(s)) if x != c]
    shared = [x for x in others if follows[x, y] and follows[x, new]]
    only_y = [x for x in others if follows[x, y] and not follows[x, new]]
    only_new = [x for x in others if follows[x, new] and not follows[x, y]]

    def ratio(end_y: int, end_new: int, end_shared: int) -> float:
        both = z * sum(s[x][end_shared] for x in shared)
        top = follows[c, y] + z * sum(s[x][end_y] for x in only_y) + both
        return float(top / (1 + z * sum(s[x][end_new] for x in only_new) + both))

    return min(ratio(0, 1, 0), ratio(0, 1, 1)), max(ratio(1, 0, 0), ratio(1, 0, 1))


def _united(a: Intervals | None, b: Intervals) -> Intervals:
    if a is None:
        return b
    return [(min(p[0], q[0]), max(p[1], q[1])) for p, q in zip(a, b, strict=True)]


def _by_last_symbol(boxes: dict[Context, Intervals]) -> dict[int, Intervals]:
    united: dict[int, Intervals] = {}
    for context, box in boxes.items():
        united[context[-1]] = _united(united.get(context[-1]), box)
    return united
