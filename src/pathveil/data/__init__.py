"""Real data in and out: words and transitions from files, private words and manifests to files.

This room needs pyarrow and duckdb, so `import pathveil` does not load it: write `from pathveil import data`.
"""

from pathveil.data.fingerprint import system_fingerprint
from pathveil.data.formats.delimited_column import DelimitedColumn
from pathveil.data.formats.event_log import EventLog
from pathveil.data.formats.layout import Layout
from pathveil.data.formats.list_column import ListColumn
from pathveil.data.formats.long_table import LongTable
from pathveil.data.formats.plain_text import TextLines
from pathveil.data.reading.system_files import read_alphabet, read_automaton, read_chain, read_edges
from pathveil.data.reading.transitions import CuratorCounts, PairColumns, count_transitions
from pathveil.data.reading.words import CheckedWords, check_words, read_words
from pathveil.data.writing.manifest import file_guarantee, manifest_path, user_guarantee, write_manifest
from pathveil.data.writing.private_file import CuratorSummary, privatize_file

__all__ = [
    "CheckedWords",
    "CuratorCounts",
    "CuratorSummary",
    "DelimitedColumn",
    "EventLog",
    "Layout",
    "ListColumn",
    "LongTable",
    "PairColumns",
    "TextLines",
    "check_words",
    "count_transitions",
    "file_guarantee",
    "manifest_path",
    "privatize_file",
    "read_alphabet",
    "read_automaton",
    "read_chain",
    "read_edges",
    "read_words",
    "system_fingerprint",
    "user_guarantee",
    "write_manifest",
]
