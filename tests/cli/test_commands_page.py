"""Every line with a dollar sign on the page about the commands runs, in the order of the page."""

from __future__ import annotations

from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "commands.md"


@pytest.mark.site
def test_the_examples_on_the_page_run(run):
    lines = [line.removeprefix("$ pathveil ") for line in PAGE.read_text().splitlines() if line.startswith("$ ")]
    assert len(lines) >= 12
    for line in lines:
        ran = run(line)
        assert ran.code == 0, f"{line}\n{ran.err}"
