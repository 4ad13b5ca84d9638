"""Which mutants there are, which are left out by rule, and how a sample is drawn.

The mutations are Cosmic Ray's: another operator, a number one higher or lower, a comparison turned round, a loop that
does nothing, a decorator gone. A place in the code where an arithmetic operator stands has eleven mutants, and most of
them crash at once; drawing mutants would therefore flatter the tests. So places are drawn, all with the same
probability, and then one of the mutants of each.
"""

from __future__ import annotations

import ast
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

# Without them the same numbers come out, later.
DECORATORS_FOR_SPEED = {"kernel", "checked_kernel", "part_of_kernel", "cache", "lru_cache"}
FUNCTIONS_FOR_DISPLAY = {"__repr__", "__str__", "_repr_html_"}


@dataclass(frozen=True)
class Mutant:
    """One change at one place of one file (a path below the root of the repository)."""

    path: str
    line: int
    column: int
    operator: str
    occurrence: int

    def code(self, source: str) -> str:
        changed: str | None = mutate_code(source, get_operator(self.operator)(), self.occurrence)
        if changed is None:
            raise ValueError(f"{self} does not fit its file any more")
        return changed

    def difference(self, source: str) -> str:
        """The line before and after."""
        before, after = source.splitlines(), self.code(source).splitlines()
        return next(
            (f"`{old.strip()}` → `{new.strip()}`" for old, new in zip(before, after, strict=False) if old != new),
            "(nothing changes)",
        )


def drawn(root: Path, room: str, files: Sequence[str], size: int, seed: int) -> tuple[list[Mutant], int]:
    """A sample of the places in a room's files (patterns) with one mutant each, and the number of places."""
    places: dict[tuple[str, int, int], list[Mutant]] = defaultdict(list)
    folder = root / "src/pathveil" / room
    for path in sorted({path for pattern in files for path in folder.rglob(pattern)}):
        for mutant in all_mutants(root, path):
            places[mutant.path, mutant.line, mutant.column].append(mutant)
    rng = random.Random(f"{room} {seed}")
    order = sorted(places)
    rng.shuffle(order)
    sample: list[Mutant] = []
    for place in order:
        choices = places[place]
        rng.shuffle(choices)
        mutant = next((mutant for mutant in choices if _changes_the_program(root, mutant)), None)
        if mutant is not None:
            sample.append(mutant)
        if len(sample) == size:
            break
    return sample, len(places)


def all_mutants(root: Path, path: Path) -> Iterator[Mutant]:
    source = path.read_text(encoding="utf-8")
    left_out = _left_out(ast.parse(source))
    nodes = list(ast_nodes(get_ast(source)))
    for name in operator_names():
        kind = get_operator(name)
        if kind.arguments():  # these want names of variables
            continue
        operator = kind()
        positions = (position for node in nodes for position in operator.mutation_positions(node))
        for occurrence, ((line, column), _) in enumerate(positions):
            if not any(begin <= (line, column) < end for begin, end in left_out):
                yield Mutant(path.relative_to(root).as_posix(), line, column, name, occurrence)


def _changes_the_program(root: Path, mutant: Mutant) -> bool:
    """Whether the mutant is Python at all, and not the same program in other letters."""
    source = (root / mutant.path).read_text(encoding="utf-8")
    try:
        changed = ast.parse(mutant.code(source))
    except (SyntaxError, AttributeError):  # Cosmic Ray stumbles over `except` with a dotted name
        return False
    return ast.dump(changed) != ast.dump(ast.parse(source))


Span = tuple[tuple[int, int], tuple[int, int]]


def _left_out(module: ast.Module) -> list[Span]:
    """Annotations, what an error says, what objects show of themselves, and decorators that only make faster.

    And what is no operator or number at all: the star after which arguments need their names, and the `strict` of a
    `zip`, which is an assertion.
    """
    spans: list[Span] = []

    def leave_out(node: ast.expr | ast.stmt | ast.arg | None) -> None:
        if node is not None:
            spans.append(_span(node))

    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            arguments = node.args
            # The span of an argument is its name and annotation: its default stays in.
            for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
                leave_out(each)
            if arguments.kwonlyargs and arguments.vararg is None:
                before = [*arguments.posonlyargs, *arguments.args, *arguments.defaults]
                begin = max((_span(each)[1] for each in before), default=(node.lineno, node.col_offset))
                spans.append((begin, _span(arguments.kwonlyargs[0])[0]))
            leave_out(arguments.vararg)
            leave_out(arguments.kwarg)
            leave_out(node.returns)
            if node.name in FUNCTIONS_FOR_DISPLAY:
                leave_out(node)
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if isinstance(called, ast.Name) and called.id in DECORATORS_FOR_SPEED:
                    (line, column), end = _span(decorator)
                    spans.append(((line, column - 1), end))  # with its @
        elif isinstance(node, ast.AnnAssign):
            leave_out(node.annotation)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "zip":
            for keyword in node.keywords:
                leave_out(keyword.value)
        elif isinstance(node, ast.Raise) or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            leave_out(node)
    return spans


def _span(node: ast.expr | ast.stmt | ast.arg) -> Span:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
