"""The algorithms of the two word papers as they are printed, line by line, in plain Python.

LEV: Algorithm 1 (substitutions only), Definition 13, Algorithm 2 and the mechanism around equation (18).
PF: Definition 6, Algorithms 1 and 2, and Mechanisms 1 and 2 with the sum (5) over all subsets.

Line numbers in comments are those of the papers. Where a printed line is wrong, the correction is the default and is
marked "correction"; keywords bring the printed line back, so that tests can show what goes wrong. These functions are
also the papers' baseline in benchmarks: nothing is made slower than the text says, and nothing cleverer.

A state q_{i,e} is the pair (i, e); a product state is ((i, e), s).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from pathveil import RandomSource
from pathveil.randomness.source import system_source
from pathveil.systems.system import Symbol, System

State = Any
Word = tuple[Symbol, ...]
Values = dict[State, int]  # V
Policy = dict[tuple[State, Symbol], float]  # μ


@dataclass(frozen=True)
class FiniteAutomaton:
    """LEV Definition 1 / PF Definition 1: A = (Q, Σ, q0, δ, F), with δ as triples (q, σ, q'), none of them twice."""

    Q: frozenset[State]
    sigma: tuple[Symbol, ...]
    q0: State
    delta: tuple[tuple[State, Symbol, State], ...]
    F: frozenset[State]

    @cached_property
    def leaving(self) -> dict[State, list[tuple[Symbol, State]]]:
        """(σ, q') for each q."""
        found = defaultdict(list)
        for q, symbol, target in self.delta:
            found[q].append((symbol, target))
        return found

    @cached_property
    def entering(self) -> dict[State, list[tuple[State, Symbol]]]:
        """(q, σ) for each q'."""
        found = defaultdict(list)
        for q, symbol, target in self.delta:
            found[target].append((q, symbol))
        return found


@dataclass(frozen=True)
class DeterministicTransitionSystem:
    """LEV Definition 4: (S, s0, Act, T) with a partial T. Accepting states are ours; LEV accepts everywhere."""

    s0: Hashable
    T: dict[tuple[Hashable, Symbol], Hashable]
    accepting: frozenset[Hashable]

    @classmethod
    def of(cls, world: System) -> DeterministicTransitionSystem:
        """The same system in the papers' terms. A Markov chain's action is the state it leads to."""
        names, compiled = world.state_names, world.compiled
        edges = zip(compiled.sources.tolist(), compiled.labels.tolist(), compiled.targets.tolist(), strict=True)
        return cls(
            s0=names[compiled.start],
            T={(names[s], world.symbols[a]): names[target] for s, a, target in edges},
            accepting=frozenset(name for name, accepted in zip(names, compiled.accepting, strict=True) if accepted),
        )


# ---------------------------------------------------------------------------------------------------- automata


def make_levenshtein(sigma: Sequence[Symbol], x: Word, k: int) -> FiniteAutomaton:
    """LEV Algorithm 1 without its lines 10 and 11, as LEV Remark 1 says, pruned to a DFA as Remark 2 says.

    Three slips of the pen are mended without a keyword: the loop of line 6 ends at |x|-1, because there is no symbol
    x_|x|; line 9 means e < k; and the * of line 12 stands for the other symbols. If * included x_i itself, a word
    could collect errors where it has none, and the automaton would not be the DFA of Remark 2.
    """
    n = len(x)
    Q = {(i, e) for i in range(n + 1) for e in range(k + 1)}  # line 2
    F = {(i, e) for (i, e) in Q if i == n}  # line 3
    delta = []  # line 4
    q0 = (0, 0)  # line 5
    for i in range(n):  # line 6
        for e in range(k + 1):  # line 7
            delta.append(((i, e), x[i], (i + 1, e)))  # line 8: correct transition
            if e < k:  # line 9
                for symbol in sigma:
                    if symbol != x[i]:
                        delta.append(((i, e), symbol, (i + 1, e + 1)))  # line 12: substitution
    return only_reachable(FiniteAutomaton(frozenset(Q), tuple(sigma), q0, tuple(delta), frozenset(F)))


def product_automaton(A: FiniteAutomaton, system: DeterministicTransitionSystem) -> FiniteAutomaton:
    """LEV Definition 13 (and PF Definition 6): A and the system move together, followed from (q0, s0)."""
    start = (A.q0, system.s0)
    reached, waiting, delta = {start}, [start], []
    while waiting:
        q, s = waiting.pop()
        for symbol, q_next in A.leaving[q]:
            if (s, symbol) in system.T:
                target = (q_next, system.T[s, symbol])
                delta.append(((q, s), symbol, target))
                if target not in reached:
                    reached.add(target)
                    waiting.append(target)
    F = {(q, s) for q, s in reached if q in A.F and s in system.accepting}
    return FiniteAutomaton(frozenset(reached), A.sigma, start, tuple(delta), frozenset(F))


def only_reachable(A: FiniteAutomaton) -> FiniteAutomaton:
    """The part of an automaton that its initial state can reach."""
    reached, waiting = {A.q0}, [A.q0]
    while waiting:
        for _, target in A.leaving[waiting.pop()]:
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return _part(A, reached, A.F)


def restrict_to_distance(A: FiniteAutomaton, ell: int) -> FiniteAutomaton:
    """Step 2 of LEV Section V: what is backwards reachable from the accepting states with exactly ℓ errors."""
    ends = {q for q in A.F if errors_of(q) == ell}
    reached, waiting = set(ends), list(ends)
    while waiting:
        for q, _ in A.entering[waiting.pop()]:
            if q not in reached:
                reached.add(q)
                waiting.append(q)
    return _part(A, reached, ends)


def errors_of(q: State) -> int:
    """e of a state (i, e) or ((i, e), s)."""
    first, second = q
    return first[1] if isinstance(first, tuple) else second


def _part(A: FiniteAutomaton, kept: set[State], ends: Iterable[State]) -> FiniteAutomaton:
    delta = tuple((q, symbol, target) for q, symbol, target in A.delta if q in kept and target in kept)
    return FiniteAutomaton(frozenset(kept), A.sigma, A.q0, delta, frozenset(ends) & frozenset(kept))


# ---------------------------------------------------------------------------------------------------- policies


def lev_algorithm_2(
    A: FiniteAutomaton, length: int, ell: int, *, loop_over_word: bool = True, divide_by_V: bool = True
) -> tuple[Values, Policy]:
    """LEV Algorithm 2 on an automaton restricted to distance ℓ: V and μ.

    Corrections: line 5 must loop |x| times, not ℓ times, or the states near the start get no policy at all
    (`loop_over_word=False` for the printed line); line 10 must divide by V(q), whereas the printed denominator takes
    every distinct successor once (`divide_by_V=False`). ActiveQ starts empty in every round, as in PF's version.
    """
    V: Values = dict.fromkeys(A.F, 1)  # line 2
    mu: Policy = {}
    curr_q = set(A.F)  # line 3
    counter = 0  # line 4
    while counter < (length if loop_over_word else ell):  # line 5
        active_q = set()
        for q in {q for target in curr_q for q, _ in A.entering[target]}:  # line 6
            V[q] = sum(V[target] for _, target in A.leaving[q])  # line 7: one term for each symbol
            active_q.add(q)  # line 8
        for q in active_q:  # line 9
            total = V[q] if divide_by_V else sum(V[target] for target in {target for _, target in A.leaving[q]})
            for symbol, target in A.leaving[q]:
                mu[q, symbol] = V[target] / total  # line 10
        curr_q = active_q  # line 11
        counter += 1  # line 12
    return V, mu


def pf_algorithm_1(A: FiniteAutomaton, n: int, *, count_every_symbol: bool = True) -> tuple[Values, Policy]:
    """PF Algorithm 1 on an automaton whose only accepting state is q_{n,ℓ}: V and μ.

    Correction: line 7 must take V(q'') once for each symbol that leads to q''. As printed
    (`count_every_symbol=False`) it takes every distinct q'' once, and the m-1 wrong symbols count as one.
    """
    V: Values = dict.fromkeys(A.F, 1)  # line 1
    mu: Policy = {}
    curr_q = set(A.F)  # line 2
    active_q = set()  # line 3
    for _ in range(n):  # line 4
        for target in curr_q:  # line 5
            for q, symbol in A.entering[target]:  # line 6
                followers = [q_next for _, q_next in A.leaving[q]]
                # line 7 (states that do not lead to the accepting one have no V and count nothing)
                V[q] = sum(V.get(q_next, 0) for q_next in (followers if count_every_symbol else set(followers)))
                mu[q, symbol] = V[target] / V[q]  # line 8
                active_q.add(q)  # line 9
        curr_q = active_q  # line 12
        active_q = set()  # line 13
    return V, mu


def pf_algorithm_2(A: FiniteAutomaton, n: int) -> tuple[Values, Policy]:
    """PF Algorithm 2 on the product with a Markov chain, restricted to accepting states with ℓ errors: V and μ.

    Here line 7 is right as printed: the symbol is the chain's next state, so distinct successors are distinct symbols.
    Line 8 is read as V(q', y')/V(q, y); our copy of the paper has the same letters above and below the line.
    """
    V: Values = dict.fromkeys(A.F, 1)  # line 1
    mu: Policy = {}
    curr_q = set(A.F)  # line 2
    active_q = set()  # line 3
    for _ in range(n):  # line 4
        for target in curr_q:  # line 5
            _, y_next = target
            for q, symbol in A.entering[target]:  # line 6
                assert symbol == y_next, "in a Markov chain the symbol is the state that is entered"
                V[q] = sum(V.get(q_next, 0) for q_next in {q_next for _, q_next in A.leaving[q]})  # line 7
                mu[q, symbol] = V[target] / V[q]  # line 8
                active_q.add(q)  # line 9
        curr_q = active_q  # line 12
        active_q = set()  # line 13
    return V, mu


def run_once(A: FiniteAutomaton, mu: Policy, rng: RandomSource | None = None) -> Word:
    """One word: from q0, write symbols with the policy's probabilities until no move is left."""
    source = rng or system_source()
    q, word = A.q0, []
    while moves := A.leaving[q]:
        symbol, q = moves[_draw([mu[q, symbol] for symbol, _ in moves], source)]
        word.append(symbol)
    return tuple(word)


def _draw(probabilities: Sequence[float], source: RandomSource) -> int:
    """An index with these probabilities, in floating point."""
    u = float(source.uniform(1)[0]) * sum(probabilities)
    for index, p in enumerate(probabilities):
        u -= p
        if u < 0:
            return index
    return max(index for index, p in enumerate(probabilities) if p > 0)


# ---------------------------------------------------------------------------------------------------- mechanisms


class _DistanceThenWord(ABC):
    """What both papers do: draw a number of errors ℓ, then run the policy of the automaton restricted to ℓ once."""

    law: list[float]

    def __init__(self, sigma: Sequence[Symbol], word: Word, system: DeterministicTransitionSystem | None) -> None:
        self.word = tuple(word)
        self.system = system
        n, m = len(self.word), len(sigma)
        whole = make_levenshtein(sigma, self.word, n)
        self.automaton = whole if system is None else product_automaton(whole, system)
        self._policies: dict[int, tuple[FiniteAutomaton, int, Policy]] = {}
        self.counts = (
            [math.comb(n, ell) * (m - 1) ** ell for ell in range(n + 1)]
            if system is None
            else [self.policy(ell)[1] for ell in range(n + 1)]
        )

    @abstractmethod
    def _synthesize(self, A: FiniteAutomaton, ell: int) -> tuple[Values, Policy]: ...

    def policy(self, ell: int) -> tuple[FiniteAutomaton, int, Policy]:
        """The restricted automaton, the number of its words and its policy, made once for each ℓ."""
        if ell not in self._policies:
            A = restrict_to_distance(self.automaton, ell)
            V, mu = self._synthesize(A, ell)
            self._policies[ell] = A, V.get(A.q0, 0), mu
        return self._policies[ell]

    def draw(self, rng: RandomSource | None = None) -> Word:
        """One private word."""
        source = rng or system_source()
        A, _, mu = self.policy(_draw(self.law, source))
        return run_once(A, mu, source)


class LevMechanism(_DistanceThenWord):
    """LEV's mechanism: draw ℓ from equation (18), then a word at distance ℓ by Algorithm 2.

    `k` is the adjacency and `alpha` the constant of the utility. Correction: the weight of ℓ must contain N(ℓ), the
    number of words at that distance; `multiplicity=False` is equation (18) as printed, which does not keep the
    promised ε. The sum in (18) is taken over ℓ = 0..|x|, as far as there are words at that distance.
    """

    def __init__(
        self,
        sigma: Sequence[Symbol],
        x: Word,
        epsilon: float,
        k: int = 1,
        alpha: float = 1.0,
        system: DeterministicTransitionSystem | None = None,
        *,
        multiplicity: bool = True,
    ) -> None:
        super().__init__(sigma, x, system)
        exponents = [epsilon * alpha * (k + alpha) / (2 * k * (ell + alpha)) for ell in range(len(x) + 1)]
        weights = [
            (number if multiplicity else int(number > 0)) * math.exp(exponent - exponents[0])
            for number, exponent in zip(self.counts, exponents, strict=True)
        ]
        self.law = [weight / math.fsum(weights) for weight in weights]

    def _synthesize(self, A: FiniteAutomaton, ell: int) -> tuple[Values, Policy]:
        return lev_algorithm_2(A, len(self.word), ell)


def pf_error_law(counts: Sequence[int], epsilon: float, b: int = 1) -> list[float]:
    """PF equations (4) and (5), all 2^|L| subsets, for |L| ≤ 12. counts[ℓ] is the number of words with ℓ errors."""
    distances = [ell for ell, number in enumerate(counts) for _ in range(number)]  # the vector 𝓛
    if len(distances) > 12:
        raise ValueError(f"{len(distances)} words have 2^{len(distances)} subsets; this is meant for at most 12 words")
    return [
        math.exp(-epsilon * ell / (2 * b)) * number * _phi(distances, ell, epsilon, b) if number else 0.0
        for ell, number in enumerate(counts)
    ]


def _phi(distances: Sequence[int], ell: int, epsilon: float, b: int) -> float:
    """Φ(b, 𝓛, ℓ), equation (5)."""
    left_out = distances.index(ell)  # i(ℓ)
    others = [j for j in range(len(distances)) if j != left_out]
    return math.fsum(
        (-1) ** size / (size + 1) * math.prod(math.exp(-epsilon * distances[j] / (2 * b)) for j in G)
        for size in range(len(others) + 1)
        for G in combinations(others, size)
    )


class PfMechanism(_DistanceThenWord):
    """PF Mechanism 1, and with a Markov chain (words begin after one public state) Mechanism 2.

    Equation (5) as printed allows at most 12 feasible words.
    """

    def __init__(
        self,
        sigma: Sequence[Symbol],
        w: Word,
        epsilon: float,
        b: int = 1,
        chain: DeterministicTransitionSystem | None = None,
    ) -> None:
        super().__init__(sigma, w, chain)
        self.law = pf_error_law(self.counts, epsilon, b)

    def _synthesize(self, A: FiniteAutomaton, ell: int) -> tuple[Values, Policy]:  # noqa: ARG002 (LEV's needs ℓ)
        return pf_algorithm_1(A, len(self.word)) if self.system is None else pf_algorithm_2(A, len(self.word))
