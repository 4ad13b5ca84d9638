"""Which mechanism is best on a hub-and-spoke network, by public forecast: certified, online, and the one that is taken.

    python examples/best_on_hubs.py [AIRPORTS]

The network is made up: every hub has flights to every other, and each further airport to and from some of them.
"""

from __future__ import annotations

import sys

import pathveil as pv


def hub_and_spoke(airports: int, hubs: int, flights: int) -> pv.MarkovChain:
    """Airports 0 to `hubs` - 1 are hubs; each of the others has flights to and from so many of them."""
    pairs = {(a, b) for a in range(hubs) for b in range(hubs) if a != b}
    for airport in range(hubs, airports):
        for flight in range(flights):
            hub = (airport + flight) % hubs
            pairs |= {(airport, hub), (hub, airport)}
    return pv.MarkovChain.from_edges(sorted(pairs))


def main() -> None:
    airports = int(sys.argv[1]) if len(sys.argv) > 1 else 175
    network = hub_and_spoke(airports, hubs=12, flights=6)
    print(f"{network!r}: share of wrong symbols")
    print(f"{'ε':>3} {'symbols':>7} {'certified':>9} {'online':>7} {'taken':>6}")
    for epsilon in (3.0, 5.0, 8.0):
        for length in (3, 5):
            found = pv.forecast(network, length, epsilon)
            certified, online, best = (
                row.expected_errors / length for row in (found["certified"], found["online"], found.best)
            )
            print(
                f"{epsilon:3g} {length:7} {certified:9.1%} {online:7.1%} {best:6.1%} {found.best.mechanism}", flush=True
            )


if __name__ == "__main__":
    main()
