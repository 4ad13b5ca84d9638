"""How many feasible words have few errors: counted around the word, at a cost that hardly depends on the system.

A word with at most b errors leaves the states of the word for short whiles only. So states count only if the errors
that are left lead back to what is still to come. Which states those are is found from the end of the word to its
beginning; then words are counted from its beginning to its end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pathveil.errors import TooLargeError
from pathveil.numerics.arrays import AnyIntArray, BoolArray, IntArray
from pathveil.systems.compiled import CompiledSystem

_WIDEST = 1 << 14  # states that may still lead back; if there are more, none is left out

States = IntArray | None
"""State numbers in ascending order; None where it may be any."""


def counts_near(
    compiled: CompiledSystem, codes: Sequence[int], most: int, most_moves: int
) -> tuple[tuple[float, ...], int]:
    """How many feasible words have 1, 2, ..., `most` errors, and how many moves between states were looked at for that.

    Raises `TooLargeError` beyond `most_moves`. Numbers of words above 2^53 are rounded.
    """
    useful, moves = _useful_states(compiled, codes, most)
    states: IntArray = np.array([compiled.start], dtype=np.int64)
    counts = np.eye(1, most + 1)
    for code, after in zip(codes, useful[1:], strict=True):
        found, targets = _right_moves(compiled, code, states)
        reached, ways = [targets], [counts[found]]
        for errors in range(most):
            here = np.flatnonzero(counts[:, errors])
            found, targets, looked_at = _wrong_moves(compiled, code, states[here], after[most - errors - 1])
            wrong = np.zeros((len(targets), most + 1))
            wrong[:, errors + 1] = counts[here[found], errors]
            reached.append(targets)
            ways.append(wrong)
            moves += looked_at
        if moves > most_moves:
            raise TooLargeError(f"too many words differ in up to {most} of {len(codes)} symbols to look at them")
        states, place = _different(np.concatenate(reached), compiled.state_count)
        columns = np.concatenate(ways).T
        counts = np.stack([np.bincount(place, column, len(states)) for column in columns], axis=1)
    ended = counts[compiled.accepting[states]].sum(axis=0)
    return tuple(ended[1:].tolist()), moves


def _useful_states(compiled: CompiledSystem, codes: Sequence[int], most: int) -> tuple[list[list[States]], int]:
    """Entry [i][e]: all states, and perhaps more, from which the word from position i on is met with up to e errors.

    And how many moves were looked at.
    """
    order, entering = compiled.edges_by_target
    useful: list[list[States]] = [[_if_few(np.flatnonzero(compiled.accepting))] * (most + 1)]
    moves = 0
    for code in reversed(codes):
        after, before = useful[-1], list[States]()
        sources, targets = compiled.edges_with_label(code)
        for errors, goal in enumerate(after):
            right = sources if goal is None else sources[_contains(goal, targets)]
            moves += len(targets)
            if errors == 0:
                before.append(_if_few(right))
            elif (goal := after[errors - 1]) is None:
                before.append(None)
            else:
                wrong = compiled.sources[order[_edges_of(entering, goal)]]
                before.append(_if_few(_different(np.concatenate([right, wrong]), compiled.state_count)[0]))
                moves += len(wrong)
        useful.append(before)
    useful.reverse()
    return useful, moves


def _if_few(states: IntArray) -> States:
    return states if len(states) <= _WIDEST else None


def _right_moves(compiled: CompiledSystem, code: int, states: IntArray) -> tuple[IntArray, IntArray]:
    """Moves with this symbol from some states: place of the state, and state that is entered."""
    sources, targets = compiled.edges_with_label(code)
    found = np.flatnonzero(_contains(sources, states))
    return found, targets[np.searchsorted(sources, states[found])]


def _wrong_moves(compiled: CompiledSystem, code: int, states: IntArray, into: States) -> tuple[IntArray, IntArray, int]:
    """Moves with other symbols from these states to those: place of the state, state entered; moves looked at.

    Either all that leave these states or all that enter those, whichever are fewer.
    """
    order, entering = compiled.edges_by_target
    leaving = compiled.offsets
    if into is None or _number(leaving, states) <= _number(entering, into):
        edges = _edges_of(leaving, states)
        wanted = np.ones(len(edges), dtype=bool) if into is None else _contains(into, compiled.targets[edges])
    else:
        edges = order[_edges_of(entering, into)]
        wanted = _contains(states, compiled.sources[edges])
    looked_at = len(edges)
    edges = edges[wanted & (compiled.labels[edges] != code)]
    return np.searchsorted(states, compiled.sources[edges]), compiled.targets[edges], looked_at


def _number(offsets: IntArray, states: IntArray) -> int:
    """How many edges these states have together."""
    return int((offsets[states + 1] - offsets[states]).sum())


def _edges_of(offsets: IntArray, states: IntArray) -> IntArray:
    """The places of all edges of these states, whose edges begin at `offsets[state]` and end at the next."""
    degrees = offsets[states + 1] - offsets[states]
    begins = np.repeat(offsets[states] - np.cumsum(degrees) + degrees, degrees)
    return begins + np.arange(len(begins))


def _different(states: IntArray, state_count: int) -> tuple[IntArray, IntArray]:
    """The different states in ascending order, and the place of each among them."""
    if 16 * len(states) < state_count:
        return np.unique(states, return_inverse=True)
    occurs = np.zeros(state_count, dtype=bool)  # far faster for many
    occurs[states] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[states]


def _contains(ascending: IntArray, wanted: AnyIntArray) -> BoolArray:
    """For each wanted number: is it among those?"""
    if not len(ascending):
        return np.zeros(len(wanted), dtype=bool)
    places = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    found: BoolArray = ascending[places] == wanted
    return found
