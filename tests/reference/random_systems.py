"""Hypothesis strategies: small systems of every kind, small enough that their words can be listed.

Each system is built around one word that it must allow, and further edges are added only while the number of words
stays within `MOST_WORDS`. So every example is usable and nothing has to be thrown away.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

import pathveil as pv
from tests.reference.enumeration import Word, feasible_words

MOST_WORDS = 64
LENGTHS = st.integers(1, 4)

SystemWithLength = tuple[pv.System, int]


@st.composite
def alphabets_with_length(draw: st.DrawFn) -> SystemWithLength:
    """Every word over 1 to 4 symbols."""
    size = draw(st.integers(1, 4))
    length = draw(st.sampled_from([n for n in range(1, 5) if size**n <= MOST_WORDS]))
    return pv.Alphabet("abcd"[:size]), length


@st.composite
def markov_chains_with_length(draw: st.DrawFn) -> SystemWithLength:
    """Chains with dead ends, self loops, restricted last states and all three ways to begin."""
    states = "abcd"[: draw(st.integers(1, 4))]
    length = draw(LENGTHS)
    word = draw(st.lists(st.sampled_from(states), min_size=length, max_size=length))
    needed = list(pairwise(word))
    begin = draw(st.sampled_from(["anywhere", "in a set", "after one state"]))
    initial: Any = None
    if begin == "in a set":
        initial = draw(st.sets(st.sampled_from(states))) | {word[0]}
    elif begin == "after one state":
        initial = draw(st.sampled_from(states))
        needed.append((initial, word[0]))
    final = draw(st.none() | st.sets(st.sampled_from(states)).map(lambda others: others | {word[-1]}))

    def build(extra: list[tuple[str, str]]) -> pv.System:
        edges = {*needed, *extra}
        counts = [[int((a, b) in edges) for b in states] for a in states]
        return pv.MarkovChain.from_counts(states, counts, initial=initial, final=final)

    possible = st.sampled_from([(a, b) for a in states for b in states])
    return _largest_within_limit(build, draw(st.lists(possible, unique=True)), length), length


@st.composite
def transition_systems_with_length(draw: st.DrawFn) -> SystemWithLength:
    """Plans of 1 to 4 actions between 1 to 4 states, with or without accepting states."""
    states = st.integers(0, draw(st.integers(0, 3)))
    length = draw(LENGTHS)
    actions = st.sampled_from("abcd"[: draw(st.integers(1, 4))])
    needed_actions = _symbols_of_needed_word(length)
    initial = state = draw(states)
    needed: dict[tuple[int, str], int] = {}
    for _ in range(length):
        action = draw(needed_actions)
        state = needed.setdefault((state, action), draw(states))
    accepting = draw(st.none() | st.sets(st.sampled_from([*needed.values()])).map(lambda others: others | {state}))

    def build(extra: list[tuple[tuple[int, str], int]]) -> pv.System:
        return pv.TransitionSystem(dict(extra) | needed, initial=initial, accepting=accepting)

    moves = st.tuples(st.tuples(states, actions), states)
    extra = draw(st.lists(moves, unique_by=lambda move: move[0], max_size=10))
    return _largest_within_limit(build, extra, length), length


@st.composite
def automata_with_length(draw: st.DrawFn) -> SystemWithLength:
    """Nondeterministic automata, in which a word may have several runs."""
    states = st.integers(0, draw(st.integers(0, 3)))
    length = draw(LENGTHS)
    symbols = st.sampled_from("abcd"[: draw(st.integers(1, 4))])
    run = draw(st.lists(states, min_size=length + 1, max_size=length + 1))
    word = draw(st.lists(_symbols_of_needed_word(length), min_size=length, max_size=length))
    needed = list(zip(run, word, run[1:], strict=False))
    initial = draw(st.sets(st.sampled_from(run))) | {run[0]}
    accepting = draw(st.none() | st.sets(st.sampled_from(run)).map(lambda others: others | {run[-1]}))

    def build(extra: list[tuple[int, str, int]]) -> pv.System:
        moves: dict[tuple[int, str], set[int]] = {}
        for source, symbol, target in needed + extra:
            moves.setdefault((source, symbol), set()).add(target)
        return pv.Automaton(moves, initial=initial, accepting=accepting)

    extra = draw(st.lists(st.tuples(states, symbols, states), unique=True, max_size=12))
    return _largest_within_limit(build, extra, length), length


def systems_with_length() -> st.SearchStrategy[SystemWithLength]:
    """(world, length) with 1 ≤ length ≤ 4 and 1 to `MOST_WORDS` feasible words of that length."""
    return st.one_of(
        alphabets_with_length(),
        markov_chains_with_length(),
        transition_systems_with_length(),
        automata_with_length(),
    )


def systems() -> st.SearchStrategy[pv.System]:
    """A small system of any kind."""
    return systems_with_length().map(lambda pair: pair[0])


@st.composite
def systems_with_word(draw: st.DrawFn, feasible: bool = True) -> tuple[pv.System, Word]:
    """(world, word): a feasible word, or with `feasible=False` any word over the system's symbols."""
    world, length = draw(systems_with_length())
    if feasible:
        return world, draw(st.sampled_from(feasible_words(world, length)))
    symbol = st.sampled_from(world.symbols)
    return world, tuple(draw(st.lists(symbol, min_size=length, max_size=length)))


def _symbols_of_needed_word(length: int) -> st.SearchStrategy[str]:
    """So few symbols that the needed edges alone, even all at one state, cannot make too many words."""
    return st.sampled_from("abcd"[: max(m for m in range(1, 5) if m**length <= MOST_WORDS)])


def _largest_within_limit(build: Callable[[list[Any]], pv.System], extra: list[Any], length: int) -> pv.System:
    """The system with as many of the further edges as the limit on the number of words allows."""
    kept = list(extra)
    while (world := build(kept)).count(length) > MOST_WORDS:
        kept.pop()
    return world


SystemWithRange = tuple[pv.System, int, int]


@st.composite
def systems_with_range(draw: st.DrawFn, most_words: int = 90) -> SystemWithRange:
    """(world, lo, hi) with 1 to `most_words` feasible words of lo to hi symbols; some lengths may have none."""
    world, length = draw(systems_with_length())
    lo = hi = length
    for wanted, step in ((draw(st.integers(1, length)), -1), (draw(st.integers(length, min(length + 2, 5))), 1)):
        while (lo if step < 0 else hi) != wanted:
            wider = (lo + step, hi) if step < 0 else (lo, hi + step)
            if sum(world.count(n) for n in range(wider[0], wider[1] + 1)) > most_words:
                break
            lo, hi = wider
    return world, lo, hi
