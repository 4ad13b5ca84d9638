"""A small synthetic town, for examples, demonstrations and tests.

Nothing in it is real: the street plan is grown from a fixed seed by the code below. It has the size of the road
network in PF's experiment (43 segments), whose data are not public.
"""

from __future__ import annotations

from itertools import permutations

from pathveil.systems.markov_chain import MarkovChain

_STREETS = ("Ash", "Birch", "Cedar", "Dale", "Elm")
_AVENUES = 6
_SEGMENTS = 43

Crossing = tuple[int, int]


def town_segments() -> dict[str, tuple[Crossing, Crossing]]:
    """The 43 road segments of the town, each with the two crossings (column, row) that it joins.

    Crossings lie on a grid of 5 streets and 6 avenues, 49 blocks in all; a few blocks were never built.
    """
    blocks: dict[str, tuple[Crossing, Crossing]] = {}
    for row, street in enumerate(_STREETS):
        for column in range(_AVENUES - 1):
            blocks[f"{street}{column + 1}"] = ((column, row), (column + 1, row))
    for column in range(_AVENUES):
        for row in range(len(_STREETS) - 1):
            blocks[f"{column + 1}Av{row + 1}"] = ((column, row), (column, row + 1))
    # A fixed pseudo-random order decides which blocks stay empty, as long as nobody is cut off.
    state = 2019
    waiting = list(blocks)
    while len(blocks) > _SEGMENTS:
        state = (1103515245 * state + 12345) % 2**31
        candidate = waiting.pop(state // 65536 % len(waiting))
        rest = {name: ends for name, ends in blocks.items() if name != candidate}
        if _every_crossing_has_two_roads(rest):
            blocks = rest
    return blocks


def _every_crossing_has_two_roads(blocks: dict[str, tuple[Crossing, Crossing]]) -> bool:
    roads: dict[Crossing, int] = {}
    for ends in blocks.values():
        for crossing in ends:
            roads[crossing] = roads.get(crossing, 0) + 1
    return len(roads) == _AVENUES * len(_STREETS) and min(roads.values()) >= 2


def example_town(**options: object) -> MarkovChain:
    """The town as a Markov chain: from a segment one drives on to any other segment at its exit.

    Streets can be driven both ways; avenues are one-way, north and south by turns. A state does not remember from
    which end a street was entered, so a trip may turn round on it. Options (`initial`, `final`) go
    to `MarkovChain.from_edges`.

    >>> import pathveil as pv
    >>> pv.example_town()
    MarkovChain(43 states, 102 transitions; words begin anywhere)
    """
    segments = town_segments()
    edges = [
        (a, b) for a, b in permutations(segments, 2) if set(_exits(a, segments[a])) & set(_entries(b, segments[b]))
    ]
    return MarkovChain.from_edges(edges, **options)


def _is_northbound(name: str) -> bool | None:
    """None for a two-way street."""
    return int(name[0]) % 2 == 0 if name[0].isdigit() else None


def _exits(name: str, ends: tuple[Crossing, Crossing]) -> tuple[Crossing, ...]:
    northbound = _is_northbound(name)
    return ends if northbound is None else (ends[1],) if northbound else (ends[0],)


def _entries(name: str, ends: tuple[Crossing, Crossing]) -> tuple[Crossing, ...]:
    return ends if _is_northbound(name) is None else tuple(set(ends) - set(_exits(name, ends)))
