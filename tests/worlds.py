"""The systems that tests share. A system that only one file needs stays in that file."""

from __future__ import annotations

import pathveil as pv

# Numbered states; not everything may follow everything.
CHAIN = pv.MarkovChain.from_edges([(0, 0), (0, 1), (1, 0), (1, 2), (2, 2), (2, 0), (1, 1)])

# The same idea with letters, for words that are strings.
LETTER_CHAIN = pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "c"), ("c", "a"), ("a", "a")])

# A symbol does not tell the state, and not every word may end where it is.
PLANS = pv.TransitionSystem(
    {(0, "a"): 1, (1, "a"): 0, (0, "b"): 0, (1, "b"): 2, (2, "a"): 2, (2, "c"): 0}, initial=0, accepting={0, 2}
)

# Plans with a state that cannot be left (3) and one that never leads to an accepted one (4).
DEAD_END_PLANS = pv.TransitionSystem(
    {
        (0, "a"): 1, (1, "a"): 0, (0, "b"): 0, (1, "b"): 2, (2, "a"): 2, (2, "c"): 0, (2, "d"): 1, (2, "e"): 3,
        (2, "b"): 4, (4, "e"): 4, (0, "e"): 4,
    },
    initial=0,
    accepting={0, 2},
)  # fmt: skip

# Degrees from 1 to 7, a state that nothing enters, and one that is left by nobody.
UNEVEN = pv.MarkovChain.from_edges(
    [(a, b) for a in range(7) for b in range(a + 1)] + [(0, 5), (0, 6), (1, 4), (7, 3), (7, 2), (4, 8), (3, 6)],
    initial={0, 3, 7, 6},
)

# Every word over two symbols, but its two states are entered with either: certificates are the published ones.
TOGGLE = pv.TransitionSystem({(0, "a"): 1, (1, "a"): 0, (0, "b"): 0, (1, "b"): 1}, initial=0)

# A ring of streets with shortcuts: certificates take an eighth of the time that they take in the town.
RING = pv.MarkovChain.from_edges([(i, (i + step) % 8) for i in range(8) for step in (1, 2, 5)])

# The town of the documentation: 43 streets.
TOWN = pv.example_town()

# Four places, and a road from each to every other.
FOUR_PLACES = pv.MarkovChain.from_edges([(a, b) for a in "abcd" for b in "abcd" if a != b])


def hub_and_spoke(airports: int, hubs: int, flights: int) -> pv.MarkovChain:
    """Every hub has flights to every other, and each further airport to and from so many of them."""
    pairs = {(f"a{a}", f"a{b}") for a in range(hubs) for b in range(hubs) if a != b}
    for airport in range(hubs, airports):
        for flight in range(flights):
            hub = (airport + flight) % hubs
            pairs |= {(f"a{airport}", f"a{hub}"), (f"a{hub}", f"a{airport}")}
    return pv.MarkovChain.from_edges(sorted(pairs))
