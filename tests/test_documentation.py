"""Every example in the documentation and in the docstrings is run."""

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import shlex
import shutil
from pathlib import Path

import pytest

import pathveil
from pathveil.cli.app import main

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
MODULES = sorted(module.name for module in pkgutil.walk_packages(pathveil.__path__, "pathveil."))
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# Python with prompts, scripts (Python without) and commands (fenced as ```console) take turns on a page.
SCRIPTS_AND_COMMANDS = re.compile(r"^```(console|python)\n(?!>>> )(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.site
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_on_documentation_pages_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if page.name == "spark.md" and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java: install openjdk-17-jre-headless")
    monkeypatch.chdir(tmp_path)
    known: dict[str, object] = {}
    text, end = page.read_text(encoding="utf-8"), 0
    for block in SCRIPTS_AND_COMMANDS.finditer(text):
        run_prompts(text[end : block.start()], known, page)
        if block[1] == "console":
            run_commands(block[2], capsys)
        else:
            exec(block[2], known)
        end = block.end()
    run_prompts(text[end:], known, page)


def run_prompts(text: str, known: dict[str, object], page: Path) -> None:
    # A closing fence right after an example's output is not part of the output.
    test = doctest.DocTestParser().get_doctest(text.replace("```", "\n"), known, page.name, str(page), 0)
    result = doctest.DocTestRunner(optionflags=OPTIONS).run(test, clear_globs=False)
    known.update(test.globs)
    assert result.failed == 0


def run_commands(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each line after `$ pathveil`; what stands below it, if anything, is what it prints."""
    for command in re.split(r"^\$ pathveil ", block, flags=re.MULTILINE)[1:]:
        line, _, shown = command.partition("\n")
        capsys.readouterr()
        code = main(shlex.split(line, comments=True))
        printed = capsys.readouterr()
        assert code == 0, f"{line}\n{printed.err}"
        said = printed.out + printed.err
        assert not shown or doctest.OutputChecker().check_output(shown, said, OPTIONS), f"{line}\n{said}"


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_examples_in_docstrings_run(name: str) -> None:
    module = importlib.import_module(name)
    if ">>>" in inspect.getsource(module):  # looking for examples takes as long as importing most modules
        assert doctest.testmod(module, optionflags=OPTIONS).failed == 0


def test_public_names_are_exported_and_documented() -> None:
    for name in pathveil.__all__:
        assert getattr(pathveil, name).__doc__, f"{name} has no docstring"
