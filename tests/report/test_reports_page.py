"""Every line with a dollar sign on the page about reports runs, in the order of the page."""

from __future__ import annotations

from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports.md"


@pytest.mark.site
def test_the_examples_on_the_page_run(run) -> None:
    lines = [line.removeprefix("$ pathveil ") for line in PAGE.read_text().splitlines() if line.startswith("$ ")]
    assert len(lines) >= 7
    for line in lines:
        # Certificates for shorter words take less time.
        ran = run(line.replace("--edges roads.csv --length 14", "--edges roads.csv --length 3"))
        assert ran.code == 0, f"{line}\n{ran.err}"
