"""The words of a Petri net: what it writes on its way from the initial marking to the end.

A *marking* says how many tokens lie on each place. A transition *fires* where each place that it takes from has enough
tokens: it takes them and puts others elsewhere, and if it has a *label*, the label is the next symbol of the word; a
transition without one is silent. A word is feasible if some firing sequence writes it and leads to the final marking.

Parallel branches can be written in any order, so each order is a word, and loops make words of any length. There are
finitely many markings unless tokens pile up on some place. Then a marking is reached that has all the tokens of an
earlier one on its way, and more, so that what lies between can be done again and again: such a net is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pathveil.errors import InvalidSystemError, TooLargeError
from pathveil.systems.automaton import Automaton

MOST_MARKINGS = 50_000
"""Markings, and sets of them that a word can lead to: some seconds' work. Ten branches of two steps have 59,049."""

Marking = frozenset[tuple[str, int]]
"""The places that have tokens, with how many."""


@dataclass(frozen=True)
class Transition:
    """What it writes (None: nothing), what it takes and what it gives. `ends_all` removes all tokens that are left."""

    label: str | None
    takes: Mapping[str, int]
    gives: Mapping[str, int]
    ends_all: bool = False


@dataclass(frozen=True)
class PetriNet:
    """A net with one initial and one final marking."""

    transitions: Sequence[Transition]
    initial: Mapping[str, int]
    final: Mapping[str, int]

    def words(self, limit: int = MOST_MARKINGS) -> NetWords:
        """The automaton that accepts the net's words, without what can never end; an error if there are none."""
        steps = self._reachable(limit)
        final = _marking(self.final)
        if final not in steps:
            stuck = next((marking for marking, following in steps.items() if not following), None)
            where = "it runs in circles" if stuck is None else f"it is stuck with tokens on {_shown(stuck)}"
            raise InvalidSystemError(
                f"no word ever ends: the end (tokens on {_shown(final)}, nowhere else) is never reached; {where}. "
                "Check the joins before that place."
            )
        ending = _leading_to(final, steps)
        moves, accepting = _deterministic(_marking(self.initial), final, steps, ending, limit)
        if not moves:
            raise InvalidSystemError("the model has no word: nothing on the way to its end has a label")
        automaton = Automaton({key: {target} for key, target in moves.items()}, initial=0, accepting=accepting)
        return NetWords(automaton, markings=len(steps), never_ending=len(steps) - len(ending))

    def _reachable(self, limit: int) -> dict[Marking, list[tuple[str | None, Marking]]]:
        """For each marking that can be reached, the labels and markings that may follow."""
        by_place: dict[str, list[Transition]] = {}
        always: list[Transition] = []  # takes nothing: can fire anywhere
        for one in self.transitions:
            (by_place.setdefault(next(iter(one.takes)), []) if one.takes else always).append(one)
        first = _marking(self.initial)
        steps: dict[Marking, list[tuple[str | None, Marking]]] = {}
        # Markings with more tokens than all before them on their way. If tokens pile up without end, then one of these
        # covers an earlier one of these.
        records: dict[Marking, tuple[Marking, ...]] = {first: (first,)}
        waiting = [first]
        while waiting:
            marking = waiting.pop()
            tokens = dict(sorted(marking))  # the same order in every run
            steps[marking] = following = []
            for one in (*always, *(t for place in tokens for t in by_place.get(place, ()))):
                if any(tokens.get(place, 0) < wanted for place, wanted in one.takes.items()):
                    continue
                after = frozenset[tuple[str, int]]() if one.ends_all else _fired(tokens, one)
                following.append((one.label, after))
                if after not in records:
                    records[after] = _records(records[marking], after)
                    waiting.append(after)
                    if len(records) > limit:
                        raise TooLargeError(
                            f"the model has more than {limit:,} markings (combinations of steps that run in parallel; "
                            f"here {sum(dict(after).values())} tokens at once, on {_shown(after)}). Make the model of "
                            "a part of the process, or join steps that always run together."
                        )
        return steps


@dataclass(frozen=True)
class NetWords:
    """The words of a net, how many markings it has, and how many of them lead to no end and were left out."""

    automaton: Automaton
    markings: int
    never_ending: int


def _marking(tokens: Mapping[str, int]) -> Marking:
    return frozenset((place, number) for place, number in tokens.items() if number)


def _fired(tokens: Mapping[str, int], transition: Transition) -> Marking:
    after = Counter(tokens)
    after.subtract(transition.takes)
    after.update(transition.gives)
    return _marking(after)


def _records(before: tuple[Marking, ...], after: Marking) -> tuple[Marking, ...]:
    """The records on the way to a new marking; an error if it covers one of them."""
    total = sum(number for _, number in after)
    if total <= sum(number for _, number in before[-1]):
        return before
    tokens = dict(after)
    for earlier in before:
        if all(tokens.get(place, 0) >= number for place, number in earlier):
            grown = [place for place, number in after if number > dict(earlier).get(place, 0)]
            raise InvalidSystemError(
                f"tokens pile up on {', '.join(map(repr, sorted(grown)))} without end, so the process could be in "
                "infinitely many states. Check the loop that leads there: a parallel split in it needs its join, and a "
                "choice that is split must not be joined in parallel."
            )
    return (*before, after)


def _leading_to(final: Marking, steps: Mapping[Marking, Iterable[tuple[str | None, Marking]]]) -> set[Marking]:
    """The markings from which the final one can be reached."""
    before: dict[Marking, list[Marking]] = {}
    for marking, following in steps.items():
        for _, after in following:
            before.setdefault(after, []).append(marking)
    found, waiting = {final}, [final]
    while waiting:
        for marking in before.get(waiting.pop(), ()):
            if marking not in found:
                found.add(marking)
                waiting.append(marking)
    return found


def _deterministic(
    first: Marking,
    final: Marking,
    steps: Mapping[Marking, Sequence[tuple[str | None, Marking]]],
    ending: set[Marking],
    limit: int,
) -> tuple[dict[tuple[int, str], int], set[int]]:
    """Moves between numbered sets of markings, those that a word can lead to; and the sets that have the final one."""

    def closed(markings: Iterable[Marking]) -> frozenset[Marking]:
        """With all that silent transitions lead to."""
        found = {marking for marking in markings if marking in ending}
        waiting = list(found)
        while waiting:
            for label, after in steps[waiting.pop()]:
                if label is None and after in ending and after not in found:
                    found.add(after)
                    waiting.append(after)
        return frozenset(found)

    start = closed([first])
    number, waiting = {start: 0}, [start]
    moves: dict[tuple[int, str], int] = {}
    while waiting:
        together = waiting.pop()
        reached: dict[str, set[Marking]] = {}
        for marking in together:
            for label, after in steps[marking]:
                if label is not None and after in ending:
                    reached.setdefault(label, set()).add(after)
        for label, markings in sorted(reached.items()):  # the same numbers in every run
            target = closed(markings)
            if target not in number:
                number[target] = len(number)
                waiting.append(target)
                if len(number) > limit:
                    raise TooLargeError(
                        f"one word can lead to more than {limit:,} different sets of markings, because several "
                        "transitions have the same label. Give them labels of their own."
                    )
            moves[number[together], label] = number[target]
    return moves, {number[markings] for markings in number if final in markings}


def _shown(marking: Marking) -> str:
    return ", ".join(f"{place!r}" + (f" ({n})" if n > 1 else "") for place, n in sorted(marking)[:6]) or "no place"
