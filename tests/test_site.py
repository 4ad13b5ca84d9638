"""The documentation site builds without a warning, and nothing is missing from it.

One test builds and looks at everything: a build takes a while, and tests may be spread over several processes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

import pathveil as pv
from pathveil import data
from pathveil.cli.commands import app

pytestmark = pytest.mark.site

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))


def test_the_site_builds_and_has_every_public_name_every_command_and_the_output_of_every_notebook(tmp_path):
    # Notebooks run in processes of their own, which have to find this very PathVeil.
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"}
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    ran = subprocess.run(build, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr

    reference = "".join(page.read_text(encoding="utf-8") for page in (tmp_path / "reference").glob("*.html"))
    documented = set(re.findall(r'id="pathveil\.([\w.]+)"', reference))
    assert set(pv.__all__) - {"places", "published", "units"} <= documented  # modules, under the names of their files
    assert "privacy.units.Symbols" in documented
    assert {f"data.{name}" for name in data.__all__} <= documented
    assert "models.published.mcm_epsilon" in documented
    assert "pathveil.CertifiedExponential.certificate" in reference
    # Examples in docstrings are code, not quotations of quotations of quotations.
    assert "<blockquote>" not in reference

    commands = unescape((tmp_path / "command-reference.html").read_text(encoding="utf-8"))
    for command in app.registered_commands:
        assert command.callback is not None
        assert f"pathveil {command.name or command.callback.__name__}" in commands
    for group in ("audit exhaustive", "ledger init", "report release"):
        assert f"pathveil {group}" in commands
    assert "[bold]" not in commands

    fewer_errors = unescape((tmp_path / "notebooks" / "fewer-errors.html").read_text(encoding="utf-8"))
    assert re.search(r"^ +5 +0\.\d+ +0\.\d+ +0\.0\d+ +1[01]\.\d$", fewer_errors, re.MULTILINE)
    assert "data:image/png" in fewer_errors
    gives_away = unescape((tmp_path / "notebooks" / "markov-model.html").read_text(encoding="utf-8"))
    assert "clinic  fits the published model: True" in gives_away

    # No page asks another server for anything.
    for page in tmp_path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r'<(script|img|iframe)[^>]* src="(https?:)?//', text), page
        assert not re.search(r'<link[^>]* rel="(stylesheet|preconnect)"[^>]* href="(https?:)?//', text), page


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_are_kept_without_outputs(notebook):
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_of_the_repository(page):
    """So that pages can be read where they lie. (What stands behind a # is checked when the site is built.)"""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)", re.sub(r"`[^`]*`", "", text)):
        assert target.startswith("https://") or (page.parent / target).exists(), target
