"""The words of a Petri net, found literally: fire every transition in every marking, and write down what it says.

A net is (transitions, initial, final). A transition is (label or None, takes, gives), and takes, gives and markings are
tuples with a number of tokens for each place.
"""

from __future__ import annotations

from collections.abc import Sequence

Tokens = tuple[int, ...]
LiteralTransition = tuple[str | None, Tokens, Tokens]
LiteralNet = tuple[Sequence[LiteralTransition], Tokens, Tokens]


def fired(marking: Tokens, transition: LiteralTransition) -> Tokens | None:
    """The marking after a transition; None where it cannot fire."""
    _, takes, gives = transition
    if any(have < want for have, want in zip(marking, takes, strict=True)):
        return None
    return tuple(have - took + got for have, took, got in zip(marking, takes, gives, strict=True))


def has_more_markings_than(net: LiteralNet, many: int) -> bool:
    """Are there more than so many reachable markings?"""
    transitions, initial, _ = net
    found, waiting = {initial}, [initial]
    while waiting and len(found) <= many:
        marking = waiting.pop(0)
        for transition in transitions:
            after = fired(marking, transition)
            if after is not None and after not in found:
                found.add(after)
                waiting.append(after)
    return len(found) > many


def words_up_to(net: LiteralNet, length: int) -> set[tuple[str, ...]]:
    """All words of 1 to `length` symbols that some firing sequence to the final marking writes."""
    transitions, initial, final = net
    start: tuple[Tokens, tuple[str, ...]] = (initial, ())
    found, waiting = {start}, [start]
    while waiting:
        marking, word = waiting.pop()
        for transition in transitions:
            after = fired(marking, transition)
            longer = word if transition[0] is None else (*word, transition[0])
            if after is not None and len(longer) <= length and (after, longer) not in found:
                found.add((after, longer))
                waiting.append((after, longer))
    return {word for marking, word in found if marking == final and word}
