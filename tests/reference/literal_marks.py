"""Drawing by marks and gaps, literally: walks are listed, weights are fractions, and nothing is left out.

The order of all decisions is that of `pathveil.words.local.marks_kernel`. `law` follows every branch of them; `draw`
follows the one that given numbers in [0, 1) lead to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from pathveil.systems.compiled import CompiledSystem

Decide = Callable[[int, list[Fraction]], list[tuple[int, Fraction]]]
"""For the number of a random number and the weights of the alternatives: those that are followed, with probability."""


def law(compiled: CompiledSystem, codes: Sequence[int], z: Fraction) -> dict[tuple[int, ...], Fraction]:
    """{private word: its probability}, over all branches."""

    def every(_: int, weights: list[Fraction]) -> list[tuple[int, Fraction]]:
        return [(k, weight / sum(weights)) for k, weight in enumerate(weights) if weight]

    found: dict[tuple[int, ...], Fraction] = {}
    for word, probability in _words(compiled, codes, z, every):
        found[word] = found.get(word, Fraction(0)) + probability
    return found


def draw(compiled: CompiledSystem, codes: Sequence[int], z: Fraction, numbers: Sequence[Fraction]) -> tuple[int, ...]:
    """The private word for one row of numbers."""

    def one(which: int, weights: list[Fraction]) -> list[tuple[int, Fraction]]:
        mark, reached = numbers[which] * sum(weights), Fraction(0)
        for k, weight in enumerate(weights):
            reached += weight
            if mark < reached:
                return [(k, Fraction(1))]
        raise AssertionError("a number below 1 falls on one of them")

    ((word, _),) = _words(compiled, codes, z, one)
    return word


def _walks(compiled: CompiledSystem, x: int, steps: int) -> list[list[int]]:
    """Every walk of so many steps from x, without x."""
    if not steps:
        return [[]]
    following = compiled.targets[compiled.offsets[x] : compiled.offsets[x + 1]].tolist()
    return [[y, *rest] for y in following for rest in _walks(compiled, y, steps - 1)]


def _words(compiled: CompiledSystem, codes: Sequence[int], z: Fraction, decide: Decide) -> list:
    n = len(codes)
    assert compiled.symbol_states is not None
    route = [compiled.start, *(int(compiled.symbol_states[code]) for code in codes)]
    symbol = {int(state): code for code, state in enumerate(compiled.symbol_states) if state >= 0}

    def between(x: int, y: int, steps: int) -> int:
        return sum(walk[-1:] == [y] if steps else x == y for walk in _walks(compiled, x, steps))

    def onward(x: int, steps: int) -> int:
        return sum(bool(compiled.accepting[walk[-1] if walk else x]) for walk in _walks(compiled, x, steps))

    weight = [Fraction(0)] * n + [Fraction(onward(route[n], 0))]
    terms: list[list[Fraction]] = [[] for _ in range(n)]
    for i in range(n - 1, -1, -1):
        terms[i] = [
            between(route[i], route[i + g], g) * z ** (g - 1) * (1 - z) * weight[i + g] for g in range(1, n - i + 1)
        ]
        terms[i].append(onward(route[i], n - i) * z ** (n - i))
        weight[i] = sum(terms[i])

    def from_mark(i: int, states: dict[int, int]) -> list[tuple[dict[int, int], Fraction]]:
        if i == n:
            return [(states, Fraction(1))]
        found = []
        for k, chance in decide(i, terms[i]):
            if k == n - i:
                ways = filled_forwards(i, n + 1, lambda x, p: onward(x, n - p), states)
            elif i == 0:
                ways = filled_backwards(k, {**states, k + 1: route[k + 1]})
            else:
                target, there = route[i + k + 1], i + k + 1
                marked = {**states, there: target}
                ways = filled_forwards(i, there, lambda x, p, y=target, t=there: between(x, y, t - p), marked)
            for filled, likely in ways:
                later = [(filled, Fraction(1))] if k == n - i else from_mark(i + k + 1, filled)
                found += [(done, chance * likely * last) for done, last in later]
        return found

    def filled_forwards(i: int, end: int, ways: Callable[[int, int], int], states: dict[int, int]) -> list:
        open_ = [(states, route[i], Fraction(1))]
        for p in range(i + 1, end):
            following = []
            for filled, x, chance in open_:
                edges = compiled.targets[compiled.offsets[x] : compiled.offsets[x + 1]].tolist()
                for k, likely in decide(p, [Fraction(ways(y, p)) for y in edges]):
                    following.append(({**filled, p: edges[k]}, edges[k], chance * likely))
            open_ = following
        return [(filled, chance) for filled, _, chance in open_]

    def filled_backwards(last: int, states: dict[int, int]) -> list:
        open_ = [(states, states[last + 1], Fraction(1))]
        for p in range(last, 0, -1):
            following = []
            for filled, y, chance in open_:
                before = [x for x in compiled.sources[compiled.targets == y].tolist() if symbol.get(x) is not None]
                for k, likely in decide(p, [Fraction(between(compiled.start, x, p)) for x in before]):
                    following.append(({**filled, p: before[k]}, before[k], chance * likely))
            open_ = following
        return [(filled, chance) for filled, _, chance in open_]

    return [(tuple(symbol[states[p]] for p in range(1, n + 1)), chance) for states, chance in from_mark(0, {})]
