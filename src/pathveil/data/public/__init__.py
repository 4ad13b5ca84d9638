"""What is public, from files of its own: systems, models, coordinates, expected sizes."""

from pathveil.data.public.system_files import (
    read_alphabet,
    read_automaton,
    read_chain,
    read_coordinates,
    read_edges,
    read_model,
    read_row_sizes,
    read_successors,
    read_support,
)

__all__ = [
    "read_alphabet",
    "read_automaton",
    "read_chain",
    "read_coordinates",
    "read_edges",
    "read_model",
    "read_row_sizes",
    "read_successors",
    "read_support",
]
