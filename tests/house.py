"""The house as it is built: which file of src/pathveil imports which, read from the source without running it.

A *room* is a folder directly under src/pathveil, a *sub-room* a folder inside a room. A *door* is a file of a room that
other rooms import from. `python -m tests.house` prints the figures, and counts the files that five typical calls pass
(tests/walks.py); `python -m tests.house --picture` draws the rooms (tests/house_picture.py). tests/test_rooms.py holds
the house to its plan.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

SOURCE = Path(__file__).parent.parent / "src"
PACKAGE = SOURCE / "pathveil"

ORDER = (
    "numerics",
    "randomness",
    "privacy",
    "systems",
    "words",
    "models",
    "places",
    "planning",
    "audit",
    "ledger",
    "data",
    "release",
    "report",
    "studio",
    "cli",
)
"""A room may import only those before it. Files that lie beside the rooms (errors, markup) may be imported by all."""

When = Literal["loading", "called", "typing"]
"""An import is done while its file is loaded, when the function around it is called, or only by a type checker."""


@dataclass(frozen=True)
class Import:
    """One file imports another. Files are dotted names, a package standing for its `__init__.py`."""

    importer: str
    imported: str
    names: tuple[str, ...]
    when: When
    line: int

    def __str__(self) -> str:
        return f"{self.importer}, line {self.line}: imports {self.imported}"


@cache
def files() -> dict[str, Path]:
    """{dotted name: path} of every source file."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports() -> tuple[Import, ...]:
    """Every import of one of our files by another."""
    known = files()
    return tuple(found for name, path in known.items() for found in imports_of(name, path, known))


def room_of(file: str) -> str:
    """The room of a file; "" for files that lie directly under src/pathveil."""
    parts = folder_of(file).split(".")
    return parts[1] if len(parts) > 1 else ""


def folder_of(file: str) -> str:
    """The package in which a file lies; an `__init__.py` lies in its own."""
    return file if _is_package(file) else file.rpartition(".")[0]


def subrooms() -> list[str]:
    """The packages inside rooms."""
    return [name for name in files() if _is_package(name) and name.count(".") > 1]


def _is_package(file: str) -> bool:
    return files()[file].name == "__init__.py"


def imports_of(importer: str, path: Path, known: Collection[str]) -> Iterator[Import]:
    """The imports of one file, wherever they stand in it."""
    for node, when in _statements(ast.parse(path.read_text()), "loading"):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in known:
                    yield Import(importer, alias.name, (), when, node.lineno)
            continue
        home = node.module or ""
        if node.level:
            raise ValueError(f"{importer}, line {node.lineno}: write imports in full")
        # `from package import module` imports the module; `from module import name` a name of it.
        within = [alias.name for alias in node.names if f"{home}.{alias.name}" in known]
        for name in within:
            yield Import(importer, f"{home}.{name}", (), when, node.lineno)
        names = tuple(alias.name for alias in node.names if alias.name not in within)
        if names and home in known:
            yield Import(importer, home, names, when, node.lineno)


def _statements(node: ast.AST, when: When) -> Iterator[tuple[ast.Import | ast.ImportFrom, When]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, when
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _statements(child, "called" if when == "loading" else when)
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            for inner in child.body:
                yield from _statements(ast.Module([inner], []), "typing")
            for inner in child.orelse:
                yield from _statements(ast.Module([inner], []), when)
        else:
            yield from _statements(child, when)


def cycles(edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Groups of nodes each of which can be reached from all others of its group (Tarjan's algorithm)."""
    following: dict[str, set[str]] = defaultdict(set)
    for source, target in edges:
        following[source].add(target)
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for other in sorted(following.get(node, ())):
            if other not in number:
                visit(other)
            if other in stack:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == number[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1 or node in following.get(node, ()):
                found.append(sorted(group))

    for node in sorted(following):
        if node not in number:
            visit(node)
    return found


def run_time(found: Iterable[Import]) -> Iterator[Import]:
    """Without what only type checkers import."""
    return (one for one in found if one.when != "typing")


def _figures() -> Iterator[str]:
    known, found = files(), imports()
    in_folder = Counter(folder_of(name) for name in known)
    doors: Mapping[str, set[str]] = defaultdict(set)
    names: Mapping[str, set[str]] = defaultdict(set)
    between: Counter[tuple[str, str]] = Counter()
    for one in found:
        here, there = room_of(one.importer), room_of(one.imported)
        if one.importer in ("pathveil", "pathveil.__main__") or here == there:
            continue  # the public names are no secret passage
        doors[there].add(one.imported)
        names[there].update(f"{one.imported}.{name}" for name in one.names)
        between[here, there] += 1
    yield f"{'room':<12}{'files':>6}{'lines':>7}{'doors':>7}{'names':>7}   used by (imports)"
    for room in sorted({room_of(name) for name in known}):
        inside = [name for name in known if room_of(name) == room]
        lines = sum(len(known[name].read_text().splitlines()) for name in inside)
        users = ", ".join(f"{user or '(top)'} {count}" for (user, to), count in sorted(between.items()) if to == room)
        counted = len(inside), lines, len(doors[room]), len(names[room])
        yield "{:<12}{:>6}{:>7}{:>7}{:>7}   {}".format(room or "(top)", *counted, users or "-")
    yield ""
    yield f"files: {len(known)}; imports of one by another: {len(found)}; between rooms: {sum(between.values())}"
    yield f"pairs of rooms of which one uses the other: {len(between)}"
    yield f"doors: {sum(map(len, doors.values()))}; names used through them: {sum(map(len, names.values()))}"
    yield "files directly in a folder, more than ten: " + ", ".join(
        f"{folder.removeprefix('pathveil.')} {count}" for folder, count in in_folder.most_common() if count > 10
    )
    loops = cycles((one.importer, one.imported) for one in run_time(found))
    yield f"cycles of files, lazy imports included: {len(loops)}"
    yield from (f"  {' ↔ '.join(name.removeprefix('pathveil.') for name in loop)}" for loop in loops)
    loops = cycles((room_of(one.importer), room_of(one.imported)) for one in run_time(found) if _crosses(one))
    yield f"cycles of rooms: {len(loops)}"
    yield from (f"  {' ↔ '.join(loop)}" for loop in loops)


def _crosses(one: Import) -> bool:
    here, there = room_of(one.importer), room_of(one.imported)
    return bool(here and there) and here != there


if __name__ == "__main__":
    if sys.argv[1:] == ["--picture"]:
        from tests import house_picture

        house_picture.FILE.write_text(house_picture.drawing(), encoding="utf-8")
    else:
        from tests.walks import walks

        print("\n".join([*_figures(), "", *walks()]))
