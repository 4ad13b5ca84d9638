"""Public files: edges, symbols, expected sizes of rows, coordinates, saved systems, maps. The first byte says which."""

from pathlib import Path

from harness import fuzz_file, parsers

with parsers():
    from pathveil.data.public import (
        SavedSystem,
        read_alphabet,
        read_coordinates,
        read_edges,
        read_graphml,
        read_row_sizes,
    )

READERS = (read_edges, read_alphabet, read_row_sizes, read_coordinates, SavedSystem.read, read_graphml)


def read(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[1:])
    READERS[(data or b"\0")[0] % len(READERS)](path)


fuzz_file(read, "public.csv")
