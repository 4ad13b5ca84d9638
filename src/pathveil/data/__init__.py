"""Real data in and out: words and transitions from files, private words and manifests to files.

This room needs pyarrow and duckdb, so `import pathveil` does not load it: write `from pathveil import data`.
"""

from pathveil.data.fingerprint import system_fingerprint
from pathveil.data.formats import DelimitedColumn, EventLog, Layout, ListColumn, LongTable, TextLines
from pathveil.data.points import (
    PointColumns,
    read_cells,
    save_cells,
    write_points_of_words,
    write_words_of_points,
)
from pathveil.data.public import (
    SavedSystem,
    grid_system,
    read_alphabet,
    read_automaton,
    read_bpmn,
    read_chain,
    read_edges,
    read_graphml,
    read_gtfs,
    read_pnml,
)
from pathveil.data.reading import (
    CheckedWords,
    CuratorCounts,
    CuratorWords,
    PairColumns,
    check_words,
    count_transitions,
    read_coded_words,
    read_words,
)
from pathveil.data.writing import (
    CuratorSummary,
    file_guarantee,
    manifest_path,
    privatize_file,
    user_guarantee,
    write_manifest,
)

__all__ = [
    "CheckedWords",
    "CuratorCounts",
    "CuratorSummary",
    "CuratorWords",
    "DelimitedColumn",
    "EventLog",
    "Layout",
    "ListColumn",
    "LongTable",
    "PairColumns",
    "PointColumns",
    "SavedSystem",
    "TextLines",
    "check_words",
    "count_transitions",
    "file_guarantee",
    "grid_system",
    "manifest_path",
    "privatize_file",
    "read_alphabet",
    "read_automaton",
    "read_bpmn",
    "read_cells",
    "read_chain",
    "read_coded_words",
    "read_edges",
    "read_graphml",
    "read_gtfs",
    "read_pnml",
    "read_words",
    "save_cells",
    "system_fingerprint",
    "user_guarantee",
    "write_manifest",
    "write_points_of_words",
    "write_words_of_points",
]
