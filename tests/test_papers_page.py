"""The commands on the page about the papers exist and run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_every_row_of_the_tables_has_a_command():
    rows = [line for line in PAGE.splitlines() if line.startswith("|") and not line.startswith(("|---", "| claim"))]
    assert len(rows) > 10
    for row in rows:
        assert re.search(r"`(pytest|python -c) [^`]+` \|$", row), row


@pytest.mark.parametrize("node", re.findall(r"`pytest ([^`]+)`", PAGE))
def test_the_named_test_exists(node):
    path, _, name = node.partition("::")
    source = (ROOT / path).read_text(encoding="utf-8")
    assert not name or f"def {name}(" in source


@pytest.mark.parametrize("code", re.findall(r'`python -c "([^`]+)"`', PAGE))
def test_the_one_liners_run(code, capsys):
    exec(code, {})
    assert capsys.readouterr().out.strip()
