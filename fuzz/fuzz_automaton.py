"""Automata as JSON (where the input begins with a brace) and as CSV."""

from pathlib import Path

from harness import fuzz_file, parsers

with parsers():
    from pathveil.data.public import read_automaton


def read(path: Path) -> None:
    data = path.read_bytes()
    named = path.with_suffix(".json" if data.startswith(b"{") else ".csv")
    named.write_bytes(data)
    read_automaton(named)


fuzz_file(read, "automaton")
