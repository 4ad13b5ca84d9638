"""A grid of cells, for maps and games that have no streets: one cell is followed by its neighbours."""

from __future__ import annotations

from itertools import product

from pathveil.data.public.saved_system import SavedSystem
from pathveil.errors import InvalidParameterError, TooLargeError
from pathveil.systems.markov_chain import MarkovChain

_MOST_CELLS = 1_000_000


def grid_system(rows: int, columns: int, neighbours: int = 4, *, stay: bool = False) -> SavedSystem:
    """Cells `r1c1`, `r1c2`, … with 4 or 8 neighbours. Row 1 is the northernmost. With `stay`, a cell may follow itself.

    Numbers have as many digits as the last one, so that names sort as the cells lie.
    """
    if rows < 1 or columns < 1 or rows * columns < 2:
        raise InvalidParameterError(f"a grid has two cells or more, not {rows} times {columns}")
    if neighbours not in (4, 8):
        raise InvalidParameterError(f"a cell has 4 or 8 neighbours, not {neighbours}")
    if rows * columns > _MOST_CELLS:
        raise TooLargeError(f"{rows} times {columns} cells are more than {_MOST_CELLS:,}: take larger cells")
    steps = [
        (down, right)
        for down, right in product((-1, 0, 1), repeat=2)
        if abs(down) + abs(right) <= (1 if neighbours == 4 else 2) and (stay or (down, right) != (0, 0))
    ]
    names = {
        (row, column): f"r{row + 1:0{len(str(rows))}}c{column + 1:0{len(str(columns))}}"
        for row, column in product(range(rows), range(columns))
    }
    edges = [
        (name, names[row + down, column + right])
        for (row, column), name in names.items()
        for down, right in steps
        if (row + down, column + right) in names
    ]
    places = {name: (float(column), float(rows - 1 - row)) for (row, column), name in names.items()}
    rule = f"{neighbours} neighbours{', staying allowed' if stay else ''}"
    return SavedSystem(MarkovChain.from_edges(edges), f"grid of {rows} rows and {columns} columns, {rule}", places)
