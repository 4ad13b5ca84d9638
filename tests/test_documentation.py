"""Every example in the documentation and in the docstrings is run."""

import doctest
import importlib
import os
import pkgutil
import shutil
from pathlib import Path

import pytest

import pathveil

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
MODULES = sorted(module.name for module in pkgutil.walk_packages(pathveil.__path__, "pathveil."))
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_on_documentation_pages_run(page: Path) -> None:
    if page.name == "spark.md" and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java: install openjdk-17-jre-headless")
    # A closing fence right after an example's output is not part of the output.
    text = page.read_text(encoding="utf-8").replace("```", "\n")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    result = doctest.DocTestRunner(optionflags=OPTIONS).run(test)
    assert result.failed == 0


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_examples_in_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name), optionflags=OPTIONS).failed == 0


def test_public_names_are_exported_and_documented() -> None:
    for name in pathveil.__all__:
        assert getattr(pathveil, name).__doc__, f"{name} has no docstring"
