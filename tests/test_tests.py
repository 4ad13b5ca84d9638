"""What two tests share lies in a module of its own, no test patches a constant; and tests of `tests/sizes.py`."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tests.sizes import given_few_and_many

TESTS = Path(__file__).parent


def imported_modules(source: str) -> set[str]:
    """Every part of every name that the source imports, or imports from."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {part for alias in node.names for part in alias.name.split(".")}
        elif isinstance(node, ast.ImportFrom):
            found |= {*(node.module or "").split("."), *(alias.name for alias in node.names)}
    return found


def borrowed(source: str, test_modules: set[str]) -> set[str]:
    """Test modules that are imported. Most sources name none anywhere, and need not be parsed."""
    return imported_modules(source) & test_modules if test_modules & set(re.findall(r"\w+", source)) else set()


def test_no_module_imports_from_a_test_module():
    test_modules = {path.stem for path in TESTS.rglob("test_*.py")}
    assert len(test_modules) > 100
    borrowers = {
        str(path.relative_to(TESTS)): found
        for path in TESTS.rglob("*.py")
        if (found := borrowed(path.read_text(), test_modules))
    }
    assert not borrowers, "move what they share into a module whose name does not begin with test_"


def test_every_way_to_import_is_noticed():
    for line in (
        "from tests.words.test_kernels import CHAIN",
        "from tests.words import test_kernels",
        "from .test_kernels import CHAIN",
        "import tests.words.test_kernels",
        "import tests.words.test_kernels as kernels",
        "def inside():\n    from tests.words.test_kernels import CHAIN",
    ):
        assert borrowed(line, {"test_kernels"}) == {"test_kernels"}, line
    assert not borrowed("from tests.words.mechanisms import build", {"test_kernels"})


CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]+")


def name_of(function: ast.expr) -> str:
    """The last part of the name by which something is called."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def patched_constants(source: str) -> set[str]:
    """Names in capitals that the source replaces in a module, by a patch or by assigning to it."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and name_of(node.func) in ("setattr", "patch", "object"):
            named = [one.value for one in node.args[:2] if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            found |= {name.rpartition(".")[2] for name in named}
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return {name for name in found if CONSTANT.fullmatch(name)}


def test_no_test_patches_a_constant():
    patchers = {
        str(path.relative_to(TESTS)): found
        for path in TESTS.rglob("*.py")
        if (found := patched_constants(path.read_text()))
    }
    assert not patchers, "make the limit an argument, or choose an input that goes beyond it"


def test_every_way_to_patch_a_constant_is_noticed():
    for line in (
        'monkeypatch.setattr(kernels, "_LIMIT", 1)',
        'monkeypatch.setattr("pathveil.words.kernels._LIMIT", 1)',
        'with pytest.MonkeyPatch.context() as patch:\n    patch.setattr(kernels, "_LIMIT", 1)',
        'with mock.patch.object(kernels, "_LIMIT", 1):\n    pass',
        '@mock.patch("pathveil.words.kernels._LIMIT", 1)\ndef test_it():\n    pass',
        'setattr(kernels, "_LIMIT", 1)',
        "kernels._LIMIT = 1",
        "kernels._LIMIT += 1",
    ):
        assert patched_constants(line) == {"_LIMIT"}, line
    for line in ('monkeypatch.setattr(kernels, "draw", None)', 'monkeypatch.setenv("LIMIT", "1")', "LIMIT = 1"):
        assert not patched_constants(line), line


def test_searches_in_two_sizes_find_what_is_wrong_and_leave_other_arguments_alone():
    seen: list[tuple[str, int]] = []

    @given_few_and_many(20, 200, number=st.integers(0, 1000))
    def never_large(number: int, name: str) -> None:
        seen.append((name, number))
        assert number < 500

    assert list(inspect.signature(never_large).parameters) == ["name", "examples"]
    with pytest.raises(AssertionError):
        never_large(examples=200, name="a")
    assert {name for name, _ in seen} == {"a"}
    [sizes] = never_large.pytestmark
    few, many = sizes.args[1]
    assert few == 20
    assert [mark.name for mark in many.marks] == ["slow"]
