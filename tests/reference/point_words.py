"""Points to words, one point at a time: the literal version of `places/trips.py`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pathveil.places import Cells, Grid


def words_of_points(
    cells: Cells, points: Iterable[tuple[str, float, float, float]], gap: float | None
) -> list[tuple[str, float, list[str]]]:
    """(user, begin, word) of points (user, seconds, latitude, longitude), in the order of users and times."""
    words: list[tuple[str, float, list[str]]] = []
    going_on = False
    last_user, last_time = "", 0.0
    for user, time, latitude, longitude in sorted(points):
        cell = cells.cell_at(latitude, longitude)
        if user != last_user or (gap is not None and time - last_time > gap):
            going_on = False
        if cell is None:
            going_on = False
        elif not going_on:
            words.append((user, time, [cell]))
            going_on = True
        else:
            word = words[-1][2]
            way = way_between(cells, word[-1], cell)
            if way is None:
                words.append((user, time, [cell]))
            elif cell != word[-1] or cells.stay:
                word += [*way, cell]
        last_user, last_time = user, time
    return words


def way_between(cells: Cells, origin: str, destination: str) -> list[str] | None:
    """The cells between two cells by the public rule of the cells, literally."""
    if origin == destination:
        return []
    if isinstance(cells, Grid):
        return _line(cells, origin, destination)
    follows = {symbol: _followers(cells, symbol) for symbol in cells.symbols}
    steps = {destination: 0}
    edge = [destination]
    while edge:
        edge = [symbol for symbol in cells.symbols if symbol not in steps and set(follows[symbol]) & set(edge)]
        steps |= {symbol: max(steps.values()) + 1 for symbol in edge}
    if origin not in steps:
        return None
    place = cells.coordinates
    way, current = [], origin
    while steps[current] > 1:
        closer = [symbol for symbol in follows[current] if steps.get(symbol) == steps[current] - 1]
        current = min(closer, key=lambda symbol: np.hypot(*np.subtract(place[symbol], place[destination])))
        way.append(current)
    return way


def _followers(cells: Cells, symbol: str) -> list[str]:
    return [other for other in cells.symbols if other != symbol and cells.system.is_feasible([symbol, other])]


def _line(cells: Grid, origin: str, destination: str) -> list[str]:
    (r0, c0), (r1, c1) = (divmod(cells.symbols.index(symbol), cells.columns) for symbol in (origin, destination))
    steps = max(abs(r1 - r0), abs(c1 - c0))

    def at(begin: int, end: int, step: int) -> int:
        exact = abs(end - begin) * step / steps
        return begin + (1 if end > begin else -1) * int(exact + 0.5)

    return [cells.symbols[at(r0, r1, k) * cells.columns + at(c0, c1, k)] for k in range(1, steps)]
