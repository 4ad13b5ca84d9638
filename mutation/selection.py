"""Which tests can notice a change of a line: those that execute it, the fastest first.

What a test file makes while it is loaded, all of its tests depend on. Lines that run when their file is imported
(constants, defaults) can be noticed by every test that runs anything of the file, and by those that name the constant.
Compiled functions run outside the interpreter, so that no line of theirs is ever seen: their tests are those that
execute a line which names the function, or which names a compiled function that calls it, or which name it themselves.
What decorates a class can be noticed as well by tests that execute a line which names the class.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

COMPILING = {"kernel", "checked_kernel", "part_of_kernel"}


@dataclass(frozen=True)
class Observed:
    """What runs of the unchanged tests showed."""

    seconds: dict[str, float]
    """For each test."""
    executed: dict[str, dict[int, list[str]]]
    """For each file and line the tests that execute it."""

    def add(self, more: dict[str, Any]) -> None:
        """Put in what another run showed, as it was written to a file."""
        self.seconds.update(more["seconds"])
        for path, lines in more["executed"].items():
            mine = self.executed.setdefault(path, {})
            for line, tests in lines.items():
                mine.setdefault(int(line), []).extend(tests)


class Selection:
    """Tests by place in the code."""

    def __init__(self, root: Path, observed: Observed) -> None:
        self._root = root
        self._observed = observed
        self._modules = {
            path.relative_to(root).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
            for path in sorted((root / "src/pathveil").rglob("*.py"))
        }

    def tests(self, path: str, line: int) -> list[str]:
        """The tests for a line, fastest first."""
        function = self._compiled_function(path, line)
        if function is not None:
            chosen = self._tests_of_compiled(function, set())
        else:
            chosen = self._tests_of_lines(path, _statement_lines(self._modules[path], line))
            if _runs_at_import(self._modules[path], line):
                chosen |= {test for tests in self._observed.executed.get(path, {}).values() for test in tests}
                for name in self._compiled_names_in(path):
                    chosen |= self._tests_of_compiled(name, set())
                for name in _assigned(self._modules[path], line):
                    chosen |= self._tests_with(name)
                for name in _decorated(self._modules[path], line):
                    for mention in self._mentions[name]:
                        chosen |= self._tests_of_lines(
                            mention[0], _statement_lines(self._modules[mention[0]], mention[1])
                        )
        return sorted(chosen, key=lambda test: (self._observed.seconds[test], test))

    def has_compiled_functions(self, path: str) -> bool:
        return bool(self._compiled_names_in(path))

    def _tests_of_lines(self, path: str, lines: range) -> set[str]:
        executed = self._observed.executed.get(path, {})
        return {test for line in lines for test in executed.get(line, [])}

    def _tests_of_compiled(self, name: str, seen: set[str]) -> set[str]:
        seen.add(name)
        tests = self._tests_with(name)
        for path, line in self._mentions[name]:
            caller = self._compiled_function(path, line)
            if caller is None:
                tests |= self._tests_of_lines(path, _statement_lines(self._modules[path], line))
            elif caller not in seen:
                tests |= self._tests_of_compiled(caller, seen)
        return tests

    def _tests_with(self, name: str) -> set[str]:
        return {test for test in self._observed.seconds if test.split("[")[0] in self._tests_that_mention[name]}

    @cached_property
    def _mentions(self) -> dict[str, list[tuple[str, int]]]:
        found: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for path, module in self._modules.items():
            for node in ast.walk(module):
                if isinstance(node, ast.Name | ast.Attribute):
                    found[_name(node)].append((path, node.lineno))
        return found

    @cached_property
    def _tests_that_mention(self) -> dict[str, set[str]]:
        """For each name the tests, without their parameters, in whose function it stands."""
        found: dict[str, set[str]] = defaultdict(set)
        for file in {test.split("::")[0] for test in self._observed.seconds}:
            for function in ast.parse((self._root / file).read_text(encoding="utf-8")).body:
                if isinstance(function, ast.FunctionDef):
                    for node in ast.walk(function):
                        if isinstance(node, ast.Name | ast.Attribute):
                            found[_name(node)].add(f"{file}::{function.name}")
        return found

    @cached_property
    def _compiled_names(self) -> set[str]:
        """Functions with a decorator that compiles, and those given to `compile_on_first_call`."""
        names: set[str] = set()
        for module in self._modules.values():
            for node in ast.walk(module):
                if isinstance(node, ast.FunctionDef):
                    if COMPILING & {ast.unparse(decorator) for decorator in node.decorator_list}:
                        names.add(node.name)
                elif isinstance(node, ast.Call) and ast.unparse(node.func) == "compile_on_first_call":
                    names |= {each.id for each in node.args if isinstance(each, ast.Name)}
        return names

    def _compiled_names_in(self, path: str) -> set[str]:
        return {node.name for node in self._modules[path].body if isinstance(node, ast.FunctionDef)} & (
            self._compiled_names
        )

    def _compiled_function(self, path: str, line: int) -> str | None:
        for node in self._modules[path].body:
            if isinstance(node, ast.FunctionDef) and node.name in self._compiled_names:
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                if first <= line <= (node.end_lineno or node.lineno):
                    return node.name
        return None


def _name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _statement_lines(module: ast.Module, line: int) -> range:
    """The lines of the innermost statement around a line; of a compound statement only its head."""
    best = range(line, line + 1)
    for node in ast.walk(module):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            body = getattr(node, "body", None)
            end = body[0].lineno if body else (node.end_lineno or node.lineno) + 1
            if node.lineno <= line < max(end, node.lineno + 1):
                best = range(node.lineno, max(end, node.lineno + 1))
    return best


def _assigned(module: ast.Module, line: int) -> set[str]:
    """The names that the statement on a line, outside of functions, gives a value."""
    return {
        node.id
        for statement in module.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        and statement.lineno <= line <= (statement.end_lineno or statement.lineno)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _decorated(module: ast.Module, line: int) -> set[str]:
    """The class that a decorator on a line makes: objects of it can be made without a line of its file being run."""
    return {
        node.name
        for node in module.body
        if isinstance(node, ast.ClassDef)
        and node.decorator_list
        and node.decorator_list[0].lineno <= line < node.lineno
    }


def _runs_at_import(module: ast.Module, line: int) -> bool:
    return line not in lines_in_functions(module)


def lines_in_functions(module: ast.Module) -> set[int]:
    """The lines that run when something is called, not when the file is loaded."""
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
    return {line for node in functions for line in range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)}
