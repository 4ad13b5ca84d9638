"""Random small systems with random metrics: free alphabets, chains and grids; coordinates and matrices."""

from __future__ import annotations

import numpy as np

import pathveil as pv


def random_case(rng: np.random.Generator) -> tuple[pv.System, pv.SymbolDistance, float | None]:
    """A world, distances for it, and how far symbols may be moved (None: however far)."""
    world = _world(rng)
    distance = random_metric(rng, world.symbols)
    apart = distance.distances_from(np.arange(len(distance.symbols)))
    return world, distance, None if rng.random() < 0.5 else float(rng.choice(apart[apart > 0]))


def _world(rng: np.random.Generator) -> pv.System:
    kind, count = rng.integers(3), int(rng.integers(2, 5))
    if kind == 0:
        return pv.Alphabet(range(count))
    if kind == 1:
        follows = rng.random((count, count)) < 0.6
        follows[np.arange(count), rng.integers(0, count, count)] = True  # no dead ends
        return pv.MarkovChain.from_edges([(int(i), int(j)) for i, j in np.argwhere(follows)])
    cells = [(i, j) for i in range(rng.integers(1, 3)) for j in range(rng.integers(2, 4))]
    near = [(p, q) for p in cells for q in cells if max(abs(p[0] - q[0]), abs(p[1] - q[1])) <= 1]
    return pv.MarkovChain.from_edges(near)


def random_metric(rng: np.random.Generator, symbols: tuple) -> pv.SymbolDistance:
    """Points on a grid, points anywhere, or shortest ways in a random matrix; some radii cut off, 0 is Hamming."""
    kind, steps = rng.integers(3), int(rng.choice([1, 2, 3, 5, 10, 1000]))
    if kind < 2:
        draw = (lambda: rng.permutation(5)[:2] * 1.0) if kind == 0 else (lambda: rng.uniform(0, 4, 2))
        points = {symbol: tuple(draw() + 0.01 * number) for number, symbol in enumerate(symbols)}
        radius = [None, 0.0, float(rng.uniform(0.5, 6))][rng.integers(3)]
        return pv.SymbolDistance.from_coordinates(points, radius=radius, steps=steps)
    apart = rng.uniform(0.2, 3, (len(symbols), len(symbols)))
    apart = np.minimum(apart, apart.T)
    np.fill_diagonal(apart, 0)
    for k in range(len(symbols)):
        apart = np.minimum(apart, apart[:, [k]] + apart[[k], :])
    return pv.SymbolDistance.from_matrix(symbols, apart, radius=float(rng.uniform(0.5, 4)), steps=steps)
