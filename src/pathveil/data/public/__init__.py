"""What is public: systems from wherever they lie, and other files that say nothing about sensitive words.

SavedSystem      a system in one file, which every command takes as --system; where its symbols lie
read_…           a file of a public system in one of many formats
grid_system      a grid of cells
overview         what a person can check about a system
"""

from pathveil.data.public.bpmn import read_bpmn
from pathveil.data.public.graphml import StreetSymbols, UTurns, read_graphml
from pathveil.data.public.grid import grid_system
from pathveil.data.public.gtfs import GtfsSymbols, read_gtfs
from pathveil.data.public.overview import Overview, overview_of
from pathveil.data.public.pnml import read_pnml
from pathveil.data.public.saved_system import SavedSystem
from pathveil.data.public.system_files import (
    read_alphabet,
    read_automaton,
    read_chain,
    read_coordinates,
    read_edges,
    read_length_counts,
    read_mdp,
    read_model,
    read_row_sizes,
    read_sequences,
    read_steps_possible,
    read_symbols,
    sparse_support_of,
    split_columns,
    successors_of,
    support_of,
)

__all__ = [
    "GtfsSymbols",
    "Overview",
    "SavedSystem",
    "StreetSymbols",
    "UTurns",
    "grid_system",
    "overview_of",
    "read_alphabet",
    "read_automaton",
    "read_bpmn",
    "read_chain",
    "read_coordinates",
    "read_edges",
    "read_graphml",
    "read_gtfs",
    "read_length_counts",
    "read_mdp",
    "read_model",
    "read_pnml",
    "read_row_sizes",
    "read_sequences",
    "read_steps_possible",
    "read_symbols",
    "sparse_support_of",
    "split_columns",
    "successors_of",
    "support_of",
]
